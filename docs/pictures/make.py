"""Draw the pictures of the documentation: `python docs/pictures/make.py`."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from inbounds import BoundedLaplace, Bounds, Optimal, plot
from inbounds.plot.pictures import COLOURS, GREY, MARKERS, SHADE, STYLES
from inbounds.published import Laplace, Staircase
from inbounds.published.croft2022.adaptive import AdaptiveLaplace
from inbounds.published.croft2022.scales import Constraints, TruncatedPDF, lemma1, location_scale

LIMITS = Path(__file__).with_name("limits.json")
JOINT = Path(__file__).with_name("joint.json")


def densities_half_line() -> Figure:
    """Releases of a count-like answer that cannot be negative."""
    return plot.densities(BoundedLaplace(Bounds(0, None), 1, 1), [0, 1, 3])


def densities_union() -> Figure:
    """Releases that avoid a gap, beside plain noise that does not: after Figure 2 of Croft, Sack & Shi."""
    return plot.densities(BoundedLaplace(Bounds(0, 5) | Bounds(7, 12), 1, 1), [4, 8])


def densities_pooling() -> Figure:
    """What pooling does to the same true answers."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for pooling, axes in zip((0, 0.5, 1), panels, strict=True):
        mechanism = BoundedLaplace(Bounds(0, 10), 1, 1, pooling=pooling)
        plot.densities(mechanism, [1, 6], axes=axes)
        axes.set_title(f"pooling {pooling:g}: scale {mechanism.scale:.3g}", fontsize="medium")
        axes.get_legend().remove()
    for axes in panels[1:]:
        axes.set_ylabel("")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def errors_on(high: int) -> Figure:
    """Errors of five mechanisms on an interval from 0."""
    question = Bounds(0, high), 1, 1
    return plot.errors(
        *(BoundedLaplace(*question, pooling=pooling) for pooling in (0, 0.5, 1)),
        Laplace(*question, ends="fold"),
        Staircase(*question, ends="snap"),
    )


def erratum_lemma1() -> Figure:
    """A scale for all locations that keeps the guarantee, where Lemma 1 of Croft, Sack & Shi allows none."""
    distances = np.linspace(0.001, 3, 150)
    found = [lemma1(float(i), 2, 1, 1) for i in distances]
    low, high = [bounds.or_at_most for bounds in found], [bounds.or_at_least for bounds in found]
    own = [location_scale(Bounds(0, None), float(i), 1, 1) for i in distances]
    axes = _panel()
    axes.fill_between(distances, low, high, color=SHADE, label="what Formulas 30 and 31 leave out")
    axes.plot(distances, own, label="Lemma 2's scale for each location", **_line(0))
    axes.axhline(2, label="one scale of 2, which keeps the guarantee", **_line(1))
    axes.axvline(1, color=GREY, linewidth=1, linestyle=":")
    axes.set(xlabel="distance from the border, in sensitivities", ylabel="scale", xlim=(0, 3), ylim=(0, 4))
    axes.set_title(
        "Lemma 1 leaves out a scale that holds, beyond i = 1/ε\n[0, inf), sensitivity 1, ε = 1", fontsize="medium"
    )
    axes.legend(loc="lower right", frameon=False, fontsize="small", handlelength=4)
    return axes.figure.figure


