"""Windows over released rows: as a database computes them, and inside their intervals where everything in them is."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pytest

from inbounds.query.answer.apply_view import Viewer
from inbounds.query.answer.released.leaf import KeyRef, MeasureRef
from inbounds.query.answer.released.needed_cells import needed_cells
from inbounds.query.answer.released.window import WINDOWS
from inbounds.query.answer.view import View, ViewColumn
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.question.measure import Count, Measure, Sum
from inbounds.query.sql.shown.view import parse_released
from inbounds.results.answer import Answer

COUNT, TOTAL = Count(), Sum(ColumnRef("x"))
NAMES: dict[str, Node] = {
    "k": KeyRef(ColumnRef("k"), "number"),
    "g": KeyRef(ColumnRef("g"), "text"),
    "c": MeasureRef(COUNT),
    "s": MeasureRef(TOTAL),
}

FRAMES = [
    "", "ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING", "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "RANGE UNBOUNDED PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
]  # fmt: skip
BY_VALUE = [
    "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING",
    "RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
]  # fmt: skip
FRAMED = [
    "SUM(c)", "SUM(s)", "AVG(c)", "AVG(s)", "MIN(s)", "MAX(s)", "MIN(g)", "COUNT(*)", "COUNT(s)", "FIRST_VALUE(s)",
    "LAST_VALUE(s)", "NTH_VALUE(s, 2)", "SUM(c + s)", "COUNT(*) FILTER (WHERE c > 3)", "SUM(c) FILTER (WHERE s > 0)",
    "ARG_MAX(c, c)", "ARG_MIN(s, s)", "ARG_MAX(g, s * 1000 - c)",
]  # fmt: skip
UNFRAMED = [
    "LAG(s)", "LAG(s, 2)", "LAG(c, 3, 0)", "LEAD(s)", "LEAD(c, 2, -1)", "LEAD(s, 0)", "ROW_NUMBER()", "RANK()",
    "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(1)", "NTILE(3)", "NTILE(50)",
]  # fmt: skip


def answer_of(rows: list[tuple[Any, ...]], *, intervals: Any = None, confidences: tuple[float, ...] = ()) -> Answer:
    """Return an answer by two groups, with two measures."""
    noise = ((1.0, 2.0),) * len(rows)
    return Answer(
        ("g", "k", "count", "sum_x"),
        tuple(rows),
        noise,
        Fraction(1),
        "r",
        intervals=() if intervals is None else tuple(intervals),
        confidences=confidences,
        measured=(2, 3),
    )


def viewer_of(answer: Answer) -> Viewer:
    """Return what shows such an answer."""
    return Viewer(answer, (ColumnRef("g"), ColumnRef("k")), (COUNT, TOTAL), {})


def read(text: str) -> Node:
    """Read an expression over such an answer."""
    return parse_released(text, "a column", NAMES, {})


def compute(rows: list[tuple[Any, ...]], text: str, **shown: Any) -> list[Any]:
    """Return what an expression is in each row."""
    view = View((ViewColumn(read(text), "w"),), **shown)
    return [row[-1] for row in viewer_of(answer_of(rows)).apply(view).rows]


def drawn_rows(draw: random.Random, most: int = 12) -> list[tuple[Any, ...]]:
    """Return random rows with ties, missing values, and each key once."""
    keys = draw.sample(list(product("abc", [*range(8), None])), draw.randint(0, most))
    values = [None, -2, 0, 1, 1, 5, 0.5, 12]
    return [(group, key, draw.choice([0, 1, 2, 3, 3, 7]), draw.choice(values)) for group, key in keys]


def in_duckdb(rows: list[tuple[Any, ...]], text: str) -> list[Any]:
    """Return what DuckDB computes; rows that are alike stay in their order, by a column that says it."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i INT, g TEXT, k INT, c INT, s DOUBLE)")
    if rows:
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [(i, *row) for i, row in enumerate(rows)])
    return [row[0] for row in connection.execute(f"SELECT {text} FROM t ORDER BY i").fetchall()]


