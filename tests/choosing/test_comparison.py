"""A comparison tells of every mechanism what is true of it, in one order, in 80 columns, HTML, rich or plain data."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from inbounds import (
    BoundedLaplace,
    Bounds,
    Comparison,
    InboundsError,
    InvalidBounds,
    InvalidParameter,
    LatticeTooFine,
    NotPrivate,
    Optimal,
    compare,
)
from inbounds.choosing import comparison as module
from inbounds.choosing.catalogue import Candidate, Requirements, candidates
from inbounds.choosing.row import Row
from inbounds.display.progress import WIDTH, reporting
from inbounds.limit import search
from inbounds.privacy.label import Label
from inbounds.published import ExplicitFair, Geometric, Laplace, NaiveLaplace, Staircase, TruncatedLaplacian
from tests.helpers.exact_optimum import PATIENT
from tests.helpers.sparing import sparing

inf = math.inf
MEAN, WORST = "optimal for the mean error", "optimal for the worst error"
TENTH = Fraction(1, 10)

COUNTS = Bounds(0, 20, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 17)], step=1)
SHARES = Bounds(0, 1, step=Fraction(1, 20))
RANGE = Bounds(0, 2)
UPWARDS = Bounds(0, None)
BANKS = Bounds(None, -3, step=1) | Bounds(4, None, step=1)
LINE = Bounds.everything()
SPRING = Bounds.dates("2026-03-02", "2026-03-31", weekdays="Mon-Fri")

ASKED: dict[str, tuple[Bounds, Any, Any]] = {
    "counts": (COUNTS, 1, 1),
    "islands": (ISLANDS, 2, 0.5),
    "shares": (SHARES, TENTH, Decimal("0.7")),
    "range": (RANGE, 1, 1),
    "union": (Bounds(0, 1) | Bounds(1.5, 3), 1, 2),
    "upwards": (UPWARDS, 1, 1),
    "downwards": (Bounds(None, 7, step=1), 2, Fraction(1, 2)),
    "banks": (BANKS, 1, 1),
    "line": (LINE, 1, 1),
    "dates": (SPRING, timedelta(days=2), 1),
    "one answer": (Bounds(4, 4, step=1), 1, 1),
}


@cache
def asked(name: str) -> Comparison:
    """Return a comparison, made once."""
    bounds, sensitivity, epsilon = ASKED[name]
    exact = bounds.bounded and bounds.step is not None  # where the optimum is quick
    return compare(bounds, sensitivity, epsilon, optimum=exact, time_limit=PATIENT)


every = pytest.mark.parametrize("name", ASKED)


def applicable(comparison: Comparison) -> list[Row]:
    """Return the rows with a mechanism."""
    return [row for row in comparison if row.not_applicable is None]


def figure(number: float | None) -> float:
    """Return a figure that is there."""
    assert number is not None
    return number


# What is known.

POOLED = [
    (0.5, 1, 0.3089, 0.4261, 0.4585, 0.4424, 0.4057),
    (0.5, 5, 1.3210, 1.2653, 1.9085, 1.4270, 1.3484),
    (1, 1, 0.2852, 0.3678, 0.4180, 0.3935, 0.3471),
    (1, 2, 0.5332, 0.5675, 0.7717, 0.6321, 0.5732),
    (1, 10, 1.3068, 0.8996, 1.5913, 0.9933, 0.9933),
    (2, 1, 0.2422, 0.2838, 0.3435, 0.3161, 0.2663),
    (2, 5, 0.5834, 0.4498, 0.6932, 0.4966, 0.4966),
]
"""Epsilon, width; mean error pooling 0 and 1, worst error pooling 0 and 1, worst error of a good mixture."""


@cache
def interval(epsilon: float, width: int) -> Comparison:
    """Return the comparison on an interval without a step, at sensitivity 1."""
    return compare(Bounds(0, width), 1, epsilon, optimum=False)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "width", "mean0", "mean1", "worst0", "worst1", "mixed"), POOLED)
def test_the_known_table_of_poolings_is_reproduced(
    epsilon: float, width: int, mean0: float, mean1: float, worst0: float, worst1: float, mixed: float
) -> None:
    """On [0, B] the errors of normalising and snapping are the known ones; the means were known roughly."""
    found = interval(epsilon, width)
    none, all_ = found["bounded Laplace, pooling 0"], found["bounded Laplace, pooling 1"]
    assert none.worst_error == pytest.approx(worst0, abs=1e-4)
    assert all_.worst_error == pytest.approx(worst1, abs=1e-4)
    assert none.mean_error == pytest.approx(mean0, rel=2e-3)
    assert all_.mean_error == pytest.approx(mean1, rel=2e-3)
    half = figure(found["bounded Laplace, pooling ½"].worst_error)
    assert half >= mixed * 0.98  # a mixture of one half is no better than the best one, but for the grid of that
    assert (half < min(worst0, worst1)) == (mixed < min(worst0, worst1))


FOLDED = [(0.5, 1, 0.330, 0.490), (0.5, 5, 1.232, 1.697), (1, 2, 0.540, 0.762), (1, 10, 0.901, 1.0), (2, 5, 0.451, 0.5)]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "width", "mean", "worst"), FOLDED)
def test_the_known_table_of_folding_is_reproduced(epsilon: float, width: int, mean: float, worst: float) -> None:
    """On [0, B] the errors of folded Laplace noise are the known ones; the means were known roughly."""
    found = interval(epsilon, width)["folded Laplace"]
    assert found.mean_error == pytest.approx(mean, rel=1e-2)
    assert found.worst_error == pytest.approx(worst, abs=1e-3)
    assert found.at_ends == pytest.approx(0, abs=1e-6)


KNOWN = [
    (0.5, 31, 15, 0.4863, 0.6595),
    (1, 22, 7, 0.5467, 0.5852),
    (2, 31, 15, 0.2717, 0.2884),
]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "count", "steps", "mean", "worst"), KNOWN)
def test_the_known_limits_are_in_the_table(epsilon: float, count: int, steps: int, mean: float, worst: float) -> None:
    """On few points the rows of the optima hold the least errors there are."""
    found = compare(Bounds(0, count - 1, step=1), steps, epsilon, time_limit=PATIENT)
    assert figure(found[MEAN].mean_error) / steps == pytest.approx(mean, abs=5.1e-5)
    assert figure(found[WORST].worst_error) / steps == pytest.approx(worst, abs=5.1e-5)


# Rows are true.


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ASKED if name not in ("union", "upwards", "line")])
def test_a_row_says_what_its_mechanism_says(name: str) -> None:
    """Every figure in a row is that of the mechanism in it, and the mechanism is the one that the row names."""
    comparison = asked(name)
    for row in applicable(comparison):
        made = row.mechanism
        assert made is not None
        assert (row.label, row.in_range, row.scale) == (made.label, made.in_range, made.scale)
        assert row.mean_error == made.mean_error(comparison.window)
        assert row.worst_error == made.worst_error()
        assert row.at_ends == made.at_ends(comparison.window)
        assert row.name.startswith("bounded Laplace") == isinstance(made, BoundedLaplace)
        assert row.name.startswith("bounded Laplace") or row.name == made.name
        assert (made.bounds, made.sensitivity, made.epsilon) == ASKED[name]
        assert 0 <= figure(row.mean_error) <= figure(row.worst_error) * (1 + 1e-9)
        assert 0 <= figure(row.at_ends) <= 1 + 1e-12


MADE: dict[str, Callable[..., Any]] = {
    "bounded Laplace, pooling 0": BoundedLaplace,
    "bounded Laplace, pooling ½": partial(BoundedLaplace, pooling=Fraction(1, 2)),
    "bounded Laplace, pooling 1": partial(BoundedLaplace, pooling=1),
    "snapped geometric": partial(Geometric, ends="snap"),
    "folded staircase": partial(Staircase, ends="fold"),
    "plain truncated Laplacian": partial(TruncatedLaplacian, delta=1e-6),
    "naively normalised Laplace": NaiveLaplace,
    "explicit fair": ExplicitFair,
    MEAN: Optimal,
    WORST: partial(Optimal, minimise="worst"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_mechanism_of_that_name_has_the_same_figures(name: str) -> None:
    """Whoever makes the mechanism of a row has its errors, its scale and its label."""
    row, made = asked("counts")[name], MADE[name](*ASKED["counts"])
    assert row.mean_error == pytest.approx(made.mean_error(), rel=1e-12)
    assert row.worst_error == pytest.approx(made.worst_error(), rel=1e-12)
    assert row.at_ends == pytest.approx(made.at_ends(), rel=1e-12)
    assert (row.label, row.in_range, row.scale) == (made.label, made.in_range, made.scale)


@pytest.mark.slow
@every
def test_labels_are_true(name: str) -> None:
    """Only what has a delta has one, only what leaks is said to, and only plain noise leaves the bounds."""
    for row in applicable(asked(name)):
        assert row.label is not None
        has_delta = "truncated" in row.name or row.name == "adaptive Laplace"
        assert bool(row.label.delta) == has_delta
        assert row.label.private or row.name == "naively normalised Laplace"
        assert row.in_range or row.name.startswith("plain")
        assert row.eligible == bool(row.label.pure and row.in_range)


@pytest.mark.slow
def test_naive_normalising_is_not_private() -> None:
    """Its row says that it is not, by how much in its label, and is never among those to choose from."""
    q = math.exp(-1)
    range_, counts = (
        2 * (1 - q) / (1 - q**2),
        1 + q * (1 - q) / (1 - q**21),
    )  # Z one sensitivity from an end, by Z there
    losses = {"upwards": math.log(2 * math.e - 1), "range": 1 + math.log(range_), "counts": 1 + math.log(counts)}
    for name, loss in losses.items():
        row = asked(name)["naively normalised Laplace"]
        assert row.label is not None
        assert row.label.loss is not None
        assert str(row.label).startswith("not private: loss ")
        assert float(row.label.loss) == pytest.approx(loss, rel=1e-6)
        assert not row.eligible


@pytest.mark.slow
def test_delta_is_for_those_that_need_one() -> None:
    """The truncated Laplacian keeps the delta that was asked for; with a greater one it has a smaller error."""
    small, great = (compare(RANGE, 1, 1, delta=delta, optimum=False) for delta in (1e-9, 0.2))
    for manner in ("plain", "snapped", "folded"):
        one, other = (found[f"{manner} truncated Laplacian"] for found in (small, great))
        assert one.label is not None
        assert other.label is not None
        assert float(one.label.delta) == pytest.approx(1e-9, rel=1e-5)
        assert float(other.label.delta) == pytest.approx(0.2, rel=1e-5)
        assert figure(other.mean_error) < figure(one.mean_error)
    assert small["folded Laplace"].mean_error == great["folded Laplace"].mean_error


REASONS = [
    ("range", ["plain geometric", "snapped geometric", "folded geometric"], r"needs bounds with a step, got \[0, 2\]"),
    ("range", ["explicit fair"], "needs bounds with a step, got"),
    ("range", ["adaptive Laplace"], r"needs one half-line, such as \[0, inf\), got \[0, 2\]"),
    ("banks", ["explicit fair"], "needs one bounded interval, got"),
    (
        "downwards",
        ["explicit fair", "bounded Gaussian", "bounded Gaussian, least σ"],
        "needs one bounded interval, got",
    ),
    ("islands", ["explicit fair", "Holohan's bounded Laplace", "adaptive Laplace"], "; use bounded Laplace"),
    ("counts", ["plain Laplace", "snapped Laplace", "folded Laplace"], "with a step, Laplace noise is the two-sided g"),
    ("counts", ["Holohan's bounded Laplace"], "needs one bounded interval without a step, got"),
    ("upwards", ["Holohan's bounded Laplace"], "needs one bounded interval without a step, got"),
    ("line", ["adaptive Laplace"], "needs one half-line"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows", "reason"), REASONS)
def test_what_does_not_apply_says_why(name: str, rows: list[str], reason: str) -> None:
    """A mechanism that is not for the bounds has a row without figures that names the rule."""
    for row in (asked(name)[each] for each in rows):
        with pytest.raises(InvalidParameter, match=reason):
            raise InvalidParameter(row.not_applicable)
        assert (row.mechanism, row.label, row.mean_error, row.worst_error, row.scale) == (None,) * 5
        assert not row.eligible
        assert row.paper


@pytest.mark.slow
@every
def test_every_mechanism_has_its_row(name: str) -> None:
    """Each mechanism has one row, whatever the bounds, with the paper that it is from; the optima on few points."""
    names = [row.name for row in asked(name)]
    bounds = ASKED[name][0]
    optima = [MEAN, WORST] if bounds.bounded and bounds.step is not None else []
    assert sorted(names) == sorted([*(c.name for c in candidates(Requirements(*ASKED[name]), 1e-6)), *optima])
    assert len(set(names)) == len(names)
    assert all(row.paper for row in asked(name))


# Order and limit.


@every
def test_the_best_come_first(name: str) -> None:
    """Private and in range first, by mean error; then what leaves the bounds, has a delta, leaks, does not apply."""

    def group(row: Row) -> int:
        if row.label is None:
            return 4
        return 0 if row.eligible else 1 if row.label.pure else 2 if row.label.private else 3

    rows = list(asked(name))
    groups = [group(row) for row in rows]
    assert groups == sorted(groups)
    assert groups[0] == 0
    for one, other in pairwise(rows):
        if group(one) == group(other) < 4:
            assert figure(one.mean_error) <= figure(other.mean_error) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["counts", "islands", "shares", "dates"])
def test_errors_are_related_to_the_least(name: str) -> None:
    """Ratios are to what is proved of all that keep epsilon: the optima are at one, and no ratio is below."""
    comparison = asked(name)
    limits = [figure(comparison[goal].mechanism.limit) for goal in (MEAN, WORST)]  # type: ignore[union-attr]
    assert comparison[MEAN].mean_over_optimum == pytest.approx(1, abs=1e-8)
    assert comparison[WORST].worst_over_optimum == pytest.approx(1, abs=1e-8)
    for row in applicable(comparison):
        ratios = row.mean_over_optimum, row.worst_over_optimum
        if row.label is None or not row.label.pure:
            assert ratios == (None, None)
            continue
        assert min(map(figure, ratios)) >= 1
        assert ratios == pytest.approx([figure(row.mean_error) / limits[0], figure(row.worst_error) / limits[1]])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 0.001, 0.1, 14])
def test_no_row_is_below_the_limit_at_any_epsilon(epsilon: float) -> None:
    """However much it costs to make the optimum exact, no row has a ratio below one, and no line shows one."""
    comparison = compare(COUNTS, 1, epsilon)
    known = [row for row in comparison if row.mean_over_optimum is not None]
    assert known
    assert min(figure(row.mean_over_optimum) for row in known) >= 1
    assert all(row.worst_over_optimum is None or row.worst_over_optimum >= 1 for row in comparison)


@pytest.mark.parametrize(("times", "there"), [(1.0, True), (1.9, True), (2.1, False)])
def test_a_limit_that_the_optimum_itself_is_far_from_is_not_shown(
    times: float, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the search came nowhere near its limit, no error is related to it."""
    honest = Optimal(Bounds(0, 4, step=1), 1, 1).limit
    monkeypatch.setattr(Optimal, "limit", property(lambda made: honest / times))
    found = [row for row in compare(Bounds(0, 4, step=1), 1, 1) if row.eligible]
    assert [row.mean_over_optimum is not None for row in found] == [there] * len(found)


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 9), st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0])
)
@settings(max_examples=6)
def test_nothing_is_below_the_least_on_any_lattice(lengths: list[int], sensitivity: int, epsilon: float) -> None:
    """Whatever the spans, no row that is private and in range has a ratio below one."""
    ends, at = [], 0
    for place, length in enumerate(lengths):
        if place % 2 == 0:
            ends.append((at, at + length - 1))
        at += length
    for row in compare(Bounds.union(ends, step=1), sensitivity, epsilon, time_limit=PATIENT):
        if row.eligible:
            assert row.mean_over_optimum is None or row.mean_over_optimum >= 1
            assert row.worst_over_optimum is None or row.worst_over_optimum >= 1


