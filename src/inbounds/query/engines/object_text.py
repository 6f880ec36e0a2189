"""Python objects as texts that the macros of `by_contract` read like the same values in a column of their own type.

Nothing here can fail on any object: what has no such text is missing.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import numpy as np

from inbounds.query.columns.column import Column, Keys
from inbounds.query.engines.by_contract import ESCAPED, LARGEST

MOST_DIGITS = 40
"""A decimal of more digits before or behind the point is not written out."""


def object_text(value: object, column: Column | None) -> str | None:
    """Return what a value is read as in a column of the contract, or in that of the unit; None if it does not fit."""
    try:
        return _text(_plain(value), column)
    except Exception:  # noqa: BLE001  any object can be in a column, and none may make a question fail
        return None


def _plain(value: object) -> object:
    """Return a scalar of NumPy as one of Python, and bytes as a text."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    plain = value.item() if isinstance(value, np.generic) else value
    return _written(bytes(plain)) if isinstance(plain, bytes | bytearray) else plain


def _written(value: bytes) -> str:
    """Return bytes as the text that they are, or as DuckDB writes bytes that are none."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and not re.search(ESCAPED, text):
        return text
    return "".join(chr(one) if 32 <= one < 127 and one not in b"\\'\"" else f"\\x{one:02X}" for one in value)


def _text(value: object, column: Column | None) -> str | None:  # noqa: PLR0911  one for each kind
    if value is None or value != value:  # noqa: PLR0124  NaN and NaT differ from themselves
        return None
    if isinstance(value, str):
        value.encode()  # which refuses what is no text
        return str(value)
    if column is not None and not isinstance(column, Keys) and column.is_dates:
        day = value.date() if isinstance(value, datetime) else value
        return day.isoformat() if isinstance(day, date) else None
    is_number = column is not None and (not isinstance(column, Keys) or type(column.keys[0]) is int)
    is_text = column is None or (isinstance(column, Keys) and isinstance(column.keys[0], str))
    if isinstance(value, bool):
        return str(int(value)) if is_number else str(value).lower()
    if isinstance(value, int | float | Decimal):
        return _number(value, column)
    if not is_text or (isinstance(value, datetime) and value.time() != time()):
        return None
    if isinstance(value, date):  # or the time at which it begins
        return date(value.year, value.month, value.day).isoformat()
    return str(value) if isinstance(value, UUID) else None


def _number(value: float | Decimal, column: Column | None) -> str | None:
    """Return a number: as it is if it is to be one, and else as people write it, if there is one way to."""
    if column is not None and not isinstance(column, Keys):
        return repr(float(value)) if isinstance(value, float) else str(value)
    if not -LARGEST <= value <= LARGEST and (column is not None or isinstance(value, float)):
        return None
    if isinstance(value, Decimal):
        return _decimal(value) if column is None else _number(float(value), column)
    if value == int(value):
        return str(int(value))
    return repr(float(value)) if abs(value) > 1e-4 else None


def _decimal(value: Decimal) -> str | None:
    """Return a decimal without zeros behind the last digit."""
    if not value.is_finite() or not -MOST_DIGITS < value.adjusted() < MOST_DIGITS:
        return None
    written = format(value, "f")
    return (written.rstrip("0").rstrip(".") if "." in written else written) if value else "0"
