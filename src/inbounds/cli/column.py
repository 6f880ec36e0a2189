"""A column of a file, released: the rest of the file stays as it is."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.cli.output import progress
from inbounds.cli.tables import duckdb_or_error
from inbounds.cli.whole import beside
from inbounds.errors import InvalidAnswer, InvalidParameter

AT_ONCE = 65_536
"""Releases between two moves of the progress bar."""

KINDS = (".csv", ".parquet")

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may be between the fields of a csv file."""

_IN_QUOTES = re.compile(r'"(?:[^"]|"")*"')

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types of columns whose every value is a 64-bit integer."""


def release_column(mechanism: Any, source: Path, column: str, target: Path) -> tuple[int, int]:
    """Write a copy of a file with one column private; return how many answers were released, and how many missing.

    What is missing, NaN too, stays missing: whether a value is there is not protected.  From csv to csv the other
    columns keep their text; otherwise all have the types that DuckDB finds.
    """
    duckdb = duckdb_or_error()
    for path in (source, target):
        if path.suffix.lower() not in KINDS:
            raise InvalidParameter(f"a file must end in .csv or .parquet, got {path.name!r}; convert or rename it")
    if not source.is_file():
        raise InvalidParameter(f"there is no file {str(source)!r}; check its name")
    with duckdb.connect() as connection, beside(target) as unfinished:
        with _refusing(duckdb.Error, InvalidParameter, f"{source.name} cannot be read; is it what its name says?"):
            loaded = _load(connection, source, as_text=target.suffix.lower() == ".csv")
        if column not in loaded.types:
            raise InvalidParameter(  # its columns are not listed: without a header they are data
                f"{source.name} has no column {column!r} among its {len(loaded.types)}; check --column, and that the "
                "first line names the columns"
            )
        values, known = _values(duckdb, loaded, column, mechanism.bounds)
        released = _released(mechanism, values[known])
        with _refusing(duckdb.Error, InvalidParameter, f"{target.name} cannot be written; is there room for it?"):
            _write(loaded, column, _filled(released, known), known, unfinished)
    return len(released), len(known) - len(released)


@dataclass(frozen=True)
class _Loaded:
    """A file in the memory of a database."""

    connection: Any
    types: dict[str, str]
    """Of each column."""
    delimiter: str


def _load(connection: Any, source: Path, *, as_text: bool) -> _Loaded:
    """Read a file into the table `source`: csv as text if it becomes csv again, so that nothing is written anew."""
    delimiter, reader = ",", "read_parquet(?)"
    if source.suffix.lower() == ".csv":
        delimiter = _delimiter(source)
        written = f"""header = true, delim = '{delimiter}', quote = '"', escape = '"', allow_quoted_nulls = false"""
        reader = f"read_csv(?, {written}, sample_size = -1, all_varchar = {as_text})"
    connection.execute(f"CREATE TABLE source AS SELECT * FROM {reader}", [glob.escape(str(source))])
    types = {row[0]: row[1] for row in connection.execute("DESCRIBE source").fetchall()}
    return _Loaded(connection, types, delimiter)


def _delimiter(source: Path) -> str:
    """Return what is between the names in the first line: it must be one thing, for a guess could cut values apart."""
    try:
        with source.open(encoding="utf-8-sig") as file:
            names = _IN_QUOTES.sub("", file.readline())
    except UnicodeDecodeError:
        raise InvalidParameter(
            f"{source.name} must be text in UTF-8 whose first line names the columns; convert it"
        ) from None
    found = [delimiter for delimiter in DELIMITERS if delimiter in names]
    if len(found) > 1:
        several = " and ".join(DELIMITERS[one] for one in found)
        raise InvalidParameter(
            f"the names in the first line of {source.name} must be separated by one thing, got {several}; "
            "put quotes around names that hold one, or rename these columns"
        )
    return found[0] if found else ","


def _values(duckdb: Any, loaded: _Loaded, column: str, bounds: Bounds) -> tuple[Any, Any]:
    """Return the values of a column, and which of them are known."""
    kind = "DATE" if bounds.is_dates else "BIGINT" if loaded.types[column] in INTEGERS else "DOUBLE"
    what = "days" if bounds.is_dates else "numbers"
    refusal = f"column {column!r} must hold {what}, for the bounds are {what}; leave empty what is missing"
    name = _quoted(column)
    cast = f"TRY_CAST({name} AS {kind})"
    with _refusing(duckdb.Error, InvalidAnswer, refusal):
        wrong = f"SELECT count(*) FROM source WHERE {name} IS NOT NULL AND {cast} IS NULL"
        if loaded.connection.execute(wrong).fetchone()[0]:
            raise InvalidAnswer(refusal)
        found = loaded.connection.execute(f"SELECT {cast} AS value FROM source").fetchnumpy()["value"]
    known = ~np.ma.getmaskarray(found)
    values = np.ma.getdata(found)
    if kind == "DATE":
        return values.astype("datetime64[D]"), known & ~np.isnat(values)
    return values, known & ~np.isnan(values)


def _released(mechanism: Any, answers: Any) -> Any:
    """Release all answers, a part at a time."""
    if len(answers) == 0:
        return answers
    parts = []
    with progress(len(answers)) as advance:
        for start in range(0, len(answers), AT_ONCE):
            parts.append(mechanism.release(answers[start : start + AT_ONCE]))
            advance(len(parts[-1]))
    released = np.concatenate(parts)
    if mechanism.bounds.is_dates or not _whole(mechanism.bounds):
        return released
    return released.astype(np.int64)


def _whole(bounds: Bounds) -> bool:
    """Return whether every possible answer is a whole number, and not too large for 64 bits."""
    if bounds.step is None or bounds.step.denominator != 1 or bounds.offset.denominator != 1:
        return False
    ends: list[Any] = [bounds.low, bounds.high]
    return all(abs(end) < 2**62 for end in ends if end is not None)


def _filled(released: Any, known: Any) -> Any:
    """Return the released answers in the places of those that are known, days in a form that DuckDB takes."""
    found = np.zeros(len(known), dtype="datetime64[us]" if released.dtype.kind == "M" else released.dtype)
    found[known] = released
    return found


def _write(loaded: _Loaded, column: str, released: Any, known: Any, target: Path) -> None:
    """Write the table `source`, with the released answers in the place of a column."""
    loaded.connection.register("released", {"value": released, "known": known})
    value = "CAST(r.value AS DATE)" if released.dtype.kind == "M" else "r.value"
    private = f"CASE WHEN r.known THEN {value} END AS {_quoted(column)}"
    picked = ", ".join(private if name == column else f"s.{_quoted(name)}" for name in loaded.types)
    is_csv = target.suffix.lower() == ".csv"
    options = f"FORMAT csv, HEADER, DELIMITER '{loaded.delimiter}'" if is_csv else "FORMAT parquet"
    statement = f"COPY (SELECT {picked} FROM source s POSITIONAL JOIN released r) TO ? ({options})"
    loaded.connection.execute(statement, [str(target)])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _refusing(failure: type[Exception], error: type[Exception], message: str) -> Iterator[None]:
    """Say in our own words that the database failed: its own may hold data."""
    try:
        yield
    except failure:
        raise error(message) from None
