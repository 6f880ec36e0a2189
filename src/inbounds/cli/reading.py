"""True answers as text, and private ones: read exactly, whatever their size, and written at the length of a double."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.errors import InvalidAnswer
from inbounds.rational import is_decimal

_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
"""No numbers, but what a computation may have left; infinities are projected where there is an end."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

BYTE_ORDER_MARK = "\ufeff"

VAST = 10_000
"""A number of more digits than this before the point counts as infinite, and after it as zero."""


def read(text: str, bounds: Bounds, where: str) -> Any:
    """Return the day or the exact number that a text is; no message repeats it."""
    word = text.strip()
    if bounds.is_dates:
        try:
            if _DAY.fullmatch(word):
                return date.fromisoformat(word)
        except ValueError:
            pass
        raise InvalidAnswer(f"{where} must be a day, for the bounds are days; write it like 2026-12-31")
    if len(word) < 19 and word.isascii() and word.isdigit():  # the usual case
        return int(word)
    if _NOT_FINITE.fullmatch(word):
        return float(word)
    if not is_decimal(word):
        raise InvalidAnswer(f"{where} must be a number, for the bounds are numbers; write it like 97 or 97.5")
    return _exact(word)


def _exact(word: str) -> int | Fraction | float:
    """Return a number that is written as a decimal: as a double it could move, and away from its neighbour."""
    mantissa, _, exponent = word.lower().partition("e")
    power, digits = exponent.lstrip("+-0"), Decimal(mantissa)
    size = digits.adjusted() + int(exponent or 0) if len(power) < 6 else VAST + 1
    if digits and abs(size) > VAST:
        return 0 if exponent.startswith("-") else float(Decimal("inf").copy_sign(digits))
    number = Decimal(word) if digits else digits
    return int(number) if number == number.to_integral_value() else Fraction(number)


def answer_in(text: str | None, bounds: Bounds, where: str) -> Any:
    """Return the answer that a cell holds, None if it holds none; NaN is none."""
    answer = None if text is None or not text.strip() else read(text, bounds, where)
    return None if isinstance(answer, float) and math.isnan(answer) else answer


def exact_array(answers: list[Any], bounds: Bounds) -> Any:
    """Return answers in the form that is released fastest, and holds them exactly."""
    if bounds.is_dates:
        return np.array(answers, dtype="datetime64[D]")
    ends: list[Any] = [bounds.low, bounds.high]
    near = all(end is not None and abs(end) < 2**62 for end in ends)
    if all(type(answer) is int for answer in answers):
        if near or bounds.step == 1:
            return np.array([max(-(2**62), min(2**62, answer)) for answer in answers])  # farther is beyond every end
        if bounds.step is None and max(map(abs, answers)) <= 2**53:
            return np.array(answers, dtype=np.float64)
    return answers


def write(released: Any) -> str:
    """Return a private answer as text."""
    if isinstance(released, Fraction):
        return str(released.numerator) if released.denominator == 1 else repr(float(released))
    return str(released)
