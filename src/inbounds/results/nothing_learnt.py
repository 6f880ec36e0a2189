"""Intervals that say nothing: the whole range of possible answers, which was public; the number beside one is noise."""

from __future__ import annotations

from typing import Any

NOTHING_LEARNT = "nothing learnt"
"""Shown in place of a number whose interval is the whole range of possible answers."""

TOO_FEW_ROWS = (
    f'Where it says "{NOTHING_LEARNT}", the interval is the whole possible range: there are too few rows for this '
    "epsilon. Ask for fewer groups or a larger epsilon."
)
"""Said once below them."""


class WholeRange(tuple[Any, Any]):
    """An interval that is the whole range of possible answers: nothing was learnt."""

    __slots__ = ()
