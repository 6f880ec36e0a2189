"""Exact interval arithmetic on lattices: which values an expression can have, and the integers that tell them.

The value of a row is `plus + sum(factor * whole)` over whole numbers that a statement computes (`whole`).  So every
value is one of `low, low + unit, ..., high`, whatever the rows hold, and its place among these is an integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from inbounds.bounds import Bounds
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.kind import NUMBER, BoundedKind

MOST_STEPS = 2**30
"""Values of columns without a step are rounded to a coarser one beyond so many: two of them multiplied fit 62 bits."""

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Reading:
    """What an expression can be."""

    terms: tuple[tuple[Whole, Fraction], ...]
    plus: Fraction
    stepped: bool = True
    """Whether its values are exact; those of columns without a step are rounded to one that nobody chose."""
    kind: BoundedKind = NUMBER
    """What its values are, each told by its number."""
    possible: tuple[Fraction, ...] | None = None
    """The values that there are, in order, if they are few and not all of the lattice."""

    @cached_property
    def unit(self) -> Fraction:
        """What all values differ by multiples of; 0 for a constant."""
        unit = gcd(*(factor for whole, factor in self.terms if whole.low < whole.high))
        return unit and (self.kind.unit or unit)

    @cached_property
    def low(self) -> Fraction:
        """The least value."""
        return self.plus + sum(min(factor * whole.low, factor * whole.high) for whole, factor in self.terms)

    @cached_property
    def high(self) -> Fraction:
        """The greatest value."""
        return self.plus + sum(max(factor * whole.low, factor * whole.high) for whole, factor in self.terms)

    @property
    def steps(self) -> int:
        """How many units from the least to the greatest value."""
        return int((self.high - self.low) / self.unit) if self.unit else 0

    def count_units(self, unit: Fraction, origin: Fraction) -> Whole:
        """Return the value as a whole number of units above an origin."""
        moving = [(whole, int(factor / unit) if whole.low < whole.high else 0) for whole, factor in self.terms]
        still = sum((factor * whole.low for whole, factor in self.terms if whole.low == whole.high), self.plus)
        return w.total(moving, int((still - origin) / unit))

    @property
    def whole(self) -> Whole:
        """Its place among its values: how many units above the least."""
        return self.count_units(self.unit or Fraction(1), self.low)

    @property
    def grain(self) -> Fraction:
        """The largest number that all its values are multiples of; 0 if it is always 0."""
        return gcd(self.unit, self.low)

    @property
    def bounds(self) -> Bounds:
        """The values that there are."""
        step = self.unit or Fraction(1)
        if self.possible is not None:
            return self.kind.among(self.possible, step)
        return self.kind.between(self.low, self.high, step if self.stepped or not self.unit else None)


def gcd(*numbers: Fraction) -> Fraction:
    """Return the largest number that all of some are whole multiples of."""
    common = math.lcm(*(number.denominator for number in numbers))
    return Fraction(math.gcd(*(int(number * common) for number in numbers)), common)


def constant(value: Fraction, kind: BoundedKind = NUMBER) -> Reading:
    """Return a constant."""
    return Reading((), value, kind=kind)


def linear(parts: Sequence[tuple[Fraction, Reading]], kind: BoundedKind = NUMBER) -> Reading:
    """Return a sum of multiples."""
    terms: dict[Whole, Fraction] = {}
    for factor, reading in parts:
        for whole, of_whole in reading.terms:
            terms[whole] = terms.get(whole, Fraction(0)) + factor * of_whole
    plus = sum((factor * reading.plus for factor, reading in parts), Fraction(0))
    # What has the factor 0 stays: where it is missing, so is the sum.
    return coarsen(Reading(tuple(terms.items()), plus, all(reading.stepped for _, reading in parts), kind))


def times(left: Reading, right: Reading) -> Reading:
    """Return a product, on the lattice that the products of two lattices lie on.

    A constant factor only scales.  Otherwise the product of the two counts of grains is computed, which can be finer
    than the lattice of the products: with a = a0 + i u and b = b0 + j v, ab differs from a0 b0 by multiples of
    gcd(u b0, a0 v, u v).
    """
    if not left.unit or not right.unit:
        still, other = (left, right) if not left.unit else (right, left)
        return linear([(still.low, other), (Fraction(0), still)])
    grains = left.grain * right.grain
    product = w.product(left.count_units(left.grain, Fraction(0)), right.count_units(right.grain, Fraction(0)))
    if left == right:
        product = replace(product, low=int(_nearest_to_zero(left) ** 2 / grains))
    unit = gcd(left.unit * right.low, left.low * right.unit, left.unit * right.unit)
    return coarsen(_on_lattice(product, grains, unit, left.low * right.low, left.stepped and right.stepped))


def _on_lattice(whole: Whole, scale: Fraction, unit: Fraction, point: Fraction, stepped: bool) -> Reading:
    """Return a whole number times a scale, whose values lie on the lattice of a unit through some value."""
    every = int(unit / scale)
    first = whole.low + (int(point / scale) - whole.low) % every  # the end of an interval need not be on the lattice
    if every == 1:
        return Reading(((whole, scale),), Fraction(0), stepped)
    above = w.total([(whole, 1)], -first)
    return Reading(((w.quotient(replace(above, low=max(above.low, 0)), every), unit),), first * scale, stepped)


def _nearest_to_zero(reading: Reading) -> Fraction:
    """Return how near to zero a value can come."""
    if reading.low >= 0 or reading.high <= 0:
        return min(abs(reading.low), abs(reading.high))
    return min(reading.low % reading.unit, -reading.low % reading.unit)


def floor(reading: Reading) -> Reading:
    """Return the greatest whole number that is not above."""
    if reading.low.denominator == reading.unit.denominator == 1:
        return reading
    common = math.lcm(reading.low.denominator, reading.unit.denominator)
    low, unit = int(reading.low * common), int(reading.unit * common)
    dividend = w.total([(reading.whole, unit)], low % common)
    return Reading(((w.quotient(dividend, common), Fraction(1)),), Fraction(low // common))


def remainder(reading: Reading, by: Fraction) -> Reading:
    """Return what is left of a value divided by a number, with the sign of the value, as SQL has it."""
    if reading.low < 0:
        zero, opposite = constant(Fraction(0)), linear([(Fraction(-1), reading)])
        above, below = (extreme([part, zero], greatest=True) for part in (reading, opposite))
        return linear([(Fraction(1), remainder(above, by)), (Fraction(-1), remainder(below, by))])
    if reading.high < by:
        return reading
    grain = gcd(reading.unit, reading.low, by)
    count, every = reading.count_units(grain, Fraction(0)), int(by / grain)
    return Reading(((w.remainder(count, every, 0, every - 1), grain),), Fraction(0), reading.stepped)


def round_to(reading: Reading, step: Fraction) -> Reading:
    """Return the nearest multiple of a step, half a step away from zero."""
    if (reading.low / step).denominator == (reading.unit / step).denominator == 1 and reading.stepped:
        return reading
    # Halves go away from zero: what is above zero and what is below it are rounded apart, one of the two being 0.
    scaled = linear([(1 / step, reading)])
    above = floor(linear([(Fraction(1), extreme([scaled, constant(Fraction(0))], greatest=True)), _HALF]))
    opposite = linear([(Fraction(-1), scaled)])
    below = floor(linear([(Fraction(1), extreme([opposite, constant(Fraction(0))], greatest=True)), _HALF]))
    return linear([(step, above), (-step, below)])


def round_too_fine(reading: Reading, most: int) -> Reading:
    """Return numbers of more steps than so many, to the nearest power of ten that is coarse enough.

    That moves a value by less than 1e-9 of the range, far less than the noise on any answer.
    """
    if reading.steps <= most or not reading.kind.adds_up:
        return reading
    width = reading.high - reading.low
    step = Fraction(10) ** (len(str(int(width / most))) if width >= most else -len(str(int(most / width))))
    while width / step > most:
        step *= 10
    return round_to(reading, step)


def size(reading: Reading) -> Reading:
    """Return the value without its sign."""
    if reading.low >= 0:
        return reading
    if reading.high <= 0:
        return linear([(Fraction(-1), reading)])
    grain = reading.grain
    nearest = _nearest_to_zero(reading)
    whole = replace(w.size(reading.count_units(grain, Fraction(0))), low=int(nearest / grain))
    return coarsen(_on_lattice(whole, grain, gcd(reading.unit, 2 * reading.low), nearest, reading.stepped))


def extreme(parts: Sequence[Reading], *, greatest: bool) -> Reading:
    """Return the least or the greatest of some values."""
    decider = max(part.low for part in parts) if greatest else min(part.high for part in parts)
    if greatest:
        candidates = [part for part in parts if part.high >= decider]
    else:
        candidates = [part for part in parts if part.low <= decider]
    if len(candidates) == 1 and all(not part.terms or part is candidates[0] for part in parts):
        return candidates[0]  # the others are constants that never decide
    return _join(parts, lambda wholes: w.extreme(wholes, greatest=greatest))


def first_of(parts: Sequence[Reading]) -> Reading:
    """Return the first of some values that is not missing."""
    return _join(parts, w.first_of)


def choose(tests: list[w.Truth], parts: Sequence[Reading]) -> Reading:
    """Return the value of the first test that is true, or the one after the last test."""
    reading = _join(parts, lambda wholes: w.choose(tests, wholes))
    if any(part.unit for part in parts):
        return reading
    values = tuple(sorted({part.low for part in parts}))
    return Reading(reading.terms, reading.plus, True, reading.kind, values)


def _join(parts: Sequence[Reading], join: Callable[[list[Whole]], Whole]) -> Reading:
    """Return one of some values, on a lattice that holds all of them."""
    origin = min(part.low for part in parts)
    unit = gcd(*(part.unit for part in parts), *(part.low - origin for part in parts)) or Fraction(1)
    whole = join([part.count_units(unit, origin) for part in parts])
    stepped = all(part.stepped for part in parts)
    return coarsen(Reading(((whole, unit),), origin, stepped, parts[0].kind))


def coarsen(reading: Reading) -> Reading:
    """Return a reading of values without a step on few enough of them: each is moved by half a step at most."""
    # The new unit is the old one times a power of two.  Half of it is added before the quotient is taken, so that
    # values go to the nearest multiple, not to the one below.
    if reading.stepped or reading.steps <= MOST_STEPS:
        return reading
    bits = (reading.steps // MOST_STEPS).bit_length()
    place = reading.low / reading.unit
    from_zero = int(place) if place.denominator == 1 else 0  # so that zero stays a value, and equal values stay equal
    shifted = from_zero + 2 ** (bits - 1)
    first = shifted >> bits
    whole = w.quotient(w.total([(reading.whole, 1)], shifted - (first << bits)), 2**bits)
    unit = reading.unit * 2**bits
    origin = first * unit if place.denominator == 1 else reading.low
    return Reading(((whole, unit),), origin, False, reading.kind)


_HALF = (Fraction(1), constant(HALF))
