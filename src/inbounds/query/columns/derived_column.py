"""Columns made of columns: an expression over the columns of a table becomes a column, with bounds that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from fractions import Fraction
from functools import cached_property

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidQuestion, LatticeTooFine
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns import text_keys, time_parts
from inbounds.query.columns.alignment import align
from inbounds.query.columns.calendar_parts import PART
from inbounds.query.columns.column import LARGEST, MOST_STEPS, Column, Keys, Numbers
from inbounds.query.columns.day_texts import write_day, write_hour, write_value
from inbounds.query.columns.expression_bounds import (
    Reading,
    choose,
    constant,
    extreme,
    first_of,
    floor,
    linear,
    remainder,
    round_to,
    round_too_fine,
    size,
    times,
)
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.kind import CLOCK, DAY, NUMBER, TIME, BoundedKind
from inbounds.query.columns.raw_keys import RawKeys
from inbounds.query.columns.text_keys import Places
from inbounds.query.expressions.arithmetic import Apart, Binary, Call, Case, Chain
from inbounds.query.expressions.condition import And, Comparison, Condition, Like, Not, Or, Predicate
from inbounds.query.expressions.day_form import HOUR
from inbounds.query.expressions.functions import CLOCK_OF, CLOCK_PARTS, OF_TEXT, TEXT_OF
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.expressions.raw import Raw

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
    """A column of numbers, days or times that is made of columns."""

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
        renamed, reading = replace(self, name=name, in_question=False), self.reading
        terms = ((w.Code(0, reading.steps, (), renamed), renamed.step),)
        return replace(renamed, reading=replace(reading, terms=terms, plus=reading.low))


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
    if isinstance(value, Places):
        return DerivedKeys(label, value.keys, formula=formula, whole=value.whole, in_question=in_question)
    value = round_too_fine(value, MOST_STEPS)
    # Bounds come from the reading, and a lattice from the bounds: it must begin where the reading does.
    _refuse_too_fine(formula, value)
    column = DerivedNumbers(label, value.bounds, formula, value, in_question)
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


Value = Reading | Places


@dataclass(frozen=True)
class _Deriver:
    find: Find

    def value(self, node: Node) -> Value:  # noqa: PLR0911  one for each kind
        """Return what an expression can be."""
        match node:
            case ColumnRef() | Raw():
                return self._column(node)
            case Apart():
                return self._apart(node)
            case Constant():
                return self._constant(node)
            case Binary():
                return self._binary(node)
            case Case():
                return self._case(node)
            case Chain():
                return text_keys.chain(node, [write_value(part, self.value(part)) for part in node.texts])
            case Call():
                return self._call(node)
        raise AssertionError(node)

    def plain(self, node: Node, what: object) -> Reading:
        """Return what an expression of numbers can be."""
        reading = _as_number(self.value(node), node, what)
        if not reading.kind.adds_up:
            kind, part = reading.kind.singular, "MONTH(day)" if reading.kind == DAY else "HOUR(time)"
            raise InvalidQuestion(f"{what} needs numbers, but {node} is {kind}; take a part of it, such as {part}")
        return reading

    def day(self, node: Node, what: str) -> Reading:
        """Return what an expression of days can be; of a moment, the day on which it is."""
        value = self._of_kinds(node, (DAY, TIME), f"{what} takes a date", "dates")
        return value if value.kind == DAY else time_parts.day_of(value)

    def time(self, node: Node, what: str) -> Reading:
        """Return what an expression of moments or times of day can be."""
        return self._of_kinds(node, (TIME, CLOCK), f"{what} takes a time", "times")

    def _of_kinds(self, node: Node, kinds: tuple[BoundedKind, ...], takes: str, plural: str) -> Reading:
        value = self.value(node)
        if isinstance(value, Places) or value.kind not in kinds:
            holds = "categorical" if isinstance(value, Places) else value.kind.singular
            raise InvalidQuestion(f"{takes}, but {node} is {holds}; name a column whose bounds are {plural}")
        return value

    def _column(self, node: Node) -> Value:
        column = self.find(node)
        if isinstance(column, Keys):
            return Places(column.keys, column.whole)
        if isinstance(column, DerivedNumbers):
            return column.reading
        stepped = column.bounds.step is not None
        return Reading(((column.whole, column.step),), column.low, stepped, column.kind)

    def _apart(self, node: Apart) -> Reading:
        left, right = self.find(node.left), self.find(node.right)
        aligned = align(left, right)
        if aligned is None:
            raise InvalidQuestion(
                f"{left.name} and {right.name} hold different things and are never equal; compare each with a constant"
            )
        return Reading(((aligned[0], ONE), (aligned[1], LESS)), Fraction(0))

    def _constant(self, node: Constant) -> Value:
        if isinstance(node.value, Fraction):
            return constant(node.value)
        if isinstance(node.value, date | time):
            return time_parts.read_constant(node.value)
        if isinstance(node.value, timedelta):
            raise InvalidQuestion(f"{node} is added to a time or subtracted from one; write it like time + {node}")
        return Places((node.value,), w.fixed(0))

    def _binary(self, node: Binary) -> Reading:
        if node.operator in ("*", "/"):
            # Only a constant divides (`build.combine`), and `plus` is all that its reading has.
            left, right = self.plain(node.left, node), self.plain(node.right, node)
            return times(left, right) if node.operator == "*" else linear([(1 / right.plus, left)])
        if isinstance(node.right, Constant) and isinstance(node.right.value, timedelta):
            (left,) = self._numbers([node.left], node)
            return time_parts.move_by_interval(node, left, node.right.value)
        left, right = self._numbers([node.left, node.right], node)
        if left.kind.adds_up and right.kind.adds_up:
            return linear([(ONE, left), (ONE if node.operator == "+" else LESS, right)])
        return time_parts.move_or_subtract(node, left, right)

    def _numbers(self, nodes: list[Node], what: Node) -> list[Reading]:
        """Return several values, numbers, days or times; all are derived before one is refused."""
        values = [self.value(node) for node in nodes]
        return [_as_number(value, node, what) for node, value in zip(nodes, values, strict=True)]

    def _same_kind(self, nodes: list[Node], what: Node) -> list[Reading]:
        readings = self._numbers(nodes, what)
        kinds = {reading.kind for reading in readings}
        if kinds == {DAY, TIME}:
            return list(map(time_parts.as_time, readings))
        if len(kinds) > 1:
            mixed = " and ".join(sorted(kind.plural for kind in kinds))
            raise InvalidQuestion(f"{what} mixes {mixed}; use one of them")
        return readings

    def _call(self, node: Call) -> Value:  # noqa: PLR0911  one for each kind
        name, (this, *others) = node.function, node.arguments
        if name in PART:
            return time_parts.part_of_day(name, self.day(this, name))
        if name in CLOCK_PARTS:
            return self._part_of_time(name, this)
        if name == TEXT_OF:
            return write_value(this, self.value(this))
        if name == CLOCK_OF:
            return time_parts.clock_of(self.time(this, "CAST AS TIME"))
        if name == "STRFTIME":
            assert isinstance(others[0], Constant)
            return self._write(others[0].value, this)
        if name == "DATE_TRUNC":
            assert isinstance(this, Constant)
            return self._truncate(this.value, others[0])
        if name in OF_TEXT:
            return text_keys.apply(node, self._text(name, this))
        if name == "NULLIF":
            return self._null_if(node)
        if name in ("LEAST", "GREATEST"):
            return extreme(self._same_kind([this, *others], node), greatest=name == "GREATEST")
        if name == "COALESCE":
            return self._coalesce(node)
        if name == "MOD":
            by = others[0].number
            assert by is not None  # which `functions.call` sees to
            return remainder(self.plain(this, node), abs(Fraction(by)))
        if name == "ROUND":
            digits = others[0].value if others and isinstance(others[0], Constant) else 0
            return round_to(self.plain(this, node), Fraction(10) ** -int(digits))
        return {"ABS": size, "FLOOR": floor}[name](self.plain(this, node))

    def _part_of_time(self, name: str, this: Node) -> Reading:
        # What two times are apart is in seconds already, and EPOCH is how others ask for that.
        if name == "EPOCH" and isinstance(this, Binary) and this.operator == "-":
            apart = _as_number(self.value(this), this, name)
            if apart.kind == NUMBER and _as_number(self.value(this.left), this, name).kind in (TIME, CLOCK):
                return apart
        return time_parts.part_of(name, self.time(this, name))

    def _write(self, form: object, this: Node) -> Places:
        return (
            write_hour(self.time(this, "STRFTIME by hours"))
            if form == HOUR
            else write_day(str(form), self.day(this, "STRFTIME"))
        )

    def _truncate(self, name: str, this: Node) -> Reading:
        if name in time_parts.START:
            return time_parts.start_of(name, self.time(this, f"DATE_TRUNC to the {name}"))
        day = self.day(this, "DATE_TRUNC")
        return day if name == "day" else time_parts.start_of_period(name, day)

    def _text(self, name: str, this: Node) -> Places:
        """Return what an expression of texts can be."""
        value = self.value(this)
        if isinstance(value, Reading) or not value.is_text:
            raise InvalidQuestion(f"{name} takes text, but {this} is not text; name a column whose categories are text")
        return value

    def _null_if(self, node: Call) -> Value:
        """Return a value that is missing where it is a constant."""
        this, other = node.arguments
        value = self.value(this)
        assert isinstance(other, Constant)
        if isinstance(value, Places):
            return text_keys.leave_out(value, other.value, node)
        column = self.find(this)
        operator, number = column.against("<>", other.value)
        return choose([w.Against(whole=column.whole, operator=operator, numbers=(number,))], [value])

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
        texts = [value for value in values if isinstance(value, Places)]
        if len(texts) < len(values):
            return of_readings(self._same_kind(nodes, node))
        keys = tuple(dict.fromkeys(key for text in texts for key in text.keys))
        if len({type(key) for key in keys}) > 1:
            raise InvalidQuestion(f"{node} mixes text, whole numbers and true/false; use one type")
        return Places(keys, of_places([text_keys.place_among(text, keys) for text in texts]))

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
    if isinstance(value, Places):
        remedy = "compare it with = or IN, or group by it"
        raise InvalidQuestion(f"{what} needs numbers, but {node} is categorical; {remedy}")
    return value


def group_by_listed(column: Numbers) -> DerivedKeys:
    """Return a column with bounds as the keys that the contract gives beside them; what is none of them is missing."""
    codes = [column.exact(str(key)) for key in column.listed]
    tests: list[w.Truth] = [w.Against(whole=column.whole, numbers=(code or 0,)) for code in codes]
    whole = w.choose(tests, [w.fixed(place) for place in range(len(codes))])
    return DerivedKeys(column.name, column.listed, formula=ColumnRef(column.name), whole=whole)


def codes_of(test: Predicate, column: Column) -> tuple[Comparison, tuple[int, ...]]:
    """Return a test of a column as the same test of its code."""
    comparisons = [column.against(test.operator, value) for value in test.constants]
    return comparisons[0][0] if comparisons else test.operator, tuple(number for _, number in comparisons)


def find_column(columns: Mapping[str, Column], node: Node) -> Column | None:
    """Return one of some columns, or one that is made of them; None if there is none."""

    def find(node: Node) -> Column:
        if isinstance(node, Raw):
            return RawKeys.of(node)
        return columns[node.name] if isinstance(node, ColumnRef) else derive(node, find)

    try:
        return find(node)
    except (InvalidQuestion, KeyError):
        return None
