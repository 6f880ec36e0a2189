"""What the cells of an answer are: whole and other numbers, texts, truth values, days and times."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any

TIMES: dict[str, type[datetime | date | time]] = {"datetime": datetime, "date": date, "time": time}
"""What JSON calls days and times; a datetime, which Python takes for a date, before a date."""


def find_kind(cells: Iterable[Any]) -> str:
    """Return what the cells of a column are; missing ones do not tell."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {bool} and kinds:
        return "boolean"
    if kinds <= {int} and kinds:
        return "whole"
    for name, of in TIMES.items():
        if any(issubclass(kind, of) for kind in kinds):
            return name
    return "text" if str in kinds else "number"
