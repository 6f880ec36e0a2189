"""Several quantiles in order: their joint law, what neighbours learn from it, its draws, and how far off they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.exact.balls import lock, lower, upper, workprec
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.quantiles import ordered
from inbounds.query.methods.quantiles.law import Buckets, QuantileLaw, RankLaw, rank_misses
from inbounds.query.methods.quantiles.ordered import Branch, OrderedQuantiles, RankRange
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.sampling.entropy import system
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script
from tests.helpers.sparing import sparing

BITS = 200
DECILES = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
PERCENTILES = tuple(Fraction(part, 100) for part in range(1, 100))
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
EXTREME = (Fraction(1, 10**9), Fraction(1, 2), 1 - Fraction(1, 2**53))

Joint = dict[tuple[int, ...], float]


def buckets_of(text: str, width: int | None = None) -> Buckets:
    """Return the buckets of a column with these bounds."""
    column = Numbers("x", Bounds.parse(text))
    return Buckets.of(column) if width is None else Buckets(column, width)


def masses(law: RankLaw) -> list[arb]:
    """Return the probabilities of all numbers, as differences of what the law draws by."""
    below = [law.below(index, BITS) for index in range(-1, law.before[-1])]
    return [b - a for a, b in pairwise(below)]


def joint_of(whole: RankRange) -> dict[tuple[int, ...], arb]:
    """Return the probabilities of all releases, as numbers of values, from the laws that are drawn from."""
    if not whole.branch.levels:
        return {(): arb(1)}
    found: dict[tuple[int, ...], arb] = {}
    for number, mass in enumerate(masses(whole.law)):
        if whole.branch.is_last:
            found[whole.first + number,] = mass
            continue
        for place, part in enumerate(masses(whole.places(number))):
            left, right = (joint_of(half) for half in whole.split(number, place))
            for (below, a), (above, b) in product(left.items(), right.items()):
                released = (*below, whole.first + number, *above)
                found[released] = found.get(released, arb(0)) + mass * part * a * b
    return found


def exactly(quantiles: OrderedQuantiles, rows: list[int]) -> dict[tuple[int, ...], arb]:
    """Return the probabilities of all releases for these rows."""
    with lock(), workprec(BITS):
        return joint_of(quantiles.range_of(rows))


def by_definition(quantiles: OrderedQuantiles, rows: list[int]) -> Joint:
    """Return the same probabilities from the words: rows are spread, a value and a place drawn, and halves go on."""
    bucket_of = [n for n, (a, b) in enumerate(pairwise(quantiles.buckets.before)) for _ in range(b - a)]

    def released(values: range, weights: list[Fraction], levels: tuple[Fraction, ...], epsilon: float) -> Joint:
        if not levels:
            return {(): 1.0}
        depth, middle = math.ceil(math.log2(len(levels) + 1)), len(levels) // 2
        level, places = levels[middle], 2**quantiles.halvings if len(levels) > 1 else 1
        whole = sum(weights)
        candidates = {}
        for value, place in product(values, range(places)):
            here = weights[bucket_of[value]] / places
            lower_ = sum(weights[: bucket_of[value]]) + place * here
            missed = max(0, lower_ - level * whole, level * whole - lower_ - here)
            scale = 2 * quantiles.limit * float(max(level, 1 - level))
            candidates[value, place] = math.exp(-epsilon / depth * float(missed) / scale)
        total = math.fsum(candidates.values())
        found: Joint = {}
        for (value, place), mass in candidates.items():
            bucket, share = bucket_of[value], (place + level) / places
            below = [w * (n < bucket) + w * share * (n == bucket) for n, w in enumerate(weights)]
            above = [w - b for w, b in zip(weights, below, strict=True)]
            lower_levels = tuple(q / level for q in levels[:middle])
            upper_levels = tuple((q - level) / (1 - level) for q in levels[middle + 1 :])
            rest = epsilon * (depth - 1) / depth
            left = released(range(values.start, value + 1), below, lower_levels, rest)
            right = released(range(value, values.stop), above, upper_levels, rest)
            for (a, p), (b, q) in product(left.items(), right.items()):
                found[*a, value, *b] = found.get((*a, value, *b), 0.0) + mass / total * p * q
        return found

    weights = [Fraction(weight, quantiles.row_weight) for weight in rows]
    return released(range(len(bucket_of)), weights, quantiles.levels, float(quantiles.epsilon))


CASES = {
    "three of few values": (buckets_of("[0, 3] step 1"), QUARTILES, 1, [3, 1, 0, 4]),
    "two, far apart": (buckets_of("[0, 3] step 1"), (Fraction(1, 50), Fraction(2, 3)), 2, [1, 0, 3, 1]),
    "gaps": (buckets_of("[0, 1] | [4, 4] | [6, 7] step 1"), QUARTILES, 1, [2, 1, 1, 0, 3, 0, 1, 2]),
    "wide buckets": (buckets_of("[0, 2] | [5, 8] step 1", 3), QUARTILES, 1, [4, 1, 2]),
    "no rows": (buckets_of("[0, 3] step 1"), QUARTILES, 1, [0, 0, 0, 0]),
    "no places": (buckets_of("[0, 3] step 1"), QUARTILES, 0, [1, 5, 0, 2]),
    "days": (buckets_of("[2026-01-30, 2026-02-02]"), QUARTILES[:2], 2, [2, 0, 5, 1]),
}


def case_of(name: str, epsilon: Fraction = Fraction(3)) -> tuple[OrderedQuantiles, list[int]]:
    """Return one of the cases."""
    buckets, levels, halvings, rows = CASES[name]
    return OrderedQuantiles(buckets, levels, epsilon, 2, 2**10, halvings), [2**10 * row for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_releases_have_the_probabilities_of_the_definition(case: str) -> None:
    """The laws that are drawn from give every release its probability, and all of them together 1."""
    quantiles, rows = case_of(case)
    found, defined = exactly(quantiles, rows), by_definition(quantiles, rows)
    assert found.keys() == defined.keys()
    assert [float(found[key].mid()) for key in defined] == pytest.approx(list(defined.values()), rel=1e-9)
    assert sum(defined.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("case", sparing(CASES, 2))
def test_draws_follow_the_law(case: str) -> None:
    """Draws have the probabilities of the definition."""
    quantiles, rows = case_of(case)
    values = [quantiles.buckets.value(number) for number in range(quantiles.buckets.before[-1])]
    defined = {tuple(values[n] for n in key): mass for key, mass in by_definition(quantiles, rows).items()}
    drawn = Counter(tuple(quantiles.draw(rows, system)) for _ in range(5000))
    assert drawn.keys() <= defined.keys()
    assert p_value([drawn[key] for key in defined], list(defined.values())) > FLOOR


@pytest.mark.slow
def test_a_law_a_little_off_is_seen() -> None:
    """The check can fail: draws at twice the epsilon do not fit."""
    (quantiles, rows), (doubled, _) = (case_of("three of few values", Fraction(epsilon)) for epsilon in (3, 6))
    defined = by_definition(quantiles, rows)
    drawn = Counter(tuple(map(int, doubled.draw(rows, system))) for _ in range(5000))
    assert p_value([drawn[key] for key in defined], list(defined.values())) < FLOOR


@given(rows=st.lists(st.integers(0, 2**20), min_size=10, max_size=10), level=st.sampled_from(EXTREME + QUARTILES))
def test_one_level_is_a_quantile(rows: list[int], level: Fraction) -> None:
    """One level alone has exactly the law of a quantile, gaps or not, and the same random bits draw the same value."""
    for text in ("[0, 9] step 1", "[0, 2] | [5, 5] | [8, 9] step 1"):
        buckets = buckets_of(text)
        alone = OrderedQuantiles(buckets, (level,), Fraction(1, 3), 2, 2**10)
        ranking = QuantileByRank(buckets.column, level, Fraction(1, 3), 2, 2**10, "distance")
        law = alone.range_of(rows).law
        rate = ranking.epsilon / (2 * ranking.sensitivity * level.denominator * ranking.row_weight)
        today = QuantileLaw(buckets, rank_misses(rows, level), rate)
        assert (law.before, law.misses, law.rate) == (today.before, today.misses, today.rate)
        seed = rows[0]
        assert ranking.answer(rows, Script(seed=seed)).value == alone.draw(rows, Script(seed=seed))[0]


def neighbours(values: int, most: int, added_most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield small histograms in half rows, and the same with a unit: up to so many half rows, anywhere."""
    for rows in product(range(0, most + 1, 2), repeat=values):
        for added in product(range(added_most + 1), repeat=values):
            if 0 < sum(added) <= added_most:
                yield list(rows), [a + b for a, b in zip(rows, added, strict=True)]


