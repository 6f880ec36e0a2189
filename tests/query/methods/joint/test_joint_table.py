"""Tables that add up: whatever was measured, what leaves is possible."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from inbounds.errors import ProjectionFailed
from inbounds.joint import joint_release
from inbounds.joint.measured.measurements import measure
from inbounds.joint.solve import solve
from inbounds.query.methods.joint import joint_table
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.plan import Plan
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES, answer_adds_up, quiet, rows_of, sums_that_differ

QUESTIONS = [
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(region, district, street)",
    "SELECT COUNT(*) FROM visits GROUP BY CUBE(region, sex)",
    "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((district, sex), (region, sex), (sex), ())",
    "SELECT COUNT(*) FROM visits WHERE size > 0 GROUP BY district, ROLLUP(sex)",
    "SELECT SUM(cost) FROM visits GROUP BY ROLLUP(region, district)",
    "SELECT SUM(debt) FROM visits GROUP BY CUBE(district, sex)",
    "SELECT SUM(size) FROM visits GROUP BY CUBE(district, sex)",
    "SELECT HISTOGRAM(size, 3) FROM visits GROUP BY ROLLUP(sex)",
]
SETTINGS = [("row", 1, None), ("who", 3, 45), ("row", 1, 90), ("who", 3, None)]
RARE = [pytest.param(setting, marks=pytest.mark.thorough) for setting in SETTINGS[2:]]


@pytest.fixture(params=[*SETTINGS[:2], *RARE], ids=lambda setting: "-".join(map(str, setting)))
def towns(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Playground]:
    """A table of 90 rows of 45 people."""
    unit, limit, units = request.param
    with Playground(contract(COLUMNS, unit=unit, limit=limit, units=units), TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


def planned(playground: Playground, text: str, epsilon: Fraction) -> tuple[Plan, JointTable]:
    """Return the plan of a question that a table answers."""
    (plan,) = playground.dataset.sql(text).plans(epsilon)
    assert isinstance(plan.answering, JointTable)
    return plan, plan.answering


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_every_released_table_is_possible(towns: Playground, text: str) -> None:
    """At any epsilon every grouping is the sum of every finer one, counts are whole and not negative, sums have the
    sign of their column, and nothing is beyond the bounds."""
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(100)):
        plan, answering = planned(towns, text, epsilon)
        totals = plan.totals(towns.dataset.engine.run(plan.sql))
        low, high = answering.bounds.least, answering.bounds.greatest
        for _ in range(4):
            rows = rows_of(plan, totals)
            assert sums_that_differ(rows) == []
            for *_, value in rows:
                assert isinstance(value, int if "COUNT" in text or "HISTOGRAM" in text or "size" in text else float)
                assert low is None or value >= low
                assert high is None or value <= high
    values = sorted(row[-1] for row in rows)
    assert values[0] >= 0 or "COUNT" not in text
    assert values[-1] <= 0 or "debt" not in text


def test_the_check_finds_what_does_not_add_up(towns: Playground) -> None:
    """A table with one count changed does not pass for one that adds up."""
    plan, _ = planned(towns, QUESTIONS[0], Fraction(1))
    rows = rows_of(plan, plan.totals(towns.dataset.engine.run(plan.sql)))
    for place in range(len(rows)):
        changed = [*rows[:place], (*rows[place][:-1], rows[place][-1] + 1), *rows[place + 1 :]]
        assert sums_that_differ(changed) != []


def test_rows_are_in_one_order_and_hold_no_impossible_pair(towns: Playground) -> None:
    """Set by set as asked, and in a set in the order of the contract; a district is in its own region alone."""
    answer = towns.dataset.sql(QUESTIONS[0]).ask(1, analyst="ana").released
    assert [row[:-1] for row in answer.rows] == [
        ("city", "harbour", "a"),
        ("city", "harbour", "b"),
        ("city", "old town", "d"),
        ("land", "hills", "c"),
        ("city", "harbour", None),
        ("city", "old town", None),
        ("land", "hills", None),
        ("city", None, None),
        ("land", None, None),
        (None, None, None),
    ]
    assert answer_adds_up(answer)
    again = towns.dataset.sql(QUESTIONS[0]).ask(1, analyst="ana").released
    assert [row[:-1] for row in again.rows] == [row[:-1] for row in answer.rows]


@pytest.mark.slow
def test_a_mixed_sum_stays_within_what_all_units_can_have(tmp_path: Path) -> None:
    """Where the number of units is public, no sum of a column with both signs is beyond it, though the nearest table
    that adds up often is."""
    with Playground(contract(COLUMNS, limit=3, units=4), TYPES, tmp_path / "ledger.db") as playground:
        plan, answering = planned(playground, "SELECT SUM(size) FROM visits GROUP BY CUBE(district, sex)", Fraction(1))
    assert (answering.bounds.least, answering.bounds.greatest) == (Fraction(-36), Fraction(84))
    beyond = 0
    for _ in range(30):
        rows = rows_of(plan, [[0]] * 6)
        assert sums_that_differ(rows) == []
        assert all(-36 <= value <= 84 for *_, value in rows)
        measured = measure(answering.plan, np.zeros((3, 2), dtype=np.int64))
        beyond += bool(np.abs(joint_release.JointRelease.of(measured).grouping(())) > 84)
    assert beyond > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("confidence", "unit", "limit"), sparing([(0.95, "who", 3), (0.8, "who", 3), (0.95, "row", 1), (0.8, "row", 1)])
)
def test_intervals_cover_what_they_say(
    confidence: float, unit: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interval of every row holds its truth at least as often as was asked for; one for less does not pass."""
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES) as playground:
        plan, answering = planned(playground, "SELECT COUNT(*) FROM visits GROUP BY CUBE(district, sex)", Fraction(1))
    one, runs = plan.request.weights.one, 300
    truth = np.array([[20, 0], [3, 40], [0, 7]])
    wanted = [*truth.ravel(), *truth.sum(axis=1), *truth.sum(axis=0), truth.sum()]
    totals = [[int(cell) * one] for cell in truth.ravel()]
    measured = measure(answering.plan, truth * one)
    ends_of = [row[0].interval for row in answering.made_of(measured, confidence)]
    nothing = SimpleNamespace(cells=np.zeros_like(truth))  # intervals are of what was measured, whatever table is made
    monkeypatch.setattr(joint_table, "JointRelease", SimpleNamespace(of=lambda _: nothing))
    assert [row[0].interval for row in answering.made_of(measured, confidence)] == ends_of

    def covered(sure: float) -> list[int]:
        found = np.zeros(len(wanted), dtype=int)
        for _ in range(runs):
            answered = answering.answer_all(totals, sure, quiet)
            ends = [row[0].interval for row in answered]
            found += [end is not None and end[0] <= true <= end[1] for end, true in zip(ends, wanted, strict=True)]
        return [int(number) for number in found]

    assert all(stats.binom.cdf(number, runs, confidence) > 1e-10 for number in covered(confidence))
    assert stats.binom.cdf(covered(confidence / 4)[-1], runs, confidence) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_no_totals_are_too_far(towns: Playground, text: str) -> None:
    """Whatever a statement adds up, also what no table holds, there is an answer that adds up."""
    plan, _ = planned(towns, text, Fraction(1))
    for far in (2**70, -(2**70), 2**62, -5, 2**31):
        for totals in ([[far]] * len(plan.cells), [[far], *[[0]] * (len(plan.cells) - 1)]):
            assert sums_that_differ(rows_of(plan, totals)) == [] or abs(far) > 2**50, far  # doubles hold no more


