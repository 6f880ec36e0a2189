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


def to_arrow(columns: Mapping[str, Iterable[Any]]) -> Any:
    """Return columns as an Arrow table."""
    return _import("pyarrow", "to_arrow").table(_to_lists(columns))


def _to_lists(columns: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    return {name: _column(list(values)) for name, values in columns.items()}


def _column(values: list[Any]) -> list[Any]:
    wide = any(isinstance(value, int) and abs(value) >= WIDEST for value in values)
    return [float(value) for value in values] if wide else values


def _import(name: str, wanted: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{wanted} needs {name}, which is not installed: pip install {name}") from None
