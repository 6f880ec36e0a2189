"""An answer as a ledger keeps it: written and read here alone.  What was kept once is read for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from inbounds.query.answer.made_answer import columns_of
from inbounds.query.answer.running_totals import find_running_totals
from inbounds.query.methods.plan import Plan
from inbounds.results.answer import Answer
from inbounds.results.cell_kinds import TIMES
from inbounds.results.running_totals import RunningTotals

FIRST_CONFIDENCE = 0.95
"""The confidence of answers that were kept before it was stored with them; it never changes."""


def write_kept(answer: Answer) -> str:
    """Write what a ledger keeps of an answer."""
    record: dict[str, Any] = {
        "columns": answer.columns,
        "rows": answer.rows,
        "noise": answer.noise,
        "intervals": answer.intervals,
        "confidence": answer.confidence,
    }
    if answer.asked is not None:
        record["asked"] = answer.asked
    if answer.confidences:
        record["confidences"] = answer.confidences
    if answer.running is not None:
        record["running"] = answer.running.data()
    if answer.simultaneous:
        record["simultaneous"] = True
    return _write(record)


def longest_kept(
    plans: Sequence[Plan], places: Sequence[tuple[int, int]], asked: Mapping[str, Any] | None = None
) -> int:
    """Return how long the text of an answer can get, whatever is drawn: no row is longer than the widest."""
    confidence = 1.2345678901234567e-300
    columns = columns_of([plan.question for plan in plans], places)
    frame = Answer(columns, (), (), Fraction(0), "", None, (), confidence, asked=asked)
    cells = [plans[which].answering.widest for which, _ in places]
    row = [[cell.value for cell in cells], [cell.noise for cell in cells], [cell.interval for cell in cells]]
    keys, running = plans[0].question.row_keys, find_running_totals(plans[0].question, plans[0].widest)
    frame = replace(frame, running=running, simultaneous=True)
    text = write_kept(replace(frame, confidences=(confidence,) * len(places)))
    return len(text) + len(_write(keys)) + len(keys) * len(_write(row))


def read_kept(text: str, epsilon: Fraction, request_id: str, row_limit: str | None = None) -> Answer:
    """Read what a ledger kept; before answers had intervals, there was one measure, and its noise stood alone."""
    record = json.loads(text, object_hook=_read_object)
    rows = tuple(map(tuple, record["rows"]))
    noise = tuple(tuple(row) if isinstance(row, list) else (row,) for row in record["noise"])
    intervals = tuple(
        tuple(None if ends is None else (ends[0], ends[1]) for ends in row) for row in record.get("intervals", [])
    )
    columns, confidence = tuple(record["columns"]), record.get("confidence", FIRST_CONFIDENCE)
    confidences, asked = tuple(record.get("confidences", ())), record.get("asked")
    facts = (rows, noise, epsilon, request_id, row_limit, intervals, confidence)
    running, simultaneous = RunningTotals.load(record.get("running")), record.get("simultaneous", False)
    more = {"asked": asked, "confidences": confidences, "running": running, "simultaneous": simultaneous}
    return Answer(columns, *facts, **more)


def _write(record: Any) -> str:
    return json.dumps(record, separators=(",", ":"), default=plain)


def plain(cell: Any) -> Any:
    """Return a key, a value or the ends of an interval as JSON has them."""
    if isinstance(cell, tuple):
        return [plain(end) for end in cell]
    kind = next((name for name, of in TIMES.items() if isinstance(cell, of)), None)
    return cell if kind is None else {kind: cell.isoformat()}


def read_plain(cell: Any) -> Any:
    """Read a key or a value that `plain` gave."""
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    return TIMES[kind].fromisoformat(text)


def _read_object(record: dict[str, Any]) -> Any:
    """Read what stands in braces: a day, a time, or a record."""
    return read_plain(record) if len(record) == 1 and record.keys() <= TIMES.keys() else record