def worst(quantiles: OrderedQuantiles, most: int, enough: float = math.inf) -> tuple[Fraction, Fraction]:
    """Return bounds, from below and above, on the greatest loss as a part of what the added weight allows.

    The search ends with the first loss that is more than enough.
    """
    cache: dict[tuple[int, ...], dict[tuple[int, ...], arb]] = {}

    def logs(rows: list[int]) -> dict[tuple[int, ...], arb]:
        if tuple(rows) not in cache:
            cache[tuple(rows)] = {key: mass.log() for key, mass in exactly(quantiles, rows).items()}
        return cache[tuple(rows)]

    least = most_found = Fraction(0)
    with lock(), workprec(BITS):
        for rows, more in neighbours(quantiles.buckets.count, most, quantiles.limit * quantiles.row_weight):
            allowed = quantiles.epsilon * (sum(more) - sum(rows)) / (quantiles.limit * quantiles.row_weight)
            first, second = logs(rows), logs(more)
            assert first.keys() == second.keys()
            losses = [abs(first[key] - second[key]) for key in first]
            least = max(least, max(map(lower, losses)) / allowed)
            most_found = max(most_found, max(map(upper, losses)) / allowed)
            if least > enough:
                break
    return least, most_found


PRIVATE = {
    "rows in gaps": OrderedQuantiles(buckets_of("[0, 0] | [2, 2] | [4, 4] step 1"), QUARTILES, Fraction(8), 1, 2, 1),
    "quartiles": OrderedQuantiles(buckets_of("[0, 2] step 1"), QUARTILES, Fraction(3), 2, 2, 1),
    "on one side": OrderedQuantiles(
        buckets_of("[0, 2] step 1"), (Fraction(1, 10), Fraction(4, 5)), Fraction(3), 1, 2, 2
    ),
    "depth three": OrderedQuantiles(buckets_of("[0, 1] step 1"), DECILES[::2], Fraction(3), 1, 2, 1),
    "wide buckets": OrderedQuantiles(buckets_of("[0, 3] step 1", 2), QUARTILES, Fraction(3), 1, 2, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", sparing(PRIVATE, 3))
def test_neighbours_lose_in_proportion_to_weight(case: str) -> None:
    """For all small tables, a unit of weight w, however spread, moves no release's probability by more than allowed."""
    least, most = worst(PRIVATE[case], 4)
    assert most <= 1
    assert case != "rows in gaps" or least > 0.99  # nothing is given away


@pytest.mark.slow
def test_a_depth_not_paid_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: where the halves spend everything again, neighbours lose more."""

    def unpaid(branch: Branch) -> tuple[Branch, Branch]:
        middle = len(branch.levels) // 2
        at, below, above = branch.levels[middle], branch.levels[:middle], branch.levels[middle + 1 :]
        return Branch(below, branch.low, at, branch.epsilon), Branch(above, at, branch.high, branch.epsilon)

    monkeypatch.setattr(Branch, "halves", property(unpaid))
    assert worst(PRIVATE["rows in gaps"], 4, 1.4)[0] > 1.4


@pytest.mark.slow
def test_rows_counted_twice_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: where ties count in full in both halves, neighbours lose more."""
    split = RankRange.split

    def doubled(whole: RankRange, number: int, place: int) -> tuple[RankRange, RankRange]:
        left, right = split(whole, number, place)
        tied = left.rows[-1] + right.rows[0]
        left.rows[-1] = right.rows[0] = tied
        return left, right

    monkeypatch.setattr(RankRange, "split", doubled)
    assert worst(PRIVATE["rows in gaps"], 4, 1.05)[0] > 1.05


@given(
    rows=st.lists(st.integers(0, 9), min_size=10, max_size=10),
    number=st.integers(0, 6),
    place=st.integers(0, 7),
    levels=st.sampled_from([QUARTILES, DECILES, EXTREME, DECILES[6:]]),
)
def test_a_split_keeps_every_row(rows: list[int], number: int, place: int, levels: tuple[Fraction, ...]) -> None:
    """Both halves together have each row once, and each value once but for the one at the split, which is in both."""
    buckets = buckets_of("[0, 2] | [5, 5] | [7, 9] step 1")
    whole = OrderedQuantiles(buckets, levels, Fraction(1), 2, 1, 3).range_of(rows)
    left, right = whole.split(number, place)
    scale = Fraction(left.unit, whole.unit)
    bucket = len(left.rows) - 1
    together = [*left.rows[:-1], left.rows[-1] + right.rows[0], *right.rows[1:]]
    assert together == [scale * row for row in rows]
    assert (left.first, left.before[-1]) == (0, number + 1)
    assert (right.first, right.before[-1]) == (number, buckets.before[-1] - number)
    assert buckets.before[bucket] <= number < buckets.before[bucket + 1]
    assert (len(left.before), len(right.before)) == (len(left.rows) + 1, len(right.rows) + 1)
    assert left.unit == right.unit


@pytest.mark.slow
@given(
    text=st.sampled_from(
        ["[0, 100] step 1", "[0, 1] | [40, 49] | [99, 99] step 1", "[2026-01-01, 2026-04-10]", "[-1, 1]"]
    ),
    levels=st.sampled_from([QUARTILES, DECILES, EXTREME, (Fraction(1, 7),)]),
    epsilon=st.sampled_from([Fraction(1, 10**9), Fraction(1, 3), Fraction(10), Fraction(10**6)]),
    seeds=st.lists(st.integers(0, 2**30), min_size=1, max_size=7),
)
@example(text="[0, 100] step 1", levels=PERCENTILES, epsilon=Fraction(1), seeds=[0, 0, 2**30, 1024])
@example(text="[-1, 1]", levels=PERCENTILES, epsilon=Fraction(1, 10), seeds=[0])
@example(text="[0, 1] step 1", levels=PERCENTILES, epsilon=Fraction(10**6), seeds=[0, 5])
def test_values_never_fall(text: str, levels: tuple[Fraction, ...], epsilon: Fraction, seeds: list[int]) -> None:
    """Whatever the rows, the bounds, the levels and epsilon, there is a possible value for each level, in order."""
    buckets = buckets_of(text)
    rows = (seeds * buckets.count)[: buckets.count]
    drawn = OrderedQuantiles(buckets, levels, epsilon, 3, 2**10).draw(rows, system)
    assert len(drawn) == len(levels)
    assert drawn == sorted(drawn)
    first, step = buckets.column.low, buckets.column.step
    assert all(((value - first) / step).denominator == 1 for value in drawn)
    assert all(buckets.column.bounds.as_answer(value) in buckets.column.bounds for value in drawn)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [QUARTILES, DECILES, PERCENTILES])
def test_rows_at_one_value_give_that_value(levels: tuple[Fraction, ...]) -> None:
    """Where all rows are at one value, be they many, every quantile is that value."""
    quantiles = OrderedQuantiles(buckets_of("[0, 20] step 1"), levels, Fraction(1), 1, 2**10)
    rows = [0] * 13 + [2**10 * 10**7] + [0] * 7
    assert quantiles.draw(rows, system) == [13] * len(levels)


@pytest.mark.slow
def test_ties_do_not_move_other_levels() -> None:
    """Where half of the rows are at either of two values, levels below a half get the lower, levels above the higher.

    Were ties at the released value shared by a constant alone, one of the two would be off by a tenth of all rows.
    """
    levels, rows = (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5)), [2**10 * 10**5] * 2

    def right(halvings: int) -> int:
        quantiles = OrderedQuantiles(buckets_of("[0, 1] step 1"), levels, Fraction(1), 1, 2**10, halvings)
        return sum(quantiles.draw(rows, system)[::2] == [0, 1] for _ in range(100))

    assert right(ordered.HALVINGS) == 100
    assert right(0) == 0