@pytest.mark.slow
def test_the_optimum_is_there_on_every_bounded_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a step or without, errors are related to the limit; it can be left out, and needs ends if asked for."""
    without = compare(COUNTS, 1, 1, optimum=False)
    assert MEAN not in [row.name for row in without]
    assert without.rows[0].mean_over_optimum is None
    monkeypatch.setattr(search, "GOOD", 0.09)  # to end the search there, whatever the clock says
    found = compare(Bounds(0, 5), 1, 1, time_limit=PATIENT)
    assert all(figure(row.mean_over_optimum) >= 1 for row in found if row.label is not None and row.label.pure)
    assert figure(found[MEAN].mean_over_optimum) < 1.1
    assert "×lim" in str(found)
    assert MEAN not in [row.name for row in compare(UPWARDS, 1, 1)]
    assert "needs bounds with both ends" in str(compare(UPWARDS, 1, 1, optimum=True)[MEAN].not_applicable)


def test_means_are_under_the_prior() -> None:
    """With a prior, errors are means under it, which no mechanism has below the limit, and the caption says so."""
    weights = [5] * 7 + [1] * 14
    found = compare(COUNTS, 1, 1, prior=weights)
    assert "prior" in found.caption
    for row in applicable(found):
        assert row.mechanism is not None
        errors = row.mechanism.error(list(range(21)))
        assert row.mean_error == pytest.approx(float(errors @ weights) / sum(weights), rel=1e-9)
        assert not row.eligible or figure(row.mean_over_optimum) >= 1
    assert found[MEAN].mean_over_optimum == pytest.approx(1, abs=1e-7)


# Windows.


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("upwards", "0", "10"), ("downwards", "-33", "7"), ("banks", "-13", "14"), ("line", "-10", "10")],
)
def test_bounds_without_an_end_are_averaged_over_a_stated_window(name: str, low: str, high: str) -> None:
    """The window reaches ten plain scales beyond the last end, and every way of showing the table says so."""
    comparison = asked(name)
    caption = f"means over the possible true answers from {low} to {high}, each counted alike"
    assert comparison.caption == caption
    assert comparison.window is not None
    assert [float(end) for end in comparison.window] == [float(low), float(high)]
    assert caption in " ".join(str(comparison).split())
    assert caption in comparison._repr_html_()
    assert caption in " ".join(drawn(comparison).split())


def test_bounds_with_ends_are_averaged_over_all_answers() -> None:
    """Then there is no window, and the caption says so."""
    assert asked("counts").window is None
    assert asked("counts").caption == "means over all possible true answers, each counted alike"


def test_a_window_that_is_given_is_kept() -> None:
    """Means, worst errors and probabilities at the ends are over the window, and the optimum is the one for it."""
    found = compare(COUNTS, 1, 1, window=(0, 3), time_limit=PATIENT)
    assert found.window == (0, 3)
    assert "from 0 to 3" in found.caption
    for row in applicable(found):
        assert row.mechanism is not None
        errors = row.mechanism.error([0, 1, 2, 3])
        assert row.mean_error == pytest.approx(errors.mean(), rel=1e-9)
        assert row.worst_error == pytest.approx(errors.max(), rel=1e-9)
        assert not row.eligible or figure(row.mean_over_optimum) >= 1 - 1e-9
        assert row.worst_over_optimum is None
    assert figure(found[MEAN].mean_error) < figure(asked("counts")[MEAN].mean_error)


def test_a_window_of_one_answer_is_shown_too() -> None:
    """Where the truth is known the least error is nothing, next to which no figure need be shown."""
    found = compare(COUNTS, 1, 1, window=(3, 3))
    assert found[MEAN].mean_error == pytest.approx(0, abs=1e-9)
    assert widest(found) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("end", [1234567, 1234567.5, Fraction(2469135, 2)])
def test_a_window_is_written_to_the_last_digit(end: Any) -> None:
    """A caption does not round the ends of a window."""
    caption = compare(UPWARDS, 1, 1, window=(0, end)).caption
    assert f"from 0 to {float(end):.12g}," in caption


def test_a_window_over_dates_is_of_dates() -> None:
    """On dates a window is a pair of days, and is written as such."""
    found = compare(SPRING, 2, 1, window=(date(2026, 3, 2), date(2026, 3, 20)), optimum=False)
    assert "from 2026-03-02 to 2026-03-20" in found.caption


# Plain text.


def widest(comparison: Comparison) -> int:
    """Return the length of the longest line."""
    return max(map(len, str(comparison).splitlines()))


QUARTER = Bounds.dates("2026-04-01", "2026-06-30", weekdays="Mon-Fri", closed=["2026-05-01"])
TEETH = Bounds.union([(10 * k, 10 * k + 6) for k in range(120)], step=1)

SHOWN: dict[str, Callable[[], Comparison]] = {
    **{name: partial(asked, name) for name in ASKED},
    "a billionth": lambda: compare(
        Bounds(0, Fraction(1, 10**9)), Fraction(1, 7 * 10**10), Fraction(10, 7), optimum=False
    ),
    "a million million": lambda: compare(Bounds(0, 10**12), 10**11 / 7, 1.1, optimum=False),
    "a million million steps": lambda: compare(Bounds(0, 10**12, step=1), 10**11, Fraction(1, 3), optimum=False),
    "hundreds of spans": lambda: compare(TEETH, 7, 1, optimum=False),
    "a quarter": lambda: compare(QUARTER, timedelta(days=7), 0.123456789, optimum=False),
    "many digits": lambda: compare(
        Bounds(Fraction(-1, 3), Fraction(10**30, 7)), Fraction(10**29, 3), Fraction(1, 7), time_limit=0.2
    ),
    "a tiny epsilon": lambda: compare(COUNTS, 1, 1e-9),
    "a small epsilon": lambda: compare(COUNTS, 7, 1e-4),
    "a large epsilon": lambda: compare(COUNTS, 1, 20),
    "a huge epsilon": lambda: compare(COUNTS, 1, 1000),
    "a tiny delta": lambda: compare(RANGE, 1, 1, delta=1e-300, optimum=False),
}


@cache
def shown(name: str) -> Comparison:
    """Return a comparison that is shown, made once."""
    return SHOWN[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", sparing(SHOWN, 10))
def test_the_text_fits_into_80_columns(name: str) -> None:
    """Whatever the bounds, the scale of the numbers, epsilon and delta, no line is longer than 80 characters."""
    comparison = shown(name)
    lines = str(comparison).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert not any(line != line.rstrip() for line in lines)
    for row in applicable(comparison):
        [line] = [line for line in lines if line.startswith(f"{row.name} ") and "not applicable" not in line]
        shown_facts = [{True: "yes", False: "no", None: "?"}[fact] for fact in (row.in_range, row.unbiased)]
        assert " ".join(shown_facts) in " ".join(line.split())
    assert repr(comparison) == str(comparison)
    assert comparison.title in " ".join(str(comparison).split())


@pytest.mark.parametrize("name", ["counts", "islands", "range", "upwards", "dates"])
def test_the_text_holds_the_figures(name: str) -> None:
    """Each line has the errors to four digits; the least of those that are private and in range carry asterisks."""
    comparison, stars = asked(name), []
    lines = str(comparison).splitlines()
    for row in applicable(comparison):
        [line] = [line for line in lines if line.startswith(f"{row.name} ") and "not applicable" not in line]
        words = line[len(row.name) :].split()
        errors = [f"{figure(row.mean_error):.4g}", f"{figure(row.worst_error):.4g}"]
        assert any([one.lstrip("*"), other.lstrip("*")] == errors for one, other in pairwise(words))
        stars += [(row, word) for word in words if word.startswith("*")]
        if row.label is not None and not row.label.private:
            assert "NO: " in line
    eligible = [row for row in comparison if row.eligible]
    marked = {(row.name, word.lstrip("*")) for row, word in stars}
    least = [min(figure(row.mean_error) for row in eligible), min(figure(row.worst_error) for row in eligible)]
    assert {word for _, word in marked} == {f"{error:.4g}" for error in least}
    assert all(row.eligible for row, _ in stars)
    assert "* the least of all that are private and in range" in " ".join(str(comparison).split())


def test_reasons_are_told_once() -> None:
    """Mechanisms that do not apply for one reason are named together, after the table."""
    text = " ".join(str(asked("counts")).split())
    assert "plain Laplace, snapped Laplace, folded Laplace: not applicable: with a step, Laplace noise is the" in text
    assert text.count("with a step, Laplace noise is the two-sided geometric; see geometric in this table") == 1


def test_short_names_of_columns_are_explained() -> None:
    """Each column that is called otherwise in a narrow table is explained by its short name too."""
    text = " ".join(str(asked("counts")).split())
    called = (("in range", "in"), ("unbiased", "unb"), ("at ends", "ends"))
    assert all(f"{name} ({short}): " in text for name, short in called)


def test_the_limit_is_explained_where_there_is_one() -> None:
    """The column of ratios has a note where the optimum is known, and is empty where not."""
    note = "× limit (×lim): mean error over the least that a mechanism that keeps ε can have"
    assert note in " ".join(str(asked("counts")).split())
    assert note not in " ".join(str(asked("range")).split())


# HTML.


@every
def test_the_html_is_well_formed(name: str) -> None:
    """A notebook gets one table with a row for each mechanism that applies, and the reasons of the others."""
    comparison = asked(name)
    page = ET.fromstring(comparison._repr_html_())
    for row, element in zip(applicable(comparison), page.findall("table/tbody/tr"), strict=True):
        first = element.findall("td")[0]
        assert (first.text, first.get("title")) == (row.name, row.paper)
        assert len(element.findall("td")) == len(page.findall("table/thead/tr/th"))
    assert page.findtext("table/caption") == comparison.title
    notes = "\n".join(note.text or "" for note in page.findall("p"))
    assert comparison.caption in notes
    assert all(f"{row.not_applicable}" in notes for row in comparison if row.not_applicable is not None)
    bold = ["".join(element.itertext()) for element in page.iter("b")]
    eligible = [row for row in comparison if row.eligible]
    assert f"{min(figure(row.mean_error) for row in eligible):.4g}" in bold


# Rich.


def rendered(renderable: Any, width: int = 100) -> str:
    """Return what a terminal of so many columns shows."""
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def drawn(comparison: Comparison) -> str:
    """Return a comparison as rich prints it."""
    return rendered(comparison)


@every
def test_rich_draws_it(name: str) -> None:
    """A terminal with rich gets a table with every mechanism, its errors, and the reasons of those without."""
    comparison = asked(name)
    text = drawn(comparison)
    assert max(map(len, text.splitlines())) <= 100
    squeezed = " ".join(text.split())
    assert comparison.title in squeezed
    for row in comparison:
        assert row.name.split()[0] in squeezed
        if row.not_applicable is not None:
            assert row.not_applicable in squeezed
        else:
            assert f"{figure(row.mean_error):.4g}" in squeezed


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_rich_draws_one_line_each_in_80_columns(name: str) -> None:
    """A terminal of 80 columns shows every mechanism on one line: the line of the plain text, but for asterisks."""
    comparison = shown(name)
    lines = [line.rstrip() for line in rendered(comparison, 80).splitlines()]
    plain = [line.replace(" *", "  ") for line in str(comparison).splitlines()]
    assert max(map(len, lines)) <= 80
    table = [line for line in plain if any(line.startswith(f"{row.name} ") for row in applicable(comparison))]
    assert len(table) == len(applicable(comparison))
    assert [line for line in lines if line in table] == table
    assert next(line for line in plain if line.startswith("mechanism ")) in lines
    assert not any("…" in line for line in lines)


def test_rich_marks_the_best_and_warns_of_what_leaks() -> None:
    """The least errors are bold and green, what is not private is red."""
    console = Console(width=100, file=io.StringIO(), force_terminal=True, color_system="standard", no_color=False)
    console.print(asked("range"))
    file = console.file
    assert isinstance(file, io.StringIO)
    assert file.getvalue().count("\x1b[1;32m") == 2
    assert file.getvalue().count("\x1b[1;31m") + file.getvalue().count("\x1b[1;2;31m") == 1


@pytest.mark.slow
def test_without_rich_all_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rich is not installed, comparing, text, HTML and data are as they are."""
    expected = asked("range")
    for name in [name for name in sys.modules if name == "rich" or name.startswith("rich.")]:
        monkeypatch.setitem(sys.modules, name, None)
    found = compare(*ASKED["range"], optimum=False)
    assert str(found) == str(expected)
    assert found._repr_html_() == expected._repr_html_()
    assert found.data() == expected.data()
    with pytest.raises(ImportError, match=r"not installed: pip install 'rich>=13.9,<16'"):
        found.__rich__()