def same(mine: list[Any], theirs: list[Any]) -> bool:
    """Return whether two columns hold the same."""
    return len(mine) == len(theirs) and all(
        a == b or (a is not None and b is not None and not isinstance(a, str) and a == pytest.approx(float(b)))
        for a, b in zip(mine, theirs, strict=True)
    )


@pytest.mark.parametrize("call", FRAMED)
def test_framed_functions_are_those_of_a_database(call: str) -> None:
    """SUM to NTH_VALUE over every kind of frame are what DuckDB computes from the same rows."""
    draw = random.Random(call)
    for frame in FRAMES:
        for _ in range(4):
            rows = drawn_rows(draw)
            part = draw.choice(["", "PARTITION BY g "])
            order = draw.choice(["k", "k DESC NULLS FIRST", "s DESC", "c, k DESC"])
            # Rows that are alike are in any order in SQL, so DuckDB is told the answer's, unless they go together.
            alone = frame.startswith("ROWS")
            if "VALUE" in call and not alone:
                continue
            unique = f"{order}, i" if alone else order
            mine = compute(rows, f"{call} OVER ({part}ORDER BY {order} {frame})")
            assert same(mine, in_duckdb(rows, f"{call} OVER ({part}ORDER BY {unique} {frame})")), (rows, frame, order)
        rows = drawn_rows(draw)
        if "VALUE" not in call:
            assert same(compute(rows, f"{call} OVER ()"), in_duckdb(rows, f"{call} OVER ()"))


@pytest.mark.parametrize("frame", BY_VALUE)
def test_frames_by_value_are_those_of_a_database(frame: str) -> None:
    """RANGE with a distance holds the rows that it holds in DuckDB, with missing values and in both directions."""
    draw = random.Random(frame)
    for _ in range(40):
        rows, order = drawn_rows(draw), draw.choice(["k", "k DESC", "k NULLS FIRST", "s", "s DESC NULLS FIRST"])
        text = f"{draw.choice(['SUM(c)', 'COUNT(*)', 'MAX(s)'])} OVER (PARTITION BY g ORDER BY {order} {frame})"
        assert same(compute(rows, text), in_duckdb(rows, text)), (rows, text)


@pytest.mark.parametrize("call", UNFRAMED)
def test_other_functions_are_those_of_a_database(call: str) -> None:
    """LAG to NTILE are what DuckDB computes from the same rows."""
    draw = random.Random(call)
    for _ in range(40):
        rows, part = drawn_rows(draw), draw.choice(["", "PARTITION BY g "])
        order = draw.choice(["k", "k DESC NULLS FIRST", "s DESC", "c, k DESC"])
        ties_matter = not call.startswith(("RANK", "DENSE", "PERCENT", "CUME"))
        unique = f"{order}, i" if ties_matter else order
        mine = compute(rows, f"{call} OVER ({part}ORDER BY {order})")
        assert same(mine, in_duckdb(rows, f"{call} OVER ({part}ORDER BY {unique})")), (rows, part, order)


def test_the_first_of_several_is_picked() -> None:
    """Among rows with the same number, the first in the order of the answer is picked; missing ones never are."""
    rows = [("a", 1, 2, 0), ("b", 1, 7, 0), ("c", 1, 7, None), (None, 1, 9, 0)]
    assert compute(rows, "ARG_MAX(g, c) OVER ()") == ["b"] * 4
    assert compute(rows, "ARG_MIN(g, s) OVER ()") == ["a"] * 4
    assert compute(rows[3:], "ARG_MAX(g, c) OVER ()") == [None]
    shown = viewer_of(answer_of(rows, intervals=[((1, 2), (0, 1))] * 4)).apply(
        View((ViewColumn(read("ARG_MAX(g, c) OVER ()"), "w"),))
    )
    assert shown.intervals == ((None,),) * 4
    assert shown.noise == ((None,),) * 4


def test_every_function_is_compared() -> None:
    """No function over rows is left out of the comparison with a database."""
    assert {call.split("(")[0] for call in FRAMED + UNFRAMED} == set(WINDOWS)


