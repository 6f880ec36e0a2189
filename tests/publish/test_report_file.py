"""The file of a report: what it says is read, and all that is wrong is told at once, with lines and remedies."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InvalidReport
from inbounds.publish import ReportFile

WHOLE = """\
-- Anything may stand above: it is a comment.
-- report: clinic_year
-- title: The clinic's year
-- description: What happened; and when.
-- edition: 2026-11
-- total: 2.0
-- consistent: no

-- name: visits_by_clinic
-- title: Visits by clinic
-- epsilon: 0.5
-- chart: bars
SELECT clinic, COUNT(*) AS visits -- all; even these
FROM visits /* -- name: hidden */ WHERE finding <> 'a;b -- name: c' GROUP BY clinic;

-- name: ages
-- error: 2 %
-- rows: 1000
SELECT AVG(age) FROM visits
;
-- name: stays
-- weight: 2
-- see https://example.org for more
SELECT AVG(minutes) FROM visits
"""


def faults(text: str) -> tuple[str, ...]:
    """Return what is wrong with a report."""
    with pytest.raises(InvalidReport) as refused:
        ReportFile.parse(text)
    return refused.value.faults


def test_a_report_is_read_as_it_is_written() -> None:
    """Headers say what they say; semicolons, comments and headers in quotes and comments are none."""
    report = ReportFile.parse(WHOLE)
    assert (report.name, report.title, report.edition) == ("clinic_year", "The clinic's year", "2026-11")
    assert (report.description, report.total, report.consistent) == ("What happened; and when.", Fraction(2), False)
    first, second, third = report.questions
    assert (first.name, first.title, first.chart, first.epsilon) == (
        "visits_by_clinic",
        "Visits by clinic",
        "bars",
        Fraction(1, 2),
    )
    assert first.sql.startswith(
        "SELECT clinic, COUNT(*) AS visits -- all; even these\nFROM visits /* -- name: hidden */"
    )
    assert first.sql.endswith("WHERE finding <> 'a;b -- name: c' GROUP BY clinic")
    assert (first.line, second.line, third.line) == (13, 19, 24)
    assert (second.title, second.sql) == ("Ages", "SELECT AVG(age) FROM visits")
    assert (second.error, second.rows) == ("2 %", 1000)
    assert (third.weight, third.error, third.epsilon) == (Fraction(2), None, None)


def test_a_question_without_a_cost_has_a_share_of_the_total() -> None:
    """With a total, whatever says nothing of its cost has a weight of 1."""
    (question,) = ReportFile.parse("-- report: a\n-- total: 1\n-- name: b\nSELECT 1").questions
    assert question.weight == 1


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """What some editors put before a text is no part of it; another encoding is refused."""
    path = tmp_path / "report.sql"
    path.write_text(WHOLE, "utf-8-sig")
    assert ReportFile.load(path) == ReportFile.parse(WHOLE)
    path.write_bytes(b"-- report: \xff")
    with pytest.raises(InvalidReport, match=r"report.sql is not UTF-8; save it as UTF-8"):
        ReportFile.load(path)


QUESTION = "-- name: b\n-- epsilon: 1\nSELECT 1"

WRONG = {
    f"-- report: a\n-- titel: A\n{QUESTION}": (
        "line 2: there is no -- titel: in the head of a report; did you mean title?",
    ),
    f"-- report: a\n-- version: 3\n{QUESTION}": (
        "line 2: there is no -- version: in the head of a report; did you mean edition?",
    ),
    f"-- report: a\n-- epsilon: 3\n{QUESTION}": (
        "line 2: there is no -- epsilon: in the head of a report; it stands below the -- name: of a question",
    ),
    f"-- report: a\n{QUESTION.replace('epsilon: 1', 'cost: 1')}": (
        "line 2: the question has no cost; add -- epsilon: 0.5, or -- error: 20, to its header",
        "line 3: there is no -- cost: in the header of a question; did you mean epsilon?",
    ),
    f"-- report: Clinic Year\n{QUESTION}": (
        "line 1: a name has up to 63 lower-case letters, digits and underscores, a letter first, got 'Clinic Year'; "
        "call it clinic_year",
    ),
    f"-- report: 2026\n{QUESTION}": (
        "line 1: a name has up to 63 lower-case letters, digits and underscores, a letter first, got '2026'; call it "
        "q_2026",
    ),
    f"-- report: a\n{QUESTION};\n{QUESTION}": (
        "line 5: two questions are called b, the first in line 2; call this one b_2",
    ),
    "-- report: a\n-- name: b\n-- epsilon: 1\n;": (
        "line 2: the question has no SQL; write a SELECT below its header",
    ),
    f"-- report: a\n{QUESTION}; SELECT 2": (
        "line 4: a question is one SELECT, got another one; write -- name: and a name above it",
    ),
    f"-- report: a\n{QUESTION}\n-- chart: bars": (
        "line 5: -- chart: stands in no header; move it above the SQL of its question",
    ),
    f"-- report: a\n-- edition: 1\n-- edition: 2\n{QUESTION}": (
        "line 3: -- edition: is given twice, first in line 2; give it once",
    ),
    f"-- report: a\n-- title:\n{QUESTION}": (
        "line 2: -- title: has nothing after it; complete it, or leave it out",
    ),
    "-- report: a\n" + QUESTION.replace("1\n", "1\n-- error: 20\n"): (
        "line 4: a question has one of epsilon, error and weight, got epsilon and error; keep one",
    ),
    f"-- report: a\n{QUESTION.replace('epsilon', 'weight')}": (
        "line 3: a weight divides a total, got none; add -- total: 2 to the head, or give an epsilon",
    ),
    f"-- report: a\n{QUESTION.replace(': 1', ': a lot')}": (
        "line 3: epsilon must be a number above 0, got 'a lot'; write it like 0.5",
    ),
    f"-- report: a\n{QUESTION.replace('epsilon: 1', 'error: -2 %')}": (
        "line 3: an error must be a number above 0, got '-2'; write it like 20, or 2 %",
    ),
    "-- report: a\n" + QUESTION.replace("1\n", "1\n-- chart: bar\n"): (
        "line 4: there is no chart 'bar'; did you mean bars?",
    ),
    "-- report: a\n" + QUESTION.replace("1\n", "1\n-- rows: many\n"): (
        "line 4: rows are assumed for a wanted error, got none; add -- error: 20, or leave them out",
        "line 4: rows must be a whole number above 0, got 'many'; write it like 1000",
    ),
    f"-- report: a\n-- consistent: maybe\n{QUESTION}": (
        "line 2: consistent is yes or no, got 'maybe'; write one of them",
    ),
    f"-- report: a\n-- edition: a/b\n{QUESTION}": (
        "line 2: an edition has up to 30 letters, digits, dots, dashes and underscores, got 'a/b'; write "
        "it like 2026-11",
    ),
    f"-- report: a\n-- total: 1\n{QUESTION};\n-- name: c\n-- error: 3\nSELECT 2": (
        "line 2: the total is 1, got questions that cost 1, and nothing is left for c; raise the total, or lower an "
        "epsilon",
    ),
    "-- report: a\n-- total: 0\n-- name: b\nSELECT 1;\n-- name: c\n-- weight: 2\nSELECT 2": (
        "line 2: a total must be a number above 0, got '0'; write it like 2",
    ),
    "SELECT 1": (
        "line 1: SQL stands before the first question; write -- name: and a name above it",
        "line 1: a report needs a name; begin with -- report: and a name, such as -- report: year",
        "line 1: a report needs a question; add -- name: and a SELECT below it",
    ),
    f"-- report: a\n{QUESTION} 'and\n\nmore": (
        "line 4: a quote or a comment that begins here is never closed; close it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_every_fault_is_told_with_its_line_and_its_remedy(text: str) -> None:
    """What is wrong is named, in which line, and how to put it right."""
    assert faults(text) == WRONG[text]


def test_all_faults_are_told_at_once() -> None:
    """A report with several faults is refused once, with all of them in the order of their lines."""
    text = "-- report: a\n-- total: 0.2\n-- name: B\n-- epsilon: 0.5\n-- colour: red\nSELECT 1; SELECT 2"
    told = faults(text)
    assert [fault.partition(":")[0] for fault in told] == ["line 2", "line 3", "line 5", "line 6"]
    with pytest.raises(InvalidReport, match=r"the report has 4 faults; correct each of them:\n  line 2"):
        ReportFile.parse(text)


def test_a_header_above_the_report_is_not_passed_over() -> None:
    """What would be a header stands in one, or is refused: it is never taken for a comment."""
    assert faults(f"-- total: 3\n-- report: a\n{QUESTION}") == (
        "line 1: -- total: stands in no header; move it below -- report:",
    )
    assert ReportFile.parse(f"-- Author: somebody\n-- report: a\n{QUESTION}\n-- Note: nothing").name == "a"


STATED = """\
-- report: year
-- name: rows
{header}
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) COUNT(*) FROM visits
"""


def test_sql_may_say_what_it_costs() -> None:
    """Its epsilon is that of the question, whose SQL is the same without; the same one may stand in the header."""
    for header in ("", "-- epsilon: 0.5", "-- epsilon: 0.50"):
        (question,) = ReportFile.parse(STATED.format(header=header, options="epsilon = 0.5")).questions
        assert (question.epsilon, question.sql) == (Fraction(1, 2), "SELECT COUNT(*) FROM visits")
    whole = ReportFile.parse("-- report: year\n-- total: 2\n" + STATED.format(header="", options="epsilon = 0.5")[16:])
    assert (whole.questions[0].epsilon, whole.questions[0].weight) == (Fraction(1, 2), None)


@pytest.mark.parametrize(
    ("header", "options", "fault"),
    [
        ("-- epsilon: 1", "epsilon = 0.5", "line 4: its SQL says epsilon = 0.5, and its header has another cost"),
        ("-- error: 20", "epsilon = 0.5", "line 4: its SQL says epsilon = 0.5, and its header has another cost"),
        ("-- epsilon: 1", "epsilom = 0.5", "line 4: there is no option epsilom; did you mean epsilon?"),
        ("", "epsilon = 1, delta = 0", "line 4: in a report, OPTIONS say epsilon only, got delta"),
    ],
)
def test_what_sql_says_of_privacy_fits_the_header(header: str, options: str, fault: str) -> None:
    """Two costs are refused with the line of the SQL, and so are options that only a contract decides."""
    assert any(told.startswith(fault) for told in faults(STATED.format(header=header, options=options)))