def missed(rows: list[int], level: Fraction, value: int) -> float:
    """Return by how many rows a value misses a quantile."""
    wanted, below = level * sum(rows), sum(rows[:value])
    return float(max(Fraction(0), below - wanted, wanted - below - rows[value]))


@pytest.mark.slow
def test_deciles_are_nearer_than_one_by_one() -> None:
    """Nine deciles of 200 ages in order miss at least a fifth less than nine quantiles that share epsilon."""
    buckets = buckets_of("[0, 100] step 1")
    ages = np.clip(np.random.default_rng(7).normal(45, 18, 200).round(), 0, 100).astype(int)
    rows = [int(count) for count in np.bincount(ages, minlength=101)]
    ours = OrderedQuantiles(buckets, DECILES, Fraction(1), 1, 1)
    single = [OrderedQuantiles(buckets, (level,), Fraction(1, 9), 1, 1) for level in DECILES]

    def mean(drawn: list[list[Fraction]]) -> float:
        return float(np.mean([[missed(rows, q, int(v)) for q, v in zip(DECILES, d, strict=True)] for d in drawn]))

    in_order = mean([ours.draw(rows, system) for _ in range(100)])
    one_by_one = mean([[alone.draw(rows, system)[0] for alone in single] for _ in range(100)])
    assert in_order < 0.8 * one_by_one


