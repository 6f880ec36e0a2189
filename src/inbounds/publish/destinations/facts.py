"""What every destination says of a report beside its numbers."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from inbounds.accuracy.confidence import percent
from inbounds.bounds.notation import write_end
from inbounds.publish.destinations.sheet import Sheet
from inbounds.query.methods.contribution_bound import ADVICE, WHERE_EXPLAINED
from inbounds.report.report import FORMAT, PublishedTable, Report

PRACTICE = "PRACTICE: these numbers come from made-up rows and say nothing about anybody."
"""Said wherever a practice report could be taken for a real one."""

ADVICE_TO_ANALYSTS = (
    f" {ADVICE}",
    f" ({WHERE_EXPLAINED})",
    f" See {WHERE_EXPLAINED}.",
    " Ask for fewer groups or a larger epsilon.",
)
"""Readers of a report cannot ask, and have no such page."""

_WHAT_TO_ASK = re.compile(r"; (?:ask|add) [^;]*\.$")
"""What a remark says last: how to ask so that there is an interval."""

MARK = "practice_"
"""How the files of such a report begin, since csv has no room for a remark."""


def report_text(report: Report) -> str:
    """Return the whole report as JSON, from which it can be read back."""
    return json.dumps(report.data(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def facts_of(report: Report) -> dict[str, Any]:
    """Return what is said of a report as a whole, by name."""
    return {
        "format": FORMAT,
        "name": report.name,
        "title": report.title,
        "description": report.description,
        "edition": report.edition,
        "published": published_day(report),
        "practice": report.practice,
        "dataset": report.dataset,
        "unit": report.unit,
        "analyst": report.analyst,
        "epsilon": float(report.epsilon),
        "contract": report.contract,
        "ledger_head": report.ledger_head,
        "digest": report.digest,
    }


def published_day(report: Report) -> date | str:
    """Return the day of publication, as a day if it is one."""
    try:
        return date.fromisoformat(report.published)
    except ValueError:
        return report.published


def table_facts(sheet: Sheet) -> dict[str, Any]:
    """Return what is said of a table, by name."""
    table, answer = sheet.table, sheet.table.answer
    return {
        "name": sheet.name,
        "title": table.title,
        "description": table.description,
        "epsilon": float(table.epsilon),
        "confidence": answer.confidence,
        "notes": "\n".join(notes_of(table)) or None,
        "sql": table.sql,
    }


def notes_of(table: PublishedTable) -> list[str]:
    """Return what to know when one reads a table: caveats, the contribution bound, warnings and remarks."""
    answer = table.answer
    notes = (answer.caveat, answer.too_few_rows, answer.row_limit, *answer.warnings, *answer.remarks, answer.note)
    return list(dict.fromkeys(_without_advice(note) for note in notes if note))


def _without_advice(note: str) -> str:
    """Return a note for readers, without what the analyst could have done."""
    for advice in ADVICE_TO_ANALYSTS:
        note = note.replace(advice, "")
    return _WHAT_TO_ASK.sub(".", note)


def describe_sheet(report: Report, table: PublishedTable) -> str:
    """Return a comment on a table: its title, what it cost, and what proves where it is from."""
    parts = [
        PRACTICE if report.practice else None,
        table.title,
        table.description,
        f"Differentially private: epsilon {write_end(table.epsilon)}, for each {report.unit}; "
        f"intervals hold with {percent(table.answer.confidence)} probability.",
        *notes_of(table),
        f"Report {report.name}, published {report.published}; digest {report.digest}; contract {report.contract}; "
        f"ledger head {report.ledger_head}.",
    ]
    return "\n".join(part for part in parts if part)
