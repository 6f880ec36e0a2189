"""What is drawn is what the mechanisms say."""

from __future__ import annotations

import math
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from inbounds import BoundedLaplace, Bounds, InvalidAnswer, InvalidParameter, plot
from inbounds.accuracy.window import stated_window
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.published import ExplicitFair, Geometric, Laplace, NaiveLaplace, Staircase
from inbounds.published.croft2022.adaptive import AdaptiveLaplace
from tests.helpers.mechanisms import KINDS, mechanism
from tests.helpers.programs import ROOT

UNION = Bounds(0, 5) | Bounds(7, 12)
WEEKDAYS = Bounds.dates("2026-01-01", "2026-01-31", weekdays="Mon-Fri")
ISLANDS = Bounds.union([(0, 1000), (1500, 1500), (1700, 1701)], step=1)

WHOLE: dict[str, tuple[Mechanism, Any]] = {
    "pooling 0": (BoundedLaplace(UNION, 1, 1), 1),
    "pooling 0.5": (BoundedLaplace(UNION, 1, 1, pooling=0.5), 4.5),
    "pooling 1": (BoundedLaplace(Bounds(0, 10), 1, 1, pooling=1), 0),
    "pooling 1, small sensitivity": (BoundedLaplace(Bounds(0, 1), 0.01, 0.1, pooling=1), 0.3),
    "folded": (Laplace(UNION, 1, 1, ends="fold"), 4),
    "folded staircase": (Staircase(Bounds(0, 5), 1, 1, ends="fold"), 2),
    "snapped staircase": (Staircase(UNION, 1, 1, ends="snap"), 7),
    "counts": (BoundedLaplace(Bounds(0, 20, step=1), 1, 1), 3),
    "counts, pooling 1": (BoundedLaplace(Bounds(0, 20, step=1), 1, 1, pooling=1), 3),
    "tenths": (BoundedLaplace(Bounds(0, 3, step=Fraction(1, 10)), 1, 1), 1.5),
    "dates": (BoundedLaplace(WEEKDAYS, 2, 1), date(2026, 1, 13)),
    "dates, snapped": (Geometric(WEEKDAYS, 2, 1, ends="snap"), date(2026, 1, 30)),
    "explicit fair": (ExplicitFair(Bounds(0, 8, step=1), 1, 1), 3),
    "far points": (BoundedLaplace(Bounds.union([(0, 0), (1000, 1000)], step=1), 20, 0.2), 10),
}
"""Mechanisms of which a picture shows every release, with a true answer."""


def panel(figure: Figure) -> Axes:
    """Return the only panel."""
    (axes,) = figure.axes
    return axes


def place(end: Any) -> float:
    """Return where a number or a day is on the axis."""
    return float(dates.date2num(end)) if isinstance(end, date) else float(end)  # type: ignore[no-untyped-call]


def day(at: float) -> date:
    """Return which day is there."""
    return dates.num2date(at).date()  # type: ignore[no-untyped-call]


def curves(axes: Axes) -> list[Line2D]:
    """Return the lines of the legend, without plain noise."""
    return [line for line in axes.lines if not str(line.get_label()).startswith(("_", "plain"))]


def marked(axes: Axes, gid: str) -> list[Line2D]:
    """Return the lines of this kind."""
    return [line for line in axes.lines if line.get_gid() == gid]


def data(line: Line2D) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the places and heights of a line."""
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def pieces(line: Line2D) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Return the pieces of a line that is broken at gaps."""
    xs, ys = data(line)
    breaks = np.flatnonzero(np.isnan(xs))
    assert np.array_equal(breaks, np.flatnonzero(np.isnan(ys)))
    found = zip(np.split(xs, breaks), np.split(ys, breaks), strict=True)
    return [(x[~np.isnan(x)], y[~np.isnan(y)]) for x, y in found]


def area(line: Line2D) -> float:
    """Return the area under a line."""
    return float(sum(np.trapezoid(ys, xs) for xs, ys in pieces(line)))


def gaps(axes: Axes) -> list[tuple[float, float]]:
    """Return what is shaded."""
    shades = [shade for shade in axes.collections if shade.get_gid() == "gaps"]
    corners = [np.asarray(path.vertices) for shade in shades for path in shade.get_paths()]
    return [(float(found[:, 0].min()), float(found[:, 0].max())) for found in corners]


