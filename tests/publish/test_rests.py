"""Rests: what is published under a title is what its SQL says, and what was paid before there were any stays paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidReport
from inbounds.publish import Report, ReportFile, ReportPlan, plan_report, run_report
from inbounds.publish.asker import LocalAsker
from inbounds.publish.groupings import Joined
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES
from tests.publish.conftest import spent
from tests.publish.test_consistency import lacking

HEAD = "-- report: towns\n-- edition: 1\n"
QUESTIONS = {
    "people": "SELECT COUNT(*) AS people FROM visits",
    "by_sex": "SELECT sex, COUNT(*) AS people FROM visits GROUP BY sex ORDER BY people DESC",
    "by_region": "SELECT region, COUNT(*) AS people FROM visits GROUP BY region",
    "by_district": "SELECT district, COUNT(*) AS people FROM visits GROUP BY district",
    "sizes": "SELECT SUM(size) AS size FROM visits",
    "size_by_street": "SELECT street, SUM(size) AS size FROM visits GROUP BY street",
}


def text_of(*names: str, epsilon: str = "0.5", head: str = HEAD) -> str:
    """Return the file of a report of some of the questions."""
    return head + "\n".join(f"-- name: {name}\n-- epsilon: {epsilon}\n{QUESTIONS[name]};" for name in names)


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[Playground]:
    """A table of which many rows lack a category, with more budget than noise matters."""
    text = contract(COLUMNS, unit="row", budget="total = 100000\nper_analyst = 100000")
    with Playground(text, TYPES, tmp_path / "b.db") as found:
        found.fill(lacking(ROWS))
        yield found


def plan_of(towns: Playground, text: str) -> ReportPlan:
    """Return the plan of a report."""
    return plan_report(ReportFile.parse(text), towns.dataset, "office")


def publish(towns: Playground, text: str) -> Report:
    """Run a report."""
    return run_report(plan_of(towns, text), towns.dataset)


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Join questions as it was done before there was a rest."""
    whole = Joined.group_by
    with monkeypatch.context() as patch:
        patch.setattr(Joined, "group_by", lambda self, rest: whole(self, rest=False))
        yield patch


def plainly(towns: Playground, sql: str) -> dict[Any, Any]:
    """Return what SQL finds, without what is no category."""
    rows = [tuple(row) for row in towns.plainly(sql)]
    keys = {"f", "m", "city", "land", "harbour", "hills", "old town", *"abcd"}
    return {row[:-1]: row[-1] for row in rows if len(row) == 1 or row[0] in keys}


def test_each_table_counts_its_own_rows(towns: Playground) -> None:
    """At an epsilon that leaves no noise, every table has the very numbers that its SQL finds; before, it had not."""
    text = text_of(*QUESTIONS, epsilon="200")
    assert [len(request.questions) for request in plan_of(towns, text).requests] == [4, 2]
    report = publish(towns, text)
    for name, sql in QUESTIONS.items():
        assert {tuple(row[:-1]): row[-1] for row in report.table(name).answer.rows} == plainly(towns, sql), name
    assert report.table("people").answer.rows == ((90,),)


def test_without_a_rest_they_do_not(towns: Playground, as_before: pytest.MonkeyPatch) -> None:
    """Joined as before, the total leaves out rows without a sex or a district, as its note says."""
    report = publish(towns, text_of("people", "by_sex", "by_district", epsilon="200"))
    as_before.undo()
    ((total,),) = report.table("people").answer.rows
    assert total < 60
    assert "count in none of them" in str(report.table("people").answer.note)


def test_what_a_total_has_beyond_the_groups_is_said(towns: Playground) -> None:
    """Beside each table by groups stands how much of the total is in none of them, and beside the total nothing."""
    report = publish(towns, text_of(*QUESTIONS, epsilon="200"))
    lacking_sex = 90 - sum(plainly(towns, QUESTIONS["by_sex"]).values())
    said = str(report.table("by_sex").answer.note)
    assert f"Not in these groups: {lacking_sex} without a category of sex (expected noise " in said
    assert "Not in these groups" in str(report.table("size_by_street").answer.note)
    assert "Not in these groups" not in str(report.table("people").answer.note)
    assert "count in the tables that are not grouped by it" in str(report.table("people").answer.note)


def test_where_no_row_can_lack_a_category_nothing_is_said(towns: Playground) -> None:
    """With a condition that leaves no such row out, all tables add up to the total, and no rest is spoken of."""
    text = text_of("people", "by_sex", "by_region").replace(
        "FROM visits", "FROM visits WHERE sex IS NOT NULL AND region IS NOT NULL"
    )
    report = publish(towns, text)
    ((total,),) = report.table("people").answer.rows
    for name in ("by_sex", "by_region"):
        assert sum(row[1] for row in report.table(name).answer.rows) == total
        assert "Not in these groups: 0 without" in str(report.table(name).answer.note)


# What was paid before there was a rest.


