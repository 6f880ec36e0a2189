"""Bounds are sets in canonical form: equal sets are equal objects, and membership is exact."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

import inbounds.bounds.bounds
from inbounds.bounds import Bounds
from inbounds.errors import InvalidBounds

inf, nan = math.inf, math.nan
TENTH = Fraction(1, 10)

# A small world in which a set is known by its points: ends are quarters within 5 of 0, and the points are the eighths
# within 8, so that every span, gap and lonely point shows.
Pair = tuple[Fraction | None, Fraction | None]
EIGHTH = Fraction(1, 8)
WORLD = [n * EIGHTH for n in range(-64, 65)]
quarters = st.integers(-20, 20).map(lambda n: Fraction(n, 4))
lattices = st.none() | st.tuples(st.sampled_from([Fraction(n, 4) for n in (1, 2, 3, 4, 8)]), quarters)
Lattice = tuple[Fraction, Fraction] | None


@st.composite
def pairs(draw: st.DrawFn, *, is_gap: bool = False) -> Pair:
    """A low and a high end, either of which may be missing."""
    low, high = sorted((draw(quarters), draw(quarters)))
    assume(not is_gap or low < high)
    return draw(st.sampled_from([(low, high), (low, high), (low, high), (None, high), (low, None)]))


def holds(span: Pair, x: Fraction) -> bool:
    """Whether x lies in the closed span."""
    low, high = span
    return (low is None or low <= x) and (high is None or x <= high)


def points(spans: list[Pair], lattice: Lattice) -> set[Fraction]:
    """The points of the world in a union of spans, on a lattice if there is one."""
    step, offset = lattice or (EIGHTH, Fraction(0))
    return {x for x in WORLD if (x - offset) % step == 0 and any(holds(span, x) for span in spans)}


def in_world(bounds: Bounds) -> set[Fraction]:
    """The points of the world that are in the bounds."""
    return {x for x in WORLD if x in bounds}


def check(build: Callable[[], Bounds], expected: set[Fraction], lattice: Lattice) -> None:
    """Check that the bounds have the expected points, or are refused if these are none or, unless latticed, lonely."""
    lonely = any(x - EIGHTH not in expected and x + EIGHTH not in expected for x in expected)
    if not expected:
        with pytest.raises(InvalidBounds, match="must hold a possible value, got none from"):
            build()
    elif lonely and lattice is None:
        with pytest.raises(InvalidBounds, match="must not hold an isolated point"):
            build()
    else:
        assert in_world(build()) == expected


def union(spans: list[Pair], lattice: Lattice) -> Bounds:
    """Bounds with these spans, if they are possible."""
    try:
        return Bounds.union(spans, *(lattice or ()))
    except InvalidBounds:
        reject()


def possible(build: Callable[[], Bounds]) -> Bounds:
    """Return the bounds if they are possible, and pass over the example otherwise."""
    try:
        return build()
    except InvalidBounds:
        reject()


some_pairs = st.lists(pairs(), min_size=1, max_size=5)
some_gaps = st.lists(pairs(is_gap=True), max_size=4)


@pytest.mark.slow
@given(some_pairs, lattices)
def test_a_union_holds_what_its_spans_hold(spans: list[Pair], lattice: Lattice) -> None:
    """A point is possible exactly if it is in one of the spans and on the lattice."""
    assume(all(points([span], lattice) for span in spans))
    check(lambda: Bounds.union(spans, *(lattice or ())), points(spans, lattice), lattice)


@pytest.mark.slow
@given(some_pairs, some_pairs, lattices)
def test_or_holds_what_either_side_holds(left: list[Pair], right: list[Pair], lattice: Lattice) -> None:
    """Membership of a | b is membership of a or of b."""
    a, b = union(left, lattice), union(right, lattice)
    check(lambda: a | b, in_world(a) | in_world(b), lattice)


@pytest.mark.slow
@given(some_pairs, some_pairs, lattices)
def test_and_holds_what_both_sides_hold(left: list[Pair], right: list[Pair], lattice: Lattice) -> None:
    """Membership of a & b is membership of a and of b; what would be empty or lonely is refused."""
    a, b = union(left, lattice), union(right, lattice)
    check(lambda: a & b, in_world(a) & in_world(b), lattice)


@given(some_pairs, some_gaps, lattices)
def test_excluding_removes_open_intervals(spans: list[Pair], gaps: list[Pair], lattice: Lattice) -> None:
    """A point stays exactly if it is strictly within no gap, whatever order and overlap the gaps have."""
    bounds = union(spans, lattice)
    removed = {x for x in WORLD for gap in gaps if holds(gap, x) and x not in gap}
    check(lambda: bounds.excluding(*gaps), in_world(bounds) - removed, lattice)


@pytest.mark.slow
@given(some_pairs, lattices, st.data())
def test_equal_sets_are_equal_objects(spans: list[Pair], lattice: Lattice, data: st.DataObject) -> None:
    """Order and overlap of what built the bounds leave no trace in them, their hash or their text."""
    bounds = union(spans, lattice)
    shuffled = data.draw(st.permutations(spans)) + data.draw(st.lists(st.sampled_from(spans)))
    again = union(shuffled, lattice)
    assert (again, hash(again), repr(again), again.ends) == (bounds, hash(bounds), repr(bounds), bounds.ends)
    assert Bounds.union(bounds, bounds.step, bounds.offset) == bounds  # type: ignore[arg-type]  # ends of dates too


@pytest.mark.slow
@given(some_pairs, some_pairs, lattices)
def test_equality_is_equality_of_sets(left: list[Pair], right: list[Pair], lattice: Lattice) -> None:
    """On one lattice bounds are equal exactly if their points are."""
    a, b = union(left, lattice), union(right, lattice)
    assert (a == b) == (in_world(a) == in_world(b))


@given(some_pairs, some_pairs, some_pairs, lattices)
def test_the_laws_of_sets(x: list[Pair], y: list[Pair], z: list[Pair], lattice: Lattice) -> None:
    """Union and intersection commute, associate, absorb and distribute."""
    a, b, c = (union(spans, lattice) for spans in (x, y, z))
    assert a | b == b | a
    assert a | (b | c) == (a | b) | c
    assert a & (a | b) == a | a == a & a == a
    assert possible(lambda: a & b) == b & a
    assert a | (a & b) == a
    assert possible(lambda: (a & c) | (b & c)) == (a | b) & c


@pytest.mark.slow
@given(some_pairs, some_gaps, some_gaps, lattices)
def test_excluding_is_intersecting_with_the_rest(
    spans: list[Pair], first: list[Pair], second: list[Pair], lattice: Lattice
) -> None:
    """What two lists of gaps leave is the intersection of what each leaves (De Morgan)."""
    bounds = union(spans, lattice)
    line = union([(None, None)], lattice)
    both = possible(lambda: bounds.excluding(*first, *second))
    assert possible(lambda: bounds.excluding(*first).excluding(*second)) == both
    assert possible(lambda: bounds.excluding(*first) & bounds.excluding(*second)) == both
    assert possible(lambda: bounds & line.excluding(*first) & line.excluding(*second)) == both


@given(some_pairs, lattices)
def test_ends_are_the_canonical_form(spans: list[Pair], lattice: Lattice) -> None:
    """Ends ascend with gaps between, lie at offset + n * unit, and the offset is within one step."""
    bounds = union(spans, lattice)
    finite = [end for end in bounds.ends if end is not None]
    assert None not in bounds.ends[1:-1]
    assert len(bounds.ends) == 2 * len(bounds) == 2 * len(list(bounds))
    assert finite == sorted(finite)
    reach = 0 if lattice is None else 1
    assert all(low - high > reach for high, low in zip(bounds.ends[1:-1:2], bounds.ends[2::2], strict=True))  # type: ignore[operator]  # no None inside
    values = [end for span in bounds for end in span if not isinstance(end, float)]
    assert values == [bounds.offset + n * bounds.unit for n in finite]
    assert bounds.unit == (lattice[0] if lattice else Fraction(1, math.lcm(*(v.denominator for v in values))))  # type: ignore[union-attr]  # numbers, no dates
    assert 0 <= bounds.offset < (bounds.step or 1)


@pytest.mark.slow
@given(st.fractions(-9, 9), st.fractions(0, 9), st.fractions(TENTH, 3), st.fractions(-9, 9))
def test_spans_shrink_inward_onto_the_lattice(low: Fraction, width: Fraction, step: Fraction, offset: Fraction) -> None:
    """The ends are the first and the last lattice points within the span given."""
    assume(width >= step)
    bounds = Bounds(low, low + width, step, offset=offset)
    first, last = Fraction(bounds.low), Fraction(bounds.high)  # type: ignore[arg-type]  # numbers, no dates
    assert first - step < low <= first <= last <= low + width < last + step
    assert (first - offset) % step == (last - offset) % step == 0
    assert bounds == Bounds(first, last, step, offset=offset - 7 * step)


def test_neighbouring_runs_merge_on_a_lattice_only() -> None:
    """[0, 2] and [3, 5] are one run of integers and two spans of reals; spans that touch are one."""
    assert Bounds(0, 2, 1) | Bounds(3, 5, 1) == Bounds(0, 5, 1)
    assert len(Bounds(0, 2) | Bounds(3, 5)) == 2
    assert Bounds(0, 2) | Bounds(2, 5) == Bounds(0, 5)
    assert Bounds(0, 9, 1).excluding((2, 3)) == Bounds(0, 9, 1)


def test_numbers_of_every_kind_are_kept_exactly() -> None:
    """Equal numbers of different kinds give equal bounds."""
    kinds: list[Any] = [2, 2.0, Fraction(2), Decimal(2), np.int32(2), np.float32(2)]
    assert len({Bounds(0, high) for high in kinds}) == len({Bounds(0, 9, high) for high in kinds}) == 1
    nothing: list[Any] = [None, inf, Decimal("inf"), np.float32("inf")]
    assert len({Bounds(0, high) for high in nothing}) == 1


@pytest.mark.parametrize("tenth", [0.1, np.float64(0.1), np.float32(0.1), np.float16(0.1), np.longdouble("0.1")])
def test_a_float_means_the_decimal_that_it_prints_as(tenth: Any) -> None:
    """A step, an end, an offset and a gap of 0.1 are a tenth, whichever float it is and however it is written."""
    exactly: list[Any] = [TENTH, Decimal("0.1")]
    for same in exactly:
        assert Bounds(0, 1, step=tenth) == Bounds(0, 1, step=same) == Bounds.parse("[0, 1] step 0.1")
        assert Bounds(tenth, 1) == Bounds(same, 1) == Bounds.union([(tenth, 1)]) == Bounds.parse("[0.1, 1]")
        assert Bounds(0, 9, 1, offset=tenth) == Bounds(0, 9, 1, offset=same)
        assert Bounds(0, 1).excluding((tenth, None)) == Bounds(0, same)
    assert Bounds(0, 1, step=0.01).high == 1
    assert len([*range(101)]) == sum(Fraction(k, 100) in Bounds(0, 1, step=0.01) for k in range(101))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_an_end_that_it_is_within(x: float) -> None:
    """Bounds that end at a float print it as Python does, and hold it, though the decimal may be a hair beyond it."""
    for bounds in (Bounds(x, None), Bounds(None, x), Bounds(x, x, 1, offset=x)):
        assert x in bounds
        assert Bounds.parse(repr(bounds)) == bounds
    assert Bounds(x, None).low == Fraction(repr(x))


def test_ends_read_back_as_plain_numbers() -> None:
    """Ends are ints where integral, fractions where not, and infinities where there are none."""
    bounds = Bounds(None, 0.5) | Bounds(2, None)
    assert list(bounds) == [(-inf, Fraction(1, 2)), (2, inf)]
    assert (bounds.low, bounds.high, bounds.bounded, bounds.is_dates) == (-inf, inf, False, False)
    assert (bounds.step, bounds.offset) == (None, Fraction(0))
    assert (bounds.unit, list(bounds.ends)) == (Fraction(1, 2), [None, 1, 4, None])
    assert type(Bounds(0, 7.0).high) is int
    assert Bounds(0, 7).bounded
    assert not Bounds(0, None, 1).bounded
    assert (Bounds.everything().unit, list(Bounds.everything().ends)) == (Fraction(1), [None, None])


def test_values_are_told_in_the_kind_of_the_ends() -> None:
    """A value becomes a date on bounds of dates, else an int where integral and a fraction where not."""
    numbers, days = Bounds(0, 9, 0.5), Bounds.dates("2026-01-01", "2026-01-09")
    assert repr([numbers.as_answer(Fraction(n, 2)) for n in (4, 5)]) == "[2, Fraction(5, 2)]"
    assert days.ends[0] is not None
    assert days.as_answer(Fraction(days.ends[0])) == days.low


@given(st.fractions(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_in_a_lattice_if_it_is_the_double_nearest_to_a_point(x: Fraction, other: float) -> None:
    """Of all floats only the nearest to the one point of a lattice is a member, or the nearest to an end."""
    only = Bounds(x, x, 1, offset=x)
    assert float(x) in only
    assert math.nextafter(float(x), inf) not in only
    assert (other in only) == (other == float(x))
    assert (Decimal(float(x)) in only) == (Fraction(float(x)) == x)
    assert float(x) in Bounds(x, None)
    assert (Fraction(float(x)) in Bounds(x, None)) == (Fraction(float(x)) >= x)
    assert math.nextafter(float(x), -inf) not in Bounds(x, None)


@given(st.lists(pairs(), min_size=1, max_size=3), lattices, st.integers(-120, 120))
def test_the_nearest_possible_value_is_possible_and_none_is_nearer(spans: list[Any], lattice: Lattice, n: int) -> None:
    """A number is rounded to the lattice, half a step up, and goes to the nearest possible value, of two the left."""
    step, offset = lattice or (None, Fraction(0))
    try:
        bounds = Bounds.union(spans, step, offset)
    except InvalidBounds:
        reject()
    x = Fraction(n, 16)
    at = x if step is None else offset + math.floor((x - offset) / step + Fraction(1, 2)) * step
    nearest = bounds.nearest(x)
    assert nearest in bounds
    assert all((abs(nearest - at), nearest) <= (abs(point - at), point) for point in in_world(bounds))


def test_a_float_finds_its_point_on_a_lattice_finer_than_the_doubles() -> None:
    """The float rounds some member though its nearest lattice points are in a gap; one that rounds none is out."""
    step = Fraction(1, 2**80)
    assert 1.0 in Bounds(1 + step, 1 + 3 * step, step)
    assert 1.0 in Bounds(1 - 9 * step, 1 - 2 * step, step)
    assert 1.0 not in Bounds(1 + Fraction(1, 2**50), 2, step)
    assert Fraction(1) not in Bounds(1 + step, 1 + 3 * step, step)


@given(st.integers(0, 1000))
def test_every_tenth_has_its_float(n: int) -> None:
    """The float nearest to a lattice point is in the bounds, and the one next to it is not."""
    bounds = Bounds(0, 100, TENTH)
    assert n / 10 in bounds
    assert math.nextafter(n / 10, inf) not in bounds
    assert np.float64(n / 10) in bounds


def test_membership_is_defined_for_numbers_only() -> None:
    """NaN and infinities are never members; what is no number is a TypeError that does not show the value."""
    for bounds in (Bounds.everything(), Bounds(None, None, 1)):
        for number in (nan, inf, -inf, Decimal("nan"), Decimal("sNaN"), Decimal("inf"), np.float32("nan")):
            assert number not in bounds
        for member in (10**5000, Decimal(10) ** 400, np.int64(-3), -0.0):
            assert member in bounds
        for other in ("secret", True, 1j, None, np.array([1]), b"secret"):
            with pytest.raises(TypeError, match="bounds of numbers hold no") as refusal:
                other in bounds  # noqa: B015 - the question is the test
            assert "secret" not in str(refusal.value)


def test_bounds_are_values() -> None:
    """Bounds cannot be changed, survive pickle and copy, and serve as keys."""
    for bounds in (Bounds(0, 5) | Bounds(7, None), Bounds(0, 1, TENTH), Bounds.dates("2026-01-01", "2026-02-01")):
        twins = [pickle.loads(pickle.dumps(bounds)), copy.copy(bounds), copy.deepcopy(bounds)]
        assert {bounds, *twins} == {bounds}
        for name in ("step", "ends", "low", "colour"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(bounds, name, 1)
    assert Bounds(0, 5) != object()
    with pytest.raises(TypeError):
        Bounds(0, 5) | (7, 9)  # type: ignore[operator]  # the point of the test


BAD: list[tuple[Callable[[], object], tuple[str, ...]]] = [
    (lambda: Bounds(5, 3), ("low must be at most high", "low=5", "high=3", "swap")),
    (lambda: Bounds.union([(0, 1), (5, 3)]), ("low must be at most high", "low=5", "swap")),
    (lambda: Bounds(nan, 3), ("low", "nan", "give a number")),
    (lambda: Bounds(0, Decimal("nan")), ("high", "NaN", "give a number")),
    (lambda: Bounds(inf, None), ("low", "inf", "use None")),
    (lambda: Bounds(None, -inf), ("high", "-inf", "use None")),
    (lambda: Bounds(True, 3), ("low", "True", "give a number")),
    (lambda: Bounds(0, 1j), ("high", "1j", "give a number")),  # type: ignore[arg-type]
    (lambda: Bounds("0", 3), ("low", "'0'", "Bounds.parse")),  # type: ignore[arg-type]
    (lambda: Bounds(0, np.datetime64("2026-01-01")), ("high", "2026", "Bounds.dates")),  # type: ignore[arg-type]
    (lambda: Bounds(0, 10**9999), ("high", "2048 bits", "round it")),
    (lambda: Bounds(0, 1, step=0), ("step", "above 0", "got 0", "leave it out")),
    (lambda: Bounds(0, 1, step=-0.5), ("step", "above 0", "-0.5", "leave it out")),
    (lambda: Bounds(0, 1, step=inf), ("step", "inf", "give a number")),
    (lambda: Bounds(0, 1, step="day"), ("step", "'day'", "give a number")),  # type: ignore[arg-type]
    (lambda: Bounds(0, 1, offset=0.5), ("offset", "0.5", "give a step")),
    (lambda: Bounds(0, 1, 1, offset=nan), ("offset", "nan", "give a number")),
    (lambda: Bounds(0.25, 0.75, 1), ("point of the lattice", "[0.25, 0.75]", "step 1", "widen")),
    (lambda: Bounds.union([(0, 5), (0.25, 0.75)], 1), ("point of the lattice", "[0.25, 0.75]", "step 1", "widen")),
    (lambda: Bounds(3, 3), ("isolated point", "3 alone", "low == high", "give a step")),
    (lambda: Bounds.union([(1, 2), (3, 3)]), ("isolated point", "3 alone", "low == high", "give a step")),
    (lambda: Bounds(0, 10).excluding((0, 5)), ("isolated point", "0 alone", "excluding (0, 5)", "exclude it too")),
    (lambda: Bounds(0, 9).excluding((1, 5), (5, 8)), ("isolated point", "5 alone", "excluding", "exclude it too")),
    (lambda: Bounds(0, 1) & Bounds(1, 2), ("isolated point", "1 alone", "[0, 1] & [1, 2]", "give a step")),
    (lambda: Bounds(0, 1) & Bounds(2, 3), ("possible value", "none", "[0, 1] & [2, 3]", "keep some")),
    (lambda: Bounds(0, 1).excluding((-1, 2)), ("possible value", "[0, 1] excluding (-1, 2)", "keep some")),
    (lambda: Bounds(0, 1, 1).excluding((None, None)), ("possible value", "excluding (None, None)", "keep some")),
    (lambda: Bounds(0, 9).excluding((4, 4)), ("gap", "low < high", "(4, 4)", "stay on each side")),
    (lambda: Bounds(0, 9).excluding((5, 4)), ("low must be at most high", "low=5", "swap")),
    (lambda: Bounds(0, 9).excluding(5), ("gap", "(low, high) pair", "got 5", "None for no end")),  # type: ignore[arg-type]
    (lambda: Bounds(0, 9).excluding((inf, None)), ("low", "inf", "use None")),
    (lambda: Bounds.union([]), ("possible value", "an empty list", "keep some")),
    (lambda: Bounds.union(5), ("spans", "pairs", "got 5", "[ ]")),  # type: ignore[arg-type]
    (lambda: Bounds.union([(1, 2, 3)]), ("span", "pair", "(1, 2, 3)", "None for no end")),  # type: ignore[list-item]
    (lambda: Bounds(0, 1) | Bounds(0, 1, 1), ("|", "same step", "no step and step 1", "build both")),
    (lambda: Bounds(0, 1, 2) & Bounds(0, 1, 1), ("&", "same step", "step 2 and step 1", "build both")),
    (lambda: Bounds(0, 1, 1) & Bounds(0, 1, 1, offset=0.5), ("&", "offset", "step 1 offset 0.5", "build both")),
    (lambda: Bounds(Fraction(1, 3**1200), 1) | Bounds(Fraction(1, 7**700), 2), ("common denominator", "round")),
    (lambda: Bounds(0, 1, Fraction(1, 3**1200), offset=Fraction(1, 7**700)), ("common denominator", "round")),
]


@pytest.mark.parametrize(("build", "words"), BAD)
def test_bad_input_is_refused_with_a_remedy(build: Callable[[], object], words: tuple[str, ...]) -> None:
    """Each message names the rule, what was received and the remedy, in a line or two."""
    with pytest.raises(InvalidBounds) as refusal:
        build()
    for word in words:
        assert word in str(refusal.value)
    assert len(str(refusal.value)) < 250


@pytest.mark.slow
def test_a_million_spans() -> None:
    """A million spans in any order make bounds, and what goes wrong with them is told briefly."""
    bounds = Bounds.union(((3 * n, 3 * n + 1) for n in reversed(range(1_000_000))), step=0.5)
    assert len(bounds) == 1_000_000
    assert 3 * 765_432 + 0.5 in bounds
    assert 3 * 765_432 + 1.5 not in bounds
    wrongs: list[Callable[[], Bounds]] = [
        lambda: bounds.excluding((-1, None)),
        lambda: bounds & Bounds(-9, -1, 0.5),
        lambda: bounds | Bounds.everything(),
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidBounds) as refusal:
            wrong()
        assert len(str(refusal.value)) < 250


def test_the_examples_in_the_documentation_hold() -> None:
    """What the docstrings show is what happens."""
    results = doctest.testmod(inbounds.bounds.bounds)
    assert results.attempted > 0
    assert results.failed == 0
