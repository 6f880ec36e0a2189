"""Every mechanism is a `Mechanism`: it answers every question, for one value, for many, and on any bounds."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inbounds import BoundedLaplace, Bounds, InboundsError, InvalidParameter, Mechanism, Optimal
from inbounds.published import (
    AdaptiveLaplace,
    BoundedGaussian,
    ExplicitFair,
    Geometric,
    HolohanLaplace,
    Hybrid,
    Laplace,
    NaiveLaplace,
    OptimalPiecewise,
    Piecewise,
    SquareWave,
    Staircase,
    TruncatedLaplacian,
    TwoPoint,
)
from inbounds.published.local.mechanism import LocalMechanism

COUNTS = Bounds(0, 9, step=1)

EVERY: list[Mechanism] = [
    BoundedLaplace(COUNTS, 1, 1, pooling=0.4),
    BoundedLaplace(Bounds(0, 5) | Bounds(7, None), 1, 1),
    Optimal(COUNTS, 1, 1),
    ExplicitFair(COUNTS, 1, 1),
    BoundedGaussian(COUNTS, 1, 1, sigma="least"),
    BoundedGaussian(Bounds(0, 9), 1, 1),
    Geometric(COUNTS, 1, 1, ends="snap"),
    Laplace(Bounds(0, 9), 1, 1),
    Staircase(Bounds(0, 4), 1, 1, ends="fold"),
    TruncatedLaplacian(COUNTS, 1, 1, delta=0.01, ends="fold"),
    AdaptiveLaplace(Bounds(0, None), 1, 1),
    HolohanLaplace(Bounds(0, 9), 1, 1, delta=0.01),
    NaiveLaplace(COUNTS, 1, 1, leaky=True),
    TwoPoint(COUNTS, 9, 1),
    Piecewise(COUNTS, 9, 1),
    Hybrid(COUNTS, 9, 1),
    SquareWave(COUNTS, 9, 1),
    OptimalPiecewise(COUNTS, 9, 1),
]

UNBIASED = (Laplace, TwoPoint, Piecewise, Hybrid)

NUMBERS = ("error", "bias", "mean", "variance")


def ids(made: Mechanism) -> str:
    """Return a name for a test."""
    return f"{made.name} on {made.bounds}"


def test_a_mechanism_without_a_draw_a_law_or_a_second_proof_cannot_be_made() -> None:
    """What each mechanism must bring is abstract: a class that lacks it is refused when it is made, not when used."""
    assert Mechanism.__abstractmethods__ == {"_draw", "_distribution", "prove_again"}


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_kinds_called_pure_are(made: Mechanism) -> None:
    """Whatever is of a kind that is called pure is proved to keep epsilon without a delta."""
    assert made.label.pure or not type(made).pure


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_what_is_called_unbiased_is_and_what_is_not_is_not(made: Mechanism) -> None:
    """Releases of what is called unbiased are right on average, and those of what is not are wrong at an end."""
    answers = np.arange(10.0)
    biases = abs(made.bias(answers))
    assert made.unbiased is isinstance(made, UNBIASED)
    assert bool(biases.max() < 1e-9) is made.unbiased


def test_noise_without_ends_is_unbiased_and_one_possible_answer_is_always_right() -> None:
    """Where nothing is cut off symmetric noise is right on average; between gaps without ends nothing is claimed."""
    line = Bounds.everything()
    assert all(kind(line, 1, 1).unbiased for kind in (BoundedLaplace, Laplace, Staircase, TruncatedLaplacian))
    assert Laplace(line, 1, 1, ends="snap").unbiased is None
    assert BoundedLaplace(Bounds(None, 0) | Bounds(1, None), 1, 1).unbiased is None
    assert BoundedLaplace(Bounds(3, 3, step=1), 1, 1).unbiased
    assert ExplicitFair(Bounds(3, 3, step=1), 1, 1).unbiased


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_choices_make_the_same_again(made: Mechanism) -> None:
    """The choices of a mechanism are public, and make an equal one."""
    make: Any = type(made)
    assert make(made.bounds, made.sensitivity, made.epsilon, **made.choices) == made


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_many_values_are_answered_one_by_one(made: Mechanism) -> None:
    """Lists and arrays of any shape are answered in their shape, each value as if it were alone."""
    values = [[0.0, 1.0, 2.5], [3.0, 4.0, 40.0]]
    for name in NUMBERS:
        found = getattr(made, name)(values)
        assert found.shape == (2, 3)
        alone = [getattr(made, name)(value) for row in values for value in row]
        assert found.ravel().tolist() == pytest.approx(alone, rel=1e-12, abs=1e-12)
        assert getattr(made, name)(np.array(values)).tolist() == found.tolist()
    assert made.pmf([0.0, 1.0], 1.0).tolist() == [made.pmf(0.0, 1.0), made.pmf(1.0, 1.0)]
    assert made.cdf(1.0, [0.0, 1.0, 2.0]).tolist() == [made.cdf(1.0, value) for value in (0.0, 1.0, 2.0)]
    grid = made.cdf(np.array([[0.0], [2.0]]), [0.0, 1.0, 2.0])
    assert grid.shape == (2, 3)
    assert made.quantile([0.1, 0.9], 3.0).tolist() == [made.quantile(0.1, 3.0), made.quantile(0.9, 3.0)]
    lows, highs = made.interval(values, 0.9)
    assert lows.shape == highs.shape == (2, 3)
    assert (lows[1, 0], highs[1, 0]) == made.interval(3.0, 0.9)


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_a_series_comes_back_as_one(made: Mechanism) -> None:
    """A Series of pandas or polars keeps its name, and the first its index, for releases as for figures."""
    frame = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"], name="score")
    column = pl.Series("score", [1.0, 2.0, 3.0])
    for ask in (made.release, *(getattr(made, name) for name in NUMBERS), lambda x: made.interval(x)[0]):
        found: Any = ask(frame)
        assert type(found) is pd.Series
        assert (found.name, found.index.tolist()) == ("score", ["a", "b", "c"])
        other: Any = ask(column)
        assert type(other) is pl.Series
        assert (other.name, len(other)) == ("score", 3)
    assert made.error(frame).tolist() == made.error([1.0, 2.0, 3.0]).tolist()
    for answered in (made.pmf(column, 3.0), made.cdf(3.0, column), made.quantile(0.5, column)):
        assert (answered.name, len(answered)) == ("score", 3)


def test_arrays_of_different_lengths_are_refused() -> None:
    """Two answers and three releases cannot be gone through together; the message has both shapes."""
    made = BoundedLaplace(COUNTS, 1, 1)
    for ask in (made.pmf, made.cdf):
        with pytest.raises(InvalidParameter, match=r"one shape, .* got \(2,\) and \(3,\)"):
            ask([1, 2], [1, 2, 3])
    with pytest.raises(InvalidParameter, match="one shape"):
        made.quantile([0.5, 0.6], [1, 2, 3])


def test_kinds_are_kept_in_arrays() -> None:
    """Fractions, Decimals, days and whole numbers come back as such, alone, in arrays and in Series."""
    made = BoundedLaplace(COUNTS, 1, 1)
    for value in (Fraction(3), Decimal(3), 3):
        lows, highs = made.interval([value, value])
        assert {type(end) for end in (*lows.tolist(), *highs.tolist())} == {type(value)}
        assert made.quantile([0.5], value).tolist() == [made.quantile(0.5, value)]
    days = BoundedLaplace(Bounds.dates("2026-01-01", "2026-01-31"), 1, 1)
    asked = np.array(["2026-01-05", "2026-01-20"], dtype="datetime64[D]")
    lows, _ = days.interval(asked)
    assert lows.dtype == asked.dtype
    assert lows[0] == np.datetime64(days.interval(date(2026, 1, 5))[0])
    assert type(days.mean(date(2026, 1, 5))) is datetime
    assert [type(mean) for mean in days.mean(asked).tolist()] == [datetime, datetime]
    assert type(days.interval(pl.Series("day", [date(2026, 1, 5)]))[0]) is pl.Series


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_figures_are_those_of_the_probabilities(made: Mechanism) -> None:
    """On few points error, bias, mean, variance, cdf and quantile are sums over the pmf."""
    if made.bounds.step is None or not made.bounds.bounded:
        return
    points = np.arange(-60, 70) if not made.in_range else np.arange(10)
    for value in (0, 3, 9):
        law = made.pmf(points.tolist(), value)
        assert law.sum() == pytest.approx(1, abs=1e-9)
        mean = law @ points
        assert made.error(value) == pytest.approx(law @ abs(points - value), rel=1e-9)
        assert made.mean(value) == pytest.approx(mean, rel=1e-9)
        assert made.bias(value) == pytest.approx(mean - value, rel=1e-9, abs=1e-12)
        assert made.variance(value) == pytest.approx(law @ (points - mean) ** 2, rel=1e-9)
        assert made.cdf(points.tolist(), value).tolist() == pytest.approx(np.cumsum(law).tolist(), abs=1e-12)
        for probability in (0.05, 0.5, 0.8):
            assert made.quantile(probability, value) == points[np.searchsorted(np.cumsum(law), probability)]


@pytest.mark.parametrize("made", EVERY, ids=ids)
def test_a_mechanism_says_what_it_is(made: Mechanism) -> None:
    """Each says where it is from, what it is called, whether its draws are even, and what was proved."""
    kind = type(made)
    assert isinstance(made, Mechanism)
    assert kind.title in made.name
    assert kind.paper
    uneven = (ExplicitFair, AdaptiveLaplace, BoundedGaussian, LocalMechanism)
    assert kind.even_timing is not issubclass(kind, uneven)
    assert kind.keeps_distance is (kind in (BoundedLaplace, Laplace, Geometric))
    assert made.label.private == made.certificate.holds
    assert 0 <= made.pooling <= 1
    assert made.guarantee == "standard"


NARROW = [
    *(Bounds(0, Fraction(1, 10**digits)) for digits in (100, 300, 320, 600)),
    Bounds(0, Fraction(1, 10**320), step=Fraction(1, 10**322)),
    Bounds(0, 10**310, step=10**308),
    Bounds(0, 10**400, step=10**399),
    Bounds(1, 1 + Fraction(1, 10**300)),
]


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", [1, Fraction(1, 10**330)], ids=["1", "tiny"])
@pytest.mark.parametrize("bounds", NARROW, ids=lambda bounds: bounds.brief()[:30])
@pytest.mark.parametrize(
    "kind", [BoundedLaplace, NaiveLaplace, HolohanLaplace, Laplace, Staircase, ExplicitFair, BoundedGaussian]
)
def test_on_absurd_bounds_every_question_has_an_answer_or_a_reason(kind: Any, bounds: Bounds, sensitivity: Any) -> None:
    """However narrow or wide the bounds, a figure is a number, perhaps infinite, or what was asked is refused."""
    choices = {"ends": "fold"} if kind in (Laplace, Staircase) else {}
    try:
        made = kind(bounds, sensitivity, 1, **choices)
    except InboundsError:
        return
    value: Any = bounds.low
    figures = [made.error(value), made.bias(value), made.variance(value), made.mean(value), made.pmf(value, value)]
    figures += [made.worst_error(), made.mean_error(), made.at_ends(), made.cdf(value, value), *made.interval(value)]
    assert not any(isinstance(figure, float) and math.isnan(figure) for figure in figures)
    assert made.quantile(0.5, Fraction(value)) in bounds
    assert repr(made)
