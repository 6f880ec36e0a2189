"""Columns made of columns: no row leaves their bounds, no number on the way overflows, and no unit changes too much."""

from __future__ import annotations

import math
import random
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import InvalidContract, InvalidQuestion
from inbounds.query import Dataset, Query, case, column, expression
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.derived_column import Derived, DerivedNumbers
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, distance, totals_of

CONTRACT = """
[dataset]
name = "t"
unit = "UNIT"
LIMIT
[columns]
a.bounds = "[-3, 7] step 2 offset 1"
b.bounds = "[0, 5] step 0.5"
c.bounds = "[-1.25, 0.75] step 0.25"
x.bounds = "[0.1, 3]"
y.bounds = "[-100, 4000]"
d.bounds = "[2025-11-20, 2026-03-03]"
e.bounds = "[1999-12-25, 2004-03-05]"
k.keys = ["north", "South", "NORTH"]
n.keys = [1, 2]
[budget]
total = 1
"""
TYPES = {
    "who": "bigint", "a": "bigint", "b": "float8", "c": "numeric", "x": "float8", "y": "float8", "d": "date",
    "e": "timestamp", "k": "text", "n": "bigint",
}  # fmt: skip
ROWS = CONTRACT.replace("UNIT", "row").replace("LIMIT", "")
UNITS = CONTRACT.replace("UNIT", "who").replace("LIMIT", "max_rows_per_unit = 2")
DATASET = Dataset.parse(ROWS)


def random_rows(seed: int, count: int = 60) -> list[dict[str, Any]]:
    """Return rows with everything odd in them; always the same ones."""
    random_ = random.Random(seed)
    far = [date(1, 1, 1), date(9999, 12, 31)]

    def day(first: date, days: int) -> date:
        return random_.choice([*far, *(first + timedelta(random_.randrange(days)) for _ in range(6))])

    def row() -> dict[str, Any]:
        found = {
            "who": random_.randrange(9),
            "a": random_.choice([-9, -3, -2, -1, 0, 1, 3, 5, 7, 100]),
            "b": random_.choice([float("inf"), float("nan"), -1.0, 0.0, 0.5, 2.3, 4.5, 5.0]),
            "c": Decimal(random_.choice(["-1.25", "-0.5", "0", "0.25", "0.75"])),
            "x": random_.choice([0.1, 0.3, 1.0, 2.9999, 3.0, -5.0]),
            "y": random_.choice([-100.0, -0.5, 0.0, 17.25, 4000.0]),
            "d": day(date(2025, 11, 20), 110),
            "e": datetime.combine(day(date(1999, 12, 25), 1600), time(random_.randrange(24))),
            "k": random_.choice(["north", "South", "NORTH", "east"]),
            "n": random_.choice([1, 2, 3]),
        }
        hidden = [name for name in found if name != "who" and random_.random() < 0.1]
        return {**found, **dict.fromkeys(hidden)}

    return [row() for _ in range(count)]


# Random expressions.

CONSTANTS = st.sampled_from([-2, -1, Fraction(1, 2), 1, 2, 3, 10, Fraction(1, 3)])


def conditions(numbers: st.SearchStrategy[Expression]) -> st.SearchStrategy[Condition]:
    """Return conditions on numbers and keys."""
    against = st.builds(lambda this, constant: this > constant, numbers, CONSTANTS)
    keys = st.sampled_from([column("k") == "north", column("k").like("N%"), column("n").is_missing()])
    return st.one_of(against, keys, against.map(lambda one: ~one))


