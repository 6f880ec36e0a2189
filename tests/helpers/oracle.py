"""What a statement must add up, computed from the rows in plain Python: exact, slow, and by another road.

Nothing here is rendered as SQL, and nothing is shared with `statement`, `weights` or `plan` but the question itself and
the ends and the step of a column.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.derived_column import Derived, DerivedKeys
from inbounds.query.expressions.arithmetic import Binary, Call, Case, Chain
from inbounds.query.expressions.condition import And, Compare, Condition, In, Like, Missing, Not, Or
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.question.group import Group, by_key
from inbounds.query.question.measure import (
    Cdf,
    Correlation,
    Count,
    CountKeys,
    CountUnits,
    Covariance,
    Deviation,
    Mean,
    Measure,
    Proportion,
    Sum,
    Variance,
)
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Question
from inbounds.query.question.rest_group import RestGroup
from inbounds.query.question.shared_measures import Moments

Row = Mapping[str, Any]
Cell = tuple[int, ...]
HALF = Fraction(1, 2)


def value(question: Question, node: Node, row: Row) -> Any:
    """Return a column of a row, which may be made of columns: a fraction, a day or a key; None if it is missing."""
    column = question.table.column(node)
    oracle = _Oracle(question, frozenset())
    if isinstance(column, Derived):
        return oracle.value(column.formula, row)
    return oracle.plain(node, row)


def totals(question: Question, rows: Iterable[Row], integers: Iterable[str] = ()) -> list[list[int]]:
    """Return the totals of every group; `integers` are the columns that the table holds as integers."""
    return _Oracle(question, frozenset(integers)).totals(rows)


def most_of_a_row(question: Question) -> int:
    """Return the most that a row can add to all totals together, before it is weighed."""
    measure = question.measure
    if cuts := cuts_of(question):
        return math.prod(sum(cut.parts(0)) for cut in cuts)
    if isinstance(measure, Sum):
        column = question.table.numbers(measure.column)
        return int(max(abs(column.low), abs(column.high)) / grain(column))
    return question.table.numbers(measure.column).steps if isinstance(measure, Mean) else 1


def limit(question: Question) -> int:
    """Return how many rows of a unit count in full."""
    if isinstance(question.measure, CountUnits):
        if question.sets is not None:  # once in all, shared
            return 1
        return min(question.table.limit, question.cells) if question.groups else 1
    if isinstance(question.measure, CountKeys):
        return min(question.table.limit, math.prod(group.size for group in groups_of(question)))
    return question.table.limit


def fineness(question: Question) -> int:
    """Return what a row that counts in full weighs: the greatest power of two that keeps weights in their room."""
    if question.table.rows_are_units:
        return 1
    found, k, most = 1, limit(question), most_of_a_row(question)
    room = 2**36 if question.sets is None else 2**30
    while 2 * found * k * most < room and 2 * found * k < 2**30:
        found *= 2
    return found


def sensitivity(question: Question) -> int:
    """Return the most that one unit's rows, however many and whatever they hold, may add to all totals together."""
    return limit(question) * most_of_a_row(question) * fineness(question)


def grain(column: Numbers) -> Fraction:
    """Return the largest number that all values of a column are multiples of."""
    common = math.lcm(column.low.denominator, column.step.denominator)
    return Fraction(math.gcd(int(column.low * common), int(column.step * common)), common)


def groups_of(question: Question) -> tuple[Group, ...]:
    """Return what rows are told apart by: the groups, and the keys that are counted."""
    if isinstance(question.measure, CountKeys):
        return (*question.groups, by_key(question.table.column(question.measure.column)))
    return question.told_apart if question.rest else question.groups


