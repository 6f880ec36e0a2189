"""Where it is public how much is over the row limit, intervals hold the truth, and say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.query import Answer
from inbounds.query.methods.contribution_bound import NOT_IN_NOISE
from inbounds.query.methods.cut_rows import CutRows
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.results.cover import CAVEAT, CUT_CAVEAT, Cover
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "b", "c"]
[columns.kind]
keys = ["x", "y"]
[columns.size]
bounds = "[-20, 100] step 1"
"""
TYPES = "who BIGINT, place VARCHAR, kind VARCHAR, size BIGINT"
LIMIT = 3
SURE, NEAR = 0.999999999, 0.05
"""What lies near an interval is held by one that misses far less often than once in 10^9 times."""

Row = tuple[int, str, str, int]

ROWS: list[Row] = [
    (who, "abc"[number % 3], "xy"[number // 3 % 2], 80 - number)
    for who in range(800)
    for number in range(12 if who < 200 else 2)
]
"""Of 800 people, 200 have twelve rows each, everywhere; the others have two."""

FACTS = f"[known.over_limit]\nlimit = {LIMIT}\nunits = 200\nrows = 1800\n"
RIDER = "95 % interval (with cut rows)"


def text_of(facts: str) -> str:
    """Return a contract with these facts."""
    return contract(COLUMNS + facts, limit=LIMIT, budget="total = 100000")


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Playground]:
    """Rows of which a limit cuts some, and a contract that says how many."""
    with Playground(text_of(FACTS), TYPES, tmp_path / "known.db") as playground:
        playground.fill(ROWS)
        yield playground


@pytest.fixture
def unknown(tmp_path: Path) -> Iterator[Playground]:
    """The same rows, and a contract that says nothing."""
    with Playground(text_of(""), TYPES, tmp_path / "unknown.db") as playground:
        playground.fill(ROWS)
        yield playground


def misses(playground: Playground, sql: str) -> int:
    """Return how many intervals miss the truth, at little noise and with intervals that hardly ever miss by chance."""
    answer = playground.dataset.sql(sql).ask(20, analyst="ana", confidence=SURE)
    keys = [tuple(row[place] for place in answer.key_places) for row in answer.rows]
    truths = {tuple(row[: len(keys[0])]): row[len(keys[0]) :] for row in playground.plainly(sql)}
    pairs = [
        (ends, true)
        for key, row in zip(keys, answer.intervals, strict=True)
        for ends, true in zip(row, truths.get(key, (0,) * len(row)), strict=True)
    ]
    return sum(ends is None or not ends[0] - NEAR <= true <= ends[1] + NEAR for ends, true in pairs)


COVERED = [
    "SELECT COUNT(*) FROM visits",
    "SELECT place, COUNT(*) FROM visits GROUP BY place",
    "SELECT place, kind, COUNT(*) FROM visits GROUP BY ROLLUP(place, kind)",
    "SELECT COUNT(*) FROM visits WHERE place = 'a' OR size > 75",
    "SELECT SUM(size) FROM visits",
    "SELECT place, SUM(size) FROM visits GROUP BY place",
    "SELECT COUNT(size), SUM(size) FROM visits",
    "SELECT place, kind, COUNT(DISTINCT who) FROM visits GROUP BY place, kind",
    "SELECT COUNT(*) * 2 AS double FROM visits",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", COVERED)
def test_intervals_hold_the_truth(known: Playground, unknown: Playground, sql: str) -> None:
    """With the facts every interval holds the truth, and says that it includes what is cut; without them some miss."""
    assert misses(known, sql) == 0
    assert misses(unknown, sql) > 0
    answer = known.dataset.sql(sql).ask(1, analyst="ana")
    assert set(answer.interval_covers) == {Cover.WITH_CUT_ROWS}
    assert set(unknown.dataset.sql(sql).ask(1, analyst="ana").interval_covers) == {Cover.NOISE}


@pytest.mark.slow
def test_too_small_a_fact_is_found_out(tmp_path: Path) -> None:
    """Negative control: with half of the rows that are cut, the interval misses the truth."""
    with Playground(text_of(FACTS.replace("1800", "900")), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill(ROWS)
        assert misses(playground, "SELECT COUNT(*) FROM visits") == 1


@pytest.mark.slow
def test_it_is_said_wherever_the_interval_stands(known: Playground) -> None:
    """Tables, columns, JSON and notes say that the interval includes what is cut; nothing says that it does not."""
    answer = known.dataset.sql("SELECT place, COUNT(*) FROM visits GROUP BY place").ask(1, analyst="ana")
    assert answer.interval_names == (RIDER,)
    assert answer.caveat == CUT_CAVEAT
    assert f"{RIDER}</th>" in answer._repr_html_()
    assert {"low_with_cut_rows", "high_with_cut_rows"} <= set(answer.by_column())
    text = " ".join(str(answer).split())
    assert "(with cut rows)" in text
    assert CUT_CAVEAT in text
    assert "At most 1,800 rows of 200 units are over a limit of 3: that is public" in text
    assert NOT_IN_NOISE not in text
    data = write_answer(answer)
    assert (data["intervals_with_cut_rows"], data["intervals_noise_only"]) == ([True], [False])
    assert read_answer(data).interval_covers == (Cover.WITH_CUT_ROWS,)


@pytest.mark.slow
def test_what_has_no_such_interval_is_about_the_noise(known: Playground, unknown: Playground) -> None:
    """Means, keys, units with totals and tables made of tables are as they are without the facts."""
    for sql in (
        "SELECT AVG(size) FROM visits",
        "SELECT COUNT(DISTINCT place) FROM visits WHERE size > 0 GROUP BY kind",
        "SELECT place, COUNT(DISTINCT who) FROM visits GROUP BY ROLLUP(place)",
        "SELECT COUNT(*), VARIANCE(size) FROM visits",
        "SELECT AVG(n) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who)",
    ):
        covers = [one.dataset.sql(sql).ask(1, analyst="ana").interval_covers for one in (known, unknown)]
        kept = tuple(cover if cover is not Cover.WITH_CUT_ROWS else Cover.NOISE for cover in covers[0])
        assert kept == covers[1]
    answer = known.dataset.sql("SELECT COUNT(*), AVG(size), COUNT(DISTINCT who) FROM visits").ask(3, analyst="ana")
    assert answer.interval_covers == (Cover.WITH_CUT_ROWS, Cover.NOISE, Cover.TRUTH)
    assert answer.caveat == f"{CAVEAT} {CUT_CAVEAT}"
    ratio = known.dataset.sql("SELECT COUNT(*) / COUNT(DISTINCT who) AS each FROM visits").ask(3, analyst="ana")
    assert ratio.interval_covers == (Cover.WITH_CUT_ROWS,)


@pytest.mark.slow
def test_answers_that_are_kept_are_read_with_the_facts(known: Playground) -> None:
    """What is asked again, follows from it, or stands beside others has the same interval, made wider once."""
    whole = "SELECT place, COUNT(*) FROM visits GROUP BY ROLLUP(place)"

    def ask(sql: str, request: str) -> Answer:
        return known.dataset.sql(sql).ask(1, analyst="ana", request_id=request)

    first, again = ask(whole, "one"), ask(whole, "one")
    assert first.intervals == again.intervals
    owned = known.dataset.sql("SELECT COUNT(*) FROM visits").owned("ana")
    assert owned is not None
    assert owned.intervals == first.intervals[-1:]
    assert owned.interval_covers == (Cover.WITH_CUT_ROWS,)
    both = (
        "SELECT COUNT(*) AS n FROM visits WHERE place = 'a' UNION ALL SELECT COUNT(*) AS n FROM visits WHERE size > 0"
    )
    united = ask(both, "both")
    assert united.interval_covers == (Cover.WITH_CUT_ROWS,)
    least, greatest = ((row[0], row[0] + 1800) for row in united.rows)
    assert all(ends[1] - ends[0] < 1800 + 100 for (ends,) in united.intervals if ends is not None)
    assert all(
        ends is not None and ends[0] <= low <= high - 1600 <= ends[1]
        for (ends,), (low, high) in zip(united.intervals, (least, greatest), strict=True)
    )


def test_an_interval_is_made_wider_outwards() -> None:
    """Whole numbers stay whole, doubles go outwards, an end that nothing is added to stays, and so does infinity."""
    cut = CutRows(Fraction(-1, 3), Fraction(21, 10))
    assert cut.widen((4, 7)) == (3, 10)
    low, high = cut.widen((4.0, 7.0)) or (0.0, 0.0)
    assert Fraction(low) < Fraction(11, 3) < Fraction(low) + Fraction(1, 10**9)
    assert Fraction(high) > Fraction(91, 10) > Fraction(high) - Fraction(1, 10**9)
    assert CutRows(Fraction(0), Fraction(1)).widen((0.25, float("inf"))) == (0.25, float("inf"))
    assert cut.widen(None) is None


def made(random: Random) -> list[Row]:
    """Return a few people with many rows, and some with few."""
    units = random.randrange(1, 8)
    places = random.choice(["a", "ab", "abc"])
    return [
        (who, random.choice(places), random.choice("xy"), random.choice([-20, 0, 100, random.randrange(-20, 101)]))
        for who in range(units)
        for _ in range(random.choice([1, 2, 3, 4, 5, 40]))
    ]


def test_what_is_cut_is_never_more(tmp_path: Path) -> None:
    """Over random tables what a statement adds up lacks at most what the facts say, and all of it in some of them."""
    random, tightest = Random(7), Fraction(0)
    asked = ["COUNT(*)", "SUM(size)"]
    groups = ["", " GROUP BY place", " GROUP BY place, kind"]
    tables = [made(random) for _ in range(60)]
    facts = []
    for rows in tables:
        each = Counter(row[0] for row in rows)
        facts.append((sum(n > LIMIT for n in each.values()), sum(max(0, n - LIMIT) for n in each.values())))
    for measure in asked:
        for group in groups:
            for rows, (units, over) in zip(tables, facts, strict=True):
                fact = f"[known.over_limit]\nlimit = {LIMIT}\nunits = {units}\nrows = {over}\n"
                with Playground(text_of(fact), TYPES, tmp_path / "ledger.db") as playground:
                    query = playground.dataset.sql(f"SELECT {measure} FROM visits{group}")
                    (plan,) = query.plans(1)
                    totals = playground.totals(plan, rows)
                    cut = CutRows.of(plan.question, 0)
                assert cut is not None
                unit = plan.request.weights.unit
                for cell, (total,) in zip(plan.cells, totals, strict=True):
                    true = truth(rows, plan.question.labels, cell, measure)
                    lacking = true - total * unit
                    assert cut.least <= lacking <= cut.greatest
                    if cut.greatest and lacking:
                        tightest = max(tightest, lacking / cut.greatest)
    assert tightest > Fraction(999, 1000)


def truth(rows: list[Row], labels: list[list[Any]], cell: tuple[int, ...], measure: str) -> int:
    """Return the true count or sum of a cell."""
    keys = tuple(names[code] for names, code in zip(labels, cell, strict=True))
    inside = [row for row in rows if row[1 : 1 + len(keys)] == keys]
    return len(inside) if measure == "COUNT(*)" else sum(row[3] for row in inside)