def wider(numbers: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Return expressions made of expressions."""
    pairs = st.tuples(numbers, numbers)
    return st.one_of(
        pairs.map(lambda ab: ab[0] + ab[1]),
        pairs.map(lambda ab: ab[0] - ab[1]),
        pairs.map(lambda ab: ab[0] * ab[1]),
        st.tuples(numbers, CONSTANTS).map(lambda ab: ab[0] / ab[1]),
        st.tuples(numbers, CONSTANTS).map(lambda ab: ab[0] // ab[1]),
        st.tuples(numbers, CONSTANTS).map(lambda ab: ab[0] * ab[1]),
        numbers.map(abs),
        st.tuples(numbers, st.integers(-1, 2)).map(lambda ab: round(ab[0], ab[1])),
        pairs.map(lambda ab: ab[0].at_least(ab[1])),
        pairs.map(lambda ab: ab[0].at_most(ab[1])),
        st.tuples(numbers, CONSTANTS).map(lambda ab: ab[0].at_most(ab[1])),
        pairs.map(lambda ab: ab[0].or_else(ab[1])),
        st.tuples(conditions(numbers), pairs).map(lambda of: case((of[0], of[1][0]), otherwise=of[1][1])),
        st.tuples(conditions(numbers), pairs).map(lambda of: case((of[0], of[1][0]))),
    )


DAYS: st.SearchStrategy[Expression] = st.sampled_from(["d", "e"]).map(column)
MOVED = st.one_of(
    DAYS,
    st.tuples(DAYS, st.integers(-400, 400)).map(lambda of: of[0] + of[1]),
    st.tuples(DAYS, st.sampled_from(["year", "quarter", "month", "week"])).map(lambda of: of[0].truncated(of[1])),
    st.tuples(DAYS, DAYS).map(lambda of: of[0].at_most(of[1])),
)
PARTS = st.sampled_from(["year", "quarter", "month", "week", "weekday", "day"])
OF_DAYS = st.one_of(
    st.tuples(MOVED, PARTS).map(lambda of: of[0].part(of[1])), st.tuples(MOVED, MOVED).map(lambda of: of[0] - of[1])
)
STEPPED = st.sampled_from(["a", "b", "c"]).map(column)
EXACT = st.recursive(st.one_of(STEPPED, OF_DAYS), wider, max_leaves=6)
ROUGH = st.recursive(st.sampled_from(["a", "b", "x", "y"]).map(column), wider, max_leaves=5)


def made(asked: Expression) -> Derived | None:
    """Return the column that an expression makes; None if it is refused, or no expression but a column."""
    try:
        found = DATASET.table.column(asked)
    except InvalidQuestion:
        return None
    return found if isinstance(found, Derived) else None


class Machine:
    """Computes whole numbers as a statement does, and sees to it that they are where they say."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row
        self.oracle = oracle._Oracle(DATASET.count().question, frozenset({"a", "n"}))

    def code(self, number: w.Whole) -> int | None:
        """Return a number, None if it is missing."""
        found = self._code(number)
        assert found is None or number.low <= found <= number.high, number
        assert found is None or abs(found) < 2**62
        return found

    def _code(self, number: w.Whole) -> int | None:  # noqa: PLR0911  one for each kind
        if isinstance(number, w.Code):
            place = self.oracle.index(number.column.node, self.row)
            return number.codes[place] if number.codes and place is not None else place
        if isinstance(number, w.Chosen):
            taken = next((i for i, test in enumerate(number.tests) if self.truth(test) is True), len(number.tests))
            return self.code(number.parts[taken]) if taken < len(number.parts) else None
        given = [self.code(part) for part in number.parts]
        if isinstance(number, w.FirstOf):
            return next((one for one in given if one is not None), None)
        there = [one for one in given if one is not None]
        if len(there) < len(given):
            return None
        if isinstance(number, w.Picked):
            return number.numbers[there[0]]
        if isinstance(number, w.Total):
            return number.plus + sum(a * b for a, b in zip(number.factors, there, strict=True))
        if isinstance(number, w.DayPart):
            return self.part(number, date.fromordinal(there[0]))
        if isinstance(number, w.Extreme):
            return max(there) if number.greatest else min(there)
        if isinstance(number, w.Quotient):
            assert there[0] >= 0
            return there[0] // number.by
        if isinstance(number, w.Product):
            return there[0] * there[1]
        return abs(there[0]) if isinstance(number, w.Size) else number.low

    def part(self, number: w.DayPart, day: date) -> int:
        """Return a part of a day."""
        given = ("DATE_TRUNC", number.name, day) if number.is_start else (number.name, day)
        return int(oracle.number(oracle.COMPUTED[given[0]](*given[1:])))

    def truth(self, test: w.Truth) -> bool | None:
        """Return whether a test is true, false, or neither."""
        if isinstance(test, w.Against):
            found = self.code(test.whole)
            if not test.numbers or found is None:
                return found is None if not test.numbers else None
            return any(oracle.COMPARED[test.operator](found, one) for one in test.numbers)
        truths = [self.truth(part) for part in test.parts]
        if isinstance(test, w.Opposite):
            return None if truths[0] is None else not truths[0]
        decides = isinstance(test, w.Either)
        return decides if decides in truths else None if None in truths else not decides


TABLE = random_rows(1)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(EXACT)
def test_no_row_leaves_the_bounds_of_an_expression(asked: Expression) -> None:
    """Whatever a row holds, the exact value of an expression is in its bounds, and is the one that its steps tell."""
    found = made(asked)
    if not isinstance(found, DerivedNumbers):
        return
    for row in TABLE:
        value = oracle.value(DATASET.count().question, found.node, row)
        code = Machine(row).code(found.whole)
        assert (code is None) == (value is None), str(asked)
        if code is not None:
            assert 0 <= code <= found.steps
            assert found.value(code) == oracle.number(value), str(asked)
            assert (value if found.is_dates else oracle.number(value)) in found.bounds, str(asked)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(ROUGH)
def test_without_a_step_values_are_hardly_moved(asked: Expression) -> None:
    """Expressions of columns without a step stay in their bounds, and are off by less than a millionth of the scale.

    That is the greatest of whatever they are made of: LEAST may cut off what was large before.  What is rounded (FLOOR,
    ROUND, a choice by a condition) can jump there, and is left out.
    """
    found = made(asked)
    if not isinstance(found, DerivedNumbers):
        return
    jumps = any(word in str(asked) for word in ("FLOOR", "ROUND", "CASE"))
    parts = [part for part in asked.node.walk() if not isinstance(part, Condition)]
    within = [one for part in parts if isinstance(one := made(Expression(part)), DerivedNumbers)]
    scale = max(Fraction(4000), *(abs(end) for one in within for end in (one.low, one.high)))
    for row in TABLE:
        value = oracle.value(DATASET.count().question, found.node, row)
        code = Machine(row).code(found.whole)
        assert jumps or (code is None) == (value is None), str(asked)
        if code is not None:
            assert 0 <= code <= found.steps
            assert found.low <= found.value(code) <= found.high
            assert jumps or abs(found.value(code) - value) <= scale / 10**6, str(asked)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("a + 1", "[-2, 8] step 2"),
        ("-a", "[-7, 3] step 2 offset 1"),
        ("a * 3", "[-9, 21] step 6 offset 3"),
        ("a / 4", "[-0.75, 1.75] step 0.5 offset 0.25"),
        ("a + b", "[-3, 12] step 0.5"),
        ("a - a", "[0, 0] step 1"),
        ("2 * a - a", "[-3, 7] step 2 offset 1"),
        ("a * b", "[-15, 35] step 0.5"),
        ("a * a", "[1, 49] step 2 offset 1"),
        ("(a + 1) * (a + 1)", "[0, 64] step 4"),
        ("ABS(a)", "[1, 7] step 2 offset 1"),
        ("ABS(c)", "[0, 1.25] step 0.25"),
        ("FLOOR(b)", "[0, 5] step 1"),
        ("b // 2 * 2", "[0, 4] step 2"),
        ("a // 2", "[-2, 3] step 1"),
        ("ROUND(c)", "[-1, 1] step 1"),
        ("ROUND(b, -1)", "[0, 10] step 10"),
        ("CEIL(c)", "[-1, 1] step 1"),
        ("LEAST(a, 4)", "[-3, 4] step 1"),
        ("LEAST(a, 100)", "[-3, 7] step 2 offset 1"),
        ("GREATEST(a, 0)", "[0, 7] step 1"),
        ("GREATEST(a, b)", "[0, 7] step 0.5"),
        ("COALESCE(a, 0)", "[-3, 7] step 1"),
        ("CASE WHEN a > 1 THEN 10 ELSE 1 END", "[1, 10] step 9 offset 1"),
        ("CASE WHEN a > 1 THEN b END", "[0, 5] step 0.5"),
        ("MONTH(d)", "[1, 3] | [11, 12] step 1"),
        ("MONTH(e)", "[1, 12] step 1"),
        ("YEAR(d)", "[2025, 2026] step 1"),
        ("QUARTER(d)", "[1, 1] | [4, 4] step 1"),
        ("WEEKDAY(e)", "[0, 6] step 1"),
        ("WEEK(e)", "[1, 52] step 1"),
        ("WEEK(d)", "[1, 10] | [47, 52] step 1"),
        ("DAY(d)", "[1, 31] step 1"),
        ("DATE_TRUNC('quarter', d)", "[2025-10-01, 2025-10-01] | [2026-01-01, 2026-01-01]"),
        ("DATE_TRUNC('year', e)", "[1999-01-01, 1999-01-01] | [2000-01-01, 2000-01-01] | [2001-01-01, 2001-01-01] "
         "| [2002-01-01, 2002-01-01] | [2003-01-01, 2003-01-01] | [2004-01-01, 2004-01-01]"),
        ("d - e", "[7930, 9565] step 1"),
        ("d + 7", "[2025-11-27, 2026-03-10]"),
        ("d - DATE '2025-11-20'", "[0, 103] step 1"),
        ("LEAST(d, DATE '2026-01-01')", "[2025-11-20, 2026-01-01]"),
        ("x * 2", "[0.1, 3]"),
    ],
)  # fmt: skip
def test_bounds_follow_an_expression(text: str, bounds: str) -> None:
    """The bounds of an expression are the least that interval arithmetic on lattices allows."""
    found = DATASET.table.column(text)
    assert isinstance(found, Numbers)
    if text == "x * 2":
        assert found.bounds.step is None
        assert float(found.low) == pytest.approx(0.2)
        assert float(found.high) == pytest.approx(6)
    else:
        assert repr(found.bounds) == bounds


