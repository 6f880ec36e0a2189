"""Explanations: everything that will be done, and nothing of it done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
import sqlglot

from inbounds.display import figures
from inbounds.errors import BudgetExceeded
from inbounds.ledger.values.caps import Caps
from inbounds.query import Dataset, Explanation, Query
from inbounds.query.answer.budget_forecast import BudgetForecast
from inbounds.query.engines.engine import Kind
from inbounds.query.methods.contribution_bound import NOTHING_CUT
from tests.helpers.audit_tables import Told, contract, measures, using

COLUMNS = """
[columns.place]
keys = ["a", "b", "a very long key, as long as the name of a place with all of its saints and rivers can be"]
[columns.size]
bounds = "[0, 100] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.day]
bounds = "[2026-01-01, 2026-01-31]"
weekdays = "Mon-Fri"
"""
KINDS = {
    "who": Kind.INTEGER, "place": Kind.TEXT, "size": Kind.INTEGER, "weight": Kind.FLOAT, "day": Kind.DATE,
}  # fmt: skip
PARTS = (
    "question", "cost (ε)", "answers", "sensitivity", "guarantee", "bounds", "mechanism", "proof", "expected noise",
    "row limit", "statement",
)  # fmt: skip


def refuse() -> Sequence[tuple[int, ...]]:
    """Stand for a table that must not be looked at."""
    raise AssertionError("a row was looked at")


def questions(dataset: Dataset) -> list[Query]:
    """Return questions of every kind."""
    found = [*measures(dataset, "size", "size >= 18 AND place = 'a'"), dataset.mean("weight"), dataset.mean("day")]
    found += [query.where("size > 3 AND (day < '2026-01-15' OR place IN ('a', 'b'))").by("place") for query in found]
    return [*found, dataset.median("weight"), dataset.median("day"), dataset.histogram("size", 10)]


@pytest.fixture(params=[("row", 1, None), ("who", 3, None), ("who", 1, 50)], ids=["rows", "units", "public"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Dataset]:
    """A dataset that can be explained and not asked."""
    unit, limit, units = request.param
    text = contract(COLUMNS, unit=unit, limit=limit, units=units)
    with using(Dataset.parse(text, ledger=tmp_path / "ledger.db"), Told(KINDS, refuse)) as found:
        yield found


def explained(query: Query) -> Explanation:
    """Explain a question, with a pooling where one applies, for that is quicker than to look for the best."""
    ranked = query.question.measure.title in ("median", "quantile")
    return query.explain(0.5, pooling=None if ranked else 1)


@pytest.mark.slow
def test_explaining_spends_nothing_and_looks_at_nothing(dataset: Dataset, tmp_path: Path) -> None:
    """An explanation runs no statement and makes no entry in the ledger; it does not even open it."""
    for query in questions(dataset):
        explained(query)
    assert isinstance(dataset.engine, Told)
    assert dataset.engine.statements == []
    assert not (tmp_path / "ledger.db").exists()
    assert [entry.kind for entry in dataset.ledger.statement().entries] == ["open", "contract"]
    assert dataset.ledger.balance("visits").spent == 0


@pytest.mark.slow
def test_explanations_say_everything(dataset: Dataset) -> None:
    """Each tells what is asked, what it costs and promises, by what, how noisily, the row limit and the statement."""
    for query in questions(dataset):
        found = explained(query)
        lines = str(found).splitlines()
        assert [part for part in PARTS if any(line.startswith(part) for line in lines)] == list(PARTS)
        optional = {"shown", "warnings", "owned", "made", "from_columns", "lasting", "public", "useless", "intervals"}
        optional |= {"max_epsilon_per_question", "too_expensive"}
        assert all(value for name, value in found.data().items() if name not in optional)
        assert found.question == str(query.question)
        assert found.epsilon == Fraction(1, 2)
        assert "cost (ε)        0.5 in total" in lines
        plan = query.plan(0.5, pooling=None if "exponential" in found.parts[0].mechanism else 1)
        assert f"sensitivity     {float(plan.answering.sensitivity):g}" in str(found)
        assert found.parts[0].bounds == plan.answering.bounds.brief()
        assert f"guarantee       {plan.answering.guarantee}: " in str(found)
        assert any(character.isdigit() for character in found.parts[0].expected_noise)


@pytest.mark.slow
def test_the_statement_is_the_one_that_is_run(dataset: Dataset) -> None:
    """The statement that is shown is the very one that would run, laid out for people."""
    for query in questions(dataset):
        found = explained(query)
        plan = query.plan(0.5, pooling=None if "exponential" in found.parts[0].mechanism else 1)
        shown, run = (sqlglot.parse_one(text, dialect="duckdb") for text in (found.statement, plan.sql))
        assert shown == run


@pytest.mark.slow
def test_explanations_fit_the_screen(dataset: Dataset) -> None:
    """All but the statement fits into 80 columns."""
    for query in questions(dataset):
        above, _ = str(explained(query)).split("\nstatement\n", 1)
        assert max(map(len, above.splitlines())) <= 80


@pytest.mark.slow
def test_the_row_limit_is_explained(dataset: Dataset) -> None:
    """Every explanation says whether a row limit is in force, and that a count is then one of weighed rows."""
    for query in questions(dataset):
        told = explained(query).row_limit
        assert ("each row is a unit of its own" in told) == dataset.table.rows_are_units
        assert ("ontribution bound" in told) != dataset.table.rows_are_units
    if not dataset.table.rows_are_units:
        assert "the count is too low by an unknown amount" in explained(dataset.count()).row_limit
        assert NOTHING_CUT in explained(dataset.count_units()).row_limit


def test_an_explanation_can_be_shown_in_a_notebook(dataset: Dataset) -> None:
    """As HTML an explanation says what its text says, with everything escaped."""
    found = explained(dataset.count().where("size < 5"))
    shown = found._repr_html_()
    assert "size &lt; 5" in shown
    assert all(part in shown for part in PARTS[:-1])
    assert "<pre>SELECT" in shown


def test_the_chosen_mechanism_is_explained(dataset: Dataset) -> None:
    """Without a pooling, the explanation says which mechanism was chosen, and that it has the least error."""
    assert "the least mean error of" in dataset.count().explain(1).parts[0].mechanism
    assert "exponential mechanism" in dataset.median("size").explain(1).parts[0].mechanism


def test_groups_are_paid_for_together(dataset: Dataset) -> None:
    """An explanation says whether a unit's groups add up or whether a row is in one group only."""
    found = explained(dataset.count().by("place"))
    together = "each row is in one group only" if dataset.table.rows_are_units else "one unit can change several groups"
    assert together in " ".join(str(found).split())
    assert (found.parts[0].guarantee == "distance") != dataset.table.rows_are_units


