"""What a chart draws: numbers with their intervals, and the names beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inbounds.display.text import text_width
from inbounds.publish.destinations.page.markup import said, visible


@dataclass(frozen=True)
class Mark:
    """A number with its interval."""

    keys: tuple[Any, ...]
    value: int | float | None
    """None where nothing was learnt."""
    ends: tuple[float, float] | None


@dataclass(frozen=True)
class Series:
    """Numbers that are drawn together."""

    label: str | None
    marks: tuple[Mark, ...]

    @property
    def values(self) -> list[float]:
        """Everything that an axis has to have on it."""
        numbers = [mark.value for mark in self.marks if mark.value is not None]
        return numbers + [end for mark in self.marks if mark.value is not None for end in mark.ends or ()]


@dataclass(frozen=True)
class Look:
    """A screen: how wide a chart is, in pixels, and how many letters of a name fit beside it."""

    name: str
    width: int
    letters: int

    @property
    def is_narrow(self) -> bool:
        """Whether it is a telephone."""
        return self.name == "narrow"


LOOKS = (Look("wide", 720, 28), Look("narrow", 344, 14))


def shorten(text: str, most: int) -> str:
    """Return the first letters of a name that is too long; the table has all of them."""
    plain = visible(" ".join(text.split("\n")))
    if text_width(plain) <= most:
        return plain
    while text_width(plain) > most - 1:
        plain = plain[:-1]
    return plain.rstrip() + "…"


def write_text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Return words in a picture."""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{said(words)}</text>'


def draw_line(ends: tuple[float, float, float, float], kind: str) -> str:
    """Return a straight line in a picture."""
    x1, y1, x2, y2 = ends
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'
