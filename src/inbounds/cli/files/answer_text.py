"""Answers as text: true ones read exactly, released ones written.

How a release is written depends on the release alone.  A whole number and a fraction that led to the same one must not
be told apart by a point and a zero.
"""

from __future__ import annotations

import math
import re
from datetime import date
from fractions import Fraction
from typing import Any

from inbounds.bounds import Bounds
from inbounds.errors import InvalidAnswer
from inbounds.exact.decimals import read_decimal
from inbounds.exact.rational import as_decimal, has_decimals

_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

BYTE_ORDER_MARK = "\ufeff"


def read_answer(text: str, bounds: Bounds, where: str) -> Any:
    """Return the day or exact number that a text says; an infinity is the end on its side.  No message repeats it."""
    word = text.strip()
    if bounds.is_dates:
        return _read_day(word, where)
    if len(word) < 19 and word.isascii() and word.isdigit():  # the usual case
        return int(word)
    if infinite := _INFINITE.fullmatch(word):
        return _find_end(bounds, where, below=infinite[1] == "-")
    if _NAN.fullmatch(word):
        raise InvalidAnswer(f"{where} must not be NaN; decide how to treat missing answers before releasing them")
    # As a double it could move, and away from its neighbour.  Without a step, all that counts has few decimals.
    halves = None if bounds.step is None else 2 * bounds.step.denominator * bounds.offset.denominator
    number = read_decimal(word, halves)
    if number is None:
        raise InvalidAnswer(f"{where} must be a number, because the bounds are numbers; write it like 97 or 97.5")
    return number


def read_cell(text: str | None, bounds: Bounds, where: str) -> Any:
    """Return the answer that a cell holds, None if it is empty or NaN."""
    if text is None or not text.strip() or (not bounds.is_dates and _NAN.fullmatch(text.strip())):
        return None
    return read_answer(text, bounds, where)


def _read_day(word: str, where: str) -> date:
    try:
        if _DAY.fullmatch(word):
            return date.fromisoformat(word)
    except ValueError:
        pass
    raise InvalidAnswer(f"{where} must be a date, because the bounds are dates; write it like 2026-12-31")


def _find_end(bounds: Bounds, where: str, *, below: bool) -> Fraction:
    end = bounds.low if below else bounds.high
    if not isinstance(end, int | Fraction):
        raise InvalidAnswer(
            f"{where} may be infinite only where the bounds are finite; use finite bounds, or clamp it first"
        )
    return Fraction(end)


def as_json(released: Any) -> Any:
    """Return a release as JSON has it: a number if a double's shortest text says it, or else its text."""
    if isinstance(released, float):
        return int(released) if released.is_integer() else released
    if not isinstance(released, Fraction):
        return released
    if released.denominator == 1:
        return int(released)
    text = as_text(released)
    return float(text) if repr(float(text)) == text else text


def as_text(released: Any) -> str:
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
