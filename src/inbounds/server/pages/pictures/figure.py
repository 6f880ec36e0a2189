"""Pictures as SVG, drawn on the server by the code of `inbounds.plot`: light and dark, wide and narrow."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends

from inbounds.plot.style import matplotlib_or_error

DARK, LIGHT = "#d7dee5", "#17212b"
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")

WIDE, NARROW = 5.4, 3.4
"""In inches: letters are as large on a telephone as on a screen."""

IN_THE_DARK = {
    b"#0072b2": b"#56b4e9",
    b"#d55e00": b"#f0925c",
    b"#009e73": b"#3fc79d",
    b"#595959": b"#aab6c1",
    b"#e6e6e6": b"#2a353f",
    b"#cccccc": b"#52606c",
}
"""What the colours of `inbounds.plot` are on a dark ground."""

_TURN = threading.Lock()
"""Matplotlib's settings are those of the whole process."""


@dataclass(frozen=True)
class Look:
    """What a browser wants a picture to be."""

    dark: bool = False
    narrow: bool = False

    @property
    def ink(self) -> str:
        """The colour of letters."""
        return DARK if self.dark else LIGHT


Looks = Annotated[Look, Depends()]


def svg(draw: Callable[[Any], object], look: Look, height: float = 3.8) -> bytes:
    """Return what a function draws into a panel."""
    library = matplotlib_or_error()
    settings = {
        **dict.fromkeys(INKED, look.ink),
        "svg.fonttype": "none",
        "svg.hashsalt": "inbounds",
        "font.family": "sans-serif",
        "font.size": 11,
        "legend.labelcolor": look.ink,
        "text.parse_math": False,  # names are what they are, also with two signs of dollar
    }
    with _TURN, library.rc_context(settings):
        figure = library.figure.Figure(figsize=(NARROW if look.narrow else WIDE, height), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        draw(axes)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _darken(file.getvalue()) if look.dark else file.getvalue()


def _darken(picture: bytes) -> bytes:
    for light, dark in IN_THE_DARK.items():
        picture = picture.replace(light, dark)
    return picture
