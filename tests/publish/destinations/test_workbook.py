"""Workbooks: nothing in them is computed, and other programs read them as Excel does."""

from __future__ import annotations

import csv
import os
import subprocess
import zipfile
from pathlib import Path

import openpyxl
import pytest

from inbounds.publish.destinations import write
from tests.helpers.engine_places import absent
from tests.helpers.programs import PATIENCE
from tests.helpers.published_reports import HOSTILE, YEAR

pytestmark = pytest.mark.slow


def test_no_text_becomes_a_formula(tmp_path: Path) -> None:
    """Texts that begin like formulas are texts, also after somebody has edited them; a workbook has no formula."""
    write(YEAR, f"{tmp_path}/r.xlsx")
    with zipfile.ZipFile(tmp_path / "r.xlsx") as book:
        sheets = [book.read(name).decode() for name in book.namelist() if name.startswith("xl/worksheets/")]
        assert all("<f>" not in sheet for sheet in sheets)
        assert not [name for name in book.namelist() if "externalLink" in name or "vba" in name.lower()]
    page = openpyxl.load_workbook(tmp_path / "r.xlsx")["names"]
    for at, text in enumerate(HOSTILE, 2):
        assert (page.cell(at, 1).value, page.cell(at, 1).data_type) == (text, "s")
        assert page.cell(at, 1).quotePrefix


@pytest.mark.thorough
def test_libreoffice_reads_every_number(tmp_path: Path) -> None:
    """LibreOffice opens a workbook, and reads in it the numbers and the texts that were published."""
    office = os.environ.get("INBOUNDS_TEST_OFFICE")
    if not office:
        pytest.skip("no office asked for: set INBOUNDS_TEST_OFFICE to the path of LibreOffice's soffice")
    if not Path(office).exists():
        absent("INBOUNDS_TEST_OFFICE names no program")
    assert office is not None
    write(YEAR, f"{tmp_path}/r.xlsx")
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    every_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    command = [
        office,
        profile,
        "--headless",
        "--convert-to",
        every_sheet,
        "--outdir",
        str(tmp_path),
        f"{tmp_path}/r.xlsx",
    ]
    subprocess.run(command, check=True, timeout=4 * PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name, place in (("clinics", 0), ("waits", 1), ("names", 3)):
        with (tmp_path / f"r-{name}.csv").open(newline="", encoding="utf-8") as file:
            _, *rows = csv.reader(file)
        columns = YEAR.tables[place].columns
        for row, was in zip(rows, zip(*columns.values(), strict=True), strict=True):
            for text, cell in zip(row, was, strict=True):
                if isinstance(cell, int | float):
                    assert float(text) == pytest.approx(cell, rel=1e-9)
                elif isinstance(cell, str):
                    assert text == cell
