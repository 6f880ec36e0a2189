"""A limit on what one question may cost: everywhere a charge can be made, and shown before anything is asked."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import inbounds
from inbounds.errors import InvalidContract, InvalidParameter, QuestionTooExpensive
from inbounds.publish import ReportFile, plan_report, run_report
from inbounds.query import Dataset
from inbounds.query.ask.charging import PriceLimit

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "who"
max_rows_per_unit = 3
[columns.sex]
keys = ["f", "m"]
[columns.size]
bounds = "[-3, 7] step 1"
[budget]
{budget}
"""
BUDGET = "total = 50\ndelta = 1e-6\ndelta_reserved = 1e-7\n"
LIMITED = f"{BUDGET}max_epsilon_per_question = 0.5"
ONE = "SELECT COUNT(*) FROM visits"

CHARGES: dict[str, Callable[[Dataset, Any], object]] = {
    "a query": lambda visits, epsilon: visits.sql(ONE).ask(epsilon, analyst="ana"),
    "two measures": lambda visits, epsilon: visits.sql("SELECT COUNT(*), AVG(size) FROM visits").ask(
        epsilon, analyst="ana"
    ),
    "several SELECTs": lambda visits, epsilon: visits.sql(f"{ONE} UNION ALL {ONE} WHERE size > 1").ask(
        epsilon, analyst="ana"
    ),
    "keys": lambda visits, epsilon: visits.discover_keys("extra", epsilon, 1e-8, analyst="ana"),
    "bounds": lambda visits, epsilon: visits.discover_bounds("more", epsilon, analyst="ana", within="[0, 100] step 1"),
    "a row limit": lambda visits, epsilon: visits.discover_limit(epsilon, analyst="ana", force=True),
    "a row limit of least error": lambda visits, epsilon: visits.discover_limit(
        epsilon, analyst="ana", least_error=True, force=True
    ),
}
"""Every way to charge a dataset at hand."""


def opened(folder: Path, budget: str = LIMITED) -> Dataset:
    """Write a table of ninety rows and its contract, and open it."""
    duckdb.sql(
        "COPY (SELECT i // 2 AS who, CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex, i % 11 - 3 AS size, "
        f"'x' AS extra, i % 7 AS more FROM range(90) t(i)) TO '{folder}/visits.parquet'"
    )
    (folder / "visits.toml").write_text(CONTRACT.format(budget=budget), encoding="utf-8")
    return Dataset.load(folder / "visits.toml")


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Dataset]:
    """A table in which each question may cost at most a half."""
    with opened(tmp_path) as found:
        yield found


def spent(dataset: Dataset) -> Any:
    """Return what was spent."""
    return dataset.ledger.balance("visits").spent


@pytest.mark.parametrize("way", CHARGES)
def test_whatever_charges_is_held_to_the_limit(visits: Dataset, way: str) -> None:
    """A charge above the limit is refused with the rule, what was asked and a remedy; at the limit it is made."""
    with pytest.raises(QuestionTooExpensive) as refused:
        CHARGES[way](visits, Fraction(5001, 10000))
    assert str(refused.value) == (
        "a query of 'visits' may cost at most ε = 0.5 (max_epsilon_per_question in its contract), got 0.5001; "
        "ask with an epsilon of 0.5 or less"
    )
    assert (refused.value.requested, refused.value.most) == (Fraction(5001, 10000), Fraction(1, 2))
    assert spent(visits) == 0
    CHARGES[way](visits, Fraction(1, 2))
    assert spent(visits) == Fraction(1, 2)


def test_there_is_one_way_to_the_ledger() -> None:
    """Outside of the ledger itself, `charge` is called on one in a single function, which knows the limit."""
    package = Path(inbounds.__file__).parent
    calls = [
        (path.relative_to(package).as_posix(), ast.unparse(node.func))
        for path in package.rglob("*.py")
        if not path.is_relative_to(package / "ledger")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "charge"
    ]
    assert sorted(calls) == [("query/ask/charging.py", "dataset.ledger.charge"), ("query/ask/steps.py", "self.charge")]


