"""Reading a public table where it is, and describing its columns by what they hold: all of that is public."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from glob import glob
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from sqlglot import exp

from inbounds.bounds import Bounds
from inbounds.display.suggestion import suggest
from inbounds.errors import EngineFailed, InboundsError
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Keys, Numbers, refuse_column
from inbounds.query.columns.identifier import Identifier
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import FORM_KEYS
from inbounds.query.contract.descriptions import DESCRIPTION
from inbounds.query.contract.listed_keys import MOST_FOUND
from inbounds.query.engines.engine import Engine, Kind
from inbounds.query.engines.registry import CSV, PARQUET
from inbounds.query.tables.contract_columns import read_columns, read_key
from inbounds.query.tables.public_table import MOST_PUBLIC_ROWS, Codes, PublicTable, digest_rows, list_keys, stamp_of
from inbounds.query.tables.source import find_kind, open_public, path_of

PUBLIC_KEYS = ("source", "table", "public", "key", *FORM_KEYS, DESCRIPTION)
PRIVATE_KEYS = ("unit", "max_rows_per_unit", "belongs_to", "on", "whole")
"""What is said of private tables only."""
NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL, Kind.FLOAT)
DAYS = (Kind.DATE, Kind.TIMESTAMP)
MOST_DIGITS = 6
"""Numbers of a public table are told to be multiples of a power of ten down to 10**-6."""


def read_public_table(contract: Contract, name: str, spark: Any) -> PublicTable:
    """Read a public table: a small csv file whose columns are described as it is written, others by their engine."""
    if contract.value("dataset", "public") is not True:
        raise contract.refuse(
            "public must be true; write that, or leave it out for a private table", "dataset", "public"
        )
    for said in PRIVATE_KEYS:
        if contract.has("dataset", said) or contract.has(said):
            raise contract.refuse(
                f"a public table has no {said}; leave it out, or leave out public = true", "dataset", said
            )
    contract.refuse_unknown(PUBLIC_KEYS, "dataset")
    key, columns = read_key(contract), read_columns(contract, {})
    derived = next((column for column in columns.values() if column.is_derived), None)
    if derived is not None:
        raise contract.refuse(
            f"column {derived.name!r} of a public table must stand in its file; write it there, or compute it in the "
            "question",
            "columns",
            derived.name,
            "from",
        )
    _refuse_stored_forms(contract, columns)
    if find_kind(contract) == CSV and columns and len(key) == 1 and (lines := _read_lines(contract)) is not None:
        return _read_csv(contract, name, key[0], columns, lines)
    engine = open_public(contract, spark)
    try:
        return _Description(contract, name, key, columns, engine).table()
    except EngineFailed as failure:
        raise contract.refuse(
            f"cannot read the public table {name!r} ({failure.kind}); check source and table", "dataset", "source"
        ) from None


def _refuse_stored_forms(contract: Contract, columns: Mapping[str, Column]) -> None:
    """Refuse a zone and a unit of durations: in a public table times stand as the clock shows them."""
    for name, column in columns.items():
        for key in ("timezone", "duration") if isinstance(column, Numbers) else ():
            if contract.has("columns", name, key):
                raise contract.refuse(
                    f"{key} is for private tables; write local times or numbers into the public one, and leave it out",
                    "columns",
                    name,
                    key,
                )


# Small csv files.


def _read_lines(contract: Contract) -> list[list[str]] | None:
    """Return the rows of a csv file, its header first; None if they are many."""
    source = contract.text_of("dataset", "source")
    delimiter = contract.text_of("dataset", "delimiter") if contract.has("dataset", "delimiter") else ","
    rows: list[list[str]] = []
    try:
        with open(contract.folder / source, encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file, delimiter=delimiter):
                rows += [row] if row else []
                if len(rows) > MOST_PUBLIC_ROWS + 1:
                    return None
    except (OSError, UnicodeDecodeError, csv.Error, TypeError):
        raise contract.refuse(
            f"cannot read the public table {shown(source)}; give the path of a csv file, in UTF-8 and with a header",
            "dataset",
            "source",
        ) from None
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise contract.refuse(
            f"a public table must have a header, at least one row, and as many fields in each, and {shown(source)} has "
            "not; correct it",
            "dataset",
            "source",
        )
    return rows


def _read_csv(
    contract: Contract, name: str, key: str, columns: Mapping[str, Column], lines: list[list[str]]
) -> PublicTable:
    header = lines[0]
    for column in (key, *columns):
        if header.count(column) != 1:
            raise contract.refuse(
                f"the header of the public table must have {column!r} once, got {shown(header)}; correct it",
                "dataset",
                "source",
            )
    rows = _code_rows(contract, header, lines[1:], key, columns)
    values = list_keys(list(rows), columns.get(key), MOST_FOUND)
    return PublicTable(name, (key,), columns, {}, len(rows), rows, values, digest=digest_rows(rows))


def _code_rows(
    contract: Contract, header: list[str], lines: list[list[str]], key: str, columns: Mapping[str, Column]
) -> dict[str, Codes]:
    places = [header.index(name) for name in columns]
    rows: dict[str, Codes] = {}
    for number, line in enumerate(lines, 2):
        text = line[header.index(key)]
        if not text or text in rows:
            raise contract.refuse(
                f"key {key!r} must be unique in the public table, and row {number} has {shown(text)} "
                f"{'again' if text else 'instead'}; correct the file, or name another key",
                "dataset",
                "key",
            )
        try:
            rows[text] = tuple(
                column.nearest(line[place]) if line[place] else None
                for column, place in zip(columns.values(), places, strict=True)
            )
        except ValueError:
            raise contract.refuse(
                f"row {number} of the public table does not hold what its columns say; correct it", "dataset", "source"
            ) from None
    return rows


# Tables that an engine reads.


@dataclass(frozen=True)
class _Description:
    """Describes a table by what it holds."""

    contract: Contract
    name: str
    key: tuple[str, ...]
    given: Mapping[str, Column]
    """The columns that the contract describes."""
    engine: Engine

    def table(self) -> PublicTable:
        kinds = self.engine.kinds()
        for column in (*self.key, *self.given):
            if column not in kinds:
                raise self.contract.refuse(
                    f"the public table {self.name!r} has no column {column!r}; {suggest(column, kinds, 'it has')}",
                    "dataset",
                    "source",
                )
        count = self._run(exp.select(exp.Count(this=exp.Star())))[0][0]
        self._check_unique(count)
        columns, identifiers = self._describe(kinds)
        rows = self._read_rows(columns) if count <= MOST_PUBLIC_ROWS and len(self.key) == 1 else None
        values: tuple[Any, ...] = ()
        if len(self.key) == 1:
            texts = list(rows) if rows is not None else []
            values = list_keys(texts, columns.get(self.key[0]), MOST_FOUND) if texts else ()
        return PublicTable(
            self.name,
            self.key,
            columns,
            identifiers,
            count,
            rows,
            values,
            self.engine,
            self._digest(count, columns, identifiers, rows),
            stamp_of(map(str, _files(self.contract))),
        )

    def _run(self, select: exp.Select) -> list[tuple[Any, ...]]:
        statement = select.from_(self.engine.relation())
        return self.engine.run(self.engine.dialect.render(statement))

    def _check_unique(self, count: int) -> None:
        if not self.key:
            return
        distinct = exp.select(*map(_column, self.key)).distinct().from_(self.engine.relation())
        there = [exp.Not(this=exp.Is(this=_column(name), expression=exp.null())) for name in self.key]
        counted = exp.select(exp.Count(this=exp.Star())).from_(distinct.where(*there).subquery("k"))
        if self.engine.run(self.engine.dialect.render(counted))[0][0] != count:
            raise self.contract.refuse(
                f"key {', '.join(self.key)!r} must be unique in the public table {self.name!r}, and it repeats or is "
                "missing; name another key, several columns in [ ], or leave key out",
                "dataset",
                "key",
            )

    def _describe(self, kinds: Mapping[str, Kind]) -> tuple[dict[str, Column], dict[str, Identifier]]:
        columns: dict[str, Column] = {}
        identifiers: dict[str, Identifier] = {}
        for name, kind in kinds.items():
            column = self.given.get(name) or self._describe_column(name, kind)
            if column is not None:
                columns[name] = column
            elif kind in (Kind.TEXT, Kind.INTEGER, Kind.UUID):
                identifiers[name] = Identifier(name, (self.name, name), kind is Kind.TEXT, self.name)
        return columns, identifiers

    def _describe_column(self, name: str, kind: Kind) -> Column | None:
        """Return a column with bounds or keys that hold all its values, None if there are too many of them."""
        try:
            if kind in NUMERIC:
                return self._describe_numbers(name)
            if kind in DAYS:
                return self._describe_days(name)
            if kind is Kind.BOOLEAN:
                return Keys(name, (False, True))
            return self._describe_keys(name) if kind is Kind.TEXT else None
        except InboundsError as problem:
            if isinstance(problem, EngineFailed):
                raise
            return None

    def _describe_numbers(self, name: str) -> Column | None:
        value = _column(name)
        rounded = [_differs(self.engine.dialect.rounded(value, digits), value) for digits in range(MOST_DIGITS + 1)]
        low, high, *unequal = self._run(exp.select(exp.Min(this=value.copy()), exp.Max(this=value.copy()), *rounded))[0]
        if low is None or not (isfinite(low) and isfinite(high)):  # NaN comes last in every engine's order
            return None
        step = next((Fraction(1, 10**digits) for digits, other in enumerate(unequal) if not other), None)
        least, greatest = Fraction(low), Fraction(high)
        if step is not None:
            least, greatest = round(least / step) * step, round(greatest / step) * step
        if least == greatest:
            return Keys(name, (int(least),)) if least.denominator == 1 else None
        numbers = Numbers(name, Bounds(least, greatest, step=step))
        return None if refuse_column(numbers) is not None else numbers

    def _describe_days(self, name: str) -> Column | None:
        value = exp.cast(_column(name), "DATE")
        low, high = self._run(exp.select(exp.Min(this=value.copy()), exp.Max(this=value.copy())))[0]
        if not isinstance(low, date) or low == high:
            return None
        return Numbers(name, Bounds.dates(_day(low), _day(high)))

    def _describe_keys(self, name: str) -> Column | None:
        value = _column(name)
        there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
        rows = self._run(exp.select(value).distinct().where(there).limit(MOST_FOUND + 1))
        texts = sorted(text for (text,) in rows)
        if not 1 <= len(texts) <= MOST_FOUND or any("\0" in text for text in texts):
            return None
        return Keys(name, tuple(texts))

    def _read_rows(self, columns: Mapping[str, Column]) -> dict[str, Codes]:
        """Return the rows by the text of their key, each as codes."""
        selected = [_column(self.key[0]), *map(_column, columns)]
        rows: dict[str, Codes] = {}
        try:
            for key, *values in self._run(exp.select(*selected)):
                rows[_text(key)] = tuple(
                    None if value is None else column.nearest(_text(value))
                    for column, value in zip(columns.values(), values, strict=True)
                )
        except ValueError:
            raise self.contract.refuse(
                f"the public table {self.name!r} does not hold what its columns say; correct it", "dataset", "source"
            ) from None
        return rows

    def _list_values(self, names: Iterable[str]) -> list[list[str]]:
        """Return the values of some columns as texts, row by row, in an order of their own."""
        ordered = sorted(names)
        if not ordered:
            return []
        rows = self._run(exp.select(*map(_column, ordered)))
        return sorted([["" if value is None else f"={_text(value)}" for value in row] for row in rows])

    def _digest(
        self,
        count: int,
        columns: Mapping[str, Column],
        identifiers: Mapping[str, Identifier],
        rows: Mapping[str, Codes] | None,
    ) -> str:
        """Return a digest of the rows if they are few, of the file if it is one, and else of the description."""
        if rows is not None and not identifiers:
            return digest_rows(rows)
        digest = sha256(repr((count, self.key, sorted(columns.items(), key=lambda item: item[0]))).encode())
        files = _files(self.contract)
        if not files and count <= MOST_PUBLIC_ROWS:
            digest.update(repr(self._list_values((*columns, *identifiers))).encode())
        for path in files:
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()[:16]


def _files(contract: Contract) -> list[Path]:
    """Return the files that a public table is in, if it is in files here."""
    kind = find_kind(contract)
    if kind not in (CSV, PARQUET) or "://" in contract.text_of("dataset", "source"):
        return []
    return sorted(map(Path, glob(path_of(contract), recursive=True)))


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


def _differs(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return 1 if two numbers differ in any row, and else 0."""
    differs = exp.If(this=exp.NEQ(this=value, expression=other.copy()), true=exp.Literal.number(1))
    return exp.Max(this=exp.Case(ifs=[differs], default=exp.Literal.number(0)))


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _text(value: Any) -> str:
    """Return a value of a public table as a csv file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)
