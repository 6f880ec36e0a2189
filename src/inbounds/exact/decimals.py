"""Decimal numbers, read from texts and from `Decimal`s of any size, exactly as far as bounds can tell them apart.

A few bytes can stand for an integer that fills the memory, and a text can be as long as a file.  So a number counts as
at most 10**1000 and, unless it is zero, as at least 10**-1000, on its own side of zero; and of the digits behind the
thousandth decimal only whether they are all zero.  Ends of bounds and what lies half way between two points of a
lattice are below 2**2048 and multiples of more than 2**-2200, so nothing is rounded or projected otherwise than the
number that was written, and two numbers are read in their order.  The work is linear in the length of a text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

DIGITS = 1_000
"""How many digits before and after the point count."""

# Python would also read 1_0 as 10, and the digits of every script.  No digit can be matched in two ways, lest a long
# text that is no number take long.
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]+))?")

_VAST = 10**18
"""An exponent that no text is long enough to make up for with its zeros."""


def is_decimal(text: str) -> bool:
    """Return whether a text is a decimal number, in ASCII digits with a sign, a point and an exponent if need be."""
    return _DECIMAL.fullmatch(text) is not None


def read_decimal(text: str) -> Fraction | None:
    """Return the number that a text is, None for one that is no decimal number, NaN and the infinities too."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return None
    sign, whole, decimals, power_sign, power = found.groups("")
    exponent = min(int(power.lstrip("0")[:19] or 0), _VAST)
    size = _size(whole + decimals, (-exponent if power_sign == "-" else exponent) - len(decimals))
    return -size if sign == "-" else size


def from_decimal(number: Decimal) -> Fraction:
    """Return a finite `Decimal` as the fraction that it is, or counts as."""
    return read_decimal(str(number)) or Fraction(0)


def _size(digits: str, exponent: int) -> Fraction:
    """Return `int(digits) * 10**exponent`, within what counts."""
    digits = digits.lstrip("0")
    if not digits:
        return Fraction(0)
    first = len(digits) + exponent  # how many digits are before the point
    if first > DIGITS:
        return Fraction(10**DIGITS)
    if first <= -DIGITS:
        return Fraction(1, 10**DIGITS)
    counting = first + DIGITS
    if len(digits) > counting:  # one more digit stands for all that follow
        digits, exponent = digits[:counting] + ("1" if digits[counting:].strip("0") else "0"), -DIGITS - 1
    number = int(digits)
    return Fraction(number * 10**exponent) if exponent >= 0 else Fraction(number, 10**-exponent)
