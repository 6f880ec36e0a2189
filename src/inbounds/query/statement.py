"""From a question to one SQL statement, as a sqlglot expression that every engine renders in its own dialect.

    read     the columns as integers: steps above the least value, places in the list of keys
    kept     the rows that the question is about, with nothing missing
    parts    for each unit and group: how many rows, and their sum
    weighed  the same, beside how many rows the unit has in all groups together
    totals   for each group: the weighed parts, added up

If each row is a unit of its own, the rows are added up as they are.  Nothing here can fail on any row: values are
clipped before they are converted, and every integer is small enough for its type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from sqlglot import exp

from inbounds.query.column import Column, Key, Keys, Numbers
from inbounds.query.condition import And, Compare, Condition, In, Missing, Not, Or
from inbounds.query.engines.engine import Dialect, Kind
from inbounds.query.group import Group
from inbounds.query.weights import MOST_ROWS, Weights

Expression = exp.Expr


@dataclass(frozen=True)
class Linear:
    """A number that a row adds to a total: `rows` for itself, and `steps` times its value in steps."""

    rows: int
    steps: int


@dataclass(frozen=True)
class Request:
    """What a statement is to compute."""

    columns: dict[str, Column]
    kinds: dict[str, Kind]
    groups: tuple[Group, ...]
    condition: Condition | None
    value: Numbers | Condition | None
    """What is added up: a column, or 1 for each row for which a condition is true, or nothing but the rows."""
    bucket: int
    """If positive: rows are also told apart by their value, in buckets of so many steps."""
    unit: str | None
    """The column that tells whose rows they are; None if each row is a unit of its own."""
    distinct: bool
    """Whether a unit's rows in a group count once."""
    totals: tuple[Linear, ...]
    weights: Weights


def statement(request: Request, relation: Expression, dialect: Dialect) -> exp.Select:
    """Return the statement: one row for each group that has rows, the codes of its groups first, then the totals."""
    return _Builder(request, dialect).build(relation)