def test_windows_come_after_having_and_before_order() -> None:
    """As in SQL, HAVING leaves rows out of windows; QUALIFY, ORDER BY and LIMIT do not."""
    rows = [("a", key, key, 0) for key in range(6)]
    having = parse_released("c > 2", "a condition", NAMES, {}, condition=True)
    qualify = parse_released("RANK() OVER (ORDER BY c) > 1", "a condition", NAMES, {}, condition=True)
    assert isinstance(having, Condition)
    assert isinstance(qualify, Condition)
    assert compute(rows, "SUM(c) OVER ()", having=having, qualify=qualify, limit=1) == [3 + 4 + 5]
    assert compute(rows, "SUM(c) OVER ()", limit=1) == [15]


NUMBERS = [
    "SUM(c) OVER ()", "SUM(c) OVER (ORDER BY k)", "AVG(c) OVER (PARTITION BY g)", "MIN(c) OVER (ORDER BY k)",
    "MAX(c) OVER (ORDER BY k ROWS 1 PRECEDING)", "c - LAG(c) OVER (ORDER BY k)", "LEAD(c, 1, 0) OVER (ORDER BY g, k)",
    "FIRST_VALUE(c) OVER (ORDER BY k DESC)", "100 * c / SUM(c + 1) OVER (PARTITION BY g)",
    "COUNT(*) OVER (PARTITION BY g)",
    "SUM(c - 2 * c) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "c / MAX(c) OVER ()",
    "SUM(SUM(c) OVER (ORDER BY k)) OVER (PARTITION BY g)", "NTH_VALUE(c, 2) OVER (ORDER BY g)",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_intervals_hold_the_truth_if_their_parts_do(text: str) -> None:
    """Whatever the true counts are in their intervals, what is computed from them lies in the shown interval."""
    draw = random.Random(text)
    told = 0
    for _ in range(15):
        keys = draw.sample(list(product("ab", range(4))), 3)
        ends = [tuple(sorted(draw.choices(range(6), k=2))) for _ in keys]
        released = [(group, key, draw.randint(*end), 0) for (group, key), end in zip(keys, ends, strict=True)]
        intervals = [(end, (0, 0)) for end in ends]
        answer = answer_of(released, intervals=intervals, confidences=(1 - 1e-9, 1 - 1e-9))
        shown = viewer_of(answer).apply(View((ViewColumn(read(text), "w"),)))
        for counts in product(*(range(low, high + 1) for low, high in ends)):
            truth = compute([(*key, count, 0) for key, count in zip(keys, counts, strict=True)], text)
            for value, (interval,) in zip(truth, shown.intervals, strict=True):
                if interval is not None and value is not None:
                    told += 1
                    assert interval[0] - 1e-9 <= value <= interval[1] + 1e-9
    assert told > 100


def test_an_interval_that_is_too_narrow_is_found_out() -> None:
    """The brute force of the law above finds a truth outside an interval from which one end is cut."""
    rows = [("a", 1, 1, 0), ("a", 2, 1, 0)]
    answer = answer_of(rows, intervals=[((0, 2), (0, 0))] * 2, confidences=(1 - 1e-9, 1 - 1e-9))
    (interval, *_) = (row[0] for row in viewer_of(answer).apply(View((ViewColumn(read("SUM(c) OVER ()")),))).intervals)
    assert interval == (0, 4)
    assert compute([("a", 1, 2, 0), ("a", 2, 2, 0)], "SUM(c) OVER ()")[0] > interval[1] - 1


@pytest.mark.parametrize(
    "text",
    [
        "RANK() OVER (ORDER BY c)",
        "LAG(c) OVER (ORDER BY c)",
        "SUM(c) OVER (ORDER BY s)",
        "SUM(c) OVER (PARTITION BY s)",
    ],
)
def test_released_numbers_that_choose_rows_leave_no_interval(text: str) -> None:
    """Where noise decides which rows a window looks at, nothing follows for the truth."""
    rows = [("a", 1, 1, 3), ("a", 2, 5, 4)]
    answer = answer_of(rows, intervals=[((0, 9), (0, 9))] * 2, confidences=(1 - 1e-9, 1 - 1e-9))
    shown = viewer_of(answer).apply(View((ViewColumn(read(text), "w"),)))
    assert [row[0] for row in shown.intervals] == [None, None]
    having = parse_released("c > 0", "a condition", NAMES, {}, condition=True)
    assert isinstance(having, Condition)
    shown = viewer_of(answer).apply(View((ViewColumn(read("SUM(c) OVER ()"), "w"),), having=having))
    assert [row[0] for row in shown.intervals] == [None, None]


def test_intervals_of_many_rows_need_a_higher_confidence() -> None:
    """Twelve intervals at 95 % do not hold at once at 95 %, so their sum has none; at the twelfth part it has one."""
    rows = [("a", key, 1, 0) for key in range(12)]
    view = View((ViewColumn(read("SUM(c) OVER ()"), "w"),))
    intervals = [((0, 2), (0, 0))] * 12
    assert viewer_of(answer_of(rows, intervals=intervals)).apply(view).intervals[0] == (None,)
    raised = 1 - 0.04 / 12
    shown = viewer_of(answer_of(rows, intervals=intervals, confidences=(raised, raised))).apply(view)
    assert shown.intervals[0] == ((0, 24),)


@pytest.mark.parametrize("text", NUMBERS)
def test_what_is_needed_is_never_counted_too_low(text: str) -> None:
    """With the confidence that is counted for a window before it is asked, every interval that follows is shown."""
    draw = random.Random(text)
    node = read(text)
    rows = [(*key, draw.randint(1, 5), 0) for key in product("ab", range(4))]
    needed = needed_cells(node, len(rows))
    assert needed is not None
    raised = 1 - (1 - 0.95) / (max(needed.total(), 1) + 1e-9)
    for confidence, is_enough in [(raised, True), (0.0, needed.total() == 0 or "LEAD" in text)]:
        intervals = [((1, 2), (0, 0))] * len(rows)
        answer = answer_of(rows, intervals=intervals, confidences=(confidence, confidence))
        shown = viewer_of(answer).apply(View((ViewColumn(node, "w"),)))
        assert any(row[0] is not None for row in shown.intervals) == is_enough


def test_noise_is_that_of_the_row_which_is_shown() -> None:
    """LAG has the expected noise of the row before; a sum over rows has none that is right."""
    answer = answer_of([("a", 1, 1, 0), ("a", 2, 5, 0)])
    texts = ["LAG(c) OVER (ORDER BY k)", "SUM(c) OVER ()", "LAG(2 * s) OVER (ORDER BY k)"]
    shown = viewer_of(answer).apply(View(tuple(ViewColumn(read(text), f"w{i}") for i, text in enumerate(texts))))
    assert shown.noise == ((None, None, None), (1.0, None, 4.0))


@pytest.mark.parametrize(
    "text", [f"{call} OVER (PARTITION BY g ORDER BY k DESC NULLS FIRST)" for call in FRAMED + UNFRAMED]
)
def test_a_window_reads_as_itself(text: str) -> None:
    """The text of a window is SQL that reads as the same window."""
    node = read(text)
    names: dict[str, Node] = {**NAMES, "x": MeasureRef(TOTAL)}
    written = str(node).replace("COUNT(*)", "c").replace("SUM(x)", "s")
    if "COUNT(*)" not in text:
        assert parse_released(written, "a column", names, {}) == node


def test_many_rows_take_little_time() -> None:
    """Running sums, least values and shares of 20,000 rows are computed without looking at every pair of rows."""
    rows = [("a", key, key % 7, key % 11) for key in range(20_000)]
    sums = compute(rows, "SUM(c) OVER (ORDER BY k)")
    assert sums[-1] == sum(row[2] for row in rows)
    assert set(compute(rows, "MIN(s) OVER (ORDER BY k ROWS BETWEEN 5000 PRECEDING AND CURRENT ROW)")) == {0}


def test_measures_of_windows_are_released() -> None:
    """A measure that only the order of a window names is among those that are asked for."""
    measures: list[Measure] = [COUNT]
    assert [
        part.measure for part in read("RANK() OVER (ORDER BY c)").walk() if isinstance(part, MeasureRef)
    ] == measures
