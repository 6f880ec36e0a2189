"""Pictures of mechanisms: what they release, how far off that is, and what it costs.  Needs `inbounds[plot]`.

Every function returns a matplotlib Figure; those that draw a single panel draw into your axes if you pass some.  No
picture costs privacy, as long as the true answers in it are not the secret one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.window import PLAIN_SCALES, Window, indices_of, stated_window
from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import Requirements, drawn_mechanisms, tuned_choice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import cut
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.plot.curves import (
    FEW_POINTS,
    LEAST_WRITTEN,
    NARROW,
    AnswerAxis,
    Spike,
    View,
    curve,
    join_pieces,
    plain_curve,
    plain_stairs,
    probability_of,
    sample,
    stairs,
)
from inbounds.plot.style import BAND, COLOURS, GREY, SHADE, matplotlib_or_error, new_figure, panel
from inbounds.privacy.claim import Promise
from inbounds.published.croft2022.adaptive import AdaptiveLaplace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.plot.curves import Floats

__all__ = ["against_epsilon", "densities", "errors", "loss"]

STYLES = ("-", (0, (7, 1.5)), "-.", (0, (1, 1)), (0, (7, 1.5, 1, 1.5, 1, 1.5)))
MARKERS = "osD^vPX"

MOST_STAIRS = 300
"""Up to so many steps in a picture, each of them is drawn; more of them are drawn as a curve."""

MOST_THICK = 100
"""Up to so many of them, their lines are thick."""

MOST_MARKED = 60
"""Up to so many points on a curve, each of them is marked."""

BEYOND = 1.9
"""How far a picture of a loss goes, in distances from the border to where epsilon is left."""


def densities(mechanism: Mechanism, values: Any, *, plain: bool = True, axes: Axes | None = None) -> Figure:
    """Draw the distribution of releases for one or several true `values`.

    With a step these are probabilities, otherwise a density.  Ends of the bounds that have a probability of their own,
    as with pooling, are spikes labelled with it, as high as if it were spread over one `sensitivity / epsilon`.
    Impossible values are shaded.  True values are marked on the axis; those beyond the bounds are marked at the end.

    `plain` adds plain Laplace noise of scale `sensitivity / epsilon` around the first value.
    """
    asked = _as_list(values)
    if not asked:
        raise InvalidParameter("values must hold at least one true answer, got none; name one to draw")
    axis = AnswerAxis.of(mechanism)
    marks = [axis.mark(value) for value in asked]
    view = axis.around(marks, max(axis.plain, Fraction(mechanism.scale or 0)))
    runs = axis.runs(view.first, view.last) if mechanism.in_range else [(view.left, view.right)]
    is_stairs = axis.bounds.step is not None and view.last - view.first < MOST_STAIRS
    trace = stairs if is_stairs else curve
    shapes = [trace(axis, runs, mark, probability_of(mechanism, axis, mark)) for mark in marks]
    axes = panel(axes)
    thin = {"linewidth": 1} if view.last - view.first > MOST_THICK and is_stairs else {}
    for number, (value, mark, shape) in enumerate(zip(asked, marks, shapes, strict=True)):
        axes.plot(*join_pieces(shape.pieces), label=f"true value {_format_value(value)}", **_style(number) | thin)
        on_axis = _style(number, marked=True) | {"markersize": 8, "clip_on": False, "zorder": 5}
        axes.plot(axis.place(mark), 0, gid="truth", **on_axis)
    top = max(shape.top(float(axis.plain)) for shape in shapes)
    if plain:
        xs, ys = (plain_stairs if is_stairs else plain_curve)(axis, marks[0], view)
        around = f"plain Laplace noise around {_format_value(asked[0])}"
        axes.plot(xs, ys, color=GREY, linewidth=1, linestyle="--", label=around, gid="plain")
        top = max(top, float(ys.max()))
    _draw_spikes(axes, axis, [shape.spikes for shape in shapes], top)
    axes.set(ylim=(0, 1.08 * top), ylabel="probability" if is_stairs else "probability density")
    _set_x(axes, axis, view, "released value")
    axes.set_title(f"Releases of {_name_of(mechanism)}\n{_setting(mechanism)}", fontsize="medium")
    _add_legend(axes)
    return axes.figure.figure


def errors(*mechanisms: Mechanism, window: Window | None = None, axes: Axes | None = None) -> Figure:
    """Draw the expected absolute error of several mechanisms with the same bounds against the true value.

    The range is all possible true values, or those from `window[0]` to `window[1]`.  If the bounds are unbounded and
    no window is given, it extends ten plain scales (sensitivity / epsilon) beyond the last bound.  The legend gives the
    mean over the range.
    """
    if not mechanisms:
        raise InvalidParameter("errors must be drawn of at least one mechanism, got none; name one")
    answer_axes = [AnswerAxis.of(mechanism) for mechanism in mechanisms]
    bounds, widest = answer_axes[0].bounds, max(axis.plain for axis in answer_axes)
    if any(axis.bounds != bounds for axis in answer_axes):
        raise InvalidParameter(
            "errors must be drawn of mechanisms for the same bounds, got several; draw a picture each"
        )
    chosen = stated_window(bounds, widest) if window is None else window
    runs = [axis.runs(*indices_of(chosen, bounds, axis.lattice)) for axis in answer_axes]
    is_marked = sum(high - low + 1 for low, high in runs[0]) <= MOST_MARKED
    axes, top = panel(axes), 0.0
    for number, (mechanism, axis, name) in enumerate(zip(mechanisms, answer_axes, _names(mechanisms), strict=True)):
        pieces = [
            (axis.places(indices), np.array([mechanism.error(axis.value(index)) for index in indices]))
            for indices in sample(runs[number], points=FEW_POINTS)
        ]
        label = f"{name}: mean {mechanism.mean_error(chosen):.3g}"
        axes.plot(*join_pieces(pieces), label=label, **_style(number, marked=is_marked))
        top = max(top, *(float(ys.max()) for _, ys in pieces))
    axes.set(ylim=(0, 1.08 * top or 1), ylabel=f"expected absolute error{' in days' if bounds.is_dates else ''}")
    _set_x(axes, answer_axes[0], answer_axes[0].view(runs[0][0][0], runs[0][-1][1], NARROW), "true value")
    settings = {_setting(mechanism) for mechanism in mechanisms}
    setting = settings.pop() if len(settings) == 1 else cut(bounds.brief(), 70)
    axes.set_title(f"Expected error by true value\n{setting}", fontsize="medium")
    _add_legend(axes)
    return axes.figure.figure


def against_epsilon(
    bounds: Bounds, sensitivity: Any, epsilons: Iterable[Any] | None = None, *, window: Window | None = None
) -> Figure:
    """Draw the scale and the mean error of the best known mechanisms against epsilon, as multiples of the sensitivity.

    The mean is over all possible true values, or those in a window.  If the bounds are unbounded and no window is
    given, it extends, for each epsilon, ten plain scales (sensitivity / epsilon) beyond the last bound.
    """
    asked = list(np.geomspace(0.05, 8, 25) if epsilons is None else epsilons)
    if not asked:
        raise InvalidParameter("epsilons must hold at least one number, got none; name one")
    promises = [Promise.of(bounds, sensitivity, epsilon, "standard", 0, False) for epsilon in asked]
    unit = float(promises[0].sensitivity)
    figure = new_figure(height=4.6)
    left, right = figure.subplots(1, 2)
    xs = [float(promise.epsilon) for promise in promises]
    for number, (name, make) in enumerate(drawn_mechanisms(Requirements(bounds, sensitivity, asked[0]))):
        mechanisms = [make(epsilon) for epsilon in asked]
        windows = [
            stated_window(bounds, promise.sensitivity / promise.epsilon) if window is None else window
            for promise in promises
        ]
        style = _style(number) | {"linewidth": (2, 5, 3, 2)[number % 4]}  # where lines coincide, all of them are seen
        left.plot(xs, [(mechanism.scale or 0.0) / unit for mechanism in mechanisms], label=name, **style)
        means = [mechanism.mean_error(over) for mechanism, over in zip(mechanisms, windows, strict=True)]
        right.plot(xs, [mean / unit for mean in means], **style)
    left.set_title("Scale of the noise", fontsize="medium")
    right.set_title("Mean error", fontsize="medium")
    for axes in (left, right):
        _set_log(axes)
        axes.set(xlabel="ε", ylabel="multiples of the sensitivity")
    over = "all possible true values"
    if window is not None:
        over = f"true values from {_format_value(window[0])} to {_format_value(window[1])}"
    elif not bounds.bounded:
        over = f"true values up to {PLAIN_SCALES} × sensitivity / ε beyond the last bound"
    setting = f"{cut(bounds.brief(), 70)}, {_sensitivity(promises[0])}"
    figure.suptitle(f"{setting}\nmeans over {over}", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handlelength=5)
    return figure


def loss(adaptive: AdaptiveLaplace, *, axes: Axes | None = None) -> Figure:
    """Draw the privacy loss of the adaptive Laplace mechanism between its worst pair of true values.

    For pure differential privacy it would have to stay between -epsilon and epsilon; it grows without limit instead.
    """
    if not isinstance(adaptive, AdaptiveLaplace):
        raise InvalidParameter(f"a loss is drawn of an AdaptiveLaplace, got {type(adaptive).__name__}; make one")
    axis = AnswerAxis.of(adaptive)
    # Everything is counted from the border outwards, whichever side it is on.
    border, sign = (axis.lattice.first, 1) if axis.lattice.unbounded_above else (axis.lattice.last, -1)
    pair = [sign * (axis.answers.index(value) - border) for value in adaptive.certificate.worst_pair]
    broken = sign * (axis.answers.index(adaptive.broken_from) - border)
    outputs = sample([(0, math.ceil(BEYOND * broken))], *pair, broken, broken - 1)[0]
    ratios = _log_ratios(adaptive, np.array(outputs, dtype=np.float64), *pair)
    epsilon = float(adaptive.label.epsilon)
    axes = panel(axes)
    axes.axhspan(-epsilon, epsilon, color=BAND, zorder=0, label="from −ε to ε", gid="band")
    first, second = (_format_value(value) for value in adaptive.certificate.worst_pair)
    places = axis.places([border + sign * output for output in outputs])
    style = _style(0, marked=len(outputs) <= MOST_MARKED)
    axes.plot(places, ratios, label=f"privacy loss between the true values {first} and {second}", **style)
    left_at = axis.place(border + sign * broken)
    axes.plot(left_at, ratios[outputs.index(broken)], "D", color=COLOURS[1], markersize=8, zorder=4, gid="left")
    axes.axvline(left_at, color=COLOURS[1], linewidth=1, linestyle=":", zorder=1)
    axes.annotate(
        f"exceeds ε beyond {float(adaptive.broken_from):.4g}\nand grows without limit",
        (left_at, ratios[outputs.index(broken)]),
        xytext=(-10 * sign, 14),
        textcoords="offset points",
        ha="right" if sign > 0 else "left",
    )
    axes.set(ylabel="log of the probability ratio", ylim=(1.15 * min(-epsilon, ratios.min()), None))
    nearest, farthest = sorted((border, border + sign * outputs[-1]))
    _set_x(axes, axis, axis.view(nearest, farthest, NARROW), "released value")
    axes.set_title(f"Adaptive Laplace satisfies only {adaptive.label}\n{_setting(adaptive)}", fontsize="medium")
    _add_legend(axes)
    return axes.figure.figure


def _log_ratios(adaptive: AdaptiveLaplace, outputs: Floats, first: int, second: int) -> Floats:
    """Return the log of the ratio between the probabilities of outputs around two locations, also far out."""
    logs = []
    for location in (first, second):
        at = np.array([float(location)])
        logs.append(np.log(adaptive.law.probabilities(at, at)) - adaptive.law.rates(at) * abs(outputs - location))
    return logs[0] - logs[1]


def _draw_spikes(axes: Axes, axis: AnswerAxis, spikes: Sequence[Sequence[Spike]], top: float) -> None:
    """Draw the spikes of one law after another, with probabilities that do not overlap."""
    taken: dict[tuple[int, int], float] = {}
    numbered = [(spike, number) for number, group in enumerate(spikes) for spike in group]
    for spike, number in sorted(numbered, key=lambda pair: pair[0].probability):
        height, x = spike.probability / float(axis.plain), axis.place(spike.end)
        style = _style(number, marked=True)
        axes.plot([x, x], [0, height], zorder=3, gid="spike", markevery=[1], **style)
        if spike.probability < LEAST_WRITTEN:
            continue
        key = spike.end, spike.side
        # Numbers beside one end are stacked: each at least a line above the one before it, least probable first.
        at = taken[key] = max(height, 0.025 * top, taken.get(key, -top) + 0.05 * top)
        axes.annotate(
            f"{spike.probability:.2g}",
            (x, at),
            xytext=(5 * spike.side, 0),
            textcoords="offset points",
            ha="left" if spike.side > 0 else "right",
            va="center",
            color=style["color"],
            fontsize="small",
            bbox={"facecolor": SHADE, "edgecolor": "none", "pad": 0.5},
        )


def _style(number: int, *, marked: bool = False) -> dict[str, Any]:
    style = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)], "linewidth": 2}
    return style | ({"marker": MARKERS[number % len(MARKERS)], "markersize": 5} if marked else {})


def _set_x(axes: Axes, axis: AnswerAxis, view: View, name: str) -> None:
    """Set the limits of the x axis, shade what is impossible on it, and write its ticks."""
    library = matplotlib_or_error()
    low, high = axis.limits(view)
    corners = [[(a, 0), (a, 1), (b, 1), (b, 0)] for a, b in axis.gaps(view)]
    if corners:
        shade: dict[str, Any] = {"facecolor": SHADE, "hatch": "///", "edgecolor": "0.8", "linewidth": 0, "zorder": 0}
        across = axes.get_xaxis_transform()
        gaps = library.collections.PolyCollection(corners, transform=across, label="impossible", gid="gaps", **shade)
        axes.add_collection(gaps, autolim=False)
    if axis.bounds.is_dates:
        axes.xaxis_date()
        axes.xaxis.set_major_locator(library.dates.AutoDateLocator(minticks=3, maxticks=7))
        axes.xaxis.set_major_formatter(library.dates.DateFormatter("%Y-%m-%d"))
    axes.set(xlim=(low, high), xlabel=name)
    axes.spines[["top", "right"]].set_visible(False)


def _set_log(axes: Axes) -> None:
    """Make both axes logarithmic, with ticks in plain numbers; not one on which everything is 0."""
    ticker = matplotlib_or_error().ticker
    for name, axis in (("xscale", axes.xaxis), ("yscale", axes.yaxis)):
        low, high = axis.get_data_interval()
        if high > 0:
            axes.set(**{name: "log"})
            axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 500 * low else (1,)))
            axis.set_major_formatter(ticker.FuncFormatter(lambda tick, _: f"{tick:g}"))
            axis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(color=SHADE)
    axes.spines[["top", "right"]].set_visible(False)


def _add_legend(axes: Axes) -> None:
    """Put the legend under the panel, where it covers nothing."""
    library = matplotlib_or_error()
    longest = max(len(label) for label in axes.get_legend_handles_labels()[1])
    columns = max(1, min(3, 100 // (longest + 8)))
    under = library.transforms.ScaledTranslation(0, -0.42, axes.figure.figure.dpi_scale_trans)
    place: dict[str, Any] = {"bbox_to_anchor": (0.5, 0), "bbox_transform": axes.transAxes + under}
    axes.legend(loc="upper center", ncols=columns, frameon=False, fontsize="small", handlelength=3, **place)


def _name_of(mechanism: Mechanism) -> str:
    """Return what a mechanism is called, and what else sets it apart; its privacy if that is not epsilon."""
    pooling = f", pooling {_number(mechanism.pooling)}" if tuned_choice(mechanism) == "pooling" else ""
    privacy = "" if mechanism.label.pure else f" ({mechanism.label})"
    return f"{mechanism.name}{pooling}{privacy}"


def _names(mechanisms: Sequence[Mechanism]) -> list[str]:
    """Return the names of mechanisms, with epsilon where names are equal."""
    names = [_name_of(mechanism) for mechanism in mechanisms]
    epsilons = [f", ε = {_number(mechanism.epsilon)}" for mechanism in mechanisms]
    return [name + (epsilon if names.count(name) > 1 else "") for name, epsilon in zip(names, epsilons, strict=True)]


def _setting(mechanism: Mechanism) -> str:
    promise = Promise.of(mechanism.bounds, mechanism.sensitivity, mechanism.epsilon, "standard", 0, False)
    return f"{cut(mechanism.bounds.brief(), 70)}, {_sensitivity(promise)}, ε = {_number(promise.epsilon)}"


def _sensitivity(promise: Promise) -> str:
    days = "" if not promise.bounds.is_dates else " day" if promise.sensitivity == 1 else " days"
    return f"sensitivity {_number(promise.sensitivity)}{days}"


def _as_list(values: Any) -> list[Any]:
    """Return true answers as a list, whether there was one or several."""
    if isinstance(values, np.ndarray):
        return list(values.ravel())
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [values]


def _format_value(value: Any) -> str:
    return str(value) if isinstance(value, date | np.datetime64) else _number(value)


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