@dataclass(frozen=True)
class _Builder:
    request: Request
    dialect: Dialect

    def build(self, relation: Expression) -> exp.Select:
        read = exp.select(*self._read()).from_(relation).where(*self._known())
        kept = exp.select().from_(read.subquery("r")).where(*self._kept())
        return self._rows(kept) if self.request.unit is None else self._units(kept)

    # The columns as integers.

    def _read(self) -> list[Expression]:
        request = self.request
        found = [_named(self._group(group), f"g{i}") for i, group in enumerate(request.groups)]
        if isinstance(request.value, Numbers):
            found.append(_named(self._steps(request.value), "v"))
        elif request.value is not None:
            found.append(_named(_case([(self._true(request.value, self._code), _whole(1))], _whole(0)), "v"))
        if request.condition is not None:
            found += [_named(self._code(name), self._alias(name)) for name in request.condition.columns()]
        if request.unit is not None:
            found.append(_named(_column(request.unit), "u"))
        return found or [_named(_whole(1), "one")]

    def _known(self) -> list[Expression]:
        """Return what must be so of the table's own columns: nothing that is needed is missing."""
        request = self.request
        needed = {group.column.name: group.column for group in request.groups if isinstance(group.column, Numbers)}
        if isinstance(request.value, Numbers):
            needed[request.value.name] = request.value
        found = [self._is_known(column) for column in needed.values()]
        if request.unit is not None:
            found.append(_present(_column(request.unit)))
        return found

    def _is_known(self, column: Numbers) -> Expression:
        """Return whether a value is neither NULL nor NaN, which is above infinity or not comparable with it."""
        kind, this = self.request.kinds[column.name], _column(column.name)
        if kind is Kind.FLOAT:
            return _compare(this, "<=", INFINITY)
        if kind is Kind.TIMESTAMP:
            return _present(self.dialect.as_timestamp(this))
        return _present(self.dialect.as_double(this, kind) if kind is Kind.WIDE_DECIMAL else this)

    def _code(self, name: str) -> Expression:
        """Return a column as an integer, NULL if it is missing."""
        column = self.request.columns[name]
        if isinstance(column, Keys):
            return self._place(column, _column(name))
        return _case([(self._is_known(column), self._steps(column))])

    def _alias(self, name: str) -> str:
        assert self.request.condition is not None
        return f"c{self.request.condition.columns().index(name)}"

    def _group(self, group: Group) -> Expression:
        """Return what rows are grouped by: a number, but keys as they are if they are turned into numbers later."""
        if isinstance(group.column, Keys):
            this = _column(group.column.name)
            return this if self.request.unit is None else self._place(group.column, this)
        steps = self._steps(group.column)
        return steps if group.size == group.column.steps + 1 else _bin(steps, group.starts, 0)

    def _place(self, column: Keys, this: Expression) -> Expression:
        """Return the place of a key in the list, NULL for what is no key."""
        return _case([(_compare(this, "=", self._key(key)), _whole(i)) for i, key in enumerate(column.keys)])

    def _key(self, key: Key) -> Expression:
        if isinstance(key, bool):
            return exp.Boolean(this=key)
        return self.dialect.text(key) if isinstance(key, str) else _whole(key)

    def _steps(self, column: Numbers) -> Expression:
        """Return a value that is not missing in steps above the least, clipped.

        Every engine passes over NULL in LEAST and GREATEST, and takes NaN for the greatest: rows with either were left
        out before.
        """
        kind, this = self.request.kinds[column.name], _column(column.name)
        if column.is_dates:
            return self._days(column, this, kind)
        if kind is Kind.INTEGER and column.step == 1 and column.low.denominator == 1:
            whole = _clipped(this, _whole(int(column.low)), _whole(int(column.high)))
            return exp.Sub(this=_bigint(whole), expression=_whole(int(column.low))) if column.low else whole
        value, low, high = self.dialect.as_double(this, kind), _double(column.low), _double(column.high)
        clipped = _case([(_compare(value, "<", low), low), (_compare(value, ">", high), high)], value)  # quicker here
        return self._rounded(column, clipped)

    def _rounded(self, column: Numbers, value: Expression) -> Expression:
        """Return the nearest step, half up, of a double that is within the bounds.

        Half a step is added before anything is scaled: then nothing is so small that PostgreSQL refuses the product.
        """
        shifted = exp.paren(exp.Add(this=value, expression=_double(column.step / 2 - column.low)))
        times = 1 / column.step
        scaled = (
            exp.Mul(this=shifted, expression=_double(times))
            if times.denominator == 1
            else exp.Div(this=shifted, expression=_double(column.step), typed=True)
        )
        return _bigint(exp.Floor(this=scaled))

    def _days(self, column: Numbers, this: Expression, kind: Kind) -> Expression:
        """Return days after the first; what is far off, even infinitely, is compared and not converted."""
        low, high = (exp.cast(exp.Literal.string(_day(end)), "DATE") for end in (column.low, column.high))
        time = self.dialect.as_timestamp(this) if kind is Kind.TIMESTAMP else this
        day = exp.cast(time.copy(), "DATE") if kind is Kind.TIMESTAMP else this
        between = [
            (_compare(time, "<", low), _whole(0)),
            (_compare(time, "<", high), _bigint(self.dialect.days(day, low))),
        ]
        return _case(between, _whole(column.steps))

    # The rows that the question is about.

    def _kept(self) -> list[Expression]:
        request = self.request
        found: list[Expression] = []
        if request.unit is not None:
            found += [_present(exp.column(f"g{i}")) for i in range(len(request.groups))]
        if request.condition is not None:
            found.append(exp.paren(self._true(request.condition, lambda name: exp.column(self._alias(name)))))
        return found

    def _true(self, condition: Condition, this: Callable[[str], Expression]) -> Expression:
        """Return a condition in SQL, each column as `this` gives it."""
        if isinstance(condition, And | Or):
            joined = [exp.paren(self._true(part, this)) for part in condition.parts()]
            return exp.and_(*joined) if isinstance(condition, And) else exp.or_(*joined)
        if isinstance(condition, Not):
            return exp.Not(this=exp.paren(self._true(condition.this, this)))
        if isinstance(condition, Missing):
            return exp.Is(this=this(condition.column), expression=exp.Null())
        if isinstance(condition, In):
            tests = (self._compared(Compare(condition.column, "=", value)) for value in condition.values)
            return exp.In(this=this(condition.column), expressions=[number for _, number in tests])
        assert isinstance(condition, Compare)
        operator, number = self._compared(condition)
        return _compare(this(condition.column), operator, number)

    def _compared(self, test: Compare) -> tuple[str, Expression]:
        """Return a comparison with a constant as one of integers."""
        column = self.request.columns[test.column]
        if isinstance(column, Keys):
            return test.operator, _whole(column.code(test.value))
        operator, number = column.threshold(test.operator, column.literal(test.value))
        return operator, _whole(number)

    # Adding up.

    def _told_apart(self) -> list[Expression]:
        """Return what rows are told apart by: their groups, and their bucket."""
        found: list[Expression] = [exp.column(f"g{i}") for i in range(len(self.request.groups))]
        if self.request.bucket == 1:
            found.append(exp.column("v"))
        elif self.request.bucket:
            found.append(_divided(exp.column("v"), _whole(self.request.bucket)))
        return found

    def _rows(self, kept: exp.Select) -> exp.Select:
        """Add up rows that are units of their own: how many, and their sum.

        Grouping by keys as they are and turning them into numbers afterwards is quicker than the other way round.
        """
        apart = self._told_apart()
        totals: list[Expression] = [_named(exp.Count(this=exp.Star()), "n")]
        if self._sums:
            totals.append(_named(self.dialect.total(exp.column("v")), "s"))
        found = _grouped(kept.select(*(_named(by, f"k{i}") for i, by in enumerate(apart)), *totals), len(apart))
        columns = [group.column for group in self.request.groups]
        if not any(isinstance(column, Keys) for column in columns):
            return found
        codes: list[Expression] = [exp.column(f"k{i}") for i in range(len(apart))]
        for i, column in enumerate(columns):
            codes[i] = self._place(column, codes[i]) if isinstance(column, Keys) else codes[i]
        sums = [_named(exp.Sum(this=exp.column(name)), name) for name in ("ns" if self._sums else "n")]
        return _grouped(exp.select(*codes, *sums).from_(found.subquery("k")), len(codes))

    def _units(self, kept: exp.Select) -> exp.Select:
        apart = [_named(by, f"k{i}") for i, by in enumerate(self._told_apart())]
        keys = [f"k{i}" for i in range(len(apart))]
        parts = _grouped(kept.select(_named(exp.column("u"), "u"), *apart, *self._parts()), 1 + len(apart))
        totals = [
            _named(self.dialect.total(self._weigh(total)), f"t{i}") for i, total in enumerate(self.request.totals)
        ]
        found = exp.select(*keys, *totals)
        return _grouped(self._weighed(found, parts).where(_compare(EVERY, "<=", _whole(MOST_ROWS))), len(keys))

    def _weighed(self, found: exp.Select, parts: exp.Select) -> exp.Select:
        """Select from the parts of each unit together with `m`, how many rows the unit has in all.

        The parts are added up by unit and joined to themselves, which takes half as long as a window over them.
        """
        if not self._told_apart():  # then a unit has one part
            return found.from_(parts.select(*self._every(exp.Count(this=exp.Star()))).subquery("p"))
        together = exp.select("u", *self._every(exp.Sum(this=exp.column("n")))).from_("p").group_by("u").subquery("w")
        same = exp.column("u", "p").eq(exp.column("u", "w"))
        return found.with_("p", as_=parts).from_("p").join(together, on=same)

    def _every(self, rows: Expression) -> list[Expression]:
        """Return how many rows a unit has in all, or one more than can count."""
        return [
            _named(
                _whole(1) if self.request.distinct and not self._told_apart() else _at_most(rows, MOST_ROWS + 1), "m"
            )
        ]

    @property
    def _sums(self) -> bool:
        return any(total.steps for total in self.request.totals)

    def _parts(self) -> list[Expression]:
        """Return the rows of a unit in a group and their sum, cut where the unit has too many rows to count."""
        rows = _whole(1) if self.request.distinct else _at_most(exp.Count(this=exp.Star()), MOST_ROWS + 1)
        found: list[Expression] = [_named(rows, "n")]
        if self._sums:
            most = (self.request.value.steps if isinstance(self.request.value, Numbers) else 1) * MOST_ROWS
            found.append(_named(_at_most(self.dialect.total(exp.column("v")), most), "s"))
        return found

    def _weigh(self, total: Linear) -> Expression:
        """Return what a unit's rows in a group count for, rounded towards zero."""
        weights, value = self.request.weights, _linear(total)
        if total.rows >= 0:  # then so is the value
            return _share(value, weights)
        negative = exp.Neg(this=exp.paren(_share(exp.Neg(this=exp.paren(value)), weights)))
        return _case([(_compare(exp.paren(value), "<", _whole(0)), negative)], _share(value, weights))


