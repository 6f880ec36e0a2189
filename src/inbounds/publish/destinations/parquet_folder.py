"""A folder of parquet files: one for each table, each with what is known of it in its own metadata."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidParameter
from inbounds.publish.destinations.comparison import compare_sheet
from inbounds.publish.destinations.duckdb_tables import (
    create_table,
    duckdb_or_error,
    fetch,
    literal,
    quote,
    refusing,
)
from inbounds.publish.destinations.facts import describe_sheet
from inbounds.publish.destinations.folder import FolderDestination
from inbounds.publish.destinations.sheet import Sheet
from inbounds.report.report import Report


class ParquetFolder(FolderDestination):
    """A folder of parquet files."""

    ending: ClassVar[str] = ".parquet"

    def check(self, name: str | None, *, practice: bool) -> None:
        duckdb_or_error()
        super().check(name, practice=practice)

    def make(self, report: Report, draft: Path) -> None:
        with refusing(self.called, "written"), duckdb_or_error().connect() as connection:
            for name, sheet in self.files(report):
                create_table(connection, sheet)
                facts = ", ".join(f"{quote(key)}: {literal(fact)}" for key, fact in _metadata(report, sheet).items())
                options = f"FORMAT parquet, KV_METADATA {{{facts}}}"
                connection.execute(f"COPY {quote(sheet.name)} TO {literal(str(draft / name))} ({options})")

    def compare(self, report: Report, sheet: Sheet, path: Path) -> Iterator[str]:
        try:
            with refusing(self.called, "read"), duckdb_or_error().connect() as connection:
                where = [glob.escape(str(path))]
                names, rows = fetch(connection, "read_parquet(?, hive_partitioning = false)", where)
                _, facts = fetch(connection, "parquet_kv_metadata(?)", where)
        except InvalidParameter:
            yield f"{path.name}: this is not a parquet file"
            return
        yield from compare_sheet(sheet, names, rows)
        found = {_text(key): _text(fact) for _, key, fact in facts}
        for key, fact in _metadata(report, sheet).items():
            if found.get(key) != fact.replace("\0", "\N{SYMBOL FOR NULL}"):
                yield f"{path.name}: its metadata have another {key}"


def _metadata(report: Report, sheet: Sheet) -> dict[str, str]:
    """Return what stands in the file beside the rows."""
    return {
        "title": sheet.table.title,
        "description": describe_sheet(report, sheet.table),
        "practice": "true" if report.practice else "false",
        "epsilon": write_end(sheet.table.epsilon),
        "unit": report.unit,
        "contract": report.contract,
        "ledger_head": report.ledger_head,
        "digest": report.digest,
    }


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
