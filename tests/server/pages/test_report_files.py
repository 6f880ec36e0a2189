"""Reports on pages as files: proposed as the text of one, and taken along as a page that can be verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.publish.destinations import verify
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

FILE = """
-- report: year
-- title: A year of visits
-- total: 1
-- name: visits
-- epsilon: 0.25
SELECT COUNT(*) AS visits FROM visits;
-- name: by_clinic
-- title: Visits by clinic
-- chart: bars
SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic;
"""


@pytest.mark.slow
def test_a_report_file_is_proposed_approved_and_taken_along(served: Served, tmp_path: Path) -> None:
    """Costs follow from the file; what is published can be saved as one page, and that is the report, unchanged."""
    ana, carla = visit(served, "ana"), visit(served, "carla")
    made = ana.post("/reports", dataset="visits", file=FILE)
    assert made.status_code == 303
    address = made.headers["location"]
    page = ana.get(address).text
    assert "ε 0.25" in page
    assert "ε 0.75" in page
    assert "Costs ε 1" in page
    assert carla.post(f"{address}/approve").status_code == 303
    kept = tmp_path / "year.html"
    kept.write_bytes(visit(served, "rita").get(f"{address}/report.html").content)
    found = verify(str(kept))
    assert found.holds
    assert found.digest in ana.get(address).text
    assert [table.name for table in found.report.tables] == ["visits", "by_clinic"]


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (FILE.replace("-- title: A year", "-- titel: A year"), "did you mean title?"),
        (FILE.replace("clinic, COUNT", "clinik, COUNT"), "did you mean clinic?"),
        (FILE.replace("0.25", "3"), "total"),
        ("SELECT 1", "report"),
    ],
)
def test_a_faulty_report_file_is_refused_with_its_line(served: Served, file: str, told: str) -> None:
    """What is wrong in a report file is said as `inbounds publish` says it, and nothing is proposed."""
    ana = visit(served, "ana")
    refused = ana.post("/reports", dataset="visits", file=file)
    assert refused.status_code == 400
    assert told in refused.text
    assert "line " in refused.text
    assert "Your proposals" not in ana.get("/reports").text
