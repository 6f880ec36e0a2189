"""Python objects as texts that the macros of `by_contract` read like the same values in a column of their own type.

Nothing here can fail on any object: what has no such text is missing.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import numpy as np

from inbounds.bounds.times import UNITS
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.columns.kind import CLOCK, DAY, NUMBER, TEXT_KEY, TIME, WHOLE_KEY, ValueKind
from inbounds.query.engines.by_contract import ESCAPED, LARGEST

MOST_DIGITS = 40
"""A decimal of more digits before or behind the point is not written out."""


def object_text(value: object, column: Column | None) -> str | None:
    """Return what a value is read as in a column of the contract, or in that of the unit; None if it does not fit."""
    try:
        plain = _to_plain(value)
        if isinstance(column, Numbers) and isinstance(plain, date | time | timedelta):
            return _time_text(plain, column)
        return _text(plain, None if column is None else column.kind)
    except Exception:  # noqa: BLE001  any object can be in a column, and none may make a question fail
        return None


def _to_plain(value: object) -> object:
    """Return a scalar of NumPy as one of Python, and bytes as a text."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    if isinstance(value, np.timedelta64):
        return value.astype("timedelta64[us]").item()
    plain = value.item() if isinstance(value, np.generic) else value
    return _bytes_text(bytes(plain)) if isinstance(plain, bytes | bytearray) else plain


def _bytes_text(value: bytes) -> str:
    """Return bytes as the text that they are, or as DuckDB writes bytes that are none."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and not re.search(ESCAPED, text):
        return text
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b"\\'\"" else f"\\x{byte:02X}" for byte in value)


def _text(value: object, kind: ValueKind | None) -> str | None:  # noqa: PLR0911  one for each kind
    """Return a value of Python as a column of this kind has it; the unit has none, and is a text."""
    if value is None or value != value:  # noqa: PLR0124  NaN and NaT differ from themselves
        return None
    if isinstance(value, str):
        value.encode()  # which refuses what is no text
        return str(value)
    if isinstance(value, bool):
        return str(int(value)) if kind in (NUMBER, WHOLE_KEY) else str(value).lower()
    if isinstance(value, int | float | Decimal):
        return _number(value, kind)
    if kind not in (None, TEXT_KEY) or (isinstance(value, datetime) and value.time() != time()):
        return None
    if isinstance(value, date):  # or the time at which it begins
        return date(value.year, value.month, value.day).isoformat()
    return str(value) if isinstance(value, UUID) else None


def _time_text(value: date | time | timedelta, column: Numbers) -> str | None:
    """Return a day or a time as a column of days or times has it, and a duration in the unit of the column."""
    if value != value:  # noqa: PLR0124  NaT differs from itself
        return None
    if isinstance(value, timedelta):
        unit = None if column.duration is None else int(UNITS[column.duration] * 10**6)
        return None if unit is None else repr(float(value // timedelta(microseconds=1)) / unit)
    if isinstance(value, time):
        return value.replace(tzinfo=None).isoformat() if column.kind is CLOCK else None
    if isinstance(value, datetime) and value.tzinfo is not None:  # in UTC for the clock of a zone, else as it shows
        value = (value.astimezone(UTC) if column.zone is not None else value).replace(tzinfo=None)
    if column.kind is TIME or (column.kind is DAY and column.zone is not None):
        return value.isoformat()
    if column.kind is not DAY:
        return None
    return (value.date() if isinstance(value, datetime) else value).isoformat()


def _number(value: float | Decimal, kind: ValueKind | None) -> str | None:
    """Return a number: as it is if it is to be one, and else as people write it, if there is one way to."""
    if kind is NUMBER:
        return repr(float(value)) if isinstance(value, float) else str(value)
    if not -LARGEST <= value <= LARGEST and (kind is not None or isinstance(value, float)):
        return None
    if isinstance(value, Decimal):
        return _decimal(value) if kind is None else _number(float(value), kind)
    if value == int(value):
        return str(int(value))
    return repr(float(value)) if abs(value) > 1e-4 else None


def _decimal(value: Decimal) -> str | None:
    """Return a decimal without zeros behind the last digit."""
    if not value.is_finite() or not -MOST_DIGITS < value.adjusted() < MOST_DIGITS:
        return None
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if value else "0"
