"""Functions that make a text of a text and constants.

Keys are public, so they are computed here and not by an engine: the same of every key, whatever database has the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.node import Constant, Node

LONGEST = 1000
"""A text that is made has so many characters at most, and so has what it is made with."""


@dataclass(frozen=True)
class TextFunction:
    """What a function takes beside a text, and what it makes of all."""

    like: str
    takes: tuple[type, ...]
    """What constants are: texts, or whole numbers from 1 on."""
    change: Callable[..., str]
    needed: int = 0
    """How many of them there must be."""

    @property
    def counts(self) -> tuple[int, int, str]:
        """How many arguments it takes, the text among them, and what it looks like."""
        return 1 + self.needed, 1 + len(self.takes), self.like

    def read(self, constants: Sequence[Node]) -> list[Any]:
        """Return constants as the function takes them; refuse others."""
        values = []
        for node, kind in zip(constants, self.takes, strict=False):
            value: object = node.value if isinstance(node, Constant) and isinstance(node.value, str) else node.number
            if kind is int and value in range(1, LONGEST + 1):
                values.append(int(value))  # type: ignore[call-overload]
            elif kind is str and isinstance(value, str) and 0 < len(value) <= LONGEST:
                values.append(value)
            else:
                what = "a whole number from 1" if kind is int else "a text from one character"
                raise InvalidQuestion(f"{node} must be {what} to {LONGEST} here; write it like {self.like}")
        return values


def _fill(length: int, missing: int, fill: str) -> str:
    return (fill * length)[: max(missing, 0)]


def _pad_left(text: str, length: int, fill: str = " ") -> str:
    return (_fill(length, length - len(text), fill) + text)[:length]


def _pad_right(text: str, length: int, fill: str = " ") -> str:
    return (text + _fill(length, length - len(text), fill))[:length]


def _split(text: str, separator: str, place: int) -> str:
    parts = text.split(separator)
    return parts[place - 1] if place <= len(parts) else ""


def _replace(text: str, old: str, new: str = "") -> str:
    return text.replace(old, new)


TEXT_FUNCTIONS: dict[str, TextFunction] = {
    "UPPER": TextFunction("UPPER(clinic)", (), str.upper),
    "LOWER": TextFunction("LOWER(clinic)", (), str.lower),
    "REPLACE": TextFunction("REPLACE(clinic, 'old', 'new')", (str, str), _replace, 1),
    "TRIM": TextFunction("TRIM(clinic)", (str,), lambda text, ends=" ": text.strip(ends)),
    "LTRIM": TextFunction("LTRIM(clinic)", (str,), lambda text, ends=" ": text.lstrip(ends)),
    "RTRIM": TextFunction("RTRIM(clinic)", (str,), lambda text, ends=" ": text.rstrip(ends)),
    "LPAD": TextFunction("LPAD(clinic, 5, '0')", (int, str), _pad_left, 1),
    "RPAD": TextFunction("RPAD(clinic, 5, '0')", (int, str), _pad_right, 1),
    "SPLIT_PART": TextFunction("SPLIT_PART(clinic, '-', 1)", (str, int), _split, 2),
}
"""Texts may be replaced by nothing: REPLACE(icd, '.') leaves points out."""
