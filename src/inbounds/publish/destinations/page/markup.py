"""HTML made of texts: whatever somebody called something, it is read as a text, and in its own direction."""

from __future__ import annotations

from html import escape
from unicodedata import category

JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Letters of some scripts need them."""


def visible(text: str) -> str:
    """Return a text in which what cannot be seen, such as a mark that turns the direction, is written out."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in JOINERS or category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def said(text: object) -> str:
    """Write a text of one line."""
    return escape(visible(" ".join(str(text).split("\n"))))


def named(text: object) -> str:
    """Write a name, which has a direction of its own."""
    return f"<bdi>{said(text)}</bdi>"


def lines(text: str) -> str:
    """Write a text of several lines as it is."""
    return "&#10;".join(escape(visible(line)) for line in text.split("\n"))


def paragraphs(text: str) -> str:
    """Write a text as paragraphs, which empty lines separate."""
    return "\n".join(f"<p>{said(part)}</p>" for part in text.split("\n\n") if part.strip())