TEXTS = ("bounds", "mechanism", "proof", "expected_noise", "statement")


@pytest.mark.slow
def test_as_data_numbers_are_numbers(dataset: Dataset) -> None:
    """A program gets how many answers, sensitivity, errors and epsilon as numbers, the guarantee by name, and texts.

    That is all that there is, and it has the names of the attributes.
    """
    for query in questions(dataset):
        found = explained(query)
        plan, data = query.plan(0.5, pooling=None if "exponential" in found.parts[0].mechanism else 1), found.data()
        expected = {"question", "epsilon", "row_limit", "parts", "shown", "warnings", "owned", "made", "from_columns"}
        expected |= {"lasting", "public", "useless", "intervals", "max_epsilon_per_question", "too_expensive"}
        assert set(data) == expected
        assert (data["question"], data["row_limit"]) == (found.question, found.row_limit)
        (data,) = data["parts"]
        assert set(data) == {"measures", "epsilon", "answers", "sensitivity", "guarantee", "expected_errors", *TEXTS}
        assert data == {name: getattr(found.parts[0], name) for name in data}
        assert type(data["answers"]) is int
        assert data["answers"] == len(plan.rows)
        assert isinstance(data["sensitivity"], Fraction)
        assert data["sensitivity"] == plan.answering.sensitivity
        assert data["epsilon"] == Fraction(1, 2)
        assert data["guarantee"] in ("standard", "distance")
        assert data["guarantee"] == plan.answering.guarantee
        assert all(isinstance(data[name], str) for name in TEXTS)
        assert data["expected_errors"] == plan.answering.foreseen()


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400", "1e30"])
def test_a_vast_number_is_broken_to_fit_the_screen(dataset: Dataset, number: str) -> None:
    """However long a number in a condition is, its digits are all there, and all but the statement fits 80 columns."""
    found = dataset.count().where(f"weight > {number}").explain(0.5, pooling=1)
    above, _ = str(found).split("\nstatement\n", 1)
    assert max(map(len, above.splitlines())) <= 80
    assert "".join(found.question.split()) in "".join(above.split())


