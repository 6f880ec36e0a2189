"""What is kept of an answer whose table could not be made: what was measured, and paid for, to be tried again.

To measure once more would cost epsilon once more, for that the first try failed has been seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inbounds.errors import ProjectionFailed
from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.measured.stored import load_measurements, to_document
from inbounds.query.answer.kept_answer import plain, read_plain
from inbounds.query.methods.joint.joint_table import JointTable, Unprojected
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan

Part = Measurements | list[tuple[Answered, ...]]
"""Of one question: what was measured, or the answers if they were made."""

MARK = "unfinished"


def dump(parts: Sequence[Part]) -> str:
    """Write what a ledger keeps in place of an answer."""
    return json.dumps({MARK: [_to_plain(part) for part in parts]}, separators=(",", ":"))


def longest(plans: Sequence[Plan]) -> int:
    """Return how long the text can get, whatever is measured; 0 if no question is answered by a table."""
    tables = [plan.answering if isinstance(plan.answering, JointTable) else None for plan in plans]
    if not any(tables):
        return 0
    pairs = zip(plans, tables, strict=True)
    return len(dump([plan.widest if table is None else table.widest_measured for plan, table in pairs]))


def load(text: str) -> list[Part] | None:
    """Read what a ledger kept; None if it is an answer."""
    if not text.startswith(f'{{"{MARK}"'):
        return None
    return [_read_part(part) for part in json.loads(text)[MARK]]


def complete_answers(parts: Sequence[Part]) -> list[list[tuple[Answered, ...]]] | None:
    """Return the answers to all questions, None if one of them is not there."""
    answers = [part for part in parts if not isinstance(part, Measurements)]
    return answers if len(answers) == len(parts) else None


def retry(plan: Plan, part: Part, confidence: float) -> Part:
    """Try once more to make a table of what was measured."""
    if not isinstance(part, Measurements) or not isinstance(plan.answering, JointTable):
        return part
    try:
        return plan.answering.made_of(part, confidence)
    except Unprojected:
        return part


def projection_failure(request_id: str) -> ProjectionFailed:
    """Return the error that says so."""
    return ProjectionFailed(
        "no consistent table was found in time; the charge remains, and the measurements are kept. Ask again with the "
        f"same request id, {request_id!r}, which costs nothing more"
    )


def _to_plain(part: Part) -> Any:
    if isinstance(part, Measurements):
        return to_document(part)
    return [[[plain(cell.value), cell.noise, plain(cell.interval)] for cell in row] for row in part]


def _read_part(data: Any) -> Part:
    if isinstance(data, dict):
        return load_measurements(json.dumps(data))[0]
    return [tuple(Answered(read_plain(value), noise, _read_ends(ends)) for value, noise, ends in row) for row in data]


def _read_ends(ends: Any) -> Any:
    return None if ends is None else tuple(map(read_plain, ends))
