"""A plan: everything about a question that can be known before it is paid for and the data are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import prod
from typing import Any

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.privacy.claim import checked_epsilon
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.answering import Answering, OneNumber
from inbounds.query.cdf import CumulativeShares
from inbounds.query.column import Column, Numbers, grain_of
from inbounds.query.condition import Condition
from inbounds.query.engines.engine import Engine
from inbounds.query.group import by_key
from inbounds.query.joint_planning import finest_groups, joint_table
from inbounds.query.keys_present import KeysPresent
from inbounds.query.measure import (
    Cdf,
    Correlation,
    Count,
    CountKeys,
    CountUnits,
    Covariance,
    Deviation,
    Mean,
    Moments,
    Proportion,
    Quantile,
    Quantiles,
    Sum,
    Totals,
    Variance,
)
from inbounds.query.mechanism_choice import choose
from inbounds.query.moment_planning import parts_of
from inbounds.query.moments import MomentColumn, MomentsOfColumns
from inbounds.query.ordered_quantiles import OrderedQuantiles
from inbounds.query.quantile_answering import QuantileByRank, QuantilesInOrder
from inbounds.query.quantile_law import Buckets
from inbounds.query.question import Question, check_size, possible_cells
from inbounds.query.ratio import Ratio, TotalsOfColumn
from inbounds.query.ratio_noise import RatioNoise
from inbounds.query.row_weights import TABLE_BITS, TOTAL_BITS, RowWeights
from inbounds.query.statement.builder import statement
from inbounds.query.statement.relations import Reading
from inbounds.query.statement.request import Parts, Request, Total

WHOLE_ROWS = Total(1, 0)

ALL_COUNTS = Bounds(0, None, step=1)

MOST_BUCKETS_OF_ALL = 4_000_000
"""Quantiles of all groups together may have so many buckets; beyond, they take minutes and gigabytes."""

RELEASED_BITS = 16
"""In a table, sums without a step are released in at least 2**15 steps to what one unit can change: at the largest
epsilon there is, noise goes over dozens of them."""

MOST_GRAINS = 2**35
"""A value may be so many times what all values are multiples of: then the sum of a unit's rows stays below 2**63."""


@dataclass(frozen=True)
class Plan:
    """How a question will be answered, and what that costs."""

    question: Question
    epsilon: Fraction
    answering: Answering
    request: Request
    sql: str
    """The statement that will run."""

    @property
    def rho(self) -> Fraction:
        """At least what it counts in rho, where a budget has a delta."""
        return self.answering.rho(self.epsilon)

    @property
    def rows(self) -> list[tuple[int | None, ...]]:
        """The rows of the answer: the codes of their groups, None where a group is added up."""
        return self.question.rows

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """Every combination of groups that the statement tells apart, in the order of the contract."""
        return possible_cells(self.question.table, self.request.groups)

    def totals(self, rows: list[tuple[int, ...]]) -> list[list[int]]:
        """Return the totals of every cell, zeros where a statement gave no row."""
        depth, width = len(self.request.groups), self._width
        found: dict[tuple[int, ...], list[int]] = {cell: [0] * width for cell in self.cells}
        for row in rows:
            if None not in row[:depth] and (cell := tuple(map(int, row[:depth]))) in found:  # else it is of no group
                self._add(found[cell], [int(number or 0) for number in row[depth:]])
        return list(found.values())

    @property
    def _width(self) -> int:
        if self.request.bucket and isinstance(self.request.value, Numbers):
            return Buckets(self.request.value, self.request.bucket).count
        return self.request.width

    def _add(self, totals: list[int], numbers: list[int]) -> None:
        if self.request.bucket:
            totals[numbers[0]] += numbers[1]
        elif self.request.unit is None and not self.request.parts:
            rows, steps = numbers[0], numbers[1] if len(numbers) > 1 else 0
            for i, total in enumerate(self.request.totals):
                totals[i] += total.rows * rows + total.steps * steps
        else:
            for i, number in enumerate(numbers):
                totals[i] += number


