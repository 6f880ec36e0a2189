"""Texts that stand in code as what they are: nothing that somebody named or wrote gets out of its quotes."""

from __future__ import annotations

import re

_QUOTES = '"""'

_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
"""All ASCII punctuation: whatever means something in Markdown or HTML is one of these."""


def write_text(text: str) -> str:
    """Return a text as Python has it: one of several lines stays readable, between three quotes."""
    if "\n" not in text:
        return repr(text)
    lines = (_escape(line) for line in text.split("\n"))
    return "\n".join((_QUOTES, *lines, _QUOTES))


def _escape(line: str) -> str:
    """Return a line as it stands between three quotes."""
    shown = line.replace("\\", "\\\\").replace(_QUOTES, r"\"\"\"")
    return "".join(letter if letter.isprintable() else _escape_letter(letter) for letter in shown)


def _escape_letter(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def write_markdown(text: str) -> str:
    """Return a text as Markdown shows it, in one line: every mark is an entity, which is never more than a letter."""
    words = "".join(letter if letter.isprintable() else " " for letter in text).split()
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", " ".join(words))