def erratum_lemma8() -> Figure:
    """A bound of Lemma 7 that rises with the scale, and the greatest of all bounds, which falls."""
    bounds = Bounds.union([(None, -30), (Fraction(-1, 100), 0), (Fraction(1, 10), Fraction(1, 5)), (200, None)])
    scales = np.linspace(4, 20, 161)
    spans = Constraints.of(bounds).spans
    ends = [(high, False) for _, high in spans if high is not None]
    ends += [(low, True) for low, _ in spans if low is not None]
    needed = [[_lemma7(bounds, end, float(scale), mirrored) for scale in scales] for end, mirrored in ends]
    axes = _panel()
    axes.plot(scales, np.max(needed, axis=0), label="the greatest of all bounds", **_line(1))
    axes.plot(scales, needed[ends.index((Fraction(0), False))], label="the bound at 0", **_line(0))
    axes.plot(scales, 1 / scales, label="plain Laplace noise, without bounds", color=GREY, linewidth=1, linestyle="--")
    axes.axhline(0.15, color=COLOURS[2], linewidth=1)
    for scale, mark, text, place in (
        (7, "o", "kept at 7", (16, -40)),
        (9, "D", "broken at 9", (-8, 9)),
        (15, "o", "kept at 15", (0, -20)),
    ):
        at = scale, _lemma7(bounds, 0, scale, False)
        axes.plot(*at, mark, color=COLOURS[2], markersize=8, zorder=4)
        axes.annotate(text, at, xytext=place, textcoords="offset points", ha="center")
    axes.annotate("ε = 0.15", (20, 0.15), xytext=(-4, 4), textcoords="offset points", ha="right", color=COLOURS[2])
    axes.set(xlabel="scale", ylabel="least ε that the bound allows", xlim=(4, 20), ylim=(0, 0.4))
    axes.set_title(f"A bound that is kept, then broken by a larger scale\n{bounds}, sensitivity 1", fontsize="medium")
    axes.legend(loc="upper right", frameon=False, fontsize="small", handlelength=4)
    return axes.figure.figure


def erratum_theorem2() -> Figure:
    """Both forms of Lemma 9 for one gap, with another gap that grows on its right or on its left."""
    widths = np.linspace(-4, 4, 161)
    rows = []
    for width in widths:
        if width < 0:
            bounds = Bounds.union([(None, float(width) - 1), (-1, 0), (1, None)])
        else:
            bounds = Bounds.union([(None, 0), (1, 2), (2 + float(width), None)])
        change = np.log(TruncatedPDF.of(bounds, 1, 1).n / TruncatedPDF.of(bounds, 0, 1).n)
        rows.append((1 + change, 1 - change, max(_lemma7(bounds, 0, 1, False), _lemma7(bounds, 1, 1, True))))
    kept, dropped, lemma7 = np.transpose(rows)
    axes = _panel()
    axes.plot(widths, lemma7, label="Lemma 7, at the two ends of the gap", **_line(2))
    axes.plot(widths, kept, label="Lemma 9, the form that is kept", **_line(0))
    axes.plot(widths, dropped, label="Lemma 9, the form that is dropped as weaker", **_line(1))
    axes.axvline(0, ymax=0.82, color=GREY, linewidth=1, linestyle=":")
    axes.set(
        xlabel="← width of a second gap on the left      width of a second gap on the right →",
        ylabel="least ε that the bound allows",
        xlim=(-4, 4),
        ylim=(0.6, 2),
    )
    axes.xaxis.set_major_formatter(lambda width, _: f"{abs(width):g}")
    axes.set_title(
        "The form that Theorem 2 drops is the stronger one on the left\ngap (0, 1), sensitivity 1, scale 1",
        fontsize="medium",
    )
    axes.legend(loc="upper center", frameon=False, fontsize="small", handlelength=4)
    return axes.figure.figure


