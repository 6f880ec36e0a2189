"""The whole numbers behind columns made of columns, in SQL.

`value` is what a number is if nothing that it needs is missing; `known` says whether that is so.  Only what can be
there although something is missing (CASE, COALESCE) looks for NULL inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.kind import DAY
from inbounds.query.engines.engine import Dialect
from inbounds.query.statement.expressions import (
    MOST_BRANCHES,
    Expression,
    bigint,
    case,
    compare,
    is_among,
    multiply,
    present,
    whole,
)

JOINS: dict[type[w.Truth], Callable[..., Expression]] = {
    w.Every: exp.and_,
    w.Either: exp.or_,
    w.Opposite: lambda part: exp.Not(this=part),
}


@dataclass(frozen=True)
class Wholes:
    """Writes whole numbers of a row, given how stored columns are written."""

    dialect: Dialect
    steps: Callable[[Numbers], Expression]
    """A number in steps above the least, if it is not missing."""
    is_known: Callable[[Numbers], Expression]
    key: Callable[[Keys, tuple[int, ...]], Expression]
    """The place of a key, or what is to be written for it; NULL for what is no key."""
    day: Callable[[Numbers], Expression]
    """A day, clipped, if it is not missing."""

    def known(self, number: w.Whole) -> list[Expression]:
        """Return what must be true for a number to be there."""
        return [self._is_there(leaf) for leaf in dict.fromkeys(number.leaves())]

    def _is_there(self, leaf: w.Whole) -> Expression:
        if isinstance(leaf, w.Code) and isinstance(leaf.column, Numbers):
            return self.is_known(leaf.column)
        return present(exp.paren(self.value(leaf)))

    def code(self, number: w.Whole) -> Expression:
        """Return a number, NULL if it is missing."""
        known = self.known(number)
        if not known or isinstance(number, w.Sometimes) or _is_key(number):  # which are NULL if they are missing
            return self.value(number)
        return case([(exp.and_(*known), self.value(number))])

    def value(self, number: w.Whole) -> Expression:  # noqa: PLR0911  one for each kind
        """Return a number, provided that it is there."""
        parts = number.parts
        match number:
            case w.Fixed():
                return bigint(whole(number.low))
            case w.Code():
                return self._code(number)
            case w.Picked():
                return self._pick(number)
            case w.Total():
                return self._total(number)
            case w.Product():
                return exp.Mul(this=self._inner(parts[0]), expression=self._inner(parts[1]))
            case w.Quotient():
                return self.dialect.divide(self._inner(parts[0]), whole(number.by))
            case w.Remainder():
                return exp.Mod(this=self._inner(parts[0]), expression=whole(number.by))
            case w.Size():
                return exp.Abs(this=self.value(parts[0]))
            case w.Extreme():
                function = "GREATEST" if number.greatest else "LEAST"
                return exp.Anonymous(this=function, expressions=[self.value(part) for part in parts])
            case w.DayPart():
                return self._day_part(number)
            case w.FirstOf():
                return exp.Coalesce(this=self.code(parts[0]), expressions=[self.code(part) for part in parts[1:]])
            case w.Chosen():
                return self._choose(number)
        raise AssertionError(number)

    def _inner(self, number: w.Whole) -> Expression:
        return exp.paren(self.value(number))

    def _code(self, number: w.Code) -> Expression:
        if isinstance(number.column, Keys):
            return self.key(number.column, number.codes)
        steps = self.steps(number.column)
        return steps if isinstance(steps, exp.TryCast) else bigint(steps)

    def _pick(self, number: w.Picked) -> Expression:
        """Return what a list has at a place: by a test for each place if they are few."""
        place = self._inner(number.parts[0])
        if len(number.numbers) > MOST_BRANCHES:
            return bigint(self.dialect.pick_number(place, number.numbers))
        return bigint(case([(compare(place, "=", whole(at)), whole(to)) for at, to in enumerate(number.numbers)]))

    def _total(self, number: w.Total) -> Expression:
        """Return a sum, what is added before what is subtracted: to multiply by -1 takes longer."""
        terms, plus = list(zip(number.parts, number.factors, strict=True)), number.plus
        added: list[Expression] = []
        if (ends := self._stored_days(number)) is not None:  # one difference of days, instead of two and a third
            later, earlier = ends
            terms, plus = [], plus - int(later.low - earlier.low)
            added = [bigint(self.dialect.days(self.day(later), self.day(earlier)))]
        added += [multiply(self._inner(part), factor) for part, factor in terms if factor >= 0]
        subtracted = [multiply(self._inner(part), -factor) for part, factor in terms if factor < 0]
        if not added or plus > 0:
            added.append(whole(plus))
        elif plus < 0:
            subtracted.append(whole(-plus))
        total = added[0]
        for term in added[1:]:
            total = exp.Add(this=total, expression=term)
        for term in subtracted:
            total = exp.Sub(this=total, expression=term)
        return total

    def _stored_days(self, number: w.Total) -> tuple[Numbers, Numbers] | None:
        """Return the later and the earlier of two stored days, if a number is what lies between them."""
        codes = {factor: part for part, factor in zip(number.parts, number.factors, strict=True)}
        columns = [part.column for part in (codes.get(1), codes.get(-1)) if isinstance(part, w.Code)]
        days = [day for day in columns if isinstance(day, Numbers) and day.kind == DAY]
        if len(number.parts) != 2 or len(days) != 2 or any(isinstance(self.steps(day), exp.Column) for day in days):
            return None
        return days[0], days[1]

    def _choose(self, number: w.Chosen) -> Expression:
        tests = len(number.tests)
        branches = [(self.truth(test), self.code(part)) for test, part in zip(number.tests, number.parts, strict=False)]
        return case(branches, self.code(number.parts[tests]) if len(number.parts) > tests else None)

    # Days.

    def _day_part(self, number: w.DayPart) -> Expression:
        day = number.parts[0]
        if number.name == "WEEKDAY":
            return self.dialect.weekday(self._date(day))
        if number.name == "week":
            weeks = self.dialect.divide(exp.paren(self._since_monday(day)), whole(7))
            return exp.Add(this=exp.Mul(this=exp.paren(weeks), expression=whole(7)), expression=whole(1))
        if not number.is_start:
            return self._extract(number.name, day)
        if number.name == "quarter":
            thrice = exp.Mul(this=whole(3), expression=self._extract("QUARTER", day))
            month = exp.Sub(this=thrice, expression=whole(2))
            first = self.dialect.first_of_month(self._extract("YEAR", day), month)
            return bigint(self.dialect.day_number(first))
        within = self._extract({"month": "DAY", "year": "DOY"}[number.name], day)
        return exp.Add(this=exp.Sub(this=self._inner(day), expression=within), expression=whole(1))

    def _since_monday(self, day: w.Whole) -> Expression:
        """Return the number of days since the first Monday of the calendar, which was its first day."""
        return exp.Sub(this=self._inner(day), expression=whole(1))

    def _extract(self, name: str, day: w.Whole) -> Expression:
        return self.dialect.part_of_day(name, self._date(day))

    def _date(self, day: w.Whole) -> Expression:
        """Return a day that is given by its number; one that is stored is not computed twice."""
        match day:
            case w.Total(factors=(1,), parts=(w.Code(column=Numbers(kind=kind, low=low) as column),)):
                if kind == DAY and low == day.plus:
                    return self.day(column)
        return self.dialect.day_at(self.value(day))

    # Tests.

    def truth(self, test: w.Truth) -> Expression:
        """Return a test."""
        if isinstance(test, w.Against):
            return self._compare(test)
        return JOINS[type(test)](*(exp.paren(self.truth(part)) for part in test.parts))

    def _compare(self, test: w.Against) -> Expression:
        code, numbers = exp.paren(self.code(test.whole)), [whole(number) for number in test.numbers]
        if not numbers:
            return exp.Is(this=code, expression=exp.Null())
        if len(numbers) > 1:
            return is_among(code, test.numbers)
        return compare(code, test.operator, numbers[0])


def _is_key(number: w.Whole) -> bool:
    return isinstance(number, w.Code) and isinstance(number.column, Keys)