@pytest.mark.slow
@pytest.mark.parametrize("tied", [1, 12])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5), Fraction(20)])
def test_ranks_are_off_by_no_more_than_is_said(epsilon: Fraction, tied: int) -> None:
    """With the probability asked for, no value misses more rows than is said for its level."""
    quantiles = OrderedQuantiles(buckets_of("[0, 5] step 1"), QUARTILES, epsilon, 1, 1, 2)
    for rows in ([1, 1, 0, 1, 1, 1], [tied, 0, 1, 1, 0, tied], [0, tied, tied, 0, 1, 1], [0, 0, 0, tied, 0, 0]):
        for confidence in (0.5, 0.95):
            said = quantiles.rank_error(confidence, tied)
            within = sum(
                mass
                for released, mass in by_definition(quantiles, rows).items()
                if all(missed(rows, q, v) <= most for q, v, most in zip(QUARTILES, released, said, strict=True))
            )
            assert within >= confidence


def test_ranks_are_off_by_nearly_as_much_as_is_said() -> None:
    """The check can fail: there are rows for which four fifths of what is said are exceeded too often."""
    alone = OrderedQuantiles(buckets_of("[0, 999] step 1"), QUARTILES[1:2], Fraction(1, 100), 1, 1)
    (said,) = alone.rank_error(0.95)
    rows = [0] * 1000
    rows[400] = 2 * math.ceil(0.81 * said)
    with lock(), workprec(BITS):
        right = float(masses(alone.range_of(rows).law)[400].mid())
    assert missed(rows, QUARTILES[1], 399) > 0.8 * said
    assert right < 0.95


