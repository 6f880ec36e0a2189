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


class Ratio(NamedTuple):
    """The greatest ratio of two entries of a column in adjacent rows, and where it is."""

    value: Fraction
    row: int
    other: int
    column: int


def repaired(probabilities: Floats, adjacent: Bools, epsilon: Fraction) -> ExactTable:
    """Return a table near one in doubles that keeps epsilon exactly.

    In doubles a table breaks inequalities by rounding errors.  A small part of every row, just enough to make up for
    them, is spread evenly over all releases: there the inequalities hold with room to spare.  Whether that was enough
    is decided in integers.
    """
    allowed = _allowed(epsilon)
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


def _allowed(epsilon: Fraction) -> Fraction:
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


def greatest_ratio(table: ExactTable, adjacent: Bools) -> Ratio:
    """Return the greatest ratio of two entries of a column in adjacent rows, exactly; 1 if no rows are adjacent.

    Doubles find the few that may be the greatest; which one is, integers decide.
    """
    weights = table.weights
    doubles = np.array(weights, dtype=np.float64)
    best = Ratio(Fraction(1), 0, 0, 0)
    greatest = 0.0
    found: list[tuple[float, int, int, int]] = []
    for row in range(len(weights)):
        others = np.flatnonzero(adjacent[row])
        if not len(others):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = doubles[row] / doubles[others]
        ratios = np.where(np.isnan(ratios), 1.0, ratios)  # neither ever happens
        top = float(ratios.max())
        greatest = max(greatest, top)
        for other, column in zip(*np.nonzero(ratios >= top * (1 - DOUBT)), strict=True):
            found.append((float(ratios[other, column]), row, int(others[other]), int(column)))
    for ratio, row, other, column in found:
        if ratio >= greatest * (1 - DOUBT):
            over, under = weights[row][column], weights[other][column] or NEVER
            if over * best.value.denominator > best.value.numerator * under:
                best = Ratio(Fraction(over, under), row, other, column)
    return best
