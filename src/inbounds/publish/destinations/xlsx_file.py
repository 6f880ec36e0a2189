"""A workbook: a sheet for each table, and one about the report.

Cells are numbers, days and texts, never formulas.  Numbers have all their digits; whole numbers that Excel cannot hold,
and days before its first one, are texts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from inbounds.bounds.notation import write_end
from inbounds.publish.destinations.comparison import compare_rows
from inbounds.publish.destinations.destination import FileDestination
from inbounds.publish.destinations.facts import PRACTICE, facts_of, notes_of, report_text
from inbounds.publish.destinations.sheet import Sheet, sheets_of
from inbounds.report.report import Report

ABOUT, DATA = "About", "report.json"
LONGEST = 31
"""So many letters has the name of a sheet at most."""

MOST_LETTERS = 32_000
"""Excel takes little more in a cell."""

LARGEST = 2**53
"""Whole numbers beyond lose digits in Excel, whose numbers are doubles."""

FIRST_DAY = datetime(1900, 3, 1)
"""Before it Excel's calendar has a day that never was."""

FORMATS: dict[type, str] = {datetime: "yyyy-mm-dd hh:mm:ss.000", date: "yyyy-mm-dd", time: "hh:mm:ss"}
"""A datetime, which Python takes for a date, before a date."""

RED = "FF9B1C1C"
WIDTHS = (8, 40)
"""The narrowest and the widest column, in letters."""

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What no file of XML may hold."""


class XlsxFile(FileDestination):
    """A workbook."""

    def check(self, name: str | None, *, practice: bool) -> None:
        _openpyxl()
        super().check(name, practice=practice)

    def make(self, report: Report, draft: Path) -> None:
        book = _openpyxl().Workbook()
        about = book.active
        about.title = ABOUT
        for at, row in enumerate(_about(report), 1):
            _write_row(about, at, row)
        _style_about(about, practice=report.practice)
        for sheet in _sheets(report):
            page = book.create_sheet(sheet.name)
            _write_row(page, 1, [column.name for column in sheet.columns])
            for at, cells in enumerate(sheet.rows, 2):
                _write_row(page, at, cells)
            _style(page, sheet, report)
        _write_text(book.create_sheet(DATA), report_text(report))
        book[DATA].sheet_state = "hidden"
        book.properties.title = _text(f"PRACTICE: {report.title}" if report.practice else report.title)
        book.properties.creator = "inbounds"
        book.properties.description = _text(f"{PRACTICE if report.practice else ''} digest {report.digest}".strip())
        book.properties.category = "practice" if report.practice else "report"
        book.save(draft)

    def _opened(self) -> Any:
        content = self.content()  # so that what is no file is refused as such
        assert content is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles that other programs leave out
            try:
                return _openpyxl().load_workbook(self.path)
            except (BadZipFile, KeyError, ValueError, TypeError, SyntaxError, OSError):
                raise self.no_report() from None

    def stored(self) -> dict[str, Any]:
        book = self._opened()
        if DATA not in book.sheetnames:
            raise self.no_report()
        return self.read_stored("".join(str(row[0] or "") for row in book[DATA].iter_rows(max_col=1, values_only=True)))

    def faults(self, report: Report) -> Iterator[str]:
        book, sheets = self._opened(), _sheets(report)
        named = [ABOUT, *(sheet.name for sheet in sheets), DATA]
        yield from (f"sheet {name}: it is missing" for name in named if name not in book.sheetnames)
        yield from (f"sheet {name}: it is not part of the report" for name in book.sheetnames if name not in named)
        pages: list[tuple[str, list[str], list[list[Any]]]] = [(ABOUT, ["fact", "value"], _about(report))]
        for sheet in sheets:
            names = [column.name for column in sheet.columns]
            pages.append((sheet.name, names, [names, *map(list, sheet.rows)]))
        for name, names, rows in pages:
            if name in book.sheetnames:
                published = [[_cell(value) for value in row] for row in rows]
                yield from compare_rows(name, names, published, _read(book[name], len(names)))
                if any(cell.data_type == "f" for row in book[name].iter_rows() for cell in row):
                    yield f"sheet {name}: it has formulas, which no report has"


def _openpyxl() -> Any:
    try:
        import openpyxl  # noqa: PLC0415  only for workbooks
    except ImportError:
        raise ImportError("workbooks need openpyxl, which is not installed: pip install 'inbounds[xlsx]'") from None
    return openpyxl


def _sheets(report: Report) -> list[Sheet]:
    """Return the sheets; letters are counted as bytes, which are as many or more."""
    mark = "PRACTICE "
    if not report.practice:
        return sheets_of(report, LONGEST, (ABOUT, DATA, "History"))
    return [
        Sheet(f"{mark}{sheet.name}", sheet.table, sheet.columns) for sheet in sheets_of(report, LONGEST - len(mark))
    ]


def _about(report: Report) -> list[list[Any]]:
    """Return the rows of the sheet about the report."""
    rows: list[list[Any]] = [[PRACTICE, None]] if report.practice else []
    rows += [[name.replace("_", " "), value] for name, value in facts_of(report).items() if value is not None]
    for sheet in _sheets(report):
        rows.append([None, None])
        table = sheet.table
        said: dict[str, Any] = {"sheet": sheet.name, "title": table.title, "description": table.description}
        said |= {"epsilon": float(table.epsilon), "exact epsilon": write_end(table.epsilon), "query": table.sql}
        rows += [[name, value] for name, value in said.items() if value is not None]
        rows += [["note", note] for note in notes_of(table)]
        rows += [[f"column {column.name}", column.meaning] for column in sheet.columns]
    return rows


def _cell(value: Any) -> Any:
    """Return a value as a cell has it."""
    if isinstance(value, str):
        return _text(value) or None
    if isinstance(value, datetime):
        return value if value >= FIRST_DAY and value.microsecond % 1000 == 0 else value.isoformat(" ")
    if isinstance(value, date):
        return datetime.combine(value, time()) if value >= FIRST_DAY.date() else value.isoformat()
    if isinstance(value, time):
        return value if value.microsecond == 0 else value.isoformat()
    return str(value) if isinstance(value, int) and abs(value) > LARGEST else value


def _text(text: str) -> str:
    """Return a text as a cell takes it."""
    plain = _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
    return plain if len(plain) <= MOST_LETTERS else f"{plain[: MOST_LETTERS - 1]}…"


def _write_row(page: Any, at: int, row: Iterable[Any]) -> None:
    """Write a row: openpyxl's own `append` would take a text with = for a formula."""
    for place, value in enumerate(row, 1):
        written = _cell(value)
        cell = page.cell(at, place)
        if isinstance(written, str):
            cell.value, cell.data_type, cell.quotePrefix = written, "s", True  # a text also after it was edited
        elif isinstance(written, int | float) and not isinstance(written, bool):
            cell.value, cell.data_type = repr(written), "n"  # of a number 16 digits would be written
        elif written is not None:
            cell.value = written
            kind = next((of for of in FORMATS if isinstance(value, of)), None)
            if kind is not None:
                cell.number_format = FORMATS[kind]


