"""Released tables as parquet files, without pyarrow."""

from __future__ import annotations

import io
import sys
from datetime import date
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.query.engines.parquet_file import parquet_bytes

CELLS = {
    "VARCHAR": st.text(st.characters(exclude_categories=["Cs"])),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(allow_nan=False),
    "BOOLEAN": st.booleans(),
    "DATE": st.dates(),
}


def read(content: bytes) -> Any:
    """Return a file's columns as another program reads them."""
    return pyarrow.parquet.read_table(io.BytesIO(content))


@pytest.mark.slow
@given(st.data(), st.integers(0, 5))
def test_a_file_holds_what_was_written(data: st.DataObject, rows: int) -> None:
    """Every kind of value comes back as it was, missing ones too, under its own name."""
    columns = {
        f"{kind} \"of' a": data.draw(st.lists(st.none() | cells, min_size=rows, max_size=rows))
        for kind, cells in CELLS.items()
    }
    assert read(parquet_bytes(columns)).to_pydict() == columns


def test_what_no_type_holds_is_still_written() -> None:
    """Vast integers are doubles, values of several kinds are texts, and no two columns have one name."""
    columns: dict[str, list[Any]] = {
        "vast": [2**80, 1, None],
        "both": [1, 0.5, None],
        "many": ["a", 1, date(2026, 1, 2)],
        "MANY": [True, False, None],
        "select": [None, None, None],
    }
    assert read(parquet_bytes(columns)).to_pydict() == {
        "vast": [2.0**80, 1.0, None],
        "both": [1.0, 0.5, None],
        "many": ["a", "1", "2026-01-02"],
        "MANY_1": [True, False, None],
        "select": [None, None, None],
    }


def test_pyarrow_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is the same, byte for byte, where neither pyarrow nor pandas can be imported."""
    columns: dict[str, list[Any]] = {"ward": ["north", None], "mean": [1.5, 2.0], "day": [date(2026, 1, 2), None]}
    expected = parquet_bytes(columns)
    for name in [one for one in sys.modules if one.partition(".")[0] in {"pyarrow", "pandas"}]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("pyarrow", "pyarrow.parquet", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    assert parquet_bytes(columns) == expected