def test_errors_of_splits_add_up() -> None:
    """A level next to the one released first inherits nearly all of its error, and more ties allow more."""
    quantiles = OrderedQuantiles(buckets_of("[0, 99] step 1"), QUARTILES, Fraction(1), 1, 1)
    low, middle, high = quantiles.rank_error()
    own = 2 * 0.5 / 0.5 * math.log(100 * 3 / 0.05)
    places = 2**ordered.HALVINGS
    spread = math.log(0.5 * places / (1 - math.exp(-0.5 * places)))
    assert middle == pytest.approx(own + spread / 0.5)
    assert low == high == pytest.approx(own + (middle + 0.5) / 2)
    assert quantiles.rank_error(tied=1)[1] < middle < quantiles.rank_error(tied=10**6)[1]
    assert quantiles.rank_error(tied=0)[1] == pytest.approx(own)
    assert quantiles.rank_error(0.99)[1] > middle


@pytest.mark.parametrize(("count", "depth"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (9, 4), (99, 7)])
def test_depth_is_that_of_a_balanced_tree(count: int, depth: int) -> None:
    """So many levels take the logarithm of their number of draws, one after the other, which share epsilon evenly."""
    quantiles = OrderedQuantiles(buckets_of("[0, 9] step 1"), PERCENTILES[:count], Fraction(1), 1, 1)
    assert (quantiles.depth, quantiles.epsilon_each) == (depth, Fraction(1, depth))


@pytest.mark.parametrize(
    "levels", [(), (Fraction(0),), (Fraction(1),), QUARTILES[::-1], (Fraction(1, 2), Fraction(1, 2))], ids=str
)
def test_levels_have_to_rise(levels: tuple[Fraction, ...]) -> None:
    """Levels that do not rise, or that no quantile has, are refused."""
    with pytest.raises(InvalidQuestion, match="must rise"):
        OrderedQuantiles(buckets_of("[0, 9] step 1"), levels, Fraction(1), 1, 1)
