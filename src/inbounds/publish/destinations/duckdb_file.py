"""A file of DuckDB: a table for each of the report, with comments, and two that say what it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.publish.destinations.comparison import compare_rows, compare_sheet
from inbounds.publish.destinations.destination import FileDestination
from inbounds.publish.destinations.duckdb_tables import (
    SAFE,
    create_facts,
    create_table,
    duckdb_or_error,
    fetch,
    literal,
    quote,
    refusing,
)
from inbounds.publish.destinations.facts import describe_sheet, facts_of, report_text, table_facts
from inbounds.publish.destinations.sheet import sheets_of
from inbounds.report.report import Report

REPORT, TABLES = "_report", "_tables"
"""The tables about the report; one of the report that is called so gets another name."""


class DuckdbFile(FileDestination):
    """A file of DuckDB."""

    def check(self, name: str | None, *, practice: bool) -> None:
        duckdb_or_error()
        super().check(name, practice=practice)

    def make(self, report: Report, draft: Path) -> None:
        with refusing(self.called, "written"), duckdb_or_error().connect(str(draft)) as connection:
            sheets = sheets_of(report, taken=(REPORT, TABLES))
            for sheet in sheets:
                create_table(connection, sheet)
                comment = literal(describe_sheet(report, sheet.table))
                connection.execute(f"COMMENT ON TABLE {quote(sheet.name)} IS {comment}")
                for column in sheet.columns:
                    place = f"{quote(sheet.name)}.{quote(column.name)}"
                    connection.execute(f"COMMENT ON COLUMN {place} IS {literal(column.meaning)}")
            create_facts(connection, REPORT, [facts_of(report) | {"report": report_text(report)}])
            create_facts(connection, TABLES, [table_facts(sheet) for sheet in sheets])

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with (
            refusing(self.called, "read"),
            duckdb_or_error().connect(str(self.path), read_only=True, config=SAFE) as connection,
        ):
            yield connection

    def stored(self) -> dict[str, Any]:
        if not self.path.is_file():
            raise self.no_report()
        try:
            with self._opened() as connection:
                if REPORT not in _tables(connection):
                    raise self.no_report()
                names, rows = fetch(connection, quote(REPORT))
        except InvalidParameter:
            raise self.no_report() from None
        text = rows[0][names.index("report")] if len(rows) == 1 and "report" in names else None
        return self.read_stored(text if isinstance(text, str) else None)

    def faults(self, report: Report) -> Iterator[str]:
        sheets = sheets_of(report, taken=(REPORT, TABLES))
        named = {sheet.name for sheet in sheets}
        with self._opened() as connection:
            there = _tables(connection)  # no views: one of somebody else could be any query
            yield from (f"table {name}: it is missing" for name in sorted(named - there.keys()))
            strangers = sorted(there.keys() - named - {REPORT, TABLES})
            yield from (f"table {name}: it is not part of the report" for name in strangers)
            for sheet in sheets:
                if sheet.name in there:
                    yield from compare_sheet(sheet, *fetch(connection, quote(sheet.name)))
                    if there[sheet.name] != describe_sheet(report, sheet.table).replace("\0", "\N{SYMBOL FOR NULL}"):
                        yield f"table {sheet.name}: its comment was changed"
            for name, facts in ((REPORT, [facts_of(report)]), (TABLES, [table_facts(sheet) for sheet in sheets])):
                if name in there:
                    yield from compare_facts(name, facts, *fetch(connection, quote(name)))


def compare_facts(
    name: str, facts: list[dict[str, Any]], names: list[str], rows: list[tuple[Any, ...]]
) -> Iterator[str]:
    """Yield what a table about the report has that is not as it was; the report in it was compared before."""
    places = [at for at, fact in enumerate(names) if fact != "report"]
    known = [names[at] for at in places]
    if known != list(facts[0]):
        yield f"table {name}: its columns were changed"
        return
    found = [tuple(row[at] for at in places) for row in rows]
    yield from compare_rows(name, known, [tuple(row.values()) for row in facts], found)


def _tables(connection: Any) -> dict[str, str | None]:
    """Return the tables of a file by name, each with its comment."""
    found = connection.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
    return dict(found)