def limits(axes: Axes) -> tuple[float, float]:
    """Return between which places the picture is."""
    return axes.get_xlim()


@cache
def errors_of(name: str) -> Axes:
    """Return a picture of the errors of a mechanism of some kind."""
    return panel(plot.errors(mechanism(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_all_probability_is_drawn(name: str) -> None:
    """The area under a line and the probabilities of its spikes add up to one; on a step, the heights do."""
    law, value = WHOLE[name]
    axes = panel(plot.densities(law, value))
    (curve,) = curves(axes)
    plain = float(law.sensitivity) / float(law.epsilon)  # type: ignore[arg-type]
    spikes = sum(data(spike)[1][1] * plain for spike in marked(axes, "spike"))
    is_stairs = axes.get_ylabel() == "probability"
    assert is_stairs == (law.bounds.step is not None and name != "far points")
    if is_stairs:
        assert spikes == 0
        assert area(curve) / float(law.step) == pytest.approx(1, abs=1e-9)
    else:
        assert area(curve) + spikes == pytest.approx(1, abs=2e-3)


@pytest.mark.slow
def test_what_is_drawn_of_a_half_line_is_the_probability_of_it() -> None:
    """Where a picture ends before the releases do, the area is the probability up to there, or between its ends."""
    for bounds, value in ((Bounds(0, None), 1), (Bounds.everything(), 3), (Bounds(0, 10**6), 5 * 10**5)):
        law = BoundedLaplace(bounds, 1, 1)
        axes = panel(plot.densities(law, value))
        low, high = limits(axes)
        assert area(curves(axes)[0]) == pytest.approx(law.cdf(high, value) - law.cdf(low, value), abs=1e-3)
        assert 0.97 < law.cdf(high, value) - law.cdf(low, value) < 1


def test_heights_are_probabilities() -> None:
    """A step is as high as its answer is probable, and a curve as probable as a step there, divided by the step."""
    counts = BoundedLaplace(Bounds(0, 9, step=1), 1, 1, pooling=0.5)
    xs, ys = data(curves(panel(plot.densities(counts, 2)))[0])
    assert xs.tolist() == [end - 0.5 for end in range(11) for _ in range(2)]
    assert ys.tolist() == [0, *(counts.pmf(k, 2) for k in range(10) for _ in range(2)), 0]
    law = BoundedLaplace(UNION, 1, 1)
    for xs, ys in pieces(curves(panel(plot.densities(law, 2)))[0]):
        expected = [law.pmf(float(x), 2) / float(law.step) for x in xs[1:-1]]
        assert ys[1:-1] == pytest.approx(expected, rel=1e-9)
        assert (ys[0], ys[-1]) == (ys[1], ys[-2])


def test_the_peak_is_drawn() -> None:
    """The corner of a density at the true answer is a point of its curve."""
    xs, ys = data(curves(panel(plot.densities(BoundedLaplace(Bounds(0, 12), 1, 1), 4.2)))[0])
    assert xs[np.argmax(ys)] == pytest.approx(4.2, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_drawn_where_nothing_is_possible(name: str) -> None:
    """No line of releases or errors crosses a gap, and between any two gaps there is a piece of it, or a spike."""
    law, answers = mechanism(name), KINDS[name].answers
    for axes in (panel(plot.densities(law, answers[:2] if name != "whole line" else 0)), errors_of(name)):
        low, high = limits(axes)
        shaded = gaps(axes)
        for line in curves(axes):
            found = pieces(line)
            for xs, _ in found:
                assert low <= xs.min() <= xs.max() <= high
                assert not any(xs.min() < b and xs.max() > a for a, b in shaded)
            inner = [gap for gap in shaded if low < gap[0] and gap[1] < high]
            assert len(found) == len(inner) + 1 or marked(axes, "spike")


def test_the_shaded_gaps_are_the_gaps() -> None:
    """What is shaded is what is impossible: between spans, and beyond the ends up to the limits of the picture."""
    axes = panel(plot.densities(BoundedLaplace(UNION, 1, 1), 1))
    low, high = limits(axes)
    assert np.allclose(gaps(axes), [(low, 0), (5, 7), (12, high)])
    axes = panel(plot.errors(BoundedLaplace(Bounds(0, 5) | Bounds(7, None), 1, 1), window=(3, 9)))
    assert limits(axes) == (3, 9)
    assert np.allclose(gaps(axes), [(5, 7)])
    assert gaps(panel(plot.densities(BoundedLaplace(Bounds.everything(), 1, 1), 1))) == []


def test_on_a_step_every_answer_is_as_wide_as_one() -> None:
    """On a step a gap begins half a step beyond the last possible answer."""
    axes = panel(plot.densities(BoundedLaplace(Bounds.union([(0, 3), (6, 9)], step=1), 1, 1), 1))
    low, high = limits(axes)
    assert np.allclose(gaps(axes), [(low, -0.5), (3.5, 5.5), (9.5, high)])
    axes = panel(plot.errors(BoundedLaplace(WEEKDAYS, 1, 1)))
    saturday = place(date(2026, 1, 3))
    assert (saturday - 0.5, saturday + 1.5) in gaps(axes)


def test_spikes_say_how_probable_they_are() -> None:
    """A spike stands at an end, its probability is written beside it, and it is as high as that over a plain scale."""
    law = BoundedLaplace(UNION, 0.5, 0.25, pooling=1)
    axes = panel(plot.densities(law, 4))
    drawn = {round(float(data(spike)[0][0]), 6): 2 * float(data(spike)[1][1]) for spike in marked(axes, "spike")}
    assert drawn == pytest.approx({end: law.pmf(end, 4) for end in (0, 5, 7, 12)})
    assert sorted(text.get_text() for text in axes.texts) == sorted(f"{law.pmf(end, 4):.2g}" for end in drawn)


def test_there_are_no_spikes_without_pooling() -> None:
    """Neither normalising nor folding makes spikes."""
    for law in (BoundedLaplace(UNION, 1, 1), Laplace(UNION, 1, 1, ends="fold"), Laplace(UNION, 1, 1)):
        axes = panel(plot.densities(law, [0, 5, 9]))
        assert marked(axes, "spike") == []
        assert list(axes.texts) == []


def test_a_point_alone_beside_a_density_is_a_spike() -> None:
    """On a step so fine that answers are a curve, single answers that are more probable than it are spikes."""
    law = BoundedLaplace(ISLANDS, 20, 0.2, pooling=0.5)
    axes = panel(plot.densities(law, 400))
    assert [float(data(spike)[0][0]) for spike in marked(axes, "spike")].count(1500) == 1
    without = panel(plot.densities(BoundedLaplace(ISLANDS, 20, 0.2), 400))
    assert marked(without, "spike") == []
    assert len(pieces(curves(without)[0])) == 3


def test_written_probabilities_do_not_overlap() -> None:
    """Where several true answers have a spike at the same end, what is written beside them is apart."""
    axes = panel(plot.densities(BoundedLaplace(Bounds(0, 4), 1, 1, pooling=1), [1.9, 2, 2.1, 2.2]))
    heights = sorted(text.xy[1] for text in axes.texts if text.xy[0] == 0)  # type: ignore[attr-defined]  # annotations
    assert len(heights) == 4
    assert min(np.diff(heights)) > 0.04 * axes.get_ylim()[1]


def test_plain_noise_is_drawn_for_comparison() -> None:
    """Plain noise is a Laplace density around the first value, or on a step the same law there; it can be left out."""
    law = BoundedLaplace(UNION, 1, 0.5)
    (line,) = marked(panel(plot.densities(law, [4, 8])), "plain")
    xs, ys = data(line)
    assert ys == pytest.approx(np.exp(-abs(xs - 4) / 2) / 4, rel=1e-6)
    assert not np.isnan(xs).any()
    (line,) = marked(panel(plot.densities(BoundedLaplace(Bounds(0, 9, step=1), 1, 0.5), [4, 8])), "plain")
    xs, ys = data(line)
    plain = BoundedLaplace(Bounds(None, None, step=1), 1, 0.5)
    assert ys[1:-1:2].tolist() == pytest.approx([plain.pmf(int(x + 0.5), 4) for x in xs[1:-1:2]])
    assert marked(panel(plot.densities(law, 4, plain=False)), "plain") == []


def test_a_mechanism_that_leaves_the_bounds_is_drawn_beyond_them() -> None:
    """Noise that is left where it falls is drawn over the shaded gaps too."""
    axes = panel(plot.densities(Laplace(UNION, 1, 1), 4))
    ((xs, _),) = pieces(curves(axes)[0])
    assert (xs.min(), xs.max()) == limits(axes)
    assert limits(axes)[0] < 0


def test_true_answers_are_marked() -> None:
    """A mark stands at each true answer, and at the nearest end for one that is beyond it."""
    axes = panel(plot.densities(BoundedLaplace(UNION, 1, 1), [1, 6.25, 100, -math.inf]))
    assert [float(data(mark)[0][0]) for mark in marked(axes, "truth")] == pytest.approx([1, 6.25, 12, 0])
    assert [line.get_label() for line in curves(axes)][2:] == ["true value 100", "true value -inf"]


@pytest.mark.parametrize("values", [np.array([1.0, 3.0]), (1, 3), {1: 0, 3: 0}.keys(), [Fraction(1), np.float64(3)]])
def test_values_may_come_in_any_collection(values: Any) -> None:
    """A line is drawn for each of several true answers."""
    axes = panel(plot.densities(BoundedLaplace(UNION, 1, 1), values))
    assert [line.get_label() for line in curves(axes)] == ["true value 1", "true value 3"]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_drawn_errors_are_those_of_the_mechanism(name: str) -> None:
    """Every point of a curve of errors is what the mechanism says, and the mean in the legend too."""
    law = mechanism(name)
    (line,) = curves(errors_of(name))
    xs, ys = (np.concatenate(column) for column in zip(*pieces(line), strict=True))
    for x, y in list(zip(xs, ys, strict=True))[:: max(1, len(xs) // 20)]:
        value = day(x) if law.bounds.is_dates else x
        assert y == pytest.approx(law.error(value), rel=1e-9)
    window = stated_window(law.bounds, Fraction(1) / Fraction(KINDS[name].epsilon))
    assert str(line.get_label()).endswith(f"mean {law.mean_error(window):.3g}")
    if window is None:
        assert xs.min() == pytest.approx(place(law.bounds.low), abs=1e-6)
        assert xs.max() == pytest.approx(place(law.bounds.high), abs=1e-6)
    else:
        assert (xs.min(), xs.max()) == pytest.approx((float(window[0]), float(window[1])), abs=1)


def test_few_true_answers_are_marked_on_a_curve() -> None:
    """An answer between gaps is seen although a line through it has no length."""
    figure = plot.errors(BoundedLaplace(Bounds.union([(0, 5), (9, 9), (13, 30)], step=1), 1, 1))
    assert curves(panel(figure))[0].get_marker() == "o"
    assert curves(panel(plot.errors(BoundedLaplace(UNION, 1, 1))))[0].get_marker() == "None"


@pytest.mark.slow
def test_lines_do_not_differ_by_colour_alone() -> None:
    """Five mechanisms are five colours, five styles and five names, and so are five true answers."""
    question = UNION, 1, 1
    laws = [BoundedLaplace(*question, pooling=pooling) for pooling in (0, 0.5, 1)]
    compared = plot.errors(*laws, Laplace(*question, ends="fold"), Staircase(*question, ends="snap"))
    for figure in (compared, plot.densities(laws[0], range(5))):
        lines = curves(panel(figure))
        for kind in ("get_color", "get_label", "_dash_pattern"):
            found = [getattr(line, kind) for line in lines]
            assert len({repr(each() if callable(each) else each) for each in found}) == 5


def test_names_tell_mechanisms_apart() -> None:
    """The legend names pooling, epsilon where it differs, and what is not private."""
    laws = [BoundedLaplace(UNION, 1, 1), BoundedLaplace(UNION, 1, 2), NaiveLaplace(UNION, 1, 1)]
    labels = [str(line.get_label()) for line in curves(panel(plot.errors(*laws)))]
    assert labels[0].startswith("bounded Laplace, pooling 0, ε = 1: mean")
    assert labels[1].startswith("bounded Laplace, pooling 0, ε = 2: mean")
    assert labels[2].startswith("naively normalised Laplace (not private")


def test_dates_are_on_the_axis() -> None:
    """Ticks, marks and titles of a picture over dates are dates."""
    figure = plot.densities(BoundedLaplace(WEEKDAYS, 2, 1), [date(2026, 1, 13), np.datetime64("2026-01-20")])
    axes = panel(figure)
    figure.draw_without_rendering()
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert len(ticks) >= 3
    assert all(date.fromisoformat(tick).year in (2025, 2026) for tick in ticks)
    assert [day(data(mark)[0][0]).day for mark in marked(axes, "truth")] == [13, 20]
    assert [line.get_label() for line in curves(axes)] == ["true value 2026-01-13", "true value 2026-01-20"]
    assert "2 days" in axes.get_title()


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), [("0001-01-01", "0001-01-09"), ("9999-12-20", "9999-12-31")])
def test_dates_may_be_the_first_or_the_last_there_are(first: str, last: str) -> None:
    """A picture has no margin where there are no more days."""
    law = BoundedLaplace(Bounds.dates(first, last), 1, 1)
    for figure in (plot.densities(law, date.fromisoformat(first)), plot.errors(law)):
        figure.draw_without_rendering()


@pytest.mark.slow
def test_a_single_possible_answer_can_be_drawn() -> None:
    """One possible answer, without any error, is no reason to fail."""
    law = BoundedLaplace(Bounds(3, 3, step=1), 1, 1)
    figures = [plot.densities(law, 3), plot.errors(law), plot.against_epsilon(law.bounds, 1, [1, 2])]
    for figure in figures:
        figure.draw_without_rendering()


@pytest.mark.parametrize("bounds", [Bounds(0, 5), Bounds(0, None, step=1), WEEKDAYS], ids=repr)
def test_lines_against_epsilon_are_those_of_the_mechanisms(bounds: Bounds) -> None:
    """Scales and mean errors are drawn in sensitivities, means over the stated window."""
    epsilons = [0.5, 1, 2]
    left, right = plot.against_epsilon(bounds, 2, epsilons).axes
    fold: Any = Laplace if bounds.step is None else Geometric
    made = [
        [BoundedLaplace(bounds, 2, epsilon) for epsilon in epsilons],
        [BoundedLaplace(bounds, 2, epsilon, pooling=1) for epsilon in epsilons],
        [fold(bounds, 2, epsilon, ends="fold") for epsilon in epsilons],
        [Staircase(bounds, 2, epsilon, ends="snap") for epsilon in epsilons],
    ]
    windows = [stated_window(bounds, Fraction(2) / Fraction(str(epsilon))) for epsilon in epsilons]
    for laws, scales, means in zip(made, left.lines, right.lines, strict=True):
        assert data(scales)[0].tolist() == data(means)[0].tolist() == epsilons
        assert data(scales)[1] == pytest.approx([law.scale / 2 for law in laws])
        assert data(means)[1] == pytest.approx([law.mean_error(w) / 2 for law, w in zip(laws, windows, strict=True)])
    assert {axes.get_xscale() for axes in (left, right)} == {axes.get_yscale() for axes in (left, right)} == {"log"}


def test_a_window_holds_for_every_epsilon() -> None:
    """Means against epsilon are over the window that was asked for."""
    _, right = plot.against_epsilon(Bounds(0, None), 1, [0.5, 2], window=(0, 3)).axes
    expected = [BoundedLaplace(Bounds(0, None), 1, epsilon).mean_error((0, 3)) for epsilon in (0.5, 2)]
    assert data(right.lines[0])[1] == pytest.approx(expected)


@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(None, 10, step=1), Bounds(-3, None, step=2)], ids=repr)
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_the_loss_leaves_the_band_where_it_is_said_to(bounds: Bounds, epsilon: float) -> None:
    """The drawn loss is that of the probabilities; up to where epsilon is left it is in the band, then above."""
    law = AdaptiveLaplace(bounds, 2, epsilon)
    axes = panel(plot.loss(law))
    (line,) = curves(axes)
    xs, ys = data(line)
    first, second = law.certificate.worst_pair
    for x, y in list(zip(xs, ys, strict=True))[::40]:
        assert y == pytest.approx(math.log(law.pmf(float(x), first) / law.pmf(float(x), second)), abs=1e-6)
    away = abs(xs - place(bounds.high if bounds.low == -math.inf else bounds.low))  # from the border
    ys = ys[np.argsort(away)]
    broken = np.searchsorted(np.sort(away), abs(float(law.broken_from) - xs[np.argmin(away)]))
    assert 1 < broken < len(ys)
    assert (abs(ys[1:broken]) <= epsilon + 1e-6).all()  # on the border itself, a coarse step makes it a little more
    assert (ys[broken:] > epsilon - 1e-6).all()
    assert (np.diff(ys[broken:]) > 0).all()
    assert [float(data(mark)[0][0]) for mark in marked(axes, "left")] == pytest.approx([float(law.broken_from)])
    (band,) = (patch for patch in axes.patches if patch.get_gid() == "band")
    heights = band.get_patch_transform().transform(band.get_path().vertices)[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((-epsilon, epsilon))


@pytest.mark.slow
def test_pictures_go_into_the_axes_they_are_given() -> None:
    """Whoever passes axes gets the picture there, also in a part of a figure, and that figure back."""
    figure = Figure(layout="constrained")
    parts: Any = figure.subfigures(2, 1)
    axes = [*parts[0].subplots(1, 2), parts[1].subplots()]
    law = BoundedLaplace(UNION, 1, 1)
    assert plot.densities(law, 1, axes=axes[0]) is figure
    assert plot.errors(law, axes=axes[1]) is figure
    assert plot.loss(AdaptiveLaplace(Bounds(0, None), 1, 1), axes=axes[2]) is figure
    assert all(panel.lines for panel in axes)
    figure.draw_without_rendering()


@pytest.mark.slow
def test_nothing_global_is_touched() -> None:
    """Drawing does without pyplot, and the library without matplotlib until something is drawn."""
    code = """
import sys
from inbounds import BoundedLaplace, Bounds, plot
assert "matplotlib" not in sys.modules
plot.errors(BoundedLaplace(Bounds(0, 5), 1, 1))
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lacks matplotlib is told how to get it, whatever they want to draw."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    law, adaptive = BoundedLaplace(UNION, 1, 1), AdaptiveLaplace(Bounds(0, None), 1, 1)
    calls: list[Callable[[], Figure]] = [
        lambda: plot.densities(law, 1),
        lambda: plot.errors(law),
        lambda: plot.against_epsilon(UNION, 1, [1]),
        lambda: plot.loss(adaptive),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=r"pip install 'inbounds\[plot\]'") as refused:
            call()
        assert type(refused.value) is ImportError


def test_bad_requests_are_refused() -> None:
    """What cannot be drawn is refused with an error of the library."""
    law: Any = BoundedLaplace(UNION, 1, 1)
    for value in ("three", None, math.nan, [1, "two"], date(2026, 1, 1)):
        with pytest.raises(InvalidAnswer):
            plot.densities(law, value)
    with pytest.raises(InvalidAnswer):
        plot.densities(BoundedLaplace(Bounds(0, None), 1, 1), math.inf)
    with pytest.raises(InvalidAnswer):
        plot.densities(BoundedLaplace(WEEKDAYS, 1, 1), 3)
    bad: list[Any] = [
        lambda: plot.densities(law, []),
        lambda: plot.densities(UNION, 1),  # type: ignore[arg-type]  # that is the mistake
        plot.errors,
        lambda: plot.errors(law, BoundedLaplace(Bounds(0, 5), 1, 1)),
        lambda: plot.errors(law, window=(5.5, 6.5)),
        lambda: plot.errors(law, window=3),  # type: ignore[arg-type]  # that is the mistake
        lambda: plot.against_epsilon(UNION, 1, []),
        lambda: plot.against_epsilon(UNION, 1, ["one"]),
        lambda: plot.against_epsilon(UNION, -1, [1]),
        lambda: plot.loss(law),
    ]
    for call in bad:
        with pytest.raises(InvalidParameter):
            call()


@pytest.mark.slow
def test_the_pictures_of_the_documentation_can_be_drawn(tmp_path: Path) -> None:
    """The script draws every picture that the documentation has, and none of them is large."""
    paths = runpy.run_path(str(ROOT / "docs" / "pictures" / "make.py"))["make"](tmp_path)
    there = {path.name for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert {path.name for path in paths} == {name for name in there if not name.startswith("console-")}
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 60_000


def test_only_pictures_are_public() -> None:
    """The module offers what draws, and nothing else."""
    assert plot.__all__ == ["against_epsilon", "bars", "boxes", "chart", "densities", "errors", "lines", "loss"]