# Data.


@every
def test_the_data_are_plain(name: str) -> None:
    """Rows as data survive JSON unchanged, and say what the rows say."""
    comparison = asked(name)
    data = comparison.data()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert [each["name"] for each in data] == [row.name for row in comparison]
    for row, each in zip(comparison, data, strict=True):
        facts = ("paper", "not_applicable", "in_range", "unbiased")
        for field in (*facts, "scale", "mean_error", "worst_error", "at_ends"):
            assert each[field] == getattr(row, field)
        assert each["label"] == (row.label and str(row.label))
        assert each["private"] == (row.label and row.label.private)
        assert each["epsilon"] == (row.label and float(ASKED[name][2]))
        assert each["delta"] == (row.label and float(row.label.delta))
        assert {type(value) for value in each.values()} <= {str, float, bool, type(None)}
    assert len({tuple(each) for each in data}) == 1


def test_a_comparison_is_a_collection() -> None:
    """It can be iterated, has a length, and gives a row by its name, or says which names there are."""
    comparison = asked("range")
    assert list(comparison) == list(comparison.rows)
    assert len(comparison) == len(comparison.rows) > 10
    assert all(comparison[row.name] is row for row in comparison)
    with pytest.raises(KeyError, match=r"no mechanism is called 'pooling 0'; there are .*bounded Laplace, pooling 0"):
        comparison["pooling 0"]


