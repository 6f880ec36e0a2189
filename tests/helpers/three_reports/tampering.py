"""One number changed in a published report, as whoever would like another one might do it in each kind of place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import openpyxl


def in_json(folder: Path, table: str, column: str) -> None:
    """Change the first number of the first answer."""
    del table, column
    _replace(folder / "report.json", r'("rows": \[\s*\[[^\]]*?)(\d)(\.\d+)?(\s*\])', r"\g<1>\g<2>1\4")


def in_page(folder: Path, table: str, column: str) -> None:
    """Change the first number that people see."""
    del table, column
    _replace(folder / "report.html", r'(<data value="[^"]*">[^<]*)(\d)(</data>)', lambda m: m[1] + _next(m[2]) + m[3])


def in_workbook(folder: Path, table: str, column: str) -> None:
    """Change the first cell of the column."""
    book = openpyxl.load_workbook(folder / "report.xlsx")
    sheet = book[table]
    (place,) = [cell.column for cell in sheet[1] if cell.value == column]
    sheet.cell(2, place).value += 1
    book.save(folder / "report.xlsx")


def in_duckdb(folder: Path, table: str, column: str) -> None:
    """Change the first cell of the column."""
    with duckdb.connect(str(folder / "report.duckdb")) as connection:
        connection.execute(f'UPDATE "{table}" SET "{column}" = "{column}" + 1 WHERE rowid = 0')


def in_csv(folder: Path, table: str, column: str) -> None:
    """Change the last digit of the file."""
    del column
    _replace(folder / "tables" / f"{table}.csv", r"(.*)(\d)(\s*)\Z", lambda m: m[1] + _next(m[2]) + m[3])


def in_parquet(folder: Path, table: str, column: str) -> None:
    """Change the first cell of the column."""
    path = folder / "tables.parquet" / f"{table}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE changed AS FROM '{path}'")
        connection.execute(f'UPDATE changed SET "{column}" = "{column}" + 1 WHERE rowid = 0')
        connection.execute(f"COPY changed TO '{path}' (FORMAT parquet)")


def _next(digit: str) -> str:
    return str((int(digit) + 1) % 10)


def _replace(path: Path, pattern: str, by: str | Callable[[re.Match[str]], str]) -> None:
    text = path.read_bytes().decode()
    changed, count = re.subn(pattern, by, text, count=1, flags=re.DOTALL)
    assert count == 1
    assert changed != text
    path.write_bytes(changed.encode())


TAMPERINGS: Mapping[str, Callable[[Path, str, str], None]] = {
    "report.html": in_page,
    "report.xlsx": in_workbook,
    "report.duckdb": in_duckdb,
    "tables/": in_csv,
    "tables.parquet/": in_parquet,
    "report.json": in_json,
}
"""By target."""