@pytest.mark.parametrize(("epsilon", "measure", "more"), [("0.05", "count", 148), ("0.2", "median", 37)])
def test_with_a_delta_rho_is_told_and_how_many_fit(tmp_path: Path, epsilon: str, measure: str, more: int) -> None:
    """So many questions as an explanation says can be charged, and not one more; no ledger is opened to say so."""
    budget = "total = 3\ndelta = 1e-6\nper_analyst = 1"
    text = contract(COLUMNS, unit="row", limit=1, budget=budget)
    place = tmp_path / "ledger.db"
    with using(Dataset.parse(text, ledger=place), Told(KINDS, refuse)) as dataset:
        query = dataset.count() if measure == "count" else dataset.median("size")
        found = query.explain(epsilon, pooling=1 if measure == "count" else None)
        assert not place.exists()
        told = found.lasting
        assert told is not None
        assert (told.fits, told.fits_by_epsilon) == (more, int(3 / Fraction(epsilon)))
        assert f"allows {more} such" in " ".join(str(found).split())
        assert found.data()["lasting"]["rho"] == told.rho
        assert told.fits_for_analyst is not None
        for who, times in (("ana", told.fits_for_analyst), ("ben", told.fits_for_analyst)):
            for _ in range(times):
                dataset.ledger.charge("visits", who, epsilon, rho=told.rho)
            with pytest.raises(BudgetExceeded):
                dataset.ledger.charge("visits", who, epsilon, rho=told.rho)


def test_without_a_delta_rho_is_not_told(dataset: Dataset) -> None:
    """Where the budget has no delta, or all of it is reserved, nothing counts in rho and nothing is said of it."""
    found = explained(dataset.median("size"))
    assert (found.lasting, found.data()["lasting"]) == (None, None)
    assert "\nrho " not in str(found)
    assert BudgetForecast.of(Caps.of(3, None, "1e-6", "1e-6"), Fraction(1), Fraction(1, 2)) is None


@pytest.mark.slow
def test_errors_are_rounded_in_one_place(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked, the expected noise has the digits that `display.figures` says, and none of its own."""
    asked = [
        *questions(dataset),
        dataset.variance("size"),
        dataset.cdf("size", 10),
        dataset.quantiles("size", [0.1, 0.9]),
    ]
    before = [part.expected_noise for query in asked for part in query.explain(0.5).parts]
    for digits in ("DIGITS", "BRIEF_DIGITS"):
        monkeypatch.setattr(figures, digits, 1)
    after = [part.expected_noise for query in asked for part in query.explain(0.5).parts]
    decimals = [number for text in after for number in re.findall(r"\d+\.\d+", text.split(", with values")[0])]
    assert before != after
    assert [number for number in decimals if not re.fullmatch(r"0\.0*[1-9]", number)] == []


def test_expected_errors_are_the_figures_behind_the_words(dataset: Dataset) -> None:
    """Each part has its expected errors as numbers: of a table with totals, in the order of its groupings."""
    part = dataset.sql("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((place), (size), ())").explain(1).parts[0]
    errors = part.expected_errors["on average"]
    assert list(errors) == ["place", "size", "the total"]
    assert all(f"{error:.4g} in {title}" in part.expected_noise for title, error in errors.items())
    assert "expected errors" not in part.facts()
