"""True answers as text, and private ones: read exactly, released together, and written.

How a release is written depends on the release alone.  A whole number and a fraction that led to the same one must not
be told apart by a point and a zero.
"""

from __future__ import annotations

import math
import re
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.errors import InvalidAnswer
from inbounds.exact.decimals import read_decimal
from inbounds.exact.rational import as_decimal, has_decimals

_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

BYTE_ORDER_MARK = "\ufeff"

NEAR = 2**52
"""Answers fewer steps than this from zero are held by doubles and 64-bit integers exactly, with room for noise."""


# In.


def read(text: str, bounds: Bounds, where: str) -> Any:
    """Return the day or the exact number that a text is; an infinity is the end on its side.  No message repeats it."""
    word = text.strip()
    if bounds.is_dates:
        return _day(word, where)
    if len(word) < 19 and word.isascii() and word.isdigit():  # the usual case
        return int(word)
    if infinite := _INFINITE.fullmatch(word):
        return _end(bounds, where, below=infinite[1] == "-")
    if _NAN.fullmatch(word):
        raise InvalidAnswer(f"{where} must not be NaN; decide what a missing answer means before releasing it")
    found = read_decimal(word)  # as a double it could move, and away from its neighbour
    if found is None:
        raise InvalidAnswer(f"{where} must be a number, for the bounds are numbers; write it like 97 or 97.5")
    return found


def answer_in(text: str | None, bounds: Bounds, where: str) -> Any:
    """Return the answer that a cell holds, None if it holds none; NaN is none."""
    if text is None or not text.strip() or (not bounds.is_dates and _NAN.fullmatch(text.strip())):
        return None
    return read(text, bounds, where)


def _day(word: str, where: str) -> date:
    try:
        if _DAY.fullmatch(word):
            return date.fromisoformat(word)
    except ValueError:
        pass
    raise InvalidAnswer(f"{where} must be a day, for the bounds are days; write it like 2026-12-31")


def _end(bounds: Bounds, where: str, *, below: bool) -> Fraction:
    end = bounds.low if below else bounds.high
    if not isinstance(end, int | Fraction):
        raise InvalidAnswer(
            f"{where} may be infinite only on a side where the bounds have an end; give them one, or clip it first"
        )
    return Fraction(end)


# Out.


def release_all(mechanism: Any, answers: list[Any]) -> list[Any]:
    """Return an independent release for each answer, days for days and exact numbers for such.

    Each answer is put on the lattice by itself, exactly.  Those that arrays of numbers hold are drawn together.
    """
    if not answers:
        return []
    bounds = mechanism.bounds
    if bounds.is_dates:
        return list(mechanism.release(np.array(answers, dtype="datetime64[D]")).tolist())
    if bounds.step is not None and (bounds.step != 1 or bounds.offset != 0):
        return list(mechanism.release([Fraction(answer) for answer in answers]).tolist())
    up, down = mechanism.step.as_integer_ratio()
    indices = [
        (2 * answer.numerator * down + answer.denominator * up) // (2 * answer.denominator * up) for answer in answers
    ]  # the nearest, and half a step goes up
    near = [place for place, index in enumerate(indices) if abs(index) < NEAR]
    held = np.array([indices[place] for place in near], dtype=np.int64)
    # The product is exact: a step that was chosen is a power of two.
    points = held if bounds.step is not None else held * float(mechanism.step)
    released = [
        None if abs(index) < NEAR else mechanism.release(Fraction(answer))
        for answer, index in zip(answers, indices, strict=True)
    ]
    for place, value in zip(near, mechanism.release(points).tolist() if near else [], strict=True):
        released[place] = value
    return released


def number(released: Any) -> Any:
    """Return a release as JSON has it: a number if a double's shortest text says it, or else its text."""
    if isinstance(released, float):
        return int(released) if released.is_integer() else released
    if not isinstance(released, Fraction):
        return released
    if released.denominator == 1:
        return int(released)
    text = write(released)
    return float(text) if repr(float(text)) == text else text


def write(released: Any) -> str:
    """Return a release as text: as short as a double has it if that says it exactly, or else as a decimal.

    Equal numbers have the same text, whether they are an int, a float or a Fraction.
    """
    if isinstance(released, float):
        return str(int(released)) if released.is_integer() else repr(released)
    if not isinstance(released, Fraction):
        return str(released)
    if released.denominator == 1:
        return str(released.numerator)
    try:
        nearest = float(released)
    except OverflowError:
        nearest = math.inf
    if nearest == released or (nearest < math.inf and Fraction(repr(nearest)) == released):
        return repr(nearest)
    if nearest < math.inf and not has_decimals(released.denominator):  # a third, say
        return repr(nearest)
    return str(as_decimal(released.numerator, released.denominator))
