"""What the interval beside an answer is about: the true answer or, where a row limit cuts rows off, the noise only.

Every table, page, picture and file asks here what to call an interval.  What is cut off without the contract's limit
on rows does not count: that values lie in their bounds, and keys in their lists, is the custodian's word, and the
answer is about a column as the contract describes it (docs/decisions/0064-intervals-of-noise-only.md).  Where it is
public how much is over the limit, the interval includes it (docs/decisions/0086-what-the-limit-cuts.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from inbounds.accuracy.confidence import percent
from inbounds.query.methods.contribution_bound import counts_everything
from inbounds.query.methods.cut_rows import CutRows
from inbounds.query.question.question import Question
from inbounds.query.tables.relation import is_clipped_by_limit

CAVEAT = "Noise only: the interval does not account for the contribution bound."
"""Said once, beside the numbers, wherever an interval is about the noise only."""

AT_ONCE_CAVEAT = "Simultaneous: all intervals hold at once with the stated confidence."
"""Said once wherever intervals hold together."""

CUT_CAVEAT = "With cut rows: the interval includes the rows over the limit, by the contract's public facts."
"""Said once wherever an interval is about the truth because it is public how much is cut."""


class Cover(Enum):
    """What an interval is about; its value is the rider to its name."""

    TRUTH = ""
    WITH_CUT_ROWS = "with cut rows"
    """The truth, by what is public of the rows over the limit."""
    NOISE = "noise only"

    @property
    def caveat(self) -> str | None:
        """What to know about it, in one line."""
        return {Cover.NOISE: CAVEAT, Cover.WITH_CUT_ROWS: CUT_CAVEAT}.get(self)

    @classmethod
    def of(cls, question: Question, place: int) -> Cover:
        """Return what the intervals of one of the answers to a question are about: the contract alone decides it."""
        if not is_clipped_by_limit(question.table) and counts_everything(question):
            return cls.TRUTH
        return cls.NOISE if CutRows.of(question, place) is None else cls.WITH_CUT_ROWS

    @classmethod
    def of_all(cls, covers: Iterable[Cover]) -> Cover:
        """Return what an interval is about that is made of others: of the truth only if all of them are."""
        order = list(cls)
        return max(covers, key=order.index, default=cls.TRUTH)


def interval_name(confidence: float, cover: Cover, *, simultaneous: bool = False) -> str:
    """Return what people read above or beside an interval, with the rider if it has one."""
    plain = f"{percent(confidence)} {'simultaneous ' if simultaneous else ''}interval"
    return f"{plain} ({cover.value})" if cover.value else plain


def end_name(end: str, of: str, cover: Cover) -> str:
    """Return what programs call the column of an end: low, or low_noise_only; of several measures with its name."""
    return "_".join(part for part in (end, of, cover.value.replace(" ", "_")) if part)