def _write_text(page: Any, text: str) -> None:
    """Write a text of any length, a part in each row."""
    for at, start in enumerate(range(0, len(text), MOST_LETTERS), 1):
        cell = page.cell(at, 1)
        cell.value, cell.data_type = text[start : start + MOST_LETTERS], "s"


def _style(page: Any, sheet: Sheet, report: Report) -> None:
    """Make a sheet easy to read: its head stays, and can be filtered by."""
    styles = _openpyxl().styles
    for place, column in enumerate(sheet.columns, 1):
        page.cell(1, place).font = styles.Font(bold=True)
        letter = page.cell(1, place).column_letter
        longest = max((len(str(cell)) for cell in column.cells[:1000]), default=0)
        page.column_dimensions[letter].width = min(max(longest + 2, len(column.name) + 4, WIDTHS[0]), WIDTHS[1])
    page.freeze_panes = "A2"
    page.auto_filter.ref = page.dimensions
    page.oddFooter.left.text = "digest " + report.digest
    if report.practice:
        page.sheet_properties.tabColor = RED
        page.oddHeader.center.text = PRACTICE


def _style_about(page: Any, *, practice: bool) -> None:
    styles = _openpyxl().styles
    page.column_dimensions["A"].width, page.column_dimensions["B"].width = 22, 80
    for row in page.iter_rows():
        row[0].font = styles.Font(bold=True)
        row[0].alignment = styles.Alignment(vertical="top", horizontal="left")
        row[-1].alignment = styles.Alignment(vertical="top", horizontal="left", wrap_text=True)
    if practice:
        page["A1"].font = styles.Font(bold=True, size=16, color=RED)
        page["A1"].alignment = styles.Alignment(wrap_text=False)
        page.sheet_properties.tabColor = RED
        page.oddHeader.center.text = PRACTICE


def _read(page: Any, width: int) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet; one that is wider than it was written is as wide as it is."""
    rows = [tuple(cell.value for cell in row) for row in page.iter_rows(min_col=1, max_col=max(width, page.max_column))]
    return [row[:width] if all(cell is None for cell in row[width:]) else row for row in rows]
