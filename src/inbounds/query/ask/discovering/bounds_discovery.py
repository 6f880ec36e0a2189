"""Bounds of a column that nobody knows beforehand: two outer quantiles, paid for once and rounded outwards.

They are asked for under bounds that are wide and public: so the question is an ordinary one, and costs epsilon alone.
"""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import count, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from inbounds.bounds import Bounds
from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.errors import InvalidParameter, InvalidQuestion, LatticeTooFine
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.query.ask.charging import refuse_expensive, was_charged
from inbounds.query.ask.options import read_cost
from inbounds.query.ask.rank_error import describe_noise, rank_error_of
from inbounds.query.columns.column import Numbers, refuse_column
from inbounds.query.columns.kind import CLOCK, TIME
from inbounds.query.contract.contract_change import apart_from, header_of, with_value, write_section

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

OUTSIDE = 0.01
"""This share of the values is to lie below the bounds, and as much above."""

LEAST_OUTSIDE, MOST_OUTSIDE = Fraction(1, 10**6), Fraction(1, 4)


@dataclass(frozen=True)
class DiscoveredBounds:
    """Bounds that were published, what they are expected to cut, and what they cost."""

    path: tuple[str, ...]
    """Where they stand in the contract."""
    bounds: Bounds
    outside: Fraction
    """The share of values on each side that was asked for."""
    rank_error: float
    """By how many rows that may be off, at most, with the usual confidence."""
    epsilon: Fraction
    request_id: str
    """Asking again with it returns these bounds, free of charge."""

    @property
    def column(self) -> str:
        """The column that they are of."""
        return self.path[-1]

    @property
    def expected_loss(self) -> str:
        """What to expect of answers under these bounds, in words."""
        share = f"{float(100 * self.outside):g} %"
        return (
            f"about {share} of the rows lie below and {share} above, fewer after rounding outwards, and are clamped; "
            f"{describe_noise(self.rank_error, self.outside, 'rows', 'bounds that are far too wide')}"
        )

    @property
    def reason(self) -> str:
        """Why the terms of the contract have changed, for the record."""
        return f"bounds of {self.column} were discovered, request {self.request_id}"

    def section(self) -> str:
        """Return what to add to the contract: the column with its bounds, what they cost and what they may cut."""
        cost = f"discovered for epsilon {float(self.epsilon):g}: request id {self.request_id}"
        return _write(self.path, self.bounds, cost, f"expected loss: {self.expected_loss}")

    def write_into(self, text: str) -> str:
        """Return the text of the contract with this section; one that describes the column already stays as it is."""
        return write_section(text, self.section(), str(self.bounds), *self.path, "bounds")


@sheltered()
def discover_bounds(
    dataset: Dataset,
    name: str,
    epsilon: Any,
    *,
    analyst: str,
    within: str | Bounds,
    outside: Any = OUTSIDE,
    request_id: str | None = None,
) -> DiscoveredBounds:
    """Publish bounds that about this share of a column's values exceed on each side; charges epsilon first."""
    table = dataset.table
    if table.relation is not None:
        raise InvalidQuestion(
            "bounds belong to a column of a table of the contract, got a table made of tables; discover them on the "
            "dataset, or on rows_of(…)"
        )
    # Of a request that was charged before, the answer may stand in the contract already.
    if name == table.unit or (name in table.columns and not was_charged(dataset, request_id)):
        raise InvalidQuestion(f"the contract already describes {shown(name)}; query it directly")
    wide, share = _read_within(name, within), _read_outside(outside)
    refuse_expensive(dataset, read_cost(epsilon), request_id)
    path = ("columns", name) if table.is_main else ("tables", table.name, "columns", name)
    # What could not be written afterwards is refused.
    write_section(dataset.contract.text, _write(path, wide.bounds), str(wide.bounds), *path, "bounds")
    # Once they stand in the contract, the same request is still the same question.
    apart = apart_from(dataset.contract, *path, asked=(str(wide.bounds),))
    with dataset.described_by(with_value(apart, {"bounds": str(wide.bounds)}, *path)) as described:
        if name not in described.engine_of(table.name).kinds():
            raise InvalidQuestion(
                f"{shown(name)} must be a column of numbers or days; the table has no such column, so name another one"
            )
        query = described.rows_of(table.name).quantiles(name, [share, 1 - share])
        (plan,) = query.plans(epsilon)
        error = rank_error_of(plan)
        answer = query.ask(epsilon, analyst=analyst, request_id=request_id)
    ((low, high),) = answer.rows
    bounds = round_outwards(low, high, wide)
    return DiscoveredBounds(path, bounds, share, error, answer.epsilon, answer.request_id)