@pytest.mark.parametrize("text", ["a * b - c", "ABS(a) + b", "FLOOR(b / 2) * 3 - a", "LEAST(a, b) * 2", "ROUND(a * c)"])
def test_ends_are_reached_where_every_column_occurs_once(text: str) -> None:
    """Where each column stands once, some row has the least value and some row the greatest."""
    found = DATASET.table.column(text)
    assert isinstance(found, Numbers)
    grid = [
        {"a": a, "b": b / 2, "c": c / 4} for a in range(-3, 8, 2) for b in range(11) for c in range(-5, 4)
    ]  # fmt: skip
    values = [oracle.value(DATASET.count().question, found.node, row) for row in grid]
    assert (min(values), max(values)) == (found.low, found.high)


def test_keys_can_be_made() -> None:
    """Texts that a CASE gives, and keys in capitals, are public keys."""
    text = "CASE WHEN a < 0 THEN 'few' WHEN a < 5 THEN 'some' ELSE 'many' END"
    expected = {"UPPER(k)": ("NORTH", "SOUTH"), text: ("few", "some", "many")}
    expected["COALESCE(k, 'none')"] = ("north", "South", "NORTH", "none")
    expected["LOWER(UPPER(k))"] = ("north", "south")
    for asked, keys in expected.items():
        found = DATASET.table.column(asked)
        assert isinstance(found, Keys)
        assert found.keys == keys