def plan(
    question: Question,
    epsilon: Fraction,
    engine: Engine,
    pooling: Fraction | None = None,
    engines: Mapping[str, Engine] | None = None,
) -> Plan:
    """Plan how to answer a question for so much epsilon; looks at no data.

    `engine` runs the statement; `engines` are those of the tables that are asked, by name, if they are several.
    """
    reading = Reading(engines if engines is not None else {question.table.name: engine}, engine.dialect)
    return _Planner(question, epsilon, reading, pooling).plan()


@dataclass(frozen=True)
class _Planner:
    question: Question
    epsilon: Fraction
    reading: Reading
    pooling: Fraction | None

    def plan(self) -> Plan:
        checked_epsilon(self.epsilon)
        if self.question.sets is not None and not isinstance(self.question.measure, Count | CountUnits | Sum):
            raise InvalidQuestion(
                f"totals are made of counts and sums, and a {self.question.measure.title} has none; ask for COUNT(*) "
                "and SUM(column), or group by columns alone"
            )
        match self.question.measure:
            case Count():
                answering, request = self._count()
            case Cdf():
                answering, request = self._shares()
            case CountUnits():
                answering, request = self._units()
            case Sum() as measure:
                answering, request = self._sum(measure)
            case Mean() as measure:
                answering, request = self._mean(measure)
            case Totals() as measure:
                answering, request = self._totals(measure)
            case CountKeys() as measure:
                answering, request = self._keys(measure)
            case Moments() | Variance() | Deviation() | Covariance() | Correlation() as measure:
                answering, request = self._moments(Moments.of_one(measure))
            case Proportion() as measure:
                answering, request = self._proportion(measure)
            case Quantile() as measure:
                answering, request = self._quantile(measure)
            case Quantiles() as measure:
                answering, request = self._quantiles(measure)
        dialect = self.reading.dialect
        relation = self.reading.relation(self.question.table, request.needed)
        rendered = dialect.render(statement(request, relation, dialect))
        return Plan(self.question, self.epsilon, answering, request, rendered)

    # What every request shares.

    def _request(
        self,
        totals: tuple[Total, ...],
        most: int,
        *,
        value: Numbers | Condition | None = None,
        bucket: int = 0,
        distinct: bool = False,
        limit: int | None = None,
        parts: tuple[Parts, ...] = (),
    ) -> Request:
        table = self.question.table
        bits = TABLE_BITS if self._is_table else TOTAL_BITS
        weights = RowWeights(1, 0) if table.rows_are_units else RowWeights.of(limit or table.limit, most, bits)
        return Request(
            columns=self._columns(value),
            kinds=self.reading.kinds(table),
            groups=self.question.groups,
            condition=self.question.condition,
            value=value,
            bucket=bucket,
            unit=None if table.rows_are_units else table.unit,
            distinct=distinct,
            totals=totals,
            weights=weights,
            parts=parts,
        )

    def _columns(self, value: Numbers | Condition | None) -> dict[str, Column]:
        """Return the columns of the table, and those made of columns that conditions look at."""
        table, conditions = self.question.table, (self.question.condition, value)
        names = [name for one in conditions if isinstance(one, Condition) for name in one.columns()]
        return {**table.columns, **{name: table.column(name) for name in names}}

    @property
    def _is_table(self) -> bool:
        """Whether the answer is a table that adds up: with groups to count or add up it is, unless asked not to be."""
        question = self.question
        if not isinstance(question.measure, Count | Sum):
            return question.sets is not None
        together = bool(question.groups) and not question.alone and self.pooling is None
        return together or question.sets is not None

    @property
    def _one_group(self) -> bool:
        """Whether a unit's rows can be in one group only."""
        return self.question.table.rows_are_units or not self.question.groups

    def _one_number(
        self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction, shift: Fraction = Fraction(0)
    ) -> OneNumber:
        """Answer with one draw for each group; by the distance guarantee where a unit can change several of them."""
        guarantee: GuaranteeName = "standard" if self._one_group else "distance"
        fine = grain / request.weights.one
        drawn_in = _drawn_in(bounds, None if self._one_group else fine)
        choice = choose(drawn_in, sensitivity, self.epsilon, guarantee, self.pooling)
        return OneNumber(choice, guarantee, sensitivity, bounds, fine, shift)

    # The measures.

    def _count(self) -> tuple[Answering, Request]:
        request = self._request((WHOLE_ROWS,), 1)
        limit = self.question.table.limit
        return self._number_or_table(request, self._counts(limit), Fraction(1), Fraction(limit))

    def _units(self) -> tuple[Answering, Request]:
        """Count units; in a table with totals each of them counts once in all, shared over its groups."""
        once = self._one_group or self.question.sets is not None
        limit = 1 if once else min(self.question.table.limit, self.question.cells)
        request = self._request((WHOLE_ROWS,), 1, distinct=not self.question.table.rows_are_units, limit=limit)
        if self.question.sets is None:
            return self._one_number(request, self._counts(1), Fraction(1), Fraction(limit)), request
        return self._table(request, self._counts(1), Fraction(1), Fraction(limit))

    def _keys(self, measure: CountKeys) -> tuple[Answering, Request]:
        """Count keys by the units in each: one unit moves those by as many as its limit, and so the keys."""
        question, table = self.question, self.question.table
        if any(group.column.name == measure.column for group in question.groups):
            raise InvalidQuestion(f"{measure.column} is grouped by, so that each group has one of it; leave one out")
        groups = (*question.groups, by_key(table.column(measure.column)))
        check_size(replace(question, groups=groups))
        limit = min(table.limit, prod(group.size for group in groups))
        request = self._request((WHOLE_ROWS,), 1, distinct=not table.rows_are_units, limit=limit)
        cells = Counter(cell[:-1] for cell in possible_cells(table, groups))
        of_each = tuple(cells[tuple(code or 0 for code in row)] for row in question.rows)
        number = self._one_number(request, Bounds(0, max(of_each), step=1), Fraction(1), Fraction(limit))
        shared = {part.name: getattr(number, part.name) for part in fields(number)}
        answering = KeysPresent(**shared, one=request.weights.one, of_each=of_each)
        return answering, replace(request, groups=groups)

    def _number_or_table(
        self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction
    ) -> tuple[Answering, Request]:
        """Answer with a number by itself, or with a table that adds up where there are groups, unless asked not to."""
        if self._is_table:
            return self._table(request, bounds, grain, sensitivity)
        return self._one_number(request, bounds, grain, sensitivity), request

    def _table(
        self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction
    ) -> tuple[Answering, Request]:
        if self.pooling is not None:
            raise InvalidQuestion("pooling does not apply to a table with totals; leave it out")
        fine = grain / request.weights.one
        answering = joint_table(
            self.question,
            self.epsilon,
            sensitivity=sensitivity,
            bounds=bounds,
            step=_released_in(fine, sensitivity) if bounds.step is None else bounds.step,
            grain=fine,
        )
        return answering, replace(request, groups=finest_groups(self.question))

    def _shares(self) -> tuple[Answering, Request]:
        """Answer with the rows of all bins, added up from the least value on."""
        if self.pooling is not None:
            raise InvalidQuestion("pooling does not apply to a cumulative distribution; leave it out")
        request = self._request((WHOLE_ROWS,), 1)
        limit, grain = Fraction(self.question.table.limit), Fraction(1, request.weights.one)
        return CumulativeShares.of(self.question.cells, self.epsilon, limit, grain), request

    def _counts(self, each: int) -> Bounds:
        units = self.question.table.units
        return Bounds(0, None if units is None else units * each, step=1)

    def _sum(self, measure: Sum) -> tuple[Answering, Request]:
        column = self._no_dates(measure.column, "sum")
        grain = self._grain(column)
        total = Total(int(column.low / grain), int(column.step / grain))
        most = max(abs(column.low), abs(column.high))
        request = self._request((total,), int(most / grain), value=column)
        return self._number_or_table(request, self._sums(column), grain, self.question.table.limit * most)

    def _grain(self, column: Numbers) -> Fraction:
        grain = grain_of(column)
        if max(abs(column.low), abs(column.high)) / grain > MOST_GRAINS:
            raise InvalidQuestion(
                f"values of {column.name} are too fine to be added up; give its bounds a coarser step"
            )
        return grain

    def _sums(self, column: Numbers) -> Bounds:
        """Return the possible sums of a column: of no row up to all rows that can count, if that is known."""
        table = self.question.table
        everyone = None if table.units is None else table.units * table.limit
        low, high = min(column.low, Fraction(0)), max(column.high, Fraction(0))
        ends = [Fraction(0) if end == 0 else None if everyone is None else end * everyone for end in (low, high)]
        return Bounds(ends[0], ends[1], step=None if column.bounds.step is None else grain_of(column))

    def _totals(self, measure: Totals) -> tuple[Answering, Request]:
        """Answer with the two sums behind a mean, which tell the count and the sum as well."""
        dates = any(isinstance(one, Sum) for one in measure.of)
        column = self._no_dates(measure.column, "sum") if dates else self.question.table.numbers(measure.column)
        if dates:
            self._grain(column)
        request = self._request((Total(0, 1), Total(column.steps, -1)), column.steps, value=column)
        ratio = self._ratio(request, column.step, column.low, column.high, _hull(column))
        counts = self._counts(self.question.table.limit)
        sums = ALL_COUNTS if column.is_dates else self._sums(column)
        shared = {part.name: getattr(ratio, part.name) for part in fields(ratio)}
        return TotalsOfColumn(**shared, of=measure.of, counts=counts, sums=sums), request

    def _mean(self, measure: Mean) -> tuple[Answering, Request]:
        column = self.question.table.numbers(measure.column)
        if self._is_over_all_units:
            return self._mean_of_public_number(column)
        totals = (Total(0, 1), Total(column.steps, -1))
        request = self._request(totals, column.steps, value=column)
        return self._ratio(request, column.step, column.low, column.high, _hull(column)), request

    def _moments(self, measure: Moments) -> tuple[Answering, Request]:
        """Answer with the sums of all parts of rows, which a row of any value moves by its weight together."""
        columns = [self.question.table.numbers(name) for name in measure.columns]
        for one in measure.of:
            if isinstance(one, Sum):
                self._grain(self._no_dates(one.column, "sum"))
        parts = tuple(parts_of(one, squares=measure.has_squares, columns=len(columns)) for one in columns)
        whole = prod(one.whole for one in parts)
        request = self._request((), whole, parts=parts)
        one_of_all = self.question.table.rows_are_units and whole == 1
        guarantee: GuaranteeName = "standard" if one_of_all else "distance"
        limit, fine = Fraction(self.question.table.limit), Fraction(1, whole * request.weights.one)
        choice = choose(Bounds(0, None, step=fine), limit, self.epsilon, guarantee, self.pooling)
        noise = RatioNoise.of(choice.mechanism, fine, limit / self.epsilon)
        counts = self._counts(self.question.table.limit)
        of_columns = tuple(
            MomentColumn(
                column.name,
                column.low,
                column.high,
                _hull(column),
                counts if column.is_dates else self._sums(column),
                cut.count,
            )
            for column, cut in zip(columns, parts, strict=True)
        )
        answering = MomentsOfColumns(choice, guarantee, limit, fine, of_columns, measure.of, counts, noise.each)
        return answering, request

    def _proportion(self, measure: Proportion) -> tuple[Answering, Request]:
        if self._is_over_all_units:
            return self._proportion_of_public_number(measure)
        request = self._request((Total(0, 1), Total(1, -1)), 1, value=measure.condition)
        return self._ratio(request, Fraction(1), Fraction(0), Fraction(1), Bounds(0, 1)), request

    def _ratio(self, request: Request, step: Fraction, low: Fraction, high: Fraction, bounds: Bounds) -> Ratio:
        """Answer with two draws.  A unit changes both of them, unless it is one row and that is all of one of them."""
        one_of_two = self.question.table.rows_are_units and step == high - low
        guarantee: GuaranteeName = "standard" if one_of_two else "distance"
        sensitivity = self.question.table.limit * (high - low)
        fine = step / request.weights.one
        choice = choose(Bounds(0, None, step=fine), sensitivity, self.epsilon, guarantee, self.pooling)
        noise = RatioNoise.of(choice.mechanism, fine, sensitivity / self.epsilon)
        return Ratio(choice, guarantee, sensitivity, bounds, fine, low, high, noise)

    @property
    def _is_over_all_units(self) -> bool:
        """Whether the number of rows is public: every unit counts as one row, and all of them are asked about."""
        question = self.question
        whole = question.condition is None and not question.groups
        return whole and question.table.units is not None and question.table.limit == 1

    def _mean_of_public_number(self, column: Numbers) -> tuple[Answering, Request]:
        """Add up distances from the middle, twice over; missing values count as the middle."""
        units = self.question.table.units
        assert units is not None
        request = self._request((Total(-column.steps, 2),), column.steps, value=column)
        sensitivity = (column.high - column.low) / units  # of replacing a unit's row by another
        middle = (column.low + column.high) / 2
        return self._one_number(request, _hull(column), column.step / 2 / units, sensitivity, middle), request

    def _proportion_of_public_number(self, measure: Proportion) -> tuple[Answering, Request]:
        units = self.question.table.units
        assert units is not None
        request = self._request((Total(0, 1),), 1, value=measure.condition)
        part = Fraction(1, units)
        return self._one_number(request, Bounds(0, 1, step=part), part, part), request

    def _quantile(self, measure: Quantile) -> tuple[Answering, Request]:
        column, request = self._by_bucket(measure)
        limit, one = self.question.table.limit, request.weights.one
        guarantee: GuaranteeName = "standard" if self._one_group else "distance"
        return QuantileByRank(column, measure.level, self.epsilon, limit, one, guarantee), request

    def _quantiles(self, measure: Quantiles) -> tuple[Answering, Request]:
        column, request = self._by_bucket(measure)
        limit, one = self.question.table.limit, request.weights.one
        law = OrderedQuantiles(Buckets.of(column), measure.levels, self.epsilon, limit, one)
        return QuantilesInOrder(law, "distance"), request

    def _by_bucket(self, measure: Quantile | Quantiles) -> tuple[Numbers, Request]:
        """Return the column of quantiles, and a request for its rows by value."""
        if self.pooling is not None:
            raise InvalidQuestion("pooling does not apply to a quantile, which is drawn by rank; leave it out")
        column = self.question.table.numbers(measure.column)
        if self.question.cells * Buckets.of(column).count > MOST_BUCKETS_OF_ALL:
            raise InvalidQuestion(f"quantiles for {self.question.cells} groups are too many; ask for fewer groups")
        return column, self._request((WHOLE_ROWS,), 1, value=column, bucket=Buckets.of(column).width)

    def _no_dates(self, name: str, what: str) -> Numbers:
        column = self.question.table.numbers(name)
        if column.is_dates:
            raise InvalidQuestion(f"{name} holds days, which have no {what}; ask for the mean, the median or a count")
        return column


def _hull(column: Numbers) -> Bounds:
    """Return where the mean of a column can be: anywhere between its ends."""
    if column.is_dates:
        return Bounds.dates(column.bounds.low, column.bounds.high)  # type: ignore[arg-type]
    return Bounds(column.low, column.high)


def _released_in(fine: Fraction, sensitivity: Fraction) -> Fraction:
    """Return the step of sums that have none of their own: as coarse as is not seen beside the noise, so that the sums
    of many rows are numbers of steps that doubles hold."""
    return fine * 2 ** max(0, int(sensitivity / fine).bit_length() - RELEASED_BITS)


def _drawn_in(bounds: Bounds, fine: Fraction | None) -> Bounds:
    """Return the bounds as a mechanism is to see them: days as numbers, and where a unit can change several answers, on
    a lattice so fine that everything that it can change is a whole number."""
    if bounds.is_dates:
        ends: tuple[Any, Any] = (bounds.low.toordinal(), bounds.high.toordinal())  # type: ignore[union-attr]
        return Bounds(*ends)
    if fine is None:
        return bounds
    return Bounds(bounds.low, bounds.high, step=fine)  # type: ignore[arg-type]
