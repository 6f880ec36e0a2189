"""Two columns in the same whole numbers, so that equal values are equal numbers."""

from __future__ import annotations

from fractions import Fraction

from inbounds.files.csv_text import key_text
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.expression_bounds import gcd
from inbounds.query.columns.text_keys import recode


def align(left: Column, right: Column) -> tuple[w.Whole, w.Whole] | None:
    """Return whole numbers that are equal where two columns hold the same, and only there; None if they never can."""
    if isinstance(left, Keys) and isinstance(right, Keys):
        if left.kind is not right.kind:
            return None
        return _recode(left, [right.places.get(key_text(key)) for key in left.keys]), right.whole
    if isinstance(left, Keys):
        return None if not isinstance(left.keys[0], int) else _keys_as_numbers(left, right)
    if isinstance(right, Keys):
        aligned = align(right, left)
        return None if aligned is None else (aligned[1], aligned[0])
    return _align_numbers(left, right)


def _keys_as_numbers(keys: Keys, numbers: Column) -> tuple[w.Whole, w.Whole] | None:
    if isinstance(keys.keys[0], bool) or not isinstance(numbers, Numbers) or not numbers.kind.adds_up:
        return None
    return _recode(keys, [numbers.exact(key_text(key)) for key in keys.keys]), numbers.whole


def _align_numbers(left: Numbers, right: Numbers) -> tuple[w.Whole, w.Whole] | None:
    if left.kind != right.kind:
        return None
    unit = gcd(left.step, right.step, left.low - right.low)
    return _scale(left, unit, left.low - right.low), _scale(right, unit, Fraction(0))


def _scale(numbers: Numbers, unit: Fraction, plus: Fraction) -> w.Whole:
    return w.total([(numbers.whole, int(numbers.step / unit))], int(plus / unit))


def _recode(keys: Keys, codes: list[int | None]) -> w.Whole:
    """Return other codes for keys, less than any code for those that have none."""
    known = [-1 if code is None else code for code in codes]
    return recode(keys.whole, known)