# Statements.

QUESTIONS = [
    "SELECT SUM(a * b) FROM t",
    "SELECT AVG(ABS(c) - b / 4) FROM t",
    "SELECT AVG(x * y) FROM t WHERE y > a",
    "SELECT MONTH(d), COUNT(*) FROM t GROUP BY MONTH(d)",
    "SELECT WEEK(e), COUNT(*) FROM t GROUP BY WEEK(e)",
    "SELECT DATE_TRUNC('month', e), SUM(a) FROM t GROUP BY DATE_TRUNC('month', e)",
    "SELECT DATE_TRUNC('quarter', d + 40), COUNT(*) FROM t GROUP BY DATE_TRUNC('quarter', d + 40)",
    "SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC('week', d), YEAR(d)",
    "SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC('year', e), QUARTER(e)",
    "SELECT AVG(DAY(LEAST(d, DATE '2026-01-15'))) FROM t WHERE WEEKDAY(d) < 5",
    "SELECT FLOOR(b / 2) * 2, AVG(a) FROM t GROUP BY FLOOR(b / 2) * 2",
    "SELECT SUM(ROUND(c * a, 1)) FROM t WHERE NOT (a > b OR d - DATE '2026-01-01' < 0)",
    "SELECT SUM(COALESCE(a, 2) * COALESCE(b, c, 0)) FROM t",
    "SELECT AVG(CASE WHEN a > b THEN c WHEN k LIKE 'n%' THEN -1 END) FROM t",
    "SELECT UPPER(k), COUNT(*) FROM t WHERE k ILIKE 'N%' GROUP BY UPPER(k)",
    "SELECT LOWER(UPPER(k)), COUNT(*) FROM t GROUP BY LOWER(UPPER(k))",
    "SELECT COUNT(*) FROM t GROUP BY CASE WHEN a < 0 THEN 'few' WHEN a < 5 THEN 'some' END",
    "SELECT COUNT(*) FROM t GROUP BY COALESCE(LOWER(k), 'none'), n",
    "SELECT MEDIAN(d - e) FROM t",
    "SELECT COUNT(*) FROM t WHERE a * b IS NULL OR LEAST(a, b) IN (1, 2) OR MONTH(e) BETWEEN 3 AND a",
    "SELECT PROPORTION(GREATEST(a, b, 1) = b) FROM t GROUP BY n",
]


