"""Columns made of columns: an expression over the columns of a table becomes a column, with bounds that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import cached_property

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidQuestion, LatticeTooFine
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.calendar_parts import LAST, PART, parts_between, start_of, starts_between
from inbounds.query.columns.column import LARGEST, MOST_STEPS, Column, Keys, Numbers
from inbounds.query.columns.expression_bounds import (
    Reading,
    choose,
    constant,
    extreme,
    first_of,
    floor,
    linear,
    round_to,
    size,
    times,
)
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.kind import DAY
from inbounds.query.expressions.arithmetic import Binary, Call, Case
from inbounds.query.expressions.condition import And, Comparison, Condition, Like, Not, Or, Predicate
from inbounds.query.expressions.functions import CASES
from inbounds.query.expressions.node import ColumnRef, Constant, Node

Find = Callable[[Node], Column]
"""Finds a column, stored or derived, or refuses."""

ONE, LESS = Fraction(1), Fraction(-1)

CONNECTED: dict[type[Condition], type[w.Truth]] = {And: w.Every, Or: w.Either, Not: w.Opposite}


class _Derived:
    """What columns made of columns share."""

    name: str
    formula: Node
    in_question: bool
    """Whether a question makes it, and calls it by its text; else the contract does, by a name of its own."""
    is_derived = True

    @property
    def node(self) -> Node:
        return self.formula if self.in_question else ColumnRef(self.name)


@dataclass(frozen=True)
class DerivedNumbers(_Derived, Numbers):
    """A column of numbers or days that is made of columns."""

    formula: Node
    reading: Reading = field(repr=False)
    in_question: bool = False

    @cached_property
    def step(self) -> Fraction:
        """What values are multiples of, from the least on."""
        return self.reading.unit or ONE

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest possible value; days as numbers."""
        return self.reading.low, self.reading.high

    @cached_property
    def lattice(self) -> Lattice:
        bounds = self.bounds
        if bounds.step is None:
            bounds = Bounds(self.reading.low, self.reading.high, step=self.step, offset=self.reading.low)
        return Lattice.of(bounds, self.step)

    @cached_property
    def whole(self) -> Whole:
        """How many steps a value is above the least."""
        return self.reading.whole

    @property
    def is_plain(self) -> bool:
        return self.whole.is_plain

    def as_stored(self, name: str) -> DerivedNumbers:
        """Return it as a table holds it under a name: computed no more, with the same values."""
        renamed, reading = replace(self, name=name), self.reading
        terms = ((w.Code(0, reading.steps, (), renamed), renamed.step),)
        return replace(renamed, in_question=False, reading=replace(reading, terms=terms, plus=reading.low))


@dataclass(frozen=True)
class DerivedKeys(_Derived, Keys):
    """A column of keys that is made of columns."""

    formula: Node = field(kw_only=True)
    whole: Whole = field(kw_only=True, repr=False)
    in_question: bool = field(default=False, kw_only=True)

    def as_stored(self, name: str) -> Keys:
        """Return it as a table holds it under a name: computed no more, with the same keys."""
        return Keys(name, self.keys)


Derived = DerivedNumbers | DerivedKeys


def derive(formula: Node, find: Find, name: str | None = None) -> Derived:
    """Return the column that an expression makes, under its own name or another; refuse what has no bounds."""
    value, in_question = _Deriver(find).value(formula), name is None
    label = formula.name if name is None else name
    if isinstance(value, _Places):
        return DerivedKeys(label, value.keys, formula=formula, whole=value.whole, in_question=in_question)
    # Bounds come from the reading, and a lattice from the bounds: it must begin where the reading does.
    _refuse_too_fine(formula, value)
    column = DerivedNumbers(label, _bounds(value), formula, value, in_question)
    try:
        assert column.low == value.low
    except LatticeTooFine:
        raise InvalidQuestion(f"{formula} is too far from zero for its step; subtract a constant from it") from None
    return column


def _refuse_too_fine(formula: Node, reading: Reading) -> None:
    if max(abs(reading.low), abs(reading.high)) > LARGEST or 0 < reading.unit < 1 / LARGEST:
        raise InvalidQuestion(f"{formula} must be below 1e150, with a step above 1e-150; multiply it by a constant")
    if reading.steps > MOST_STEPS:
        raise InvalidQuestion(
            f"{formula} must span at most 2^35 steps, got {reading.steps}; round it, as in ROUND(price * quantity, 1)"
        )


def _bounds(reading: Reading) -> Bounds:
    step, low, high = reading.unit or ONE, reading.low, reading.high
    if reading.possible is not None:
        return reading.kind.among(reading.possible, step)
    return reading.kind.between(low, high, step if reading.stepped or not reading.unit else None)


@dataclass(frozen=True)
class _Places:
    """What a text can be: its keys, and the place of one among them."""

    keys: tuple[str | int | bool, ...]
    whole: Whole