def limit_laws() -> Figure:
    """The laws of the optimal mechanisms beside that of truncated noise, for the same true answers."""
    question = Bounds(0, 30, step=1), 15, 1
    figure = Figure(figsize=(9, 4), dpi=100, layout="constrained")
    panels = figure.subplots(1, 3)
    mechanisms = Optimal(*question), Optimal(*question, minimise="worst"), BoundedLaplace(*question)
    for mechanism, axes in zip(mechanisms, panels, strict=True):
        plot.densities(mechanism, [3, 15], plain=False, axes=axes)
        errors = f"mean error {mechanism.mean_error() / 15:.3f}, worst {mechanism.worst_error() / 15:.3f}"
        axes.set_title(f"{mechanism.name}\n{errors}", fontsize="medium")
        axes.get_legend().remove()
    top = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set(ylim=(0, top), ylabel=axes.get_ylabel() if axes is panels[0] else "")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def limit_ratios(minimise: str) -> Figure:
    """How many times the limit the errors of mechanisms are: against epsilon, and against the width of the range."""
    figure = Figure(figsize=(9, 4), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _ratios(left, minimise, "epsilon", {"width": 2})
    _ratios(right, minimise, "width", {"epsilon": 1})
    left.set(ylabel=f"{minimise} error, times the limit", xlabel="ε, on a range of 2 sensitivities")
    right.set(xlabel="width of the range in sensitivities, at ε = 1")
    legend: dict[str, Any] = {"loc": "outside lower center", "ncols": 4, "frameon": False, "handlelength": 4}
    figure.legend(*left.get_legend_handles_labels(), **legend)
    return figure


def limit_local() -> Figure:
    """The same for mechanisms for the local model, on a range of one sensitivity."""
    figure = Figure(figsize=(9, 4), dpi=100, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for minimise, axes in zip(("mean", "worst"), panels, strict=True):
        _ratios(axes, f"local {minimise}", "epsilon", {"width": 1})
        axes.set(yscale="log", ylim=(0.9, 50), xlabel="ε, on a range of 1 sensitivity")
        axes.set_yticks([1, 1.5, 2, 5, 10, 20, 50], ["1", "1.5", "2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.set_title(f"{minimise} error", fontsize="medium")
    panels[0].set_ylabel("times the limit")
    legend: dict[str, Any] = {"loc": "outside lower center", "ncols": 4, "frameon": False, "handlelength": 4}
    figure.legend(*panels[0].get_legend_handles_labels(), **legend)
    return figure


def _ratios(axes: Axes, minimise: str, along: str, fixed: dict[str, float]) -> None:
    """Draw the errors that were measured, as multiples of the limit."""
    measured: list[dict[str, Any]] = json.loads(LIMITS.read_text("utf-8"))
    shown = sorted((cell for cell in measured if cell.items() >= fixed.items()), key=lambda cell: cell[along])
    xs = [cell[along] for cell in shown]
    for number, name in enumerate(name for name in shown[0][minimise] if name != "limit"):
        ratios = [cell[minimise][name] / cell[minimise]["limit"] for cell in shown]
        style = {
            "color": COLOURS[number],
            "linestyle": STYLES[number % len(STYLES)],
            "linewidth": 4 if number == 0 else 2,
        }
        axes.plot(xs, ratios, label=name, **style)
    axes.axhline(1, color=GREY, linewidth=1, label="the limit")
    axes.set(xscale="log", ylim=(0.9, 2.5))
    axes.set_xticks(xs, [f"{x:g}" for x in xs])
    axes.minorticks_off()
    axes.grid(color=SHADE)
    axes.spines[["top", "right"]].set_visible(False)


WAYS = {
    "in bounds, one by one": "cells one by one, in bounds",
    "plain, unclamped": "plain noise, often negative",
    "least squares": "least squares, often negative",
    "OpenDP tree": "OpenDP's tree, often negative",
    "not negative": "non-negative least squares in one go",
    "top-down": "from the top down",
    "private-pgm": "private-pgm",
    "ours": "inbounds",
}
"""What the benchmark calls the ways to make a table, and what the pictures call them."""


def joint_lists() -> Figure:
    """Errors of a cell and of the total of many small cells, for each way to make a table."""
    figure = Figure(figsize=(9, 4), dpi=100, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for grouping, axes in zip(("cells", "total"), panels, strict=True):
        for number, epsilon in enumerate(("0.1", "1")):
            found = _joint(f"2,000 cells, epsilon {epsilon}", grouping)
            places = [place for place, way in enumerate(WAYS) if way in found]
            values = [found[way] for way in WAYS if way in found]
            style = {"color": COLOURS[number], "markersize": 8, "linestyle": "none"}
            axes.plot(values, places, "oD"[number], label=f"ε = {epsilon}", **style)
        axes.set(xscale="log", xlabel={"cells": "mean error of a cell", "total": "mean error of the total"}[grouping])
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_yticks(range(len(WAYS)), list(WAYS.values()))
        axes.set_ylim(-0.5, len(WAYS) - 0.5)
        axes.grid(color=SHADE)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].get_yticklabels()[-1].set_fontweight("bold")
    legend: dict[str, Any] = {"loc": "outside lower center", "ncols": 2, "frameon": False}
    figure.legend(*panels[0].get_legend_handles_labels(), **legend)
    return figure


def joint_levels() -> Figure:
    """Errors on every level of a tree, and of all groupings of a table with two ways, over ours."""
    figure = Figure(figsize=(8.5, 6), dpi=100, layout="constrained")
    panels = figure.subplots(2, 2, sharey=True)
    shown = [way for way in reversed(WAYS) if way not in ("ours", "plain, unclamped", "OpenDP tree")]
    cases = {
        "A tree of 8 x 8 x 8": ("leaves", "level 2", "level 1", "root"),
        "A table of 50 x 40": ("cells", "rows", "columns", "total"),
    }
    for row, (case, groupings) in zip(panels, cases.items(), strict=True):
        for first, axes in zip(("", ", large first"), row, strict=True):
            found = [_joint(f"{case}{first}, epsilon 1", grouping) for grouping in groupings]
            for number, way in enumerate(shown):
                colour = COLOURS[1 + number]
                style = {"color": colour, "linestyle": STYLES[number % len(STYLES)], "marker": MARKERS[1 + number]}
                axes.plot(range(4), [errors[way] / errors["ours"] for errors in found], label=WAYS[way], **style)
            axes.axhline(1, color=COLOURS[0], linewidth=3, label="inbounds")
            axes.set(yscale="log", ylim=(0.6, 60))
            axes.set_title(f"{case.replace(' x ', ' × ')}{first or ', large anywhere'}", fontsize="medium")
            axes.set_xticks(range(4), [f"{name}\n{e['ours']:.2g}" for name, e in zip(groupings, found, strict=True)])
            axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
            axes.minorticks_off()
            axes.grid(color=SHADE)
            axes.spines[["top", "right"]].set_visible(False)
    figure.supylabel("mean error, times that of inbounds, which stands below", fontsize="medium")
    legend: dict[str, Any] = {"loc": "outside lower center", "ncols": 3, "frameon": False, "fontsize": "small"}
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **legend)
    return figure


def _joint(case: str, grouping: str) -> dict[str, float]:
    """Return the errors of a grouping that were measured of each way, at the default split; of a tree where every level
    has a part, as going from the top down needs."""
    found = {}
    for name, value in json.loads(JOINT.read_text("utf-8")).items():
        of, split, way, what = name.split("; ")
        is_shown = split.startswith("56") if "tree" in case else "default" in split
        if of == case and what == grouping and ("alone" in split or is_shown):
            found[way] = value
    return found


def _lemma7(bounds: Bounds, end: Any, scale: float, mirrored: bool) -> float:
    """Return the least epsilon that Formula 35 allows at the end of a span, for a sensitivity of 1."""
    pdf = TruncatedPDF.of(bounds, end, scale)
    nearer = pdf.R if mirrored else pdf.L
    return (1 - 2 * nearer) * pdf.n / scale


def _panel() -> Axes:
    axes = Figure(figsize=(8, 5), dpi=100, layout="constrained").add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _line(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number], "linestyle": STYLES[number], "linewidth": 2}


PICTURES: dict[str, Callable[[], Figure]] = {
    "densities-half-line": densities_half_line,
    "densities-union": densities_union,
    "densities-pooling": densities_pooling,
    "errors-tight": lambda: errors_on(2),
    "errors-wide": lambda: errors_on(20),
    "against-epsilon": lambda: plot.against_epsilon(Bounds(0, 5), 1),
    "erratum-loss": lambda: plot.loss(AdaptiveLaplace(Bounds(0, None), 1, 1)),
    "erratum-lemma1": erratum_lemma1,
    "erratum-lemma8": erratum_lemma8,
    "erratum-theorem2": erratum_theorem2,
    "limit-laws": limit_laws,
    "limit-mean": lambda: limit_ratios("mean"),
    "limit-worst": lambda: limit_ratios("worst"),
    "limit-local": limit_local,
    "joint-lists": joint_lists,
    "joint-levels": joint_levels,
}


def make(folder: Path) -> list[Path]:
    """Draw every picture into a folder."""
    paths = []
    for name, draw in PICTURES.items():
        paths.append(folder / f"{name}.png")
        save(draw(), paths[-1])
    return paths


def save(figure: Figure, path: Path) -> None:
    """Write a picture in sixteen shades of each colour, which look the same and take half the bytes."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png")
    drawn.seek(0)
    shades = np.rint(15 * np.asarray(imread(drawn))) / 15
    nothing_else: dict[str, Any] = {"Software": None}  # not even the version of matplotlib
    imsave(path, shades, metadata=nothing_else, pil_kwargs={"compress_level": 9, "compress_type": 0})


if __name__ == "__main__":
    make(Path(__file__).parent)
