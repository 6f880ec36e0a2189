"""Survival curves from released counts: those of Kaplan and Meier, with a band that holds the truth."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.results.answer import Answer

SURE = 1 - 1e-6
Interval = tuple[int, int]


def answer_of(cells: Sequence[tuple[Any, bool, int, Interval | None]], confidence: float = SURE) -> Answer:
    """Return counts by time and whether an event happened."""
    rows = tuple((time, event, count) for time, event, count, _ in cells)
    intervals = tuple((interval,) for *_, interval in cells)
    return Answer(
        ("time", "died", "count"),
        rows,
        ((1.0,),) * len(rows),
        Fraction(1),
        "r",
        intervals=intervals,
        confidence=confidence,
    )


def truth_of(events: list[int], others: list[int]) -> list[Fraction]:
    """Return the curve by its definition."""
    share, curve = Fraction(1), []
    for place, event in enumerate(events):
        at_risk = sum(events[place:]) + sum(others[place:])
        share *= 1 - Fraction(event, at_risk) if at_risk else 1
        curve.append(share)
    return curve


def drawn(draw: random.Random, times: int, most: int) -> list[tuple[int, bool, int, Interval]]:
    """Return random counts in random intervals."""
    cells = []
    for time, event in product(range(times), (True, False)):
        low, high = sorted(draw.choices(range(most + 1), k=2))
        cells.append((time, event, draw.randint(low, high), (low, high)))
    return cells


@pytest.mark.parametrize("seed", range(12))
def test_the_band_holds_every_curve_of_counts_in_their_intervals(seed: int) -> None:
    """Whatever the true counts are in their intervals, the true curve is in the band, and reaches its ends."""
    draw = random.Random(seed)
    cells = drawn(draw, 3, 3)
    curve = answer_of(cells).survival("time", "died")
    lows, highs = [1.0] * 3, [0.0] * 3
    for counts in product(*(range(low, high + 1) for *_, (low, high) in cells)):
        for place, share in enumerate(truth_of(list(counts[::2]), list(counts[1::2]))):
            lows[place], highs[place] = min(lows[place], float(share)), max(highs[place], float(share))
    for place, (_, band) in enumerate(curve.intervals):
        assert band is not None
        assert band[0] <= lows[place] <= highs[place] <= band[1]
        assert band == pytest.approx((lows[place], highs[place]))


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_falls_within_the_possible(seed: int) -> None:
    """The curve is the one of its definition; it and both ends of its band fall from 1 on, and none leaves [0, 1]."""
    draw = random.Random(seed)
    cells = drawn(draw, 9, draw.choice([0, 1, 40]))
    curve = answer_of(cells).survival("time", "died")
    events, others = ([count for _, is_event, count, _ in cells if is_event is flag] for flag in (True, False))
    shares = [row[2] for row in curve.rows]
    assert shares == [float(share) for share in truth_of(events, others)]
    bands = [band for _, band in curve.intervals]
    for column in (shares, [band[0] for band in bands if band], [band[1] for band in bands if band]):
        assert all(0 <= b <= a <= 1 for a, b in zip([1.0, *column], column, strict=False))
    assert all(band is not None and band[0] <= share <= band[1] for share, band in zip(shares, bands, strict=True))


def test_a_band_of_released_counts_alone_would_be_found_out() -> None:
    """A band that took counts for certain would not hold the curves of other counts in their intervals."""
    curve = answer_of([(1, True, 2, (0, 9)), (1, False, 2, (0, 9))]).survival("time", "died")
    assert curve.rows[0][2] == 0.5
    assert curve.intervals[0][1] == pytest.approx((0, 1))


def test_the_confidence_of_a_band_is_that_of_all_counts() -> None:
    """A band is as sure as all counts together, by the union bound; where that is nothing, there is none."""
    cells = [(time, event, 5, (4, 6)) for time in range(12) for event in (True, False)]
    curve = answer_of(cells, 0.998).survival("time", "died")
    assert curve.confidence == pytest.approx(1 - 24 * 0.002)
    bare = answer_of(cells, 0.95).survival("time", "died")
    assert all(band is None for _, band in bare.intervals)
    assert "ask with simultaneous=True" in bare.remarks[-1]
    at_once = replace(answer_of(cells, 0.95), simultaneous=True).survival("time", "died")
    assert at_once.confidence == pytest.approx(0.95)


def test_times_are_put_in_order_and_groups_have_a_curve_each() -> None:
    """Days are in the order of the calendar, totals are left out, and each arm has its own curve."""
    rows: list[tuple[Any, ...]] = [
        ("a", date(2025, 2, 1), 1, 2),
        ("a", date(2025, 1, 1), 1, 1),
        ("a", date(2025, 1, 1), 0, 1),
    ]
    rows += [("b", date(2025, 1, 1), 0, 4), ("a", None, None, 9)]
    answer = Answer(("arm", "day", "event", "count"), tuple(rows), ((1.0,),) * 5, Fraction(1), "r")
    curve = answer.survival("day", "event", happened=1)
    assert curve.columns == ("arm", "day", "at_risk", "survival")
    assert curve.rows == (
        ("a", date(2025, 1, 1), 4, 0.75),
        ("a", date(2025, 2, 1), 2, 0.0),
        ("b", date(2025, 1, 1), 4, 1.0),
    )


@pytest.mark.parametrize(
    ("time", "event", "happened", "words"),
    [
        ("day", "died", True, "name one of time, died"),
        ("time", "gone", True, "name one of time, died"),
        ("time", "time", True, "ask for COUNT"),
        ("time", "died", "yes", "name one of True, False"),
    ],
)
def test_what_is_no_curve_is_refused(time: str, event: str, happened: Any, words: str) -> None:
    """A time, an event or a category that the answer does not have is refused, with those that it has."""
    with pytest.raises(InvalidQuestion, match=words):
        answer_of([(1, True, 2, None), (1, False, 3, None)]).survival(time, event, happened)