def test_a_cell_of_many_rows_is_not_cut(tmp_path: Path) -> None:
    """In a table of many cells, one of them may hold almost all there is, though rows are counted in fine grains."""
    columns = f"[columns.place]\nkeys = {list(range(1000))}\n"
    with Playground(contract(columns, limit=2), "who BIGINT, place BIGINT", tmp_path / "ledger.db") as playground:
        (plan,) = playground.dataset.count().by("place").plans(1)
    rows = 50_000_000
    found = plan.answering.answer_all([[rows * plan.request.weights.one], *[[0]] * 999], 0.95, quiet)
    assert found[0][0].value == pytest.approx(rows, rel=1e-3)


@pytest.mark.parametrize("unit", ["who", "row"])
def test_sums_of_fine_steps_are_not_cut(tmp_path: Path, unit: str) -> None:
    """Sums of many units stay what they are, however fine the column is: coarser steps are released instead."""
    columns = "[columns.place]\nkeys = [1, 2]\n[columns.sex]\nkeys = [1, 2, 3]\n[columns.price]\n"
    columns += "bounds = '[0, 10000] step 0.000001'\n"
    types = "who BIGINT, place BIGINT, sex BIGINT, price DECIMAL(18, 6)"
    limit = 120 if unit == "who" else 1
    with Playground(contract(columns, unit=unit, limit=limit), types, tmp_path / "ledger.db") as playground:
        (plan,) = playground.dataset.sum("price").by("place", "sex").plans(100)
        grains = playground.totals(plan, [(1, 1, 1, "9999.123456"), (1, 2, 3, "0.25")])
    assert isinstance(plan.answering, JointTable)
    assert plan.answering.step > Fraction(1, 10**6)
    assert plan.answering.sensitivity == 10_000 * limit
    worth = plan.request.weights.unit / 10**6
    assert grains[0][0] * worth == pytest.approx(Fraction("9999.123456"), abs=float(worth))
    assert grains[5][0] * worth == pytest.approx(Fraction("0.25"), abs=float(worth))
    total = Fraction(2**24) * 10_000
    found = plan.answering.answer_all([[int(total / worth)]] * 6, 0.95, quiet)
    assert [float(cell.value) for (cell,) in found] == pytest.approx([float(total)] * 6, rel=1e-4)  # type: ignore[arg-type]


