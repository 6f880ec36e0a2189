"""Data frames, made so that no value in them decides how they are read, or whether.

DuckDB reads most columns by their type.  It does not where pandas keeps text as Python objects: what is no valid text
makes every statement fail, and a Categorical is of whatever type its values happen to have.  Such columns become text.
"""

from __future__ import annotations

from typing import Any

UNWRITABLE = "\ufffd"
"""Stands for a value that Python itself refuses to write, such as an integer of five thousand digits."""


def readable(frame: Any) -> Any:
    """Return a frame that DuckDB reads by the types of its columns alone, as often as it is asked to."""
    if hasattr(frame, "select_dtypes"):
        return _pandas(frame)
    if hasattr(frame, "read_all"):  # a stream of Arrow batches, which could be read only once
        return frame.read_all()
    return frame


def _pandas(frame: Any) -> Any:
    texts = {name: column for name, kind in frame.dtypes.items() if (column := _texts(frame[name], kind)) is not None}
    return frame.assign(**texts) if texts else frame


def _texts(column: Any, kind: Any) -> Any:
    """Return a column of pandas as texts that no value can make fail, None if it may stay as it is."""
    if hasattr(kind, "categories"):
        return _categories(column)
    if str(kind) == "object" or getattr(kind, "storage", None) == "python":
        return column.astype(object).map(_as_text, na_action="ignore").astype(object)  # what is all NaN came as numbers
    return None


def _categories(column: Any) -> Any:
    """Return a Categorical as texts; of what type its categories are depends on which values there are."""
    names = {code: _as_text(name) for code, name in enumerate(column.cat.categories)}
    return column.cat.codes.map(names).astype(object)  # the code of a missing value is -1, which has no name


def _as_text(value: object) -> str:
    """Return a value as text, and what cannot be written as no text that a key could be."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:  # noqa: BLE001  any object can be in a column, and none may make a question fail
        text = UNWRITABLE
    return text.encode("utf-8", "replace").decode()
