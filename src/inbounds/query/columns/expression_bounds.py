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
        found = gcd(*(factor for whole, factor in self.terms if whole.low < whole.high))
        return found and (self.kind.unit or found)

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

    def counted(self, unit: Fraction, origin: Fraction) -> Whole:
        """Return the value as a whole number of units above an origin."""
        moving = [(whole, int(factor / unit) if whole.low < whole.high else 0) for whole, factor in self.terms]
        still = sum((factor * whole.low for whole, factor in self.terms if whole.low == whole.high), self.plus)
        return w.total(moving, int((still - origin) / unit))

    @property
    def whole(self) -> Whole:
        """Its place among its values: how many units above the least."""
        return self.counted(self.unit or Fraction(1), self.low)

    @property
    def grain(self) -> Fraction:
        """The largest number that all its values are multiples of; 0 if it is always 0."""
        return gcd(self.unit, self.low)


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
    return settled(Reading(tuple(terms.items()), plus, all(reading.stepped for _, reading in parts), kind))


def times(left: Reading, right: Reading) -> Reading:
    """Return a product, on the lattice that the products of two lattices lie on."""
    if not left.unit or not right.unit:
        still, other = (left, right) if not left.unit else (right, left)
        return linear([(still.low, other), (Fraction(0), still)])
    grains = left.grain * right.grain
    found = w.product(left.counted(left.grain, Fraction(0)), right.counted(right.grain, Fraction(0)))
    if left == right:
        found = replace(found, low=int(_nearest_to_zero(left) ** 2 / grains))
    unit = gcd(left.unit * right.low, left.low * right.unit, left.unit * right.unit)
    return settled(_on(found, grains, unit, left.low * right.low, left.stepped and right.stepped))


def _on(found: Whole, scale: Fraction, unit: Fraction, some: Fraction, stepped: bool) -> Reading:
    """Return a whole number times a scale, whose values lie on the lattice of a unit through some value."""
    every = int(unit / scale)
    first = found.low + (int(some / scale) - found.low) % every  # the end of an interval need not be on the lattice
    if every == 1:
        return Reading(((found, scale),), Fraction(0), stepped)
    above = w.total([(found, 1)], -first)
    return Reading(((w.quotient(replace(above, low=max(above.low, 0)), every), unit),), first * scale, stepped)


def _nearest_to_zero(this: Reading) -> Fraction:
    """Return how near to zero a value can come."""
    if this.low >= 0 or this.high <= 0:
        return min(abs(this.low), abs(this.high))
    return min(this.low % this.unit, -this.low % this.unit)


def floor(this: Reading) -> Reading:
    """Return the greatest whole number that is not above."""
    if this.low.denominator == this.unit.denominator == 1:
        return this
    common = math.lcm(this.low.denominator, this.unit.denominator)
    low, unit = int(this.low * common), int(this.unit * common)
    dividend = w.total([(this.whole, unit)], low % common)
    return Reading(((w.quotient(dividend, common), Fraction(1)),), Fraction(low // common))


def rounded(this: Reading, step: Fraction) -> Reading:
    """Return the nearest multiple of a step, half a step away from zero."""
    if (this.low / step).denominator == (this.unit / step).denominator == 1 and this.stepped:
        return this
    scaled = linear([(1 / step, this)])
    above = floor(linear([(Fraction(1), extreme([scaled, constant(Fraction(0))], greatest=True)), _HALF]))
    opposite = linear([(Fraction(-1), scaled)])
    below = floor(linear([(Fraction(1), extreme([opposite, constant(Fraction(0))], greatest=True)), _HALF]))
    return linear([(step, above), (-step, below)])


def size(this: Reading) -> Reading:
    """Return the value without its sign."""
    if this.low >= 0:
        return this
    if this.high <= 0:
        return linear([(Fraction(-1), this)])
    grain = this.grain
    nearest = _nearest_to_zero(this)
    found = replace(w.size(this.counted(grain, Fraction(0))), low=int(nearest / grain))
    return settled(_on(found, grain, gcd(this.unit, 2 * this.low), nearest, this.stepped))


def extreme(parts: Sequence[Reading], *, greatest: bool) -> Reading:
    """Return the least or the greatest of some values."""
    settles = max(part.low for part in parts) if greatest else min(part.high for part in parts)
    if greatest:
        left = [part for part in parts if part.high >= settles]
    else:
        left = [part for part in parts if part.low <= settles]
    if len(left) == 1 and all(not part.terms or part is left[0] for part in parts):  # a constant that never decides
        return left[0]
    return _joined(parts, lambda wholes: w.extreme(wholes, greatest=greatest))


def first_of(parts: Sequence[Reading]) -> Reading:
    """Return the first of some values that is not missing."""
    return _joined(parts, w.first_of)


def chosen(tests: list[w.Truth], parts: Sequence[Reading]) -> Reading:
    """Return the value of the first test that is true, or the one after the last test."""
    found = _joined(parts, lambda wholes: w.chosen(tests, wholes))
    if any(part.unit for part in parts):
        return found
    values = tuple(sorted({part.low for part in parts}))
    return Reading(found.terms, found.plus, True, found.kind, values)


def _joined(parts: Sequence[Reading], join: Callable[[list[Whole]], Whole]) -> Reading:
    """Return one of some values, on a lattice that holds all of them."""
    origin = min(part.low for part in parts)
    unit = gcd(*(part.unit for part in parts), *(part.low - origin for part in parts)) or Fraction(1)
    found = join([part.counted(unit, origin) for part in parts])
    stepped = all(part.stepped for part in parts)
    return settled(Reading(((found, unit),), origin, stepped, parts[0].kind))


def settled(this: Reading) -> Reading:
    """Return a reading of values without a step on few enough of them: each is moved by half a step at most."""
    if this.stepped or this.steps <= MOST_STEPS:
        return this
    bits = (this.steps // MOST_STEPS).bit_length()
    place = this.low / this.unit
    from_zero = int(place) if place.denominator == 1 else 0  # so that zero stays a value, and equal values stay equal
    shifted = from_zero + 2 ** (bits - 1)
    first = shifted >> bits
    found = w.quotient(w.total([(this.whole, 1)], shifted - (first << bits)), 2**bits)
    unit = this.unit * 2**bits
    origin = first * unit if place.denominator == 1 else this.low
    return Reading(((found, unit),), origin, False, this.kind)


_HALF = (Fraction(1), constant(HALF))