# What happens when no table is found.


class Broken(RuntimeError):
    """What a solver might raise, with a number that must not be repeated."""


def broken(*given: object, **named: object) -> None:
    """Stand for a solver that fails."""
    raise Broken("the cell holds 731954")


CROSSED = "SELECT COUNT(*) FROM visits GROUP BY CUBE(district, sex)"


@pytest.mark.parametrize("towns", [SETTINGS[0], SETTINGS[3]], indirect=True)
def test_a_cheaper_table_answers_where_the_nearest_is_not_found(
    towns: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the projection breaks or takes too long, a quick one answers, which adds up too."""
    monkeypatch.setattr(solve, "project", broken)
    assert answer_adds_up(towns.dataset.sql(CROSSED).ask(1, analyst="ana"))
    monkeypatch.undo()
    monkeypatch.setattr("inbounds.joint.measured.estimate.project", broken)
    assert answer_adds_up(towns.dataset.sql(CROSSED).ask(1, analyst="ana"))
    monkeypatch.undo()
    monkeypatch.setattr("inbounds.joint.solve.general_projection.MOST_STEPS", 0)
    assert answer_adds_up(towns.dataset.sql(CROSSED).ask(1, analyst="ana"))


@pytest.mark.parametrize("towns", [SETTINGS[0], SETTINGS[3]], indirect=True)
def test_what_was_measured_is_kept_where_no_table_is_found(towns: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing works the charge stands and nothing of the data is told; the request id makes the table of the same
    measurements later, without another look at the data or another charge."""
    query = towns.dataset.sql(f"{CROSSED}".replace("COUNT(*)", "COUNT(*), SUM(size)"))
    ledger = towns.dataset.ledger
    monkeypatch.setattr(solve, "round_cells", broken)
    for _ in range(2):
        with pytest.raises(ProjectionFailed, match="request id, 'one', which costs nothing more") as failure:
            query.ask(5, analyst="ana", request_id="one")
        assert "731954" not in str(failure.value)
        assert failure.value.__cause__ is None
        assert ledger.balance("visits").spent == 5
    monkeypatch.undo()
    assert query.owned("ana") is None
    towns.fill([])
    first, again = (query.ask(5, analyst="ana", request_id="one", confidence=0.9).released for _ in range(2))
    assert first == again
    assert [row[:3] for row in first.rows] == [row[:3] for row in again.rows]
    assert first.rows[-1][2] > 45  # of the 90 rows that were there when it was measured
    for column in (2, 3):
        assert sums_that_differ([(*row[:2], row[column]) for row in first.rows]) == []
    assert ledger.balance("visits").spent == 5
    assert first.confidence == 0.9
