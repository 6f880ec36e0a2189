"""Tables of private answers as those of pandas, polars or Arrow, each imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

WIDEST = 2**63
"""Integers beyond have no column of their own, and become floats."""


def to_pandas(columns: Mapping[str, Iterable[Any]]) -> Any:
    """Return columns as a pandas DataFrame."""
    return _import("pandas", "to_pandas").DataFrame(_to_lists(columns))


def to_polars(columns: Mapping[str, Iterable[Any]]) -> Any:
    """Return columns as a polars DataFrame."""
    return _import("polars", "to_polars").DataFrame(_to_lists(columns))


def to_arrow(
    columns: Mapping[str, Iterable[Any]], kinds: Mapping[str, str] | None = None, wanted: str = "to_arrow"
) -> Any:
    """Return columns as an Arrow table.

    What a column holds is told by `kinds`, also where all cells are missing; else Arrow guesses it from them.
    """
    arrow, lists = _import("pyarrow", wanted), _to_lists(columns)
    types = {
        "boolean": arrow.bool_(),
        "whole": arrow.int64(),
        "number": arrow.float64(),
        "text": arrow.string(),
        "date": arrow.date32(),
        "datetime": arrow.timestamp("us"),
        "time": arrow.time64("us"),
    }
    arrays = {name: _to_array(arrow, cells, types, (kinds or {}).get(name)) for name, cells in lists.items()}
    return arrow.table(arrays)


def _to_array(arrow: Any, cells: list[Any], types: Mapping[str, Any], kind: str | None) -> Any:
    if kind == "whole" and any(isinstance(cell, float) for cell in cells):  # wider than an integer of Arrow
        kind = "number"
    read = {"number": float, "text": str}.get(kind or "")
    if read is not None:
        cells = [None if cell is None else read(cell) for cell in cells]
    return arrow.array(cells, types[kind] if kind else None)


def _to_lists(columns: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    return {name: _column(list(values)) for name, values in columns.items()}


def _column(values: list[Any]) -> list[Any]:
    wide = any(isinstance(value, int) and abs(value) >= WIDEST for value in values)
    return [None if value is None else float(value) for value in values] if wide else values


def _import(name: str, wanted: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{wanted} needs {name}, which is not installed: pip install {name}") from None
