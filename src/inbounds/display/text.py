"""Text for people, on a terminal of 80 columns."""

from __future__ import annotations

from html import escape
from unicodedata import combining, east_asian_width

WIDTH = 80


def printable(text: str) -> str:
    """Write what cannot be printed, such as a line break or a terminal's control character, as Python writes it."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def cut_line(text: str, width: int = WIDTH - 10) -> str:
    """Return a text in one line of at most this width; what is cut off is marked."""
    line = printable(" ".join(text.split()))
    return line if text_width(line) <= width else fit(line, width, left=True)


def escape_html(text: str) -> str:
    """Write a text for HTML, where it is read as a text and nothing else."""
    return escape(printable(text))


def text_width(text: str) -> int:
    """Return how many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)


def fit(text: str, width: int, left: bool) -> str:
    """Return a text of exactly this width: filled up with blanks, or cut and marked with an ellipsis."""
    if text_width(text) > width:
        while text_width(text) > width - 1:
            text = text[:-1]
        text += "…"
    blanks = " " * (width - text_width(text))
    return text + blanks if left else blanks + text