def _share(value: Expression, weights: Weights) -> Expression:
    """Return `floor(value * limit * one / max(m, limit))` for a value that is not negative, without overflow."""
    this, every, most = exp.paren(value), EVERY, _whole(weights.limit * weights.one)
    in_full = exp.Mul(this=this, expression=_whole(weights.one)) if weights.bits else this
    whole = exp.Mul(this=exp.paren(_divided(this, every)), expression=most)
    rest = exp.Mul(this=exp.paren(exp.Mod(this=this.copy(), expression=every.copy())), expression=most.copy())
    weighed = exp.Add(this=whole, expression=exp.paren(_divided(exp.paren(rest), every)))
    return _case([(_compare(every, "<=", _whole(weights.limit)), in_full)], weighed)


def _linear(total: Linear) -> Expression:
    found = [
        _times(exp.column(name), abs(factor)) for factor, name in ((total.rows, "n"), (total.steps, "s")) if factor
    ]
    if len(found) == 1:
        return found[0]
    first, second = found
    if total.rows < 0:
        return exp.Sub(this=second, expression=first)
    return (exp.Sub if total.steps < 0 else exp.Add)(this=first, expression=second)


def _times(value: Expression, factor: int) -> Expression:
    return value if factor == 1 else exp.Mul(this=value, expression=_whole(factor))