def test_nothing_is_planned_for_what_is_too_expensive(visits: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal comes before any plan is made."""
    monkeypatch.setattr(Dataset, "planned", lambda *_: pytest.fail("it was planned"))
    with pytest.raises(QuestionTooExpensive):
        visits.sql(ONE).ask(1, analyst="ana")


def test_what_is_public_is_free_whatever_it_is_asked_with(visits: Dataset) -> None:
    """The limit is about charges, and there is none."""
    answer = visits.sql("SELECT AVG(size) FROM visits WHERE size = 1").ask(40, analyst="ana")
    assert answer.epsilon == 0


def test_what_was_charged_before_is_answered_all_the_same(visits: Dataset) -> None:
    """Whoever has paid under a higher limit gets the answer again, under the same request id alone."""
    strict = visits.limited(PriceLimit.of_person("ana", Fraction(1, 10)))
    first = visits.sql(ONE).ask("0.5", analyst="ana", request_id="one")
    assert strict.sql(ONE).ask("0.5", analyst="ana", request_id="one").rows == first.rows
    with pytest.raises(QuestionTooExpensive, match=r"a query by 'ana' may cost at most ε = 0\.1"):
        strict.sql(ONE).ask("0.5", analyst="ana", request_id="two")
    assert spent(visits) == Fraction(1, 2)


@pytest.mark.parametrize("most", ["0.1", "3"])
def test_the_stricter_of_two_limits_counts(visits: Dataset, most: str) -> None:
    """A person's limit beside that of the dataset only ever takes away; the dataset itself keeps its own."""
    limited = visits.limited(PriceLimit.of_person("ana", Fraction(most)))
    allowed = min(Fraction(most), Fraction(1, 2))
    with pytest.raises(QuestionTooExpensive) as refused:
        limited.sql(ONE).ask(allowed + Fraction(1, 10**6), analyst="ana")
    assert refused.value.most == allowed
    with pytest.raises(QuestionTooExpensive):
        limited.rows_of("visits").per_unit(n="COUNT(*)").count().ask(1, analyst="ana")
    with limited.practice(50) as made, pytest.raises(QuestionTooExpensive):
        made.sql(ONE).ask(1, analyst="ana")
    assert visits.sql(ONE).ask("0.5", analyst="ana").epsilon == Fraction(1, 2)


def test_a_preview_says_what_a_query_may_cost(visits: Dataset) -> None:
    """The limit is in every preview, with why the query would be refused if it is over it."""
    for sql in (ONE, f"{ONE} UNION ALL {ONE} WHERE size > 1"):
        under, over = (visits.sql(sql).explain(epsilon) for epsilon in ("0.5", "0.6"))
        assert under.max_epsilon_per_question == over.max_epsilon_per_question == Fraction(1, 2)
        assert under.too_expensive is None
        assert (over.too_expensive or "").endswith("got 0.6; ask with an epsilon of 0.5 or less")
        assert "0.6 in total; a query may cost at most 0.5" in " ".join(str(over).split())


def test_a_wanted_error_stays_below_the_limit(visits: Dataset) -> None:
    """The least epsilon is sought up to the limit, and a refusal says that this is why there is none."""
    query = visits.sql(ONE)
    least = query.epsilon_for(40)
    assert least <= Fraction(1, 2)
    with pytest.raises(InvalidParameter, match=r"within what a query may cost, which is at most 0\.5, has an expected"):
        query.epsilon_for(1)


def test_each_question_of_a_report_counts_by_itself(visits: Dataset) -> None:
    """A report may cost more than one question may, but none of its questions may; the refusal names its line."""
    report = "-- report: r\n-- name: a\n-- epsilon: 0.5\n{0};\n-- name: b\n-- epsilon: {1}\n{0} WHERE size > 1;"
    plan = plan_report(ReportFile.parse(report.format(ONE, "0.5")), visits, "ana")
    assert run_report(plan, visits).epsilon == 1
    with pytest.raises(Exception, match=r"line 7: b: a query of 'visits' may cost at most ε = 0\.5"):
        plan_report(ReportFile.parse(report.format(ONE, "0.7")), visits, "ana")


def test_what_is_released_together_is_one_question(visits: Dataset) -> None:
    """Questions that would be one charge above the limit are asked apart, and the plan says so; below it they join."""
    report = (
        "-- report: r\n-- name: a\n-- epsilon: {0}\n"
        "SELECT sex, COUNT(*) FROM visits GROUP BY sex;\n-- name: b\n-- epsilon: {0}\nSELECT COUNT(*) FROM visits;"
    )
    apart = plan_report(ReportFile.parse(report.format("0.3")), visits, "ana")
    assert len(apart.requests) == 2
    assert any("together they are one query, and ε = 0.6 is more than one may cost" in note for note in apart.notes)
    assert run_report(apart, visits).epsilon == Fraction(6, 10)
    joined = plan_report(ReportFile.parse(report.format("0.25")), visits, "ana")
    assert [request.epsilon for request in joined.requests] == [Fraction(1, 2)]


def test_it_is_no_term_of_the_contract(tmp_path: Path) -> None:
    """A ledger under a contract without the limit takes one with it, and the digest of the terms stays."""
    digests = []
    for budget in (BUDGET, LIMITED):
        with opened(tmp_path, budget) as found:
            found.sql(ONE).ask("0.5", analyst="ana")
            digests.append(found.terms.digest)
    assert digests[0] == digests[1]


@pytest.mark.parametrize("value", ["0", "-1", '"much"', "true", "1e-13"])
def test_a_limit_is_an_amount(value: str) -> None:
    """Anything else is refused with its line and what it is called."""
    with pytest.raises(InvalidContract, match=r"line .*max_epsilon_per_question must"):
        Dataset.parse(CONTRACT.format(budget=f"total = 1\nmax_epsilon_per_question = {value}"))


def test_the_refusal_survives_a_process() -> None:
    """It can be pickled, with its amounts."""
    error = QuestionTooExpensive("too much; ask for less", Fraction(1), Fraction(1, 2))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.requested, again.most) == (str(error), error.requested, error.most)