@pytest.mark.slow
@pytest.mark.parametrize("contract", [ROWS, UNITS], ids=["rows", "units"])
def test_totals_are_those_of_plain_python(files: InParquet, contract: str) -> None:
    """A statement about columns made of columns finds the totals that plain Python computes from the rows."""
    rows = random_rows(7)
    dataset = files.dataset(rows, TYPES, contract)
    for text in QUESTIONS:
        query = dataset.sql(text)
        assert totals_of(query) == oracle.totals(query.question, rows, {"a", "n"}), text


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(asked=st.lists(EXACT, min_size=1, max_size=4), seed=st.integers(0, 10**6))
def test_no_unit_changes_more_than_the_sensitivity(files: InParquet, asked: list[Expression], seed: int) -> None:
    """Without one of the units, all totals of questions about random expressions change by at most the sensitivity."""
    rows = random_rows(seed, 25)
    less = [row for row in rows if row["who"] != rows[0]["who"]]
    more_of, less_of = files.dataset(rows, TYPES, UNITS), files.dataset(less, TYPES, UNITS)
    kept = [one for one in asked if made(one) is not None]
    for name in kept:
        try:
            queries = [[dataset.mean(name), dataset.sum(name).by("k")] for dataset in (more_of, less_of)]
            found = [[totals_of(query) for query in some] for some in queries]
        except InvalidQuestion:
            continue
        for query, more, fewer in zip(queries[0], *found, strict=True):
            assert distance(more, fewer) <= oracle.sensitivity(query.question), name
            assert more == oracle.totals(query.question, rows, {"a", "n"}), name


# Two ways of asking, and refusals.

