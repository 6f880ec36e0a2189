"""Which rows of a long answer people are shown: those that stand out of the noise, and how many others there are.

The rule looks at released numbers only, so it costs nothing.  Noise alone puts a number farther from zero than
`noise * ln(n / 0.05)` in any of `n` groups with a probability of about 5 %.  What is farther away is shown; of the
others nothing can be said but that they are small beside the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from inbounds.accuracy.confidence import CONFIDENCE

if TYPE_CHECKING:
    from inbounds.results.answer import Answer

MOST_ROWS = 1000
"""An answer of so many rows is shown as it is, and of a longer one no more than so many."""


@dataclass(frozen=True)
class ShownRows:
    """The rows to show, by place, and a line on those that are not."""

    places: range | list[int]
    rest: str | None = None


def choose_rows(answer: Answer) -> ShownRows:
    """Return which rows to show; totals are among them."""
    count = len(answer.rows)
    if count <= MOST_ROWS:
        return ShownRows(range(count))
    keys, measures = answer.key_places, answer.measure_places
    farthest = log(count / (1 - CONFIDENCE))
    clear = [
        place
        for place, (row, noise) in enumerate(zip(answer.rows, answer.noise, strict=True))
        if any(row[key] is None for key in keys)
        or any(_stands_out(row[of], spread, farthest) for of, spread in zip(measures, noise, strict=True))
    ]
    return ShownRows(clear[:MOST_ROWS], _describe_rest(count, len(clear)))


def _stands_out(value: Any, noise: float | None, farthest: float) -> bool:
    """Return whether a number is farther from zero than noise would put it; what has no such noise does."""
    if noise is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value is not None
    return abs(value) > noise * farthest


def _describe_rest(count: int, clear: int) -> str:
    within, beyond = count - clear, max(clear - MOST_ROWS, 0)
    parts = [f"{within:,} further keys within the noise"] if within else []
    parts += [f"{beyond:,} more that stand out of it"] if beyond else []
    return f"… {' and '.join(parts)}; the full answer is in rows, JSON and csv."
