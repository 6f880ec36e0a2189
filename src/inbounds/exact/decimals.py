"""Decimal numbers, read from texts and from `Decimal`s of any size, exactly as far as bounds can tell them apart.

A few bytes can stand for an integer that fills the memory, and a text can be as long as a file.  So a number counts as
at most 10**1000 and, unless it is zero, as at least 10**-2300, on its own side of zero.  Of the digits behind decimal
2300 it only counts whether they are all zero and, where the caller says of which part of 1 the numbers are multiples
that it has to be told apart from, on which side of such a multiple it is: that is found by dividing as far as it takes.
What lies half way between two points of a lattice is less than 2**2048 from zero and a multiple of more than 2**-4100,
so nothing is rounded or projected otherwise than the number that was written, and two numbers are read in their order.
The work is linear in the length of a text.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction

DIGITS = 1_000
"""How many digits before the point count."""

DECIMALS = 2_300
"""How many digits behind the point are read: more than a power of two has that is a step, or half of one."""

BLOCK = 1_000
"""Digits that are divided at a time."""

# Python would also read 1_0 as 10, and the digits of every script.  No digit can be matched in two ways, lest a long
# text that is no number take long.
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]+))?")

BLANKS = " \t"
"""What may stand around a number that is typed."""

_VAST = 10**18
"""An exponent that no text is long enough to make up for with its zeros."""

PLAIN = Context(
    prec=28,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
"""How Python computes with decimals at first, in full: a caller can also change what new contexts are made of."""


def is_decimal(text: str) -> bool:
    """Return whether a text is a decimal number, in ASCII digits with a sign, a point and an exponent if need be."""
    return _DECIMAL.fullmatch(text) is not None


def typed_decimal(text: str) -> Decimal | None:
    """Return the number that somebody typed, exactly; None for what is no decimal number, or has a vast exponent.

    Blanks around it are passed over.  It is in ASCII digits, and so read in one way by whoever sees it.
    """
    typed = text.strip(BLANKS)
    try:
        return Decimal(typed) if is_decimal(typed) else None
    except InvalidOperation:
        return None


def read_decimal(text: str, parts: int | None = None) -> Fraction | None:
    """Return the number that a text is, None for one that is no decimal number, NaN and the infinities too.

    With `parts`, it is on the same side of every multiple of `1 / parts`, which is to be above 10**-2300.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    sign, whole, decimals, power_sign, power = match.groups("")
    exponent = min(int(power.lstrip("0")[:19] or 0), _VAST)
    size, rest = _read_digits(whole + decimals, (-exponent if power_sign == "-" else exponent) - len(decimals))
    if rest:
        size += _place_rest(size, rest, parts) / 10**DECIMALS
    return -size if sign == "-" else size


def from_decimal(number: Decimal, parts: int | None = None) -> Fraction:
    """Return a finite `Decimal` as the fraction that it is, or counts as."""
    return read_decimal(str(number), parts) or Fraction(0)


def _read_digits(digits: str, exponent: int) -> tuple[Fraction, str]:
    """Return `int(digits) * 10**exponent` within what counts, and the digits behind that up to the last nonzero one."""
    # Only `DIGITS` before the point and `DECIMALS` after it are computed with: a short text such as 1e999999999 must
    # not take more memory or time than another.
    digits = digits.lstrip("0")
    if not digits:
        return Fraction(0), ""
    first = len(digits) + exponent  # how many digits are before the point
    if first > DIGITS:
        return Fraction(10**DIGITS), ""
    if first <= -DECIMALS:
        return Fraction(1, 10**DECIMALS), ""
    counting = first + DECIMALS
    if len(digits) > counting:
        return Fraction(int(digits[:counting]), 10**DECIMALS), digits[counting:].rstrip("0")
    number = int(digits)
    return Fraction(number * 10**exponent) if exponent >= 0 else Fraction(number, 10**-exponent), ""


def _place_rest(size: Fraction, rest: str, parts: int | None) -> Fraction:
    """Return a number that stands for 0.rest: with it, the size is on the same side of the next multiple."""
    if parts is None:
        return Fraction(1, 10)
    multiple = (Fraction(size * parts // 1 + 1, parts) - size) * 10**DECIMALS
    if multiple >= 1:
        return Fraction(1, 10)
    side = _compare(rest, multiple)
    return multiple if side == 0 else multiple / 2 if side < 0 else (multiple + 1) / 2


def _compare(rest: str, limit: Fraction) -> int:
    """Return the sign of 0.rest minus a limit between 0 and 1, by long division."""
    # Block by block against the decimals of the limit, and no farther than the first block that differs.
    left, divisor = limit.as_integer_ratio()
    for start in range(0, len(rest), BLOCK):
        block = rest[start : start + BLOCK]
        expected, left = divmod(left * 10 ** len(block), divisor)
        if int(block) != expected:
            return 1 if int(block) > expected else -1
    return -1 if left else 0
