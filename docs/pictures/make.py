"""Draw the pictures of the documentation: `python docs/pictures/make.py`."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from inbounds import BoundedLaplace, Bounds, plot
from inbounds.published import Laplace, Staircase
from inbounds.published.adaptive import AdaptiveLaplace


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


PICTURES: dict[str, Callable[[], Figure]] = {
    "densities-half-line": densities_half_line,
    "densities-union": densities_union,
    "densities-pooling": densities_pooling,
    "errors-tight": lambda: errors_on(2),
    "errors-wide": lambda: errors_on(20),
    "against-epsilon": lambda: plot.against_epsilon(Bounds(0, 5), 1),
    "erratum-loss": lambda: plot.loss(AdaptiveLaplace(Bounds(0, None), 1, 1)),
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