@pytest.mark.parametrize("until", [1, 2, 3, 4])
def test_what_was_paid_without_a_rest_stays_paid(
    towns: Playground, as_before: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch, until: int
) -> None:
    """A report that was published, or interrupted, before there was a rest goes on as it was: nothing is paid twice,
    and it is the same to the digest."""
    text = text_of("people", "by_sex", "by_district", "sizes")
    ask, asked = LocalAsker.ask, []

    def interrupted(self: LocalAsker, *given: Any) -> Any:
        found = ask(self, *given)
        asked.append(found)
        if len(asked) == until:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(LocalAsker, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(towns, text)
    monkeypatch.setattr(LocalAsker, "ask", ask)
    before = publish(towns, text) if until == 4 else None
    as_before.undo()
    plan = plan_of(towns, text)
    assert [request.together.names for request in plan.requests] == [("people", "by_sex", "by_district"), ("sizes",)]
    assert not plan.requests[0].together.has_rest
    assert "count in none of them" in " ".join(str(plan).split())
    assert plan.due == (0 if until == 4 else Fraction(1, 2))
    report = run_report(plan, towns.dataset)
    assert spent(towns.dataset) == 2
    assert before is None or report.digest == before.digest
    charged = Counter(entry.request_id for entry in towns.dataset.ledger.statement().entries if entry.kind == "charge")
    assert set(charged.values()) == {1}


def test_what_is_added_to_it_has_a_rest(towns: Playground, as_before: pytest.MonkeyPatch) -> None:
    """Questions that are added to a report that was paid before are asked apart from it, as they are joined now."""
    publish(towns, text_of("people", "by_sex"))
    as_before.undo()
    plan = plan_of(towns, text_of("people", "by_sex", "by_region", "by_district"))
    assert [(request.together.names, request.together.has_rest) for request in plan.requests] == [
        (("people", "by_sex"), False),
        (("by_region", "by_district"), True),
    ]
    assert plan.notes[0].startswith(
        "by_region, by_district are asked apart from people, by_sex, which are paid already"
    )
    assert plan.due == 1
    assert spent(towns.dataset) == 1
    again = plan_of(towns, text_of("people", "by_sex", head=HEAD.replace("1", "2")))
    assert again.requests[0].together.has_rest
    assert again.due == 1


def test_a_report_is_the_same_when_it_runs_again(towns: Playground) -> None:
    """Planned again once it is paid, a report with rests costs nothing, and is the same to the digest."""
    text = text_of(*QUESTIONS)
    report = publish(towns, text)
    plan = plan_of(towns, text)
    assert plan.due == 0
    assert not plan.unused
    assert not plan.notes
    assert run_report(plan, towns.dataset).digest == report.digest
    assert spent(towns.dataset) == 3


# What cannot be joined.

WIDE = """
[columns.one]
bounds = "[1, 316] step 1"
[columns.other]
bounds = "[1, 316] step 1"
"""


def test_what_cannot_be_joined_is_said_once(tmp_path: Path) -> None:
    """Questions that would have too many groups together are asked apart, and one note says which, and why."""
    parts = [
        f"-- name: {name}\n-- epsilon: 0.5\nSELECT {name}, COUNT(*) FROM visits GROUP BY {name};"
        for name in ("one", "other")
    ]
    more = ["-- name: total\n-- epsilon: 0.5\nSELECT COUNT(*) FROM visits;"]
    more += ["-- name: more\n-- epsilon: 0.5\nSELECT other, COUNT(*) AS n FROM visits GROUP BY other ORDER BY n;"]
    with Playground(contract(WIDE, unit="row"), "one BIGINT, other BIGINT", tmp_path / "b.db") as wide:
        plan = plan_of(wide, "-- report: r\n" + "\n".join([*parts, *more]))
    assert [request.together.names for request in plan.requests] == [("one", "total"), ("other", "more")]
    assert plan.notes == (
        "other, more are asked apart from one, total, and their numbers need not agree: a question may have at most "
        "100000 groups, got 100489; group by fewer columns",
    )


def test_nothing_is_joined_that_may_not_be(towns: Playground) -> None:
    """With `consistent: no` every question is asked by itself."""
    plan = plan_of(towns, text_of(*QUESTIONS, head=f"{HEAD}-- consistent: no\n"))
    assert [request.together.names for request in plan.requests] == [(name,) for name in QUESTIONS]
    with pytest.raises(InvalidReport, match="consistent is yes or no"):
        plan_of(towns, text_of("people", head=f"{HEAD}-- consistent: perhaps\n"))


# What planning takes.


def many(count: int, costs: list[str]) -> str:
    """Return a report with many questions about the same counts, by five columns and by none."""
    keys = ["", "sex", "region", "district", "street", "size"]
    parts = []
    for number in range(count):
        key = keys[number % len(keys)]
        group = f" GROUP BY {key}" if key else ""
        shown = f"{key}, COUNT(*) AS n{number}" if key else f"COUNT(*) AS n{number}"
        cost = costs[number % len(costs)]
        parts.append(f"-- name: q{number}\n-- {cost}\nSELECT {shown} FROM visits{group};")
    return HEAD + "\n".join(parts)


@pytest.mark.parametrize("is_paid", [False, True])
@pytest.mark.parametrize("costs", [["epsilon: 0.01"], ["epsilon: 0.01", "weight: 1"]])
def test_many_questions_take_a_few_looks_each(
    towns: Playground, monkeypatch: pytest.MonkeyPatch, costs: list[str], is_paid: bool
) -> None:
    """What is previewed and read to join many questions grows with their number, and no faster."""
    looks: dict[int, Counter[str]] = {}
    for count in (12, 24, 48):
        text = many(count, costs).replace("edition: 1", f"edition: {count}\n-- total: 1")
        if is_paid:
            publish(towns, text)
        looks[count] = Counter()
        for name in ("_preview", "_identity"):
            whole = getattr(LocalAsker, name)

            def counted(
                self: LocalAsker, *given: Any, _whole: Any = whole, _name: str = name, _count: int = count
            ) -> Any:
                looks[_count][_name] += 1
                return _whole(self, *given)

            monkeypatch.setattr(LocalAsker, name, counted)
        assert len(plan_of(towns, text).requests) == 1
        monkeypatch.undo()
    for name in ("_preview", "_identity"):
        first, second, third = (looks[count][name] for count in (12, 24, 48))
        assert third - second <= 2 * (second - first) + 2, (name, looks)
