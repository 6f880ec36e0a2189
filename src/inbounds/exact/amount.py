"""An amount of privacy budget: a whole number of units of 10**-12 epsilon or rho, or of 10**-18 delta.

Sums of whole numbers are exact.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from inbounds.errors import InvalidParameter
from inbounds.exact.decimals import PLAIN
from inbounds.exact.rational import shown

Amount: TypeAlias = "int | Fraction | Decimal | str | float"

DECIMALS = 12

UNIT = 10**DECIMALS
"""How many units are an epsilon of 1."""

LIMIT = 10**6 * UNIT
"""The most that an amount or a cap can be; twice that still fits 64 bits."""

DELTA_DECIMALS = 18

DELTA_UNIT = 10**DELTA_DECIMALS
"""How many units are a delta of 1: more than of an epsilon, for deltas are small; 64 bits still hold it."""

_TEXT = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_LIMIT_EXPONENT = 1000


def units(epsilon: Amount, name: str = "epsilon") -> int:
    """Return `epsilon` in units; a float is read as its shortest decimal text, so 0.1 is exactly a tenth."""
    amount = change(epsilon, name)
    if amount < 0:
        raise InvalidParameter(f"{name} must be above 0, got {shown(epsilon)}; give a positive amount")
    return amount


def change(epsilon: Amount, name: str = "epsilon") -> int:
    """Return `epsilon` in units, below 0 where it is; `name` is what a message calls it."""
    exact = _exact(epsilon, name)
    if exact == 0:
        raise InvalidParameter(f"{name} must not be 0, got {shown(epsilon)}; give another amount")
    if abs(exact) * UNIT > LIMIT:
        raise InvalidParameter(f"{name} must be at most {LIMIT // UNIT}, got {shown(epsilon)}; give less")
    scaled = exact * UNIT
    if scaled.denominator != 1:
        raise InvalidParameter(f"{name} must have at most {DECIMALS} decimals, got {shown(epsilon)}; round it")
    return scaled.numerator


def delta_units(delta: Amount, name: str = "delta") -> int:
    """Return `delta` in its units; it is above 0 and below 1."""
    exact = _exact(delta, name)
    if not 0 < exact < 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {shown(delta)}; give one such as 1e-6")
    scaled = exact * DELTA_UNIT
    if scaled.denominator != 1:
        raise InvalidParameter(f"{name} must have at most {DELTA_DECIMALS} decimals, got {shown(delta)}; round it")
    return scaled.numerator


def units_at_least(amount: Fraction) -> int:
    """Return the least number of units that is at least so much epsilon or rho."""
    return ceil(amount * UNIT)


def units_at_most(amount: Fraction) -> int:
    """Return the greatest number of units that is at most so much epsilon or rho."""
    return floor(amount * UNIT)


def _exact(epsilon: object, name: str) -> Fraction:
    """Return the number that was written."""
    if isinstance(epsilon, int | Fraction) and not isinstance(epsilon, bool):
        return Fraction(epsilon)
    text = float.__repr__(epsilon) if isinstance(epsilon, float) else epsilon
    if isinstance(text, str) and _TEXT.fullmatch(text):
        return Fraction(text)
    if isinstance(epsilon, Decimal) and epsilon.is_finite() and abs(epsilon.adjusted()) <= _LIMIT_EXPONENT:
        return Fraction(epsilon)
    raise InvalidParameter(
        f"{name} must be a finite number, got {shown(epsilon)}; write it like 2 or 0.25, in the digits 0 to 9"
    )


def fraction(amount: int) -> Fraction:
    """Return what so many units are, in epsilon."""
    return Fraction(amount, UNIT)


def format_amount(amount: int) -> str:
    """Return what so many units are, in epsilon, as a plain decimal: no exponent and no needless zero."""
    whole, rest = divmod(abs(amount), UNIT)
    decimals = f".{rest:0{DECIMALS}d}".rstrip("0").rstrip(".")
    return f"{'-' if amount < 0 else ''}{whole}{decimals}"


def delta_fraction(amount: int) -> Fraction:
    """Return what so many units of delta are."""
    return Fraction(amount, DELTA_UNIT)


def format_delta(amount: int) -> str:
    """Return what so many units of delta are, with an exponent: 1e-6."""
    return "0" if amount == 0 else f"{Decimal(amount).scaleb(-DELTA_DECIMALS, PLAIN).normalize(PLAIN):e}"
