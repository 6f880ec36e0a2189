"""The tables of a report as columns with types, under names that every place takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any

from inbounds.accuracy.confidence import percent
from inbounds.files.csv_text import write_table
from inbounds.publish.report import PublishedTable, Report
from inbounds.results.answer import Answer
from inbounds.results.cover import Cover

WIDEST = 2**63
"""Whole numbers from here on need more than 64 bits."""

MOST_DIGITS = 38
"""So many digits has the widest decimal of databases and parquet files."""

SYSTEM_COLUMNS = ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid")
"""PostgreSQL has columns of these names in every table."""

_MADE = re.compile(r"(expected_noise|nothing_learnt|low|high)(?=_|$)")


class Kind(Enum):
    """What the cells of a column are."""

    WHOLE = "whole number"
    WIDE = "whole number beyond 64 bits"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "true or false"
    DAY = "day"
    MOMENT = "day and time"
    CLOCK = "time of day"

    @classmethod
    def of(cls, cells: Sequence[Any], *, is_key: bool = False) -> Kind:
        """Return what cells are; missing ones do not tell."""
        types = {type(cell) for cell in cells if cell is not None}
        if not types:
            return cls.TEXT if is_key else cls.NUMBER
        if types == {int}:
            most = max(abs(cell) for cell in cells if cell is not None)
            return cls.WHOLE if most < WIDEST else cls.WIDE if most < 10**MOST_DIGITS else cls.TEXT
        if types <= {int, float}:
            return cls.NUMBER
        kinds = {bool: cls.TRUTH, date: cls.DAY, datetime: cls.MOMENT, time: cls.CLOCK}
        return kinds.get(next(iter(types)), cls.TEXT) if len(types) == 1 else cls.TEXT


@dataclass(frozen=True)
class SheetColumn:
    """A column under the name that it has in a destination."""

    name: str
    kind: Kind
    cells: tuple[Any, ...]
    meaning: str
    """What its cells are, in one line."""


@dataclass(frozen=True)
class Sheet:
    """A table under the name that it has in a destination."""

    name: str
    table: PublishedTable
    columns: tuple[SheetColumn, ...]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Its rows."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def csv(self) -> bytes:
        """Return it as csv: days as ISO, numbers with all digits, and an empty field for what is missing."""
        return write_table([column.name for column in self.columns], (map(_field, row) for row in self.rows))


def sheets_of(report: Report, longest: int | None = None, taken: Iterable[str] = ()) -> list[Sheet]:
    """Return the tables of a report; names have at most `longest` bytes, and none is one of those `taken`."""
    names = distinct_names([table.name for table in report.tables], longest, taken)
    return [Sheet(name, table, _columns(table, longest)) for name, table in zip(names, report.tables, strict=True)]


def _columns(table: PublishedTable, longest: int | None) -> tuple[SheetColumn, ...]:
    answer, columns = table.answer, table.columns
    keys = {answer.columns[place] for place in answer.key_places}
    names = distinct_names(list(columns), longest, SYSTEM_COLUMNS)
    made = []
    for name, (full, cells) in zip(names, columns.items(), strict=True):
        kind = Kind.of(cells, is_key=full in keys)
        meaning = _describe(answer, full, is_key=full in keys)
        made.append(SheetColumn(name, kind, _cast(cells, kind), meaning if name == full else f"{full}: {meaning}"))
    return tuple(made)


def _cast(cells: Iterable[Any], kind: Kind) -> tuple[Any, ...]:
    """Return cells of one type: a column of whole and other numbers holds doubles, one of anything else texts."""
    as_one = {Kind.NUMBER: float, Kind.TEXT: str}.get(kind)
    return tuple(cell if cell is None or as_one is None else as_one(cell) for cell in cells)


def _describe(answer: Answer, name: str, *, is_key: bool) -> str:
    """Say what a column of `Answer.by_column` holds."""
    if is_key:
        return "grouping column; empty where all groups are added up"
    if name in answer.columns:
        return "public: exact" if name in answer.public else "private: noise was added; empty where nothing was learnt"
    made = _MADE.match(name)
    what = made[1] if made else ""
    if what == "expected_noise":
        return "the average error that the noise causes, estimated from what was released"
    if what == "nothing_learnt":
        return "whether the interval is the whole possible range"
    riders = [
        cover.value for cover in Cover if cover.value and name.rstrip("_").endswith(cover.value.replace(" ", "_"))
    ]
    end = {"low": "lower", "high": "upper"}.get(what, "one")
    return f"{end} end of the {percent(answer.confidence)} interval{''.join(f' ({rider})' for rider in riders)}"


def _field(cell: Any) -> Any:
    """Return a cell as csv has it; Python writes a double with all digits that tell it from the next."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell.isoformat() if isinstance(cell, date | time) else cell


def distinct_names(names: Sequence[str], longest: int | None = None, taken: Iterable[str] = ()) -> list[str]:
    """Return names of which no two differ only in case, none is empty, and none has too many bytes."""
    used, made = {name.casefold() for name in taken}, []
    for name in names:
        plain, tail = name.replace("\0", "\N{SYMBOL FOR NULL}") or "unnamed", ""
        while (unique := _cut(plain, longest, tail)).casefold() in used:
            tail += "_"
        used.add(unique.casefold())
        made.append(unique)
    return made


def _cut(name: str, longest: int | None, tail: str) -> str:
    if longest is None or len((name + tail).encode()) <= longest:
        return name + tail
    return name.encode()[: longest - len(tail)].decode(errors="ignore") + tail