@dataclass(frozen=True)
class Cut:
    """How the values of a column are cut into parts: exactly, and then down to whole numbers that add up."""

    column: Numbers
    most: int
    squares: bool

    def parts(self, index: int) -> list[int]:
        """Return the parts of a value: those of the ends are rounded, and the one between is what is left."""
        width = next(2**i for i in range(6) if (self.column.steps + 2**i // 2) // 2**i <= 2**30)
        value, steps = ((one + width // 2) // width for one in (index, self.column.steps))
        if self.squares and self.column.steps > 1:
            divisor = math.ceil(Fraction(steps**2, self.most))
            ends = [math.floor(Fraction(one**2, divisor)) for one in (steps - value, value)]
            return [ends[0], steps**2 // divisor - sum(ends), ends[1]]
        divisor = math.ceil(Fraction(steps, self.most))
        above, every = ((one + divisor // 2) // divisor for one in (value, steps))
        return [every - above, above]


def cuts_of(question: Question) -> list[Cut]:
    """Return how the columns of a question about moments are cut; none for another question."""
    names, of = moments_of(question.measure)
    squares = any(isinstance(one, Variance | Deviation | Correlation) for one in of)
    return [Cut(question.table.numbers(name), 2**17 if len(names) == 2 else 2**35, squares) for name in names]


def moments_of(measure: Measure) -> tuple[tuple[Node, ...], tuple[Measure, ...]]:
    """Return the columns of moments, and which of them are asked for."""
    if isinstance(measure, Moments):
        return measure.columns, measure.of
    if isinstance(measure, Covariance | Correlation):
        return (measure.column, measure.other), (measure,)
    return ((measure.column,), (measure,)) if isinstance(measure, Variance | Deviation) else ((), ())


class _Oracle:
    def __init__(self, question: Question, integers: frozenset[str]) -> None:
        self.question = question
        self.column = question.table.column
        self.integers = integers

    def totals(self, rows: Iterable[Row]) -> list[list[int]]:
        """Return the totals of the groups that are answered; no row is in any other."""
        cells = list(product(*(range(group.size) for group in groups_of(self.question))))
        found = {cell: [0] * len(self.linear(0)) for cell in cells}
        units: dict[Any, dict[Cell, list[list[int]]]] = defaultdict(lambda: defaultdict(list))
        for number, row in enumerate(rows):
            unit = number if self.question.table.rows_are_units else row[self.question.table.unit]
            cell, parts = self.cell(row), self.parts(row)
            if unit is not None and cell is not None and parts is not None and self.kept(row):
                units[unit][cell].append(parts)
        for of_unit in units.values():
            for cell, total in self.weighed(of_unit).items():
                found[cell] = [a + b for a, b in zip(found[cell], total, strict=True)]
        answered = self.question.cells_of(groups_of(self.question))
        assert not any(any(total) for cell, total in found.items() if cell not in set(answered))
        return [found[cell] for cell in answered]

    def weighed(self, of_unit: Mapping[Cell, list[list[int]]]) -> dict[Cell, list[int]]:
        """Return what a unit counts for in each of its groups."""
        if isinstance(self.question.measure, CountUnits | CountKeys) and not self.question.table.rows_are_units:
            of_unit = {cell: [[1]] for cell in of_unit}
        rows, k, one = sum(map(len, of_unit.values())), limit(self.question), fineness(self.question)
        found = {}
        for cell, parts in of_unit.items():
            sums = [sum(column) for column in zip(*parts, strict=True)]
            shares = [abs(t) * k * one // max(rows, k) for t in sums]
            found[cell] = [-share if t < 0 else share for t, share in zip(sums, shares, strict=True)]
        return found

    # One row.

    def kept(self, row: Row) -> bool:
        return self.question.condition is None or self.truth(self.question.condition, row) is True

    def cell(self, row: Row) -> Cell | None:
        codes = [self.code(group, row) for group in groups_of(self.question)]
        return None if None in codes else tuple(code for code in codes if code is not None)

    def code(self, group: Group, row: Row) -> int | None:
        if isinstance(group, RestGroup):
            return self.first_code(group, row)
        if isinstance(group.column, DerivedKeys) and isinstance(group.column.formula, ColumnRef):
            return self.made(group.column, row)  # keys beside bounds
        index = self.index(group.column.node, row)
        return index if index is None or isinstance(group.column, Keys) else bisect_right(group.starts, index) - 1

    def first_code(self, group: RestGroup, row: Row) -> int | None:
        """Return the code of the first of a chain of groups that a row has, behind those of all groups before it."""
        start = 0
        for each in group.chain:
            index = self.code(each, row)
            if index is not None or start + each.size == group.size:  # then the last of them is needed
                return None if index is None else start + index
            start += each.size
        return start

    def parts(self, row: Row) -> list[int] | None:
        """Return what a row adds to the totals, None if what is asked of it is missing."""
        measure = self.question.measure
        if isinstance(measure, Count | CountUnits | CountKeys | Cdf):
            return [1]
        if cuts := cuts_of(self.question):
            found = [self.index(cut.column.node, row) for cut in cuts]
            return None if None in found else self.crossed(cuts, [one for one in found if one is not None])
        if isinstance(measure, Proportion):
            return self.linear(int(self.truth(measure.condition, row) is True))
        assert isinstance(measure, Sum | Mean | Quantile)
        index = self.index(measure.column, row)
        return None if index is None else self.linear(index)

    def crossed(self, cuts: list[Cut], indices: list[int]) -> list[int]:
        """Return all products of one part of each value."""
        parts = [cut.parts(index) for cut, index in zip(cuts, indices, strict=True)]
        return [math.prod(one) for one in product(*parts)]

    def linear(self, index: int) -> list[int]:
        measure, table = self.question.measure, self.question.table
        public = table.units is not None and table.limit == 1
        public = public and self.question.condition is None and not self.question.groups
        if isinstance(measure, Count | CountUnits | CountKeys | Cdf):
            return [1]
        if cuts := cuts_of(self.question):
            return self.crossed(cuts, [0] * len(cuts))
        if isinstance(measure, Proportion):
            return [index] if public else [index, 1 - index]
        assert isinstance(measure, Sum | Mean | Quantile)
        column = table.numbers(measure.column)
        if isinstance(measure, Sum):
            return [int((column.low + index * column.step) / grain(column))]
        if isinstance(measure, Mean):
            return [2 * index - column.steps] if public else [index, column.steps - index]
        assert isinstance(measure, Quantile)
        width = math.ceil(Fraction(column.steps + 1, 4096))
        return [int(bucket == index // width) for bucket in range(column.steps // width + 1)]

    # One value.

    def index(self, node: Node, row: Row) -> int | None:
        """Return a value as an integer, None if it is missing."""
        name, column = node.name, self.column(node)
        if isinstance(column, Derived) and name not in row:  # rows made of rows hold it already
            return self.made(column, row)
        value = row[name]
        if value is None:
            return None
        if isinstance(column, Keys):
            places = [i for i, key in enumerate(column.keys) if type(key) is type(value) and key == value]
            return places[0] if places else None
        if column.is_dates:
            day = value.date() if isinstance(value, datetime) else value
            assert isinstance(day, date)
            low, steps = ends(column)
            return max(0, min(steps, day.toordinal() - int(low)))
        low, steps = ends(column)
        if name in self.integers and column.step == 1 and low.denominator == 1:
            return max(0, min(steps, value - int(low)))
        return None if math.isnan(value) else nearest(column, value)

    def made(self, column: Derived, row: Row) -> int | None:
        """Return the value of a column made of columns, computed in fractions, as an integer."""
        found = self.value(column.formula, row)
        if found is None:
            return None
        if isinstance(column, DerivedKeys):
            return column.keys.index(found) if column.formula != column.node or found in column.keys else None
        place = (number(found) - column.low) / column.step
        assert place.denominator == 1 or column.bounds.step is None, (str(column.formula), found)
        return math.floor(place + HALF)

    def value(self, node: Node, row: Row) -> Any:  # noqa: PLR0911  one for each kind
        """Return an expression for a row: a fraction, a day or a key; None if it is missing."""
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, ColumnRef):
            return self.plain(node, row)
        if isinstance(node, Case):
            for test, then in node.branches:
                if self.truth(test, row) is True:
                    return self.value(then, row)
            return None if node.otherwise is None else self.value(node.otherwise, row)
        given = [self.value(part, row) for part in node.parts()]
        if isinstance(node, Call) and node.function == "COALESCE":
            return next((one for one in given if one is not None), None)
        if None in given:
            return None
        if isinstance(node, Chain):
            return "".join(map(text_of, given))
        name = node.operator if isinstance(node, Binary) else node.function if isinstance(node, Call) else ""
        return COMPUTED[name](*given)

    def plain(self, node: Node, row: Row) -> Any:
        """Return the value of a column, as it is once it is clipped and rounded."""
        index, column = self.index(node, row), self.column(node)
        if index is None:
            return None
        if isinstance(column, Keys):
            return column.keys[index]
        return value_at(column, index)

    def truth(self, condition: Condition, row: Row) -> bool | None:
        """Return whether a condition is true, false, or neither."""
        if isinstance(condition, And | Or):
            truths = [self.truth(part, row) for part in condition.conditions()]
            decides = isinstance(condition, Or)
            return decides if decides in truths else None if None in truths else not decides
        if isinstance(condition, Not):
            opposite = self.truth(condition.this, row)
            return None if opposite is None else not opposite
        if isinstance(condition, Like):
            return self.fits(condition, self.plain(condition.this, row))
        if isinstance(condition, Missing):
            return self.index(condition.this, row) is None
        if isinstance(condition, In):
            tests = tuple(Compare(condition.this, "=", option) for option in condition.options)
            return self.truth(Or(tests), row)
        assert isinstance(condition, Compare)
        return self.compared(condition, row)

    def fits(self, test: Like, key: str | None) -> bool | None:
        """Return whether a key fits a pattern with no wildcard but %."""
        if key is None:
            return None
        pattern, key = (test.pattern.lower(), key.lower()) if test.any_case else (test.pattern, key)
        first, *others = pattern.split("%")
        if not others:
            return key == first
        rest = key[len(first) :]
        for piece in others[:-1]:
            if piece not in rest:
                return False
            rest = rest[rest.index(piece) + len(piece) :]
        return key.startswith(first) and rest.endswith(others[-1])

    def compared(self, test: Compare, row: Row) -> bool | None:
        index, column = self.index(test.this, row), self.column(test.this)
        if index is None:
            return None
        if isinstance(column, Keys):
            return COMPARED[test.operator](column.keys[index], test.value)
        constant = _constant(test.value)
        if column.bounds.step is not None:
            return COMPARED[test.operator](column.low + index * column.step, constant)
        if column.bounds.low <= constant <= column.bounds.high:  # type: ignore[operator]  # of numbers, with both ends
            constant = max(column.low, min(column.high, constant))  # as values are
        return COMPARED[test.operator](index, math.floor((constant - column.low) / column.step + HALF))


def text_of(value: Any) -> str:
    """Return a value as a text: a truth value in small letters, a whole number in digits, a day as in ISO 8601."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, Fraction) else str(value)


def number(value: Any) -> Fraction:
    """Return a value as a number, a day as its own."""
    return Fraction(value.toordinal()) if isinstance(value, date) else Fraction(value)


def _moved(left: Any, right: Any, sign: int) -> Any:
    """Return a sum or a difference; a day and a number are a day."""
    found = number(left) + sign * number(right)
    return date.fromordinal(int(found)) if isinstance(left, date) != isinstance(right, date) else found


def _rounded(value: Fraction, digits: Fraction = Fraction(0)) -> Fraction:
    scale = Fraction(10) ** int(digits)
    size = Fraction(math.floor(abs(value) * scale + HALF)) / scale
    return size if value > 0 else -size


def _start(part: str, day: date) -> date:
    if part == "week":
        return date.fromordinal(day.toordinal() - day.weekday())
    months = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}
    return date(day.year, months[part], 1)


COMPUTED: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: _moved(a, b, 1),
    "-": lambda a, b: _moved(a, b, -1),
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "ABS": abs,
    "FLOOR": lambda a: Fraction(math.floor(a)),
    "ROUND": _rounded,
    "LEAST": min,
    "GREATEST": max,
    "DATE_TRUNC": _start,
    "YEAR": lambda day: Fraction(day.year),
    "QUARTER": lambda day: Fraction((day.month + 2) // 3),
    "MONTH": lambda day: Fraction(day.month),
    "WEEK": lambda day: Fraction(day.isocalendar()[1]),
    "WEEKDAY": lambda day: Fraction(day.weekday()),
    "DAY": lambda day: Fraction(day.day),
    "SUBSTR": lambda text, start, *length: text[int(start) - 1 :][: int(length[0]) if length else None],
    "RIGHT": lambda text, length: text[max(0, len(text) - int(length)) :],
    "LENGTH": lambda text: Fraction(len(text)),
    "NULLIF": lambda value, other: None if value == other else value,
    "UPPER": str.upper,
    "LOWER": str.lower,
    "TEXTOF": text_of,
    "STRFTIME": lambda day, form: day.strftime(
        form.replace("%q", str((day.month + 2) // 3))
        .replace("%Y", f"{day.year:04}")
        .replace("%G", f"{day.isocalendar()[0]:04}")
    ),
    "REPLACE": lambda text, old, new="": new.join(text.split(old)),
    "TRIM": lambda text, ends=" ": text.strip(ends),
    "LTRIM": lambda text, ends=" ": text.lstrip(ends),
    "RTRIM": lambda text, ends=" ": text.rstrip(ends),
    "LPAD": lambda text, length, fill=" ": (fill * 99)[: max(0, int(length) - len(text))] + text[: int(length)],
    "RPAD": lambda text, length, fill=" ": (text + fill * 99)[: int(length)],
    "SPLIT_PART": lambda text, mark, place: (text.split(mark) + [""] * 99)[int(place) - 1],
}

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@lru_cache(maxsize=2**10)
def ends(column: Numbers) -> tuple[Fraction, int]:
    """Return the least value of a column, and how many steps above it the greatest is."""
    return column.low, column.steps


@lru_cache(maxsize=2**16)
def value_at(column: Numbers, index: int) -> Any:
    """Return the value so many steps above the least: a fraction or a day."""
    found = column.low + index * column.step
    return date.fromordinal(int(found)) if column.is_dates else found


@lru_cache(maxsize=2**16)
def nearest(column: Numbers, value: int | float | Decimal) -> int:
    """Return the step nearest to a value, half up.

    It is exact unless the value is within a millionth of a step of the middle between two.  There it is rounded as is
    promised: clip, add half a step less the least value, scale, all in doubles.
    """
    low, high = float(column.low), float(column.high)
    clipped = low if value <= low else high if value >= high else float(value)
    place = (Fraction(clipped) - column.low) / column.step + HALF
    if abs(place - round(place)) > Fraction(1, 10**6):
        return math.floor(place)
    shifted, times = clipped + float(column.step / 2 - column.low), 1 / column.step
    return math.floor(shifted * float(times) if times.denominator == 1 else shifted / float(column.step))


def _constant(given: Any) -> Fraction:
    day = date.fromisoformat(given) if isinstance(given, str) else given
    if isinstance(day, date):
        return Fraction(day.toordinal())
    return Fraction(repr(day)) if isinstance(day, float) else Fraction(day)
