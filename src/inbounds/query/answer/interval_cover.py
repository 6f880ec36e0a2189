"""What the interval beside an answer is about: the true answer or, where a row limit cuts rows off, the noise only.

The contract alone decides it; what it is called is in `results/cover.py`.  What is cut off without the contract's limit
on rows does not count: that values lie in their bounds, and keys in their lists, is the custodian's word, and the
answer is about a column as the contract describes it (docs/decisions/0064-intervals-of-noise-only.md).  Where it is
public how much is over the limit, the interval includes it (docs/decisions/0086-what-the-limit-cuts.md).
"""

from __future__ import annotations

from inbounds.query.methods.contribution_bound import counts_everything
from inbounds.query.methods.cut_rows import CutRows
from inbounds.query.question.question import Question
from inbounds.query.tables.relation import is_clipped_by_limit
from inbounds.results.cover import Cover


def find_cover(question: Question, place: int) -> Cover:
    """Return what the intervals of one of the answers to a question are about."""
    if not is_clipped_by_limit(question.table) and counts_everything(question):
        return Cover.TRUTH
    return Cover.NOISE if CutRows.of(question, place) is None else Cover.WITH_CUT_ROWS