def _bin(steps: Expression, starts: tuple[int, ...], first: int) -> Expression:
    """Return the number of the bin that a value is in, by halving."""
    if len(starts) == 1:
        return _whole(first)
    half = len(starts) // 2
    below, above = _bin(steps, starts[:half], first), _bin(steps, starts[half:], first + half)
    return _case([(_compare(steps, "<", _whole(starts[half])), below)], above)


def _grouped(select: exp.Select, count: int) -> exp.Select:
    return select.group_by(*(exp.Literal.number(i + 1) for i in range(count))) if count else select


def _column(name: str) -> Expression:
    return exp.column(exp.to_identifier(name, quoted=True))


def _named(expression: Expression, name: str) -> Expression:
    return exp.alias_(expression, name)


def _present(value: Expression) -> Expression:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))


def _clipped(value: Expression, low: Expression, high: Expression) -> Expression:
    at_least = exp.Anonymous(this="GREATEST", expressions=[value.copy(), low])
    return exp.Anonymous(this="LEAST", expressions=[at_least, high])


def _case(branches: list[tuple[Expression, Expression]], otherwise: Expression | None = None) -> exp.Case:
    ifs = [exp.If(this=test.copy(), true=value.copy()) for test, value in branches]
    return exp.Case(ifs=ifs, default=otherwise and otherwise.copy())


EVERY = exp.column("m")
"""How many rows a unit has in all."""

INFINITY = exp.cast(exp.Literal.string("Infinity"), "DOUBLE")

COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


def _compare(left: Expression, operator: str, right: Expression) -> Expression:
    return COMPARISONS[operator](this=left.copy(), expression=right.copy())


def _divided(left: Expression, right: Expression) -> Expression:
    return exp.IntDiv(this=left.copy(), expression=right.copy())


def _at_most(value: Expression, most: int) -> Expression:
    return _bigint(exp.Anonymous(this="LEAST", expressions=[value, _whole(most)]))


def _bigint(value: Expression) -> Expression:
    return exp.TryCast(this=value.copy(), to=exp.DataType.build("BIGINT"))


def _whole(number: int) -> Expression:
    return exp.Literal.number(number) if number >= 0 else exp.Neg(this=exp.Literal.number(-number))


def _double(number: Fraction) -> Expression:
    """Return the double nearest to a number; as text, which every engine reads alike."""
    return exp.cast(exp.Literal.string(repr(float(number))), "DOUBLE")


def _day(number: Fraction) -> str:
    return date.fromordinal(int(number)).isoformat()
