"""What the interval beside an answer is about, and what to call it: every table, page, picture and file asks here."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from inbounds.accuracy.confidence import percent

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
