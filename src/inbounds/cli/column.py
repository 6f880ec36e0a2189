"""A column of a file, released: the rest of the file stays as it is."""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.cli.csv_file import Layout, Tally, release_csv
from inbounds.cli.output import progress
from inbounds.cli.reading import answer_in, exact_array
from inbounds.cli.tables import duckdb_or_error
from inbounds.cli.whole import beside
from inbounds.errors import InvalidAnswer, InvalidParameter

AT_ONCE = 65_536
"""Releases between two moves of the progress bar."""

KINDS = (".csv", ".parquet")

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types of columns whose every value is a 64-bit integer."""

DOUBLES = ("FLOAT", "DOUBLE")

EXACT = ("UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL", "VARCHAR")
"""Types, or how they begin, whose values are read from their text, for no double holds them all."""

DAYS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def release_column(mechanism: Any, source: Path, column: str, target: Path) -> tuple[int, int]:
    """Write a copy of a file with one column private; return how many answers were released, and how many missing.

    What is missing, NaN too, stays missing: whether a value is there is not protected.  From csv to csv every other
    character stays as it is; from csv to parquet the other columns become text.
    """
    for path in (source, target):
        if path.suffix.lower() not in KINDS:
            raise InvalidParameter(f"a file must end in .csv or .parquet, got {path.name!r}; convert or rename it")
    if not source.is_file():
        raise InvalidParameter(f"there is no file {str(source)!r}; check its name")
    to_csv = target.suffix.lower() == ".csv"
    with beside(target) as unfinished:
        if source.suffix.lower() == ".parquet":
            tally = _release_parquet(mechanism, source, column, unfinished)
        else:
            lines = unfinished if to_csv else unfinished.with_suffix(".lines")
            with progress(source.stat().st_size) as advance:
                layout, tally = release_csv(mechanism, source, column, lines, advance)
            if not to_csv:
                _convert(layout, lines, column, mechanism.bounds, unfinished)
    return tally.released, tally.missing


# From csv to parquet.


def _convert(layout: Layout, lines: Path, column: str, bounds: Bounds, target: Path) -> None:
    """Write lines that are rows without fault as parquet: the private column with its type, others as text."""
    if len(set(map(str.lower, layout.names))) < len(layout.names):
        raise InvalidParameter(
            f"the columns of {layout.file} must have different names to become parquet, also in small letters; rename"
            " them, or write csv"
        )
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in layout.names)
    private = f"TRY_CAST({_quoted(column)} AS {_kind(bounds)}) AS {_quoted(column)}"  # what is missing may be NaN
    written = f"""header = true, delim = '{layout.delimiter}', quote = '"', escape = '"', columns = {{{columns}}}"""
    reader = f"read_csv(?, auto_detect = false, hive_partitioning = false, allow_quoted_nulls = false, {written})"
    duckdb = duckdb_or_error()
    with _refusing(duckdb, f"{layout.file} cannot be written as parquet; write csv"), duckdb.connect() as connection:
        # In two steps, for DuckDB would push the conversion into its reader, which refuses what does not convert.
        connection.execute(f"CREATE TABLE lines AS SELECT * FROM {reader}", [glob.escape(str(lines))])
        connection.execute(f"COPY (SELECT * REPLACE ({private}) FROM lines) TO ? (FORMAT parquet)", [str(target)])
    lines.unlink()


# From parquet.


def _release_parquet(mechanism: Any, source: Path, column: str, target: Path) -> Tally:
    duckdb = duckdb_or_error()
    with duckdb.connect() as connection:
        with _refusing(duckdb, f"{source.name} cannot be read; is it what its name says?"):
            reader = "read_parquet(?, hive_partitioning = false)"
            connection.execute(f"CREATE TABLE source AS SELECT * FROM {reader}", [glob.escape(str(source))])
            types = {row[0]: row[1] for row in connection.execute("DESCRIBE source").fetchall()}
        if column not in types:
            raise InvalidParameter(
                f"{source.name} has no column {column!r} among its {len(types)}; check --column, also for capitals"
            )
        with _refusing(duckdb, f"{source.name} cannot be read; is it what its name says?"):
            values, known = _values(connection, column, types[column], mechanism.bounds)
        released = _released(mechanism, values)
        with _refusing(duckdb, f"{target.name} cannot be written; is there room for it?"):
            private = {"value": _filled(released, known), "known": known}
            _write(connection, list(types), column, private, _kind(mechanism.bounds), target)
    return Tally(len(released), len(known) - len(released))


def _values(connection: Any, column: str, kind: str, bounds: Bounds) -> tuple[Any, Any]:
    """Return the values of a column that are known, and which these are."""
    name = _quoted(column)
    if bounds.is_dates and kind in DAYS:
        found = connection.execute(f"SELECT CAST({name} AS DATE) AS value FROM source").fetchnumpy()["value"]
        values = np.ma.getdata(found).astype("datetime64[D]")
        known = ~np.ma.getmaskarray(found) & ~np.isnat(values)
    elif not bounds.is_dates and kind in INTEGERS + DOUBLES:
        whole = "BIGINT" if kind in INTEGERS else "DOUBLE"
        found = connection.execute(f"SELECT CAST({name} AS {whole}) AS value FROM source").fetchnumpy()["value"]
        values = np.ma.getdata(found)
        known = ~np.ma.getmaskarray(found) & ~np.isnan(values)
    elif kind.startswith("VARCHAR" if bounds.is_dates else EXACT):
        texts = [row[0] for row in connection.execute(f"SELECT CAST({name} AS VARCHAR) FROM source").fetchall()]
        rows = enumerate(texts, 1)
        answers = [None if text is None else answer_in(text, bounds, f"row {row} of {column!r}") for row, text in rows]
        known = np.array([answer is not None for answer in answers], dtype=bool)
        return [answer for answer in answers if answer is not None], known
    else:
        what = "days" if bounds.is_dates else "numbers"
        raise InvalidAnswer(f"column {column!r} must hold {what}, for the bounds are {what}; got {kind}, so convert it")
    return values[known], known


def _released(mechanism: Any, answers: Any) -> Any:
    """Release all answers, a part at a time."""
    parts: list[Any] = []
    with progress(len(answers)) as advance:
        for start in range(0, len(answers), AT_ONCE):
            part = answers[start : start + AT_ONCE]
            exact = exact_array(part, mechanism.bounds) if isinstance(part, list) else part
            parts.append(mechanism.release(exact))
            advance(len(part))
    kind = np.dtype("datetime64[us]" if mechanism.bounds.is_dates else _NUMPY[_kind(mechanism.bounds)])
    return np.concatenate([part.astype(kind) for part in parts]) if parts else np.array([], dtype=kind)


def _filled(released: Any, known: Any) -> Any:
    """Return the released answers in the places of those that are known."""
    found = np.zeros(len(known), dtype=released.dtype)
    found[known] = released
    return found


def _write(connection: Any, names: list[str], column: str, released: dict[str, Any], kind: str, target: Path) -> None:
    """Write the table `source`, with the released answers in the place of a column."""
    connection.register("released", released)
    private = f"CASE WHEN r.known THEN CAST(r.value AS {kind}) END AS {_quoted(column)}"
    picked = ", ".join(private if name == column else f"s.{_quoted(name)}" for name in names)
    options = "FORMAT csv, HEADER" if target.suffix.lower() == ".csv" else "FORMAT parquet"
    connection.execute(
        f"COPY (SELECT {picked} FROM source s POSITIONAL JOIN released r) TO ? ({options})", [str(target)]
    )


# Both.


def _kind(bounds: Bounds) -> str:
    """Return the type of a private column."""
    return "DATE" if bounds.is_dates else "BIGINT" if _whole(bounds) else "DOUBLE"


_NUMPY = {"BIGINT": np.int64, "DOUBLE": np.float64}


def _whole(bounds: Bounds) -> bool:
    """Return whether every possible answer is a whole number, and not too large for 64 bits."""
    if bounds.is_dates or bounds.step is None or bounds.step.denominator != 1 or bounds.offset.denominator != 1:
        return False
    ends: list[Any] = [bounds.low, bounds.high]
    return all(abs(end) < 2**62 for end in ends if math.isfinite(end))


def _quoted(name: str) -> str:
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
