"""A parquet file with one column released: the other columns stay as DuckDB reads them."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from inbounds.answers.int64 import are_int64, as_int64
from inbounds.answers.single import LARGEST
from inbounds.bounds import Bounds
from inbounds.cli.files.answer_text import read_cell
from inbounds.cli.shell.extras import import_duckdb
from inbounds.cli.shell.output import progress
from inbounds.errors import InvalidAnswer, InvalidParameter
from inbounds.exact.rational import round_nearest
from inbounds.mechanisms.exact_release import release_all

AT_ONCE = 65_536
"""Releases between two moves of the progress bar."""

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types of columns whose every value is a 64-bit integer."""

DOUBLES = ("FLOAT", "DOUBLE")

EXACT = ("UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL", "VARCHAR")
"""Types, or how they begin, whose values are read from their text, for no double holds them all."""

DAYS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def release_parquet(mechanism: Any, source: Path, column: str, target: Path) -> tuple[int, int]:
    """Write a copy of a file with one column released; return how many cells were released, and how many empty."""
    duckdb = import_duckdb()
    with duckdb.connect() as connection:
        with _refusing(duckdb, f"{source.name} cannot be read; check that it is a parquet file"):
            reader = "read_parquet(?, hive_partitioning = false)"
            connection.execute(f"CREATE TABLE source AS SELECT * FROM {reader}", [glob.escape(str(source))])
            types = {row[0]: row[1] for row in connection.execute("DESCRIBE source").fetchall()}
            schema = connection.execute("SELECT name FROM parquet_schema(?)", [glob.escape(str(source))]).fetchall()
        if not set(types) <= {name for (name,) in schema}:  # DuckDB gave some of them other names
            raise InvalidParameter(
                f"column names in {source.name} must differ in more than letter case, got two that do not; rename one"
            )
        if column not in types:
            raise InvalidParameter(
                f"{source.name} has no column {column!r} among its {len(types)}; check --column and its letter case"
            )
        with _refusing(duckdb, f"{source.name} cannot be read; check that it is a parquet file"):
            values, known = _read_values(connection, column, types[column], mechanism.bounds)
        released = _release(mechanism, values)
        with _refusing(duckdb, f"{target.name} cannot be written; check the free disk space"):
            private = {"value": _fill(released, known), "known": known}
            _write(connection, list(types), column, private, target)
    return len(released), len(known) - len(released)


def _read_values(connection: Any, column: str, kind: str, bounds: Bounds) -> tuple[Any, Any]:
    """Return the values of a column that are known, and which these are."""
    name, what = _quote(column), "dates" if bounds.is_dates else "numbers"
    if bounds.is_dates and kind in DAYS:
        if connection.execute(f"SELECT count(*) FROM source WHERE NOT isfinite({name})").fetchone()[0]:
            raise InvalidAnswer(f"column {column!r} must hold finite dates, got infinite ones too; replace these first")
        values, known = _fetch(connection, f"CAST({name} AS DATE)")
        return values.astype("datetime64[D]")[known], known
    if not bounds.is_dates and kind in INTEGERS:
        values, known = _fetch(connection, f"CAST({name} AS BIGINT)")
        if kind == "BIGINT" and not bounds.bounded:  # an array of integers ends where noise could leave 64 bits
            return [Fraction(value) for value in values[known].tolist()], known
        return values[known], known
    if not bounds.is_dates and kind in DOUBLES:
        values, known = _fetch(connection, f"CAST({name} AS DOUBLE)")
        known &= ~np.isnan(values)
        return values[known], known
    if kind.startswith("VARCHAR" if bounds.is_dates else EXACT):
        texts = [row[0] for row in connection.execute(f"SELECT CAST({name} AS VARCHAR) FROM source").fetchall()]
        rows = enumerate(texts, 1)
        answers = [read_cell(text, bounds, f"row {row} of {column!r}") for row, text in rows]
        known = np.array([answer is not None for answer in answers], dtype=bool)
        return [answer for answer in answers if answer is not None], known
    raise InvalidAnswer(f"column {column!r} must hold {what}, because the bounds are {what}, got {kind}; convert it")


def _fetch(connection: Any, expression: str) -> tuple[Any, Any]:
    """Return what an expression is in each row, and where it is anything."""
    values = connection.execute(f"SELECT {expression} AS value FROM source").fetchnumpy()["value"]
    return np.ma.getdata(values), ~np.ma.getmaskarray(values)


def _release(mechanism: Any, answers: Any) -> Any:
    """Release all answers, a part at a time."""
    parts: list[Any] = []
    with progress(len(answers)) as advance:
        for start in range(0, len(answers), AT_ONCE):
            part = answers[start : start + AT_ONCE]
            parts.append(_cast(release_all(mechanism, part) if isinstance(part, list) else mechanism.release(part),
                                mechanism.bounds))  # fmt: skip
            advance(len(part))
    return np.concatenate(parts) if parts else _cast([], mechanism.bounds)


def _cast(released: Any, bounds: Bounds) -> Any:
    """Return releases as the type of their column in the file; what 64 bits do not hold, as the last that they do."""
    if bounds.is_dates:
        return np.asarray(released, dtype="datetime64[us]")
    if not are_int64(bounds):
        doubles = map(_to_double, released) if isinstance(released, list) else released
        return np.fromiter(doubles, dtype=float, count=len(released))
    return as_int64(released, bounds) if isinstance(released, list) else released.astype(np.int64)


def _to_double(released: float | Fraction) -> float:
    """Return the nearest double that is finite."""
    return max(-LARGEST, min(LARGEST, round_nearest(Fraction(released))))


def _fill(released: Any, known: Any) -> Any:
    """Return the released answers in the places of those that are known."""
    values = np.zeros(len(known), dtype=released.dtype)
    values[known] = released
    return values


def _write(connection: Any, names: list[str], column: str, released: dict[str, Any], target: Path) -> None:
    """Write the table `source`, with the released answers in the place of a column."""
    connection.register("released", released)
    value = "CAST(r.value AS DATE)" if released["value"].dtype.kind == "M" else "r.value"
    private = f"CASE WHEN r.known THEN {value} END AS {_quote(column)}"
    picked = ", ".join(private if name == column else f"s.{_quote(name)}" for name in names)
    rows = f"SELECT {picked} FROM source s POSITIONAL JOIN released r"
    connection.execute(f"COPY ({rows}) TO ? (FORMAT parquet)", [str(target)])


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _refusing(duckdb: Any, message: str) -> Iterator[None]:
    """Say in our own words that the database failed: its own may hold data."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error:
        raise InvalidParameter(message) from None