Value = Reading | _Places


@dataclass(frozen=True)
class _Deriver:
    find: Find

    def value(self, node: Node) -> Value:
        """Return what an expression can be."""
        match node:
            case ColumnRef():
                return self._column(node)
            case Constant():
                return self._constant(node)
            case Binary():
                return self._binary(node)
            case Case():
                return self._case(node)
            case Call():
                return self._call(node)
        raise AssertionError(node)

    def plain(self, node: Node, what: object) -> Reading:
        """Return what an expression of numbers can be."""
        reading = _as_number(self.value(node), node, what)
        if not reading.kind.adds_up:
            raise InvalidQuestion(f"{what} needs numbers, but {node} is a date; take a part of it, such as MONTH(day)")
        return reading

    def day(self, node: Node, what: str) -> Reading:
        """Return what an expression of days can be."""
        value = self.value(node)
        if isinstance(value, _Places) or value.kind != DAY:
            holds = "categorical" if isinstance(value, _Places) else "a number"
            raise InvalidQuestion(f"{what} takes a date, but {node} is {holds}; name a column whose bounds are dates")
        return value

    def _column(self, node: Node) -> Value:
        column = self.find(node)
        if isinstance(column, Keys):
            return _Places(column.keys, column.whole)
        if isinstance(column, DerivedNumbers):
            return column.reading
        stepped = column.bounds.step is not None
        return Reading(((column.whole, column.step),), column.low, stepped, column.kind)

    def _constant(self, node: Constant) -> Value:
        if isinstance(node.value, Fraction):
            return constant(node.value)
        if type(node.value) is date:
            return constant(Fraction(node.value.toordinal()), DAY)
        return _Places((node.value,), w.fixed(0))

    def _binary(self, node: Binary) -> Reading:
        if node.operator in ("*", "/"):
            # Only a constant divides (`build.combine`), and `plus` is all that its reading has.
            left, right = self.plain(node.left, node), self.plain(node.right, node)
            return times(left, right) if node.operator == "*" else linear([(1 / right.plus, left)])
        left, right = self._numbers([node.left, node.right], node)
        both_add_up = left.kind.adds_up and right.kind.adds_up
        if both_add_up or (node.operator == "-" and left.kind == right.kind):
            return linear([(ONE, left), (ONE if node.operator == "+" else LESS, right)])
        return self._move_day(node, left, right)

    def _move_day(self, node: Binary, left: Reading, right: Reading) -> Reading:
        """Return a day and a number of days."""
        if right.kind == DAY and (left.kind == DAY or node.operator == "-"):
            raise InvalidQuestion(
                f"{node} is neither a date nor a number of days; subtract a date, or add a number of days"
            )
        days = right if left.kind == DAY else left
        if not days.stepped or days.low.denominator * days.unit.denominator != 1:
            raise InvalidQuestion(f"{node} moves a date by a fraction of a day; add whole numbers, as in FLOOR(x)")
        day = linear([(ONE, left), (ONE if node.operator == "+" else LESS, right)], DAY)
        if not 1 <= day.low <= day.high <= LAST:
            raise InvalidQuestion(f"{node} can leave the calendar; add fewer days")
        return day

    def _numbers(self, nodes: list[Node], what: Node) -> list[Reading]:
        """Return several values, numbers or days; all are derived before one is refused."""
        values = [self.value(node) for node in nodes]
        return [_as_number(value, node, what) for node, value in zip(nodes, values, strict=True)]

    def _same_kind(self, nodes: list[Node], what: Node) -> list[Reading]:
        readings = self._numbers(nodes, what)
        if len({reading.kind for reading in readings}) > 1:
            raise InvalidQuestion(f"{what} mixes dates and numbers; use one of the two")
        return readings

    def _call(self, node: Call) -> Value:  # noqa: PLR0911  one for each kind
        name, (this, *others) = node.function, node.arguments
        if name in PART:
            return self._part_of_day(name, self.day(this, name))
        if name == "DATE_TRUNC":
            assert isinstance(this, Constant)
            return self._start_of_period(this.value, self.day(others[0], name))
        if name in CASES:
            return self._change_case(name, this)
        if name in ("LEAST", "GREATEST"):
            return extreme(self._same_kind([this, *others], node), greatest=name == "GREATEST")
        if name == "COALESCE":
            return self._coalesce(node)
        if name == "ROUND":
            digits = others[0].value if others and isinstance(others[0], Constant) else 0
            return round_to(self.plain(this, node), Fraction(10) ** -int(digits))
        return {"ABS": size, "FLOOR": floor}[name](self.plain(this, node))

    def _part_of_day(self, name: str, day: Reading) -> Reading:
        values = parts_between(name, int(day.low), int(day.high))
        part = w.DayPart(values[0], values[-1], (day.count_units(ONE, Fraction(0)),), name, False)
        gaps = len(values) <= values[-1] - values[0]
        return Reading(((part, ONE),), Fraction(0), possible=tuple(map(Fraction, values)) if gaps else None)

    def _start_of_period(self, name: str, day: Reading) -> Reading:
        low, high = int(day.low), int(day.high)
        start = w.DayPart(start_of(name, low), start_of(name, high), (day.count_units(ONE, Fraction(0)),), name, True)
        return Reading(((start, ONE),), Fraction(0), kind=DAY, possible=starts_between(name, low, high))

    def _change_case(self, name: str, this: Node) -> _Places:
        # Two keys may become one, so the new keys are fewer, and their codes others.
        value = self.value(this)
        if isinstance(value, Reading) or not isinstance(value.keys[0], str):
            raise InvalidQuestion(f"{name} takes text, but {this} is not text; name a column whose categories are text")
        spellings = [str(key).upper() if name == "UPPER" else str(key).lower() for key in value.keys]
        keys = tuple(dict.fromkeys(spellings))
        return _Places(keys, self._recode(value.whole, [keys.index(key) for key in spellings]))

    def _case(self, node: Case) -> Value:
        tests = [self.truth(test) for test in node.tests]
        return self._choose(
            node, list(node.choices), lambda parts: choose(tests, parts), lambda parts: w.choose(tests, parts)
        )

    def _coalesce(self, node: Call) -> Value:
        return self._choose(node, list(node.arguments), first_of, w.first_of)

    def _choose(
        self,
        node: Node,
        nodes: list[Node],
        of_readings: Callable[[list[Reading]], Reading],
        of_places: Callable[[list[Whole]], Whole],
    ) -> Value:
        """Return one of several values, numbers all, days all, or texts all.

        Numbers get a lattice that holds those of all choices; texts get one list of keys, the first ones first.
        """
        values = [self.value(choice) for choice in nodes]
        texts = [value for value in values if isinstance(value, _Places)]
        if len(texts) < len(values):
            return of_readings(self._same_kind(nodes, node))
        keys = tuple(dict.fromkeys(key for text in texts for key in text.keys))
        if len({type(key) for key in keys}) > 1:
            raise InvalidQuestion(f"{node} mixes text, whole numbers and true/false; use one type")
        return _Places(keys, of_places([self._place_among(text, keys) for text in texts]))

    def _place_among(self, text: _Places, keys: tuple[str | int | bool, ...]) -> Whole:
        """Return the place of a text among more keys."""
        return self._recode(text.whole, [keys.index(key) for key in text.keys])

    def _recode(self, places: Whole, codes: list[int]) -> Whole:
        """Return other codes in place of 0, 1, 2 and so on."""
        # A constant and a stored code are recoded in place; anything else needs a test for each place.
        if codes == list(range(len(codes))):
            return places
        if isinstance(places, w.Fixed):
            return w.fixed(codes[places.low])
        if isinstance(places, w.Code):
            before = places.codes or tuple(range(len(codes)))
            return w.Code(0, max(codes), (), places.column, tuple(codes[place] for place in before))
        tests = [w.Against(whole=places, numbers=(place,)) for place in range(len(codes))]
        return w.choose(list(tests), [w.fixed(place) for place in codes])

    # Conditions of CASE.

    def truth(self, condition: Condition) -> w.Truth:
        """Return a condition as a test of whole numbers."""
        match condition:
            case And() | Or() | Not():
                return CONNECTED[type(condition)](tuple(map(self.truth, condition.conditions())))
            case Like():
                return self.truth(condition.fit(self.find(condition.this)))
            case Predicate():
                column = self.find(condition.this)
                operator, numbers = codes_of(condition, column)
                return w.Against(whole=column.whole, operator=operator, numbers=numbers)
        raise InvalidQuestion(f"CASE takes conditions, got {condition}; compare a column with a constant")


def _as_number(value: Value, node: Node, what: object) -> Reading:
    """Return a value that is a number or a day; refuse a text."""
    if isinstance(value, _Places):
        raise InvalidQuestion(
            f"{what} needs numbers, but {node} is categorical; compare it with = or IN, or group by it"
        )
    return value


def codes_of(test: Predicate, column: Column) -> tuple[Comparison, tuple[int, ...]]:
    """Return a test of a column as the same test of its code."""
    comparisons = [column.against(test.operator, value) for value in test.constants]
    return comparisons[0][0] if comparisons else test.operator, tuple(number for _, number in comparisons)


def find_column(columns: Mapping[str, Column], node: Node) -> Column | None:
    """Return one of some columns, or one that is made of them; None if there is none."""

    def find(node: Node) -> Column:
        return columns[node.name] if isinstance(node, ColumnRef) else derive(node, find)

    try:
        return find(node)
    except (InvalidQuestion, KeyError):
        return None
