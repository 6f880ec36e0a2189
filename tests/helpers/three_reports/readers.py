"""The tables of a report as other programs read them: by name, each with its columns as lists of plain values."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable, Mapping
from decimal import Decimal
from html.parser import HTMLParser
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas

from inbounds.publish import Report
from tests.helpers.programs import PATIENCE

Columns = dict[str, list[Any]]
Tables = dict[str, Columns]


def published(report: Report) -> Tables:
    """Return the tables as they were released."""
    return {table.name: {name: list(map(plain, cells)) for name, cells in table.columns.items()}
            for table in report.tables}  # fmt: skip


def plain(cell: Any) -> Any:
    """Return a cell as Python has it, whatever a program has instead."""
    if hasattr(cell, "item"):  # a number of numpy
        cell = cell.item()
    if cell is None or (isinstance(cell, float) and isnan(cell)):
        return None
    return int(cell) if isinstance(cell, Decimal) else cell


def _of_frame(frame: pandas.DataFrame) -> Columns:
    return {str(name): list(map(plain, frame[name])) for name in frame.columns}


def by_pandas_csv(folder: Path, names: list[str]) -> Tables:
    """Read csv files with pandas, all versions of which take every digit with this engine."""
    return {
        name: _of_frame(
            pandas.read_csv(folder / "tables" / f"{name}.csv", engine="python", keep_default_na=False, na_values=[""])
        )
        for name in names
    }


def by_pandas_parquet(folder: Path, names: list[str]) -> Tables:
    """Read parquet files with pandas."""
    return {name: _of_frame(pandas.read_parquet(folder / "tables.parquet" / f"{name}.parquet")) for name in names}


def by_pandas_xlsx(folder: Path, names: list[str]) -> Tables:
    """Read a workbook with pandas."""
    sheets = pandas.read_excel(folder / "report.xlsx", sheet_name=names, keep_default_na=False, na_values=[""])
    return {name: _of_frame(sheet) for name, sheet in sheets.items()}


def by_openpyxl(folder: Path, names: list[str]) -> Tables:
    """Read the cells of a workbook."""
    book = openpyxl.load_workbook(folder / "report.xlsx")
    found = {}
    for name in names:
        head, *rows = book[name].iter_rows(values_only=True)
        found[name] = {str(column): [row[at] for row in rows] for at, column in enumerate(head)}
    return found


def _fetch(connection: Any, statement: str) -> Columns:
    cursor = connection.execute(statement)
    rows = cursor.fetchall()
    return {column[0]: [plain(row[at]) for row in rows] for at, column in enumerate(cursor.description)}


def by_duckdb(folder: Path, names: list[str]) -> Tables:
    """Read the tables of a DuckDB file."""
    with duckdb.connect(str(folder / "report.duckdb"), read_only=True) as connection:
        return {name: _fetch(connection, f'SELECT * FROM "{name}"') for name in names}


def by_duckdb_parquet(folder: Path, names: list[str]) -> Tables:
    """Read parquet files with DuckDB."""
    with duckdb.connect() as connection:
        return {name: _fetch(connection, f"FROM '{folder}/tables.parquet/{name}.parquet'") for name in names}


def by_duckdb_csv(folder: Path, names: list[str]) -> Tables:
    """Read csv files with DuckDB."""
    with duckdb.connect() as connection:
        return {name: _fetch(connection, f"FROM read_csv('{folder}/tables/{name}.csv')") for name in names}


def by_postgres(schema: str, names: list[str]) -> Tables:
    """Read the tables of a schema."""
    import psycopg  # noqa: PLC0415  only where there is a PostgreSQL

    url, _, name = schema.rpartition("schema=")
    where = name.replace("%20", " ")
    with psycopg.connect(url.rstrip("?&")) as connection:
        return {table: _fetch(connection, f'SELECT * FROM "{where}"."{table}"') for table in names}


def by_json(folder: Path, names: list[str]) -> dict[str, Any]:
    """Return what a report in JSON says of each answer: its columns, rows, noise and intervals."""
    tables = {table["name"]: table["answer"] for table in json.loads((folder / "report.json").read_text())["tables"]}
    return {name: tables[name] for name in names}


def by_office(office: str, folder: Path, names: list[str], out: Path) -> dict[str, list[list[str]]]:
    """Return the rows of a workbook as LibreOffice writes them into csv files."""
    every_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
    command = [
        office, f"-env:UserInstallation=file://{out}/profile", "--headless", "--convert-to", every_sheet,
        "--outdir", str(out), str(folder / "report.xlsx"),
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=4 * PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {}
    for name in names:
        with (out / f"report-{name}.csv").open(newline="", encoding="utf-8") as file:
            found[name] = list(csv.reader(file))
    return found


READERS: Mapping[str, Callable[[Path, list[str]], Tables]] = {
    "pandas, csv": by_pandas_csv,
    "pandas, parquet": by_pandas_parquet,
    "pandas, xlsx": by_pandas_xlsx,
    "openpyxl": by_openpyxl,
    "DuckDB": by_duckdb,
    "DuckDB, parquet": by_duckdb_parquet,
    "DuckDB, csv": by_duckdb_csv,
}


class PageTables(HTMLParser):
    """Takes the numbers of the tables out of a page; rows that are folded away follow those before them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[tuple[list[str], list[str]]]] = {}
        """By caption the rows: the numbers with all their digits, and the cells as they are shown."""
        self._caption = ""
        self._within: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where a table, a row, a cell or a number begins."""
        rows = self.tables.setdefault(self._caption, [])
        if tag == "caption":
            self._caption = ""
        elif tag == "tr" and "tbody" in self._within:
            rows.append(([], []))
        elif tag in {"td", "th"} and rows and "tbody" in self._within:
            rows[-1][1].append("")
        elif tag == "data" and rows and "tbody" in self._within:
            rows[-1][0].append(dict(attrs)["value"] or "")
        if tag in {"caption", "tbody", "td", "th"}:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note where it ends."""
        if tag in self._within:
            del self._within[self._within.index(tag) :]

    def handle_data(self, data: str) -> None:
        """Note what is shown."""
        if "caption" in self._within:
            self._caption += data
        elif self._within and self._within[-1] in {"td", "th"} and "tbody" in self._within:
            self.tables[self._caption][-1][1][-1] += data