def round_outwards(low: Any, high: Any, wide: Numbers) -> Bounds:
    """Return round bounds around two values of a column, on its steps and within its own bounds.

    Days go to the ends of their months, times to those of their days, or of their hours if these are few days.  Numbers
    go to multiples of the largest of 1, 2, 5, 10, 20, 50 and so on, and of their tenths, that is at most a tenth of the
    distance and at least a step.
    """
    if wide.is_dates:
        first, last = low.replace(day=1), high.replace(day=monthrange(high.year, high.month)[1])
        return _cut(wide, Fraction(first.toordinal()), Fraction(last.toordinal()))
    if wide.kind in (TIME, CLOCK):
        return _round_times(wide.literal(low), wide.literal(high), wide)
    least, greatest = as_written(low, "an end"), as_written(high, "an end")
    candidates = (
        _cut(wide, floor(least / unit) * unit, ceil(greatest / unit) * unit)
        for unit in _round_units((greatest - least) / 10, wide.step)
    )
    # Without a step, a contract has no room for bounds that are narrow and far from zero: then they have to be wider.
    return next(bounds for bounds in candidates if _refuse(Numbers(wide.name, bounds)) is None)


def _round_times(low: Fraction, high: Fraction, wide: Numbers) -> Bounds:
    """Return times around two others: whole days, or whole hours within a few days."""
    unit = DAY_SECONDS if wide.kind == TIME and high - low > 3 * DAY_SECONDS else DAY_SECONDS // 24
    return _cut(wide, Fraction(floor(low / unit) * unit), (floor(high / unit) + 1) * unit - wide.step)


def _write(path: Sequence[str], bounds: Bounds, *remarks: str) -> str:
    """Write the section of a column with these bounds."""
    lines = [header_of(*path), *(f"# {remark}" for remark in remarks), f"bounds = {json.dumps(str(bounds))}"]
    return "".join(f"{line}\n" for line in ("", *lines))


def _cut(wide: Numbers, lower: Fraction, upper: Fraction) -> Bounds:
    """Return bounds between two ends, outwards on the steps of wider ones and cut to these, with two values or more."""
    step, offset = wide.bounds.step, wide.bounds.offset
    if step is not None:
        lower, upper = (
            floor((lower - offset) / step) * step + offset,
            ceil((upper - offset) / step) * step + offset,
        )
    lower, upper = max(lower, wide.ends[0]), min(upper, wide.ends[1])
    if lower == upper:
        lower, upper = max(lower - wide.step, wide.ends[0]), min(upper + wide.step, wide.ends[1])
    if wide.is_dates:
        return Bounds.dates(date.fromordinal(int(lower)), date.fromordinal(int(upper)))
    if wide.kind in (TIME, CLOCK):
        return wide.kind.between(lower, upper, step)
    return Bounds(lower, upper, step, offset=offset)


def _round_units(target: Fraction, least: Fraction) -> Iterator[Fraction]:
    """Yield round numbers in order: from the last up to the target on, or from the first that is not below `least`."""
    size = max(target, least)
    power = len(str(size.numerator)) - len(str(size.denominator)) - 1  # ten to this power is below it
    units = (digit * Fraction(10) ** exponent for exponent in count(power) for digit in (1, 2, 5))
    for unit, following in pairwise(units):
        if following > target and unit >= least:
            yield unit


def _read_within(name: str, within: object) -> Numbers:
    """Return the column under bounds that are wide and public."""
    bounds = within if isinstance(within, Bounds) else Bounds.parse(within)  # type: ignore[arg-type]  # which refuses it
    if len(bounds) != 1:
        raise InvalidParameter(f"within must be one span, got {bounds.brief()}; give the least and the greatest value")
    column = Numbers(name, bounds)
    if (problem := _refuse(column)) is not None:
        raise InvalidParameter(f"within: {problem}")
    return column


def _refuse(column: Numbers) -> str | None:
    """Return why a contract cannot have these bounds, or None if it can."""
    try:
        return refuse_column(column)
    except LatticeTooFine as problem:
        return str(problem)


def _read_outside(outside: object) -> Fraction:
    share = as_written(outside, "outside", InvalidParameter)
    if not LEAST_OUTSIDE <= share <= MOST_OUTSIDE:
        raise InvalidParameter(
            f"outside must be from {float(LEAST_OUTSIDE):g} to {float(MOST_OUTSIDE):g}, got {shown(outside)}; give the "
            f"share of rows that may lie beyond each end, such as {OUTSIDE}"
        )
    return share
