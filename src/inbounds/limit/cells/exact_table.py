"""A table of probabilities in whole units of 2**-64, private to the last unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, workprec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

BITS = 64

TOTAL = 2**BITS
"""Every row adds up to exactly this."""

ROUNDING = 2**20
"""Units by which an entry of a table in doubles may be off, with room to spare."""

LEAST = 2**6
"""Units that every entry has at least, or nearly so: no release is impossible for one true answer only."""

NEVER = Fraction(1, 2**4096)
"""Stands for a release that is impossible for one true answer only: its loss is then beyond every epsilon."""

DOUBT = 2.0**-48
"""Ratios in doubles that are this close, relatively, are compared as integers."""

WIDENINGS = 24
"""How often more may be spread evenly before giving up."""


@dataclass(frozen=True, eq=False)
class ExactTable:
    """Probabilities in units of 2**-64: rows are true answers, columns are releases, every row adds up to `TOTAL`."""

    weights: tuple[tuple[int, ...], ...]


class EntryRatio(NamedTuple):
    """The greatest ratio of two entries of a column in adjacent rows, and where it is."""

    value: Fraction
    row: int
    other: int
    column: int


def repair(probabilities: Floats, adjacent: Bools, epsilon: Fraction) -> ExactTable:
    """Return a table near one in doubles that keeps epsilon exactly.

    In doubles a table breaks inequalities by rounding errors.  A small part of every row, just enough to make up for
    them, is spread evenly over all releases: there the inequalities hold with room to spare.  Whether that was enough
    is decided in integers.
    """
    # Where epsilon is small, `allowed - 1` is, and more has to be spread: a unit of rounding then breaks a smaller
    # margin.
    allowed = _allowed_ratio(epsilon)
    columns = probabilities.shape[1]
    spread = columns * (ROUNDING / (allowed - 1) + LEAST)
    for _ in range(WIDENINGS):
        if spread > TOTAL // 4:
            break
        table = _with_spread(probabilities, int(spread))
        if greatest_ratio(table, adjacent).value <= allowed:
            return table
        spread *= 2
    raise InvalidParameter(
        f"the optimum could not be made exactly private at epsilon = {float(epsilon):g}; "
        "take a larger epsilon, or fewer points"
    )


def _allowed_ratio(epsilon: Fraction) -> Fraction:
    """Return a number just below `exp(epsilon)`."""
    with lock(), workprec(128):
        return lower(ball(epsilon).exp())


def _with_spread(probabilities: Floats, spread: int) -> ExactTable:
    """Round a table down to whole units and fill every row up evenly, with at least `spread` units or nearly so."""
    rows = []
    for row in np.maximum(probabilities, 0.0):
        whole = [int(part) for part in np.ldexp(row, BITS).tolist()]
        total = sum(whole)
        units = [part * (TOTAL - spread) // total for part in whole]
        each, rest = divmod(TOTAL - sum(units), len(units))
        rows.append(tuple(unit + each + (place < rest) for place, unit in enumerate(units)))
    return ExactTable(tuple(rows))


def greatest_ratio(table: ExactTable, adjacent: Bools) -> EntryRatio:
    """Return the greatest ratio of two entries of a column in adjacent rows, exactly; 1 if no rows are adjacent.

    Doubles find those that may be the greatest; which one is, integers decide.
    """
    # 1. The greatest ratio of each row in doubles: only rows within `DOUBT` of the greatest of all can hold it.
    # 2. In those, the entries whose ratio is as near.
    # 3. Each distinct pair of weights among them, compared in integers.
    weights = table.weights
    doubles = np.array(weights, dtype=np.float64)
    tops = np.array([_ratios(doubles, adjacent, row).max(initial=0.0) for row in range(len(weights))])
    enough = float(tops.max(initial=0.0)) * (1 - DOUBT)
    numbers: dict[int, int] = {}
    kinds = np.array([[numbers.setdefault(weight, len(numbers)) for weight in row] for row in weights])
    best, seen = EntryRatio(Fraction(1), 0, 0, 0), set[int]()
    for row in np.flatnonzero(tops >= enough).tolist():
        others, columns = np.nonzero(_ratios(doubles, adjacent, row) >= enough)
        others = np.flatnonzero(adjacent[row])[others]
        # Rows that are alike have one ratio millions of times over: each pair of weights is compared once.
        pairs, first = np.unique(kinds[row, columns] * len(numbers) + kinds[others, columns], return_index=True)
        for place, pair in sorted(zip(first.tolist(), pairs.tolist(), strict=True)):
            if pair in seen:
                continue
            seen.add(pair)
            other, column = int(others[place]), int(columns[place])
            over, under = weights[row][column], weights[other][column] or NEVER
            if over * best.value.denominator > best.value.numerator * under:
                best = EntryRatio(Fraction(over, under), row, other, column)
    return best


def _ratios(doubles: Floats, adjacent: Bools, row: int) -> Floats:
    """Return how many times the entries of adjacent rows the entries of a row are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = doubles[row] / doubles[adjacent[row]]
    return np.where(np.isnan(ratios), 1.0, ratios)  # neither ever happens
