"""Pictures as SVG, drawn on the server by the code of `inbounds.plot`, in light and dark."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

from inbounds.plot.style import matplotlib_or_error

DARK = {"ink": "#d7dee5", "grid": "#3a4651"}
LIGHT = {"ink": "#17212b", "grid": "#c9d1d9"}
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")

_TURN = threading.Lock()
"""Matplotlib's settings are those of the whole process."""


def svg(draw: Callable[[Any], object], *, dark: bool, size: tuple[float, float] = (7.2, 3.8)) -> bytes:
    """Return what a function draws into a panel."""
    library = matplotlib_or_error()
    colours = DARK if dark else LIGHT
    ink = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), colours["ink"]
    )
    settings = {**ink, "svg.fonttype": "none", "svg.hashsalt": "inbounds", "font.family": "sans-serif", "font.size": 11}
    with _TURN, library.rc_context(settings):
        figure = library.figure.Figure(figsize=size, layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        draw(axes)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
