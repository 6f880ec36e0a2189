"""The names and types of a table that has no contract yet; no row is looked at, unless the custodian asks for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.exact.rational import shown
from inbounds.files.csv_text import find_delimiters
from inbounds.ledger.values.address import without_secrets
from inbounds.query.contract.csv_format import UTF_8
from inbounds.query.engines.csv_shape import CsvShape
from inbounds.query.engines.engine import Kind
from inbounds.query.engines.registry import CSV, SPARK, SQLITE, WRITTEN, engine_module, kind_at, source_kind

_USER = re.compile(r"[^@/]*@")
_VALUE = re.compile(
    r"[+-]?[0-9.,]*[0-9][0-9.,]*(e[+-]?[0-9]+)?|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*", re.IGNORECASE
)
"""A number or a day: what a column is hardly called."""


@dataclass(frozen=True)
class Schema:
    """Where a table is, and what its columns are called and hold."""

    source: str
    """As a contract has it: seen from the contract's folder, and without a password."""
    columns: Mapping[str, Kind | None]
    """What each column holds; None where a file has no types."""
    table: str | None = None
    delimiter: str | None = None
    """Of a csv file, if it is not the usual one."""
    password_place: str | None = None
    """Where the password belongs that was left out of the source, if one was."""
    shape: CsvShape | None = None
    """How the fields of a csv file seem to be written, if its first lines were looked at."""

    @classmethod
    def read(
        cls,
        source: str,
        *,
        table: str | None = None,
        delimiter: str | None = None,
        folder: Path | None = None,
        look: bool = False,
        encoding: str | None = None,
    ) -> Schema:
        """Read the names and types of a table; `folder` is where the contract will be, if not here.

        With `look`, also how the fields of a csv file are written, from the shape of its first lines.  Its `encoding`
        is UTF-8 unless it is given, or looked for.
        """
        kind = source_kind(source)
        if look and kind != CSV:
            raise InvalidParameter("look is for csv files only, because other tables have types; leave look out")
        if kind is None or kind == SPARK:
            raise _unknown(source)
        where = _relative_to(folder, source)
        if kind.database is not None:
            kind = kind_at(kind, path_of(source))
            named = _need_table(table, kind.database or "")
            if kind == SQLITE:
                return cls(where, dict.fromkeys(kind.engine.column_names(path_of(source), named)), named)
            columns = _kinds(kind.open_table(path_of(source), named))
            public = where if kind.password_place is None else without_password(where)
            return cls(public, columns, named, password_place=None if public == where else kind.password_place)
        if table is not None:
            raise InvalidParameter(
                "a table name is for databases only, and this file holds a single table; leave it out"
            )
        if kind == CSV:
            return _of_csv(source, where, delimiter, encoding, look=look)
        return cls(where, _kinds(kind.engine.DuckDB.of_parquet(path_of(source))))


def _of_csv(source: str, where: str, stated: str | None, coded: str | None, *, look: bool) -> Schema:
    csv = engine_module("csv_lines")
    files = sorted(glob(path_of(source), recursive=True))
    if not files:
        raise InvalidContract(f"no file at {without_secrets(source)}; check the path")
    encoding = csv.encoding_of(files[0]) if look else coded or UTF_8
    delimiter = _delimiter(csv.first_line(files[0], encoding)) if stated is None else stated
    if len(delimiter) != 1:
        raise InvalidParameter(f"a delimiter must be one character, got {shown(delimiter)}; write it like ';'")
    names = csv.same_header(files, delimiter, encoding)
    if any(map(_VALUE.fullmatch, names)):
        raise InvalidContract(
            f"the first line of {Path(files[0]).name} must be a header, got a number or a date in it; give the file a "
            "header that names every column, or write the contract by hand"
        )
    usual = "\t" if ".tsv" in source.lower() else ","
    shape = csv.shape_of(files[0], names, delimiter) if look else None
    return Schema(where, dict.fromkeys(names), delimiter=None if delimiter == usual else delimiter, shape=shape)


def _delimiter(line: str) -> str:
    """Return what is between the names of a header, if that is clear."""
    candidates = find_delimiters(line)
    if len(candidates) > 1:
        raise InvalidParameter(
            "the delimiter is unclear: the header contains more than one of comma, semicolon, tab and bar; "
            "give the delimiter"
        )
    return candidates[0] if candidates else ","


def without_password(address: str) -> str:
    """Return the address of a server that was reached with everything but its passwords."""
    scheme, _, rest = address.partition("://")
    if _USER.match(rest):  # as PostgreSQL reads it: what is before the first @, if no / is
        user, _, rest = rest.partition("@")
        rest = f"{user.partition(':')[0]}@{rest}"
    place, _, query = rest.partition("?")
    options = "&".join(option for option in query.split("&") if "pass" not in option.partition("=")[0].lower())
    return f"{scheme}://{place}" + (f"?{options}" if options else "")


def _kinds(engine: Any) -> dict[str, Kind]:
    try:
        kinds: dict[str, Kind] = engine.kinds()
        return kinds
    finally:
        engine.close()


def _need_table(table: str | None, what: str) -> str:
    if table is None or not table.strip():
        raise InvalidParameter(f"{what} needs the name of a table; give it as --table NAME")
    return table


def _unknown(source: str) -> InvalidContract:
    return InvalidContract(
        f"a source must be {', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}, got "
        f"{shown(without_secrets(source))}; give one of these"
    )


def path_of(source: str) -> str:
    """Return where a source is on this machine, or its address."""
    return source if "://" in source else str(Path(source).expanduser())


def _relative_to(folder: Path | None, source: str) -> str:
    """Return a source as a contract in a folder names it."""
    path = Path(source)
    if folder is None or "://" in source or source.startswith("~") or path.is_absolute():
        return source
    return os.path.relpath(Path.cwd() / path, folder.resolve())
