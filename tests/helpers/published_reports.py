"""Reports to publish: with every kind of column, names that try to be more than names, and made-up rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction

from inbounds.publish import PublishedTable, Report
from inbounds.query import Answer
from inbounds.results.cover import Cover
from inbounds.results.nothing_learnt import WholeRange

EPSILON = Fraction(1, 3)
HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "</script><script>alert(7)</script>",
    "\"'><img src=x onerror=alert(7)>",
    "\N{RIGHT-TO-LEFT OVERRIDE}txt.exe",
    "line\nbreak",
    "a, \"quoted\"; 'field'",
    "</template><b>",
    "x" * 400,
    " blanks ",
)
"""Texts that somebody could take for something else."""

CLINICS = Answer(
    ("clinic", "visits"),
    (("north", 1204), ("south", 731), ("a clinic with a name that is long", -3), (None, 1932)),
    ((4.2,), (4.2,), (4.2,), (4.2,)),
    EPSILON,
    "year/clinics",
    row_limit="Each patient contributes at most 4 rows.",
    intervals=(((1191, 1217),), ((718, 744),), ((-16, 10),), ((1900, 1960),)),
    covers=(Cover.NOISE,),
    measured=(1,),
)
WAITS = Answer(
    ("month", "mean wait"),
    tuple((date(2026, month, 1), 200.1 + month / 7) for month in range(1, 13)),
    ((2.345,),) * 12,
    EPSILON,
    "year/waits",
    intervals=tuple(((150.123456789012345, 250.1 + month / 3),) for month in range(1, 13)),
    covers=(Cover.TRUTH,),
    measured=(1,),
)
KINDS = Answer(
    ("urgent", "day", "since", "at", "whole", "wide", "Share", "share", "median day"),
    (
        (True, date(1850, 1, 2), datetime(2026, 1, 2, 3, 4, 5, 678901), time(3, 4, 5), 2**62, 10**24, 0.1 + 0.2, 0.5,
         date(2026, 5, 1)),
        (False, date(2026, 1, 3), datetime(2026, 1, 2, 3, 4), time(23, 59), -(2**53) - 1, -5, 5e-324, 1e300,
         date(2026, 6, 1)),
    ),
    ((1.5, 2.5, 0.01, 0.02, None), (1.5, 2.5, 0.01, 0.02, None)),
    EPSILON,
    "year/kinds",
    intervals=(
        ((1, 2**62 + 7), (0, 10**25), (0.1, 0.4), WholeRange((0.0, 1.0)), None),
        ((-(2**54), 5), (-9, 9), (0.0, 0.1), (0.25, 1e300), None),
    ),
    confidence=0.9,
    covers=(Cover.TRUTH, Cover.WITH_CUT_ROWS, Cover.NOISE, Cover.TRUTH, Cover.TRUTH),
    measured=(4, 5, 6, 7, 8),
)  # fmt: skip
NAMES = Answer(
    (f"ward {HOSTILE[5]}", "ctid", "n" * 80, "N" * 80),
    tuple((text, place, place + 0.5, place * 2) for place, text in enumerate(HOSTILE)),
    ((1.0, 1.0, 1.0),) * len(HOSTILE),
    EPSILON,
    "year/names",
    intervals=(((0, 20), (0.0, 20.5), (0, 40)),) * len(HOSTILE),
    covers=(Cover.TRUTH,) * 3,
    measured=(1, 2, 3),
)
TOTAL = Answer(
    ("count",),
    ((15234,),),
    ((4.0,),),
    EPSILON,
    "year/total",
    intervals=(((15221, 15247),),),
    covers=(Cover.TRUTH,),
    measured=(0,),
)


def _table(name: str, title: str, answer: Answer, description: str | None = None) -> PublishedTable:
    sql = f"SELECT clinic, COUNT(*)\nFROM visits -- {HOSTILE[4]}"
    return PublishedTable(name, title, sql, replace(answer, sql=sql), description)


YEAR = Report(
    name="year",
    title=f"A year {HOSTILE[4]}",
    dataset=f"visits {HOSTILE[6]}",
    unit="patient",
    tables=(
        _table("clinics", "Visits by clinic", CLINICS, "How often patients came."),
        _table("waits", "Mean waiting time", WAITS),
        _table("_report", "Of every kind", KINDS),
        _table("names", f"Names {HOSTILE[5]}", NAMES, HOSTILE[6]),
        _table("names", "Two tables of one name", TOTAL),
    ),
    contract="c0" * 32,
    ledger_head="1e" * 32,
    published="2026-11-19",
    description="Visits of 2026.\n\nThey are private.",
    edition="2026",
    analyst="ana",
)
"""What is hard to write."""

PRACTICE = replace(YEAR, practice=True)


def of_many_rows(count: int) -> Report:
    """Return a report with a table of many rows, a few of which stand out."""
    rows = tuple((f"code {place}", 500 if place % 100 == 7 else place % 5) for place in range(count))
    intervals = tuple(((number - 9, number + 9),) for _, number in rows)
    answer = replace(CLINICS, columns=("code", "n"), rows=rows, noise=((3.0,),) * count, intervals=intervals)
    return replace(YEAR, tables=(_table("codes", "Diagnoses", answer),))
