"""What the interval beside an answer is about: the true answer or, where a row limit cuts rows off, the noise only.

Every table, page, picture and file asks here what to call an interval.  What is cut off without the contract's limit
on rows does not count: that values lie in their bounds, and keys in their lists, is the custodian's word, and the
answer is about a column as the contract describes it (docs/decisions/0064-intervals-of-noise-only.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from inbounds.accuracy.confidence import percent
from inbounds.query.question.contribution_bound import counts_everything
from inbounds.query.question.question import Question
from inbounds.query.tables.relation import is_clipped_by_limit

NOISE_ONLY = "noise only"

CAVEAT = "Noise only: the interval does not account for the contribution bound."
"""Said once, beside the numbers, wherever an interval is about the noise only."""


def is_noise_only(question: Question) -> bool:
    """Return whether an interval of a question is about the noise only; this depends on the contract alone."""
    return is_clipped_by_limit(question.table) or not counts_everything(question)


def noise_only(questions: Sequence[Question], places: Sequence[tuple[int, int]]) -> tuple[bool, ...]:
    """Return for each measure whether its intervals are about the noise only."""
    by_question = [is_noise_only(question) for question in questions]
    return tuple(by_question[which] for which, _ in places)


def interval_name(confidence: float, *, rider: bool) -> str:
    """Return what people read above or beside an interval, with or without the rider."""
    plain = f"{percent(confidence)} interval"
    return f"{plain} ({NOISE_ONLY})" if rider else plain


def end_name(end: str, of: str, *, rider: bool) -> str:
    """Return what programs call the column of an end: low, or low_noise_only; of several measures with its name."""
    return "_".join(part for part in (end, of, NOISE_ONLY.replace(" ", "_") if rider else "") if part)