a, b, d, k = column("a"), column("b"), column("d"), column("k")
SAME: list[tuple[str, Query]] = [
    ("SELECT AVG(a * b) FROM t", DATASET.mean(a * b)),
    ("SELECT AVG(a * b) FROM t", DATASET.mean("a*b")),
    ("SELECT SUM(FLOOR(a / 2) * 2) FROM t", DATASET.sum(a // 2 * 2)),
    ("SELECT SUM(a // 2 * 2) FROM t", DATASET.sum(expression("FLOOR(a/2)*2"))),
    ("SELECT SUM(ABS(a) - -1) FROM t", DATASET.sum(abs(a) - -1)),
    ("SELECT SUM(1 - (a - b)) FROM t", DATASET.sum(1 - (a - b))),
    ("SELECT SUM(a / 3 * (1.0 / 3)) FROM t", DATASET.sum(a / 3 * Fraction(1, 3))),
    ("SELECT MONTH(d), COUNT(*) FROM t GROUP BY MONTH(d)", DATASET.count().by(d.part("month"))),
    ("SELECT EXTRACT(month FROM d), COUNT(*) FROM t GROUP BY EXTRACT(month FROM d)", DATASET.count().by("MONTH(d)")),
    ("SELECT DATE_PART('month', d), COUNT(*) FROM t GROUP BY DATE_PART('month', d)", DATASET.count().by("MONTH(d)")),
    (
        "SELECT DATE_TRUNC('MONTH', d), COUNT(*) FROM t GROUP BY DATE_TRUNC('MONTH', d)",
        DATASET.count().by(d.truncated("month")),
    ),
    ("SELECT COUNT(*) FROM t WHERE a > b", DATASET.count().where(a > b)),
    ("SELECT COUNT(*) FROM t WHERE a - b > 0", DATASET.count().where("a > b")),
    ("SELECT COUNT(*) FROM t WHERE 5 <= a + 1", DATASET.count().where(a + 1 >= 5)),
    ("SELECT COUNT(*) FROM t WHERE k LIKE '%or%'", DATASET.count().where(k.is_in(["north"]))),
    ("SELECT COUNT(*) FROM t WHERE k NOT LIKE '%OR%'", DATASET.count().where(~k.is_in(["NORTH"]))),
    ("SELECT COUNT(*) FROM t WHERE k ILIKE 'north'", DATASET.count().where(k.like("north", any_case=True))),
    ("SELECT COUNT(*) FROM t WHERE k LIKE 'z%'", DATASET.count().where(~k.is_in(["north", "South", "NORTH"]))),
    ("SELECT COUNT(*) FROM t WHERE UPPER(k) = 'NORTH'", DATASET.count().where(k.upper() == "NORTH")),
    ("SELECT AVG(CASE WHEN a > 1 THEN 1 ELSE 0 END) FROM t", DATASET.mean(case((a > 1, 1), otherwise=0))),
    ("SELECT AVG(CASE WHEN a > 1 THEN 1 ELSE 0 END) FROM t", DATASET.proportion("a > 1")),
    ("SELECT SUM(CASE WHEN a > 1 THEN b END) FROM t", DATASET.sum(b).where(a > 1)),
    ("SELECT SUM(CASE WHEN a > 1 THEN b ELSE 1 END) FROM t", DATASET.sum(case((a > 1, b), otherwise=1))),
    ("SELECT SUM(ROUND(b, 1)) FROM t", DATASET.sum(round(b, 1))),
    ("SELECT SUM(CEIL(b)) FROM t", DATASET.sum(math.ceil(b))),
    ("SELECT HISTOGRAM(a * b, 5) FROM t", DATASET.histogram("a * b", 5)),
    ("SELECT YEAR(d), MONTH(d), COUNT(*) FROM t GROUP BY ROLLUP (YEAR(d), MONTH(d))",
     DATASET.count().groupings(("YEAR(d)", "MONTH(d)"), (d.part("year"),), ())),
]  # fmt: skip


@pytest.mark.parametrize(("text", "query"), SAME)
def test_both_ways_of_asking_are_one_question(text: str, query: Query) -> None:
    """An expression in SQL, in Python and as text is the same question, and its text asks it again."""
    assert str(DATASET.sql(text)) == str(query)
    assert str(DATASET.sql(str(query))) == str(query)


REFUSED = [
    (
        "SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC('hour', d)",
        "DATE_TRUNC to the hour takes a time, but d is a date",
        "DATE_TRUNC",
    ),
    ("SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC('century', d)", "DATE_TRUNC goes to a year, quarter", "DATE_TRUNC"),
    ("SELECT COUNT(*) FROM t GROUP BY DATE_TRUNC(d)", "DATE_TRUNC cannot take 1 arguments", "d"),
    (
        "SELECT HOUR(d), COUNT(*) FROM t GROUP BY HOUR(d)",
        "HOUR takes a time, but d is a date; name a column",
        "HOUR(d)",
    ),
    ("SELECT COUNT(*) FROM t GROUP BY EXTRACT(hour FROM d)", "HOUR takes a time, but d is a date", "d"),
    ("SELECT AVG(a / b) FROM t", "a / b divides by a value that may be zero; divide by a constant", "a / b"),
    ("SELECT AVG(a / 0) FROM t", "divides by zero", "a / 0"),
    ("SELECT AVG(SQRT(a)) FROM t", "SQRT is not supported; functions of columns", "SQRT"),
    ("SELECT AVG(1 + SQRT(a)) FROM t", "SQRT is not supported; functions of columns are ABS", "a"),
    ("SELECT AVG(ROUND(a, b)) FROM t", "ROUND takes a whole number of digits", "a, b"),
    ("SELECT AVG(ABS(a, b)) FROM t", "ABS cannot take 2 arguments", "a, b"),
    ("SELECT AVG(1 + 1) FROM t", "a column is needed here", "1 + 1"),
    ("SELECT AVG(a + (SELECT 1)) FROM t", "a column is needed here", "1"),
    ("SELECT MONTH(d), COUNT(*) FROM t", "selected but not in GROUP BY", "d"),
    ("SELECT AVG(MONTH(a)) FROM t", "MONTH takes a date, but a is a number", None),
    ("SELECT AVG(MONTH(k)) FROM t", "MONTH takes a date, but k is categorical", None),
    ("SELECT AVG(k + 1) FROM t", "k \\+ 1 needs numbers, but k is categorical", None),
    ("SELECT AVG(a + 'x') FROM t", "needs numbers, but 'x' is categorical", None),
    ("SELECT AVG(UPPER(k)) FROM t", "is categorical", None),
    ("SELECT AVG(UPPER(a)) FROM t", "UPPER takes text, but a is not text", None),
    ("SELECT AVG(d * 2) FROM t", "needs numbers, but d is a date", None),
    ("SELECT AVG(d + d) FROM t", "is neither a date nor a number of days", None),
    ("SELECT AVG(d + b) FROM t", "moves a date by a fraction of a day", None),
    ("SELECT AVG(e + 3000000) FROM t", "can leave the calendar", None),
    ("SELECT AVG(LEAST(a, d)) FROM t", "mixes dates and numbers", None),
    ("SELECT AVG(CASE WHEN a > 1 THEN 'x' ELSE 1 END) FROM t", "is categorical", None),
    ("SELECT AVG(a - a) FROM t", "a - a is always 0", None),
    ("SELECT AVG(nothing + 1) FROM t", "has no column 'nothing'", None),
    ("SELECT COUNT(*) FROM t WHERE k = n", "constant", None),
    ("SELECT COUNT(*) FROM t WHERE a LIKE 'x'", "a holds no text", None),
    ("SELECT COUNT(*) FROM t WHERE n LIKE 'x'", "n holds no text", None),
    ("SELECT COUNT(*) FROM t WHERE k LIKE 5", "LIKE takes text", "5"),
    ("SELECT COUNT(*) FROM t WHERE UPPER(k) = 'north'", "not a category of UPPER", None),
    ("SELECT COUNT(*) FROM t GROUP BY x * y", "possible values to group by", None),
]


@pytest.mark.parametrize(("text", "told", "marked"), REFUSED)
def test_a_refusal_blames_the_right_words(text: str, told: str, marked: str | None) -> None:
    """What cannot be computed is refused by its name, with a remedy, and marked where the text alone shows it."""
    with pytest.raises(InvalidQuestion, match=told) as refusal:
        DATASET.sql(text)
    message, *lines = str(refusal.value).split("\n")
    assert ";" in message
    if marked is not None:
        line, mark = lines
        assert marked in line[mark.index("^") : mark.rindex("^") + 1] or line[mark.index("^") :].startswith(marked)


def test_long_expressions_are_refused() -> None:
    """An expression of too many parts is refused, however it is built."""
    long, deep = column("a") + 0, column("a") + 0
    for _ in range(200):
        long = long + column("b")
    for _ in range(40):
        deep = deep * deep
    for asked in (long, deep):
        with pytest.raises(InvalidQuestion, match=r"at most 100 parts"):
            DATASET.mean(asked)
    with pytest.raises(InvalidQuestion, match=r"at most 100 parts"):
        DATASET.sql(f"SELECT AVG(a{' + b' * 200}) FROM t")


def test_tables_by_what_is_made_add_up(files: InParquet) -> None:
    """Tables grouped by columns made of columns are released together, with totals, and their sums are owned."""
    dataset = files.dataset(random_rows(5), TYPES, ROWS)
    query = dataset.sql("SELECT MONTH(d), UPPER(k), COUNT(*) FROM t GROUP BY CUBE (MONTH(d), UPPER(k))")
    answer = query.ask(0.5, analyst="ana")
    assert answer.columns[:2] == ("MONTH(d)", "UPPER(k)")
    by_month = {row[0]: row[2] for row in answer.rows if row[0] is not None and row[1] is None}
    assert list(by_month) == [1, 2, 3, 11, 12]
    for month, total in by_month.items():
        assert total == sum(row[2] for row in answer.rows if row[0] == month and row[1] is not None)
    owned = dataset.count().by("MONTH(d)").owned("ana")
    assert owned is not None
    assert dict(owned.rows) == by_month


def test_a_column_that_is_called_like_an_expression_is_told_apart() -> None:
    """Where a column of the contract has the text of an expression for a name, only the column can be asked about."""
    dataset = Dataset.parse(ROWS.replace("[budget]", '"MONTH(d)".keys = [1]\n[budget]'))
    assert str(dataset.sql('SELECT COUNT(*) FROM t WHERE "MONTH(d)" = 1')).endswith('"MONTH(d)" = 1')
    with pytest.raises(InvalidQuestion, match=r"has a column called MONTH\(d\)"):
        dataset.sql("SELECT COUNT(*) FROM t WHERE MONTH(d) = 1")


# The contract.

FROM = """
[columns.month]
from = "MONTH(d)"
[columns.season]
from = "FLOOR(month / 3)"
[columns.size]
from = "CASE WHEN a < 0 THEN 'small' ELSE 'large' END"
[budget]"""


def test_a_contract_can_make_columns(files: InParquet) -> None:
    """A column that the contract makes of others has its own name, bounds that follow, and is in the terms."""
    rows = random_rows(3)
    dataset = files.dataset(rows, TYPES, UNITS.replace("[budget]", FROM))
    season = dataset.table.column("season")
    assert isinstance(season, DerivedNumbers)
    assert repr(season.bounds) == "[0, 4] step 1"
    by_month = "SELECT month, AVG(season * a) FROM t WHERE season < month GROUP BY month"
    for text in (by_month, "SELECT COUNT(*) FROM t GROUP BY size"):
        query = dataset.sql(text)
        assert totals_of(query) == oracle.totals(query.question, rows, {"a", "n"}), text
    assert "from MONTH(d)" in str(dataset.terms)
    assert "month in [1, 3]" in str(dataset.sql("SELECT month, COUNT(*) FROM t GROUP BY month").explain(1))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('p.from = "q + 1"\nq.from = "p + 1"', "is derived from itself"),
        ('p.from = "p + 1"', "p is derived from itself"),
        ('p.from = "nothing + 1"', "has no column 'nothing'"),
        ('p.from = "HOUR(d)"', "HOUR takes a time, but d is a date"),
        ('p.from = "a +"', "not SQL"),
        ("p.from = 5", "from must be a text"),
        ('p.from = "a + 1"\np.bounds = "[0, 1]"', "its bounds follows; leave it out"),
        ('p.from = "who + 1"', "has no column 'who'"),
    ],
)
def test_a_contract_that_makes_no_column_is_refused(lines: str, told: str) -> None:
    """A `from` that names itself, or nothing, or is no expression, is refused with its line."""
    text = ROWS.replace("[budget]", f"{lines}\n[budget]")
    first = text.split("\n").index(lines.split("\n", maxsplit=1)[0]) + 1
    with pytest.raises(InvalidContract, match=told) as refusal:
        Dataset.parse(text)
    assert any(f"line {place}:" in str(refusal.value) for place in range(first, first + len(lines.split("\n"))))
