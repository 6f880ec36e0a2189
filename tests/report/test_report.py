"""Reports: written and read as they are, with a digest that nothing in them can change without."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from inbounds.publish import PublishedTable, Report
from inbounds.query import Answer
from inbounds.report.report import digest_of

ANSWER = Answer(
    ("clinic", "count"),
    (("north", 12), ("south", 7)),
    ((1.5,), (1.5,)),
    Fraction(1, 2),
    "year/visits",
    intervals=(((8, 16),), ((3, 11),)),
    measured=(1,),
)
REPORT = Report(
    name="year",
    title="A year",
    dataset="visits",
    unit="patient",
    tables=(
        PublishedTable("visits", "Visits by clinic", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic", ANSWER),
    ),
    contract="c" * 64,
    ledger_head="h" * 64,
    published="2026-11-19",
)


def test_a_report_is_read_as_it_was_written() -> None:
    """What JSON carries is the whole report, and its digest is that of what is read."""
    data = json.loads(json.dumps(REPORT.data(), allow_nan=False))
    again = Report.read(data)
    assert again == REPORT
    assert data["digest"] == again.digest == digest_of(data)


@pytest.mark.parametrize(
    "changed",
    [
        replace(REPORT, title="Another year"),
        replace(REPORT, practice=True),
        replace(
            REPORT, tables=(replace(REPORT.tables[0], answer=replace(ANSWER, rows=(("north", 13), ("south", 7)))),)
        ),
        replace(REPORT, tables=(replace(REPORT.tables[0], answer=replace(ANSWER, noise=((1.5,), (1.6,)))),)),
    ],
)
def test_whatever_is_changed_changes_the_digest(changed: Report) -> None:
    """No word, number, interval or noise of a report can be another without another digest."""
    assert changed.digest != REPORT.digest


def test_tables_of_one_request_are_paid_once() -> None:
    """What several tables were released with together counts once."""
    twice = replace(REPORT, tables=(*REPORT.tables, replace(REPORT.tables[0], name="again")))
    assert twice.epsilon == Fraction(1, 2)
    other = replace(REPORT.tables[0], name="other", answer=replace(ANSWER, request_id="another"))
    assert replace(REPORT, tables=(*REPORT.tables, other)).epsilon == 1