def test_what_was_asked_can_be_read() -> None:
    """The bounds, the sensitivity and epsilon are kept as they were given, and are the title."""
    comparison = asked("shares")
    assert (comparison.bounds, comparison.sensitivity, comparison.epsilon) == ASKED["shares"]
    assert comparison.title == "[0, 1] step 0.05, sensitivity 1/10, epsilon 0.7"


def test_days_and_vast_numbers_are_written_for_people() -> None:
    """A sensitivity of days is so many days, and no end of a window is a line of digits; both are kept as given."""
    spring = Comparison(SPRING, timedelta(days=3), 1, None, ())
    assert spring.title.endswith(", sensitivity 3 days, epsilon 1")
    assert spring.sensitivity == timedelta(days=3)
    vast = Comparison(UPWARDS, 1, 1, (0, 10**301), ())
    assert vast.caption == "means over the possible true answers from 0 to 1e+301, each counted alike"
    tiny = Comparison(UPWARDS, 1, 1, (0, Fraction(1, 10**400)), ())
    assert "from 0 to 1e-400, " in tiny.caption
    assert "from 0 to 1234567890123, " in Comparison(UPWARDS, 1, 1, (0, 1234567890123), ()).caption


# What goes wrong.


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: compare((0, 1), 1, 1), "bounds must be a Bounds, got tuple"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 0, 1), "sensitivity must be positive, got 0"),
        (lambda: compare(RANGE, "1", 1), "sensitivity must be a finite number, got '1'"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, -1), "epsilon must be from 1e-9 to 1000, got -1"),
        (lambda: compare(RANGE, 1, math.nan), "epsilon must be a finite number, got nan"),
        (lambda: compare(RANGE, 1, 1, window=(1,)), "window must be a pair"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, window="ab"), "window must be a pair"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, window=("a", "b")), "an end of the window must be a finite number, got 'a'"),
        (lambda: compare(RANGE, 1, 1, window=(3, 4)), r"window must hold at least one possible answer of \[0, 2\]"),
        (lambda: compare(RANGE, 1, 1, window=(2, 0)), r"window must hold at least one possible answer of \[0, 2\]"),
        (lambda: compare(COUNTS, 1, 1, window=(0.2, 0.8)), "window must hold at least one possible answer"),
        (lambda: compare(UPWARDS, 1, 1, window=(0, inf)), "an end of the window must be a finite number, got inf"),
        (
            lambda: compare(SPRING, 1, 1, window=(0, 3)),
            "an end of the window must be a date, got 0",
        ),
        (lambda: compare(RANGE, 1, 1, time_limit=0), "time_limit must be above 0"),
        (lambda: compare(RANGE, 1, 1, delta="1"), "delta must be a finite number, got '1'"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, delta=math.nan), "delta must be a finite number, got nan"),
        (lambda: compare(RANGE, 1, 1, delta=None), "delta must be a finite number, got None"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, delta=True), "delta must be a finite number, got True"),
        (lambda: compare(RANGE, 1, 1, delta=-1), "delta must be above 0 and below 1/2, got -1"),
        (lambda: compare(RANGE, 1, 1, delta=0), "delta must be above 0 and below 1/2, got 0"),
        (lambda: compare(RANGE, 1, 1, delta=0.5), "delta must be above 0 and below 1/2, got 0.5"),
        (lambda: compare(RANGE, 1, 1, optimum=1), "optimum must be True, False or None, got 1"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, optimum="no"), "optimum must be True, False or None, got 'no'"),  # type: ignore[arg-type]
        (lambda: compare(RANGE, 1, 1, progress=3), "progress must be a function .*, got 3; try print"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_named(ask: Callable[[], Any], message: str) -> None:
    """What no mechanism could be made of, or no mean be taken over, is refused by name before anything is shown."""
    with pytest.raises(InvalidParameter, match=message):
        ask()


@pytest.mark.parametrize("leaky", [1, 0, "yes", None])
def test_leaking_is_agreed_to_by_true_alone(leaky: Any) -> None:
    """What only looks like a yes or a no is neither."""
    with pytest.raises(InvalidParameter, match="leaky must be True or False, got"):
        NaiveLaplace(UPWARDS, 1, 1, leaky=leaky)


def refusal(error: type[InboundsError]) -> InboundsError:
    """Return an error such as a mechanism may raise."""
    return error("no luck", NaiveLaplace(UPWARDS, 1, 1).certificate) if error is NotPrivate else error("no luck")


@pytest.mark.slow
@pytest.mark.parametrize("error", [InvalidParameter, InvalidBounds, LatticeTooFine, InboundsError, NotPrivate])
def test_one_that_fails_does_not_spoil_the_others(error: type[InboundsError], monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that cannot be made for whatever reason of its own is listed with that reason beside the others."""

    def fails() -> Any:
        raise refusal(error)

    def with_another(question: Requirements, delta: Any) -> Iterator[Candidate]:
        yield Candidate("unlucky", "nobody 2026", fails)
        yield from candidates(question, delta)

    monkeypatch.setattr(module, "candidates", with_another)
    found = compare(*ASKED["range"], optimum=False)
    assert found["unlucky"].not_applicable == "no luck"
    assert [row.name for row in found if row.name != "unlucky"] == [row.name for row in asked("range")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "epsilon"),
    [*((COUNTS, epsilon) for epsilon in (1e-4, 20, 50)), *product((COUNTS, ISLANDS, RANGE), (1e-9, 700, 1000))],
    ids=str,
)
def test_every_epsilon_can_be_asked_about(bounds: Bounds, epsilon: float) -> None:
    """From the smallest to the greatest epsilon that is allowed, there is a table, with something to choose from."""
    found = compare(bounds, 1, epsilon, optimum=None if bounds is COUNTS else False)
    assert found.rows[0].eligible
    for row in applicable(found):
        assert math.isfinite(figure(row.mean_error))
        assert math.isfinite(figure(row.worst_error))


# Telling how far it is.


@pytest.mark.slow
def test_progress_names_what_is_being_compared() -> None:
    """Whoever asks is told the name of each mechanism in turn."""
    told: list[str] = []
    found = compare(RANGE, 1, 1, optimum=False, progress=told.append)
    assert sorted(told) == sorted(f"comparing {row.name}" for row in found)


@pytest.mark.slow
def test_who_stops_a_comparison_can_start_another() -> None:
    """An interrupt from within the report ends the comparison and nothing else."""

    def stop(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(*ASKED["range"], progress=stop)
    assert str(compare(*ASKED["range"], optimum=False)) == str(asked("range"))


class Terminal(io.StringIO):
    """Something that says that it is a terminal."""

    def isatty(self) -> bool:
        """Return that it is."""
        return True


def fail_while_reporting(text: str) -> None:
    """Report a text, and then run into an error."""
    with reporting(None) as report:
        report(text)
        raise KeyError


def test_a_terminal_shows_one_line_and_is_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal each report overwrites the last one, and the line is blank at the end, also after an error."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with reporting(None) as report:
        report("one")
        report("x" * 200)
    with pytest.raises(KeyError):
        fail_while_reporting("two")
    shown = terminal.getvalue()
    assert "\n" not in shown
    written = shown.split("\r")
    assert max(map(len, written)) == WIDTH < 80
    assert written[-1] == ""
    assert set(written[-2]) == {" "}
    assert [text.strip() for text in written if text.strip()] == ["one", "x" * WIDTH, "two"]


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_where_nobody_looks_nothing_is_shown(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, or without any stream, reports go nowhere."""
    monkeypatch.setattr(sys, "stderr", stream)
    with reporting(None) as report:
        report("one")
    assert stream is None or stream.getvalue() == ""
    told: list[str] = []
    with reporting(told.append) as report:
        report("two")
    assert told == ["two"]


def test_laplace_noise_is_listed_once() -> None:
    """On a step its law is the geometric one, and the rows of that name have its figures."""
    for ends, manner in (("leave", "plain"), ("snap", "snapped"), ("fold", "folded")):
        row = asked("counts")[f"{manner} geometric"]
        made = Laplace(COUNTS, 1, 1, ends=ends)  # type: ignore[arg-type]
        assert row.mean_error == pytest.approx(made.mean_error(), rel=1e-12)


# Labels.


@given(st.fractions(Fraction(1, 10**9), 1000), st.fractions(Fraction(1, 10**12), Fraction(1, 2)))
@example(Fraction(9742670667063188768916028183, 4871335333531594081063496994750000000), Fraction(1, 3))
def test_a_label_never_says_less_than_is_lost(epsilon: Fraction, delta: Fraction) -> None:
    """Epsilon and delta are rounded up when they are written, by less than one part in a thousand."""
    written = re.fullmatch("ε = (.+), δ = (.+)", str(Label(epsilon, delta)))
    assert written is not None
    for text, number in zip(written.groups(), (epsilon, delta), strict=True):
        assert number <= Fraction(text) <= number * Fraction(1001, 1000) or number == Fraction(float(text))
    assert str(Label(epsilon)) == f"ε = {written[1]}"


@given(st.integers(1, 9999), st.integers(-9, 0))
def test_a_label_of_few_digits_is_written_as_it_is(digits: int, exponent: int) -> None:
    """What was given with up to four digits is written with these, as a decimal or as a double."""
    given_ = Decimal(digits).scaleb(exponent)
    for epsilon in (Fraction(given_), Fraction(float(given_))):
        assert Fraction(str(Label(epsilon)).removeprefix("ε = ")) == Fraction(given_)
