"""Over which true answers a mean is taken: all of them, or those in a stated window where they never end."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from inbounds.bounds import Bounds
from inbounds.bounds.days import day_number
from inbounds.bounds.index_span import EVERY_INDEX, IndexSpan
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import as_written, concise, rounded, shown

Window = tuple[Any, Any]

PLAIN_SCALES = 10
"""How far a window goes beyond the last finite end, where none was given, in plain scales (sensitivity / epsilon)."""


def indices_of(window: Window | None, bounds: Bounds, lattice: Lattice) -> IndexSpan:
    """Return the indices of a window; without one, all indices."""
    if window is None:
        return EVERY_INDEX
    pair: Any = window
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidParameter(
            f"window must be a pair (low, high) of true answers, got {shown(window)}; give its two ends"
        )
    low, high = (value_of(end, bounds, "an end of the window") for end in window)
    indices = lattice.between(low, high)
    if low > high or not any(indices.meets(span) for span in lattice.spans):
        raise InvalidParameter(
            f"window must hold at least one possible answer of {bounds.brief()}, got {shown(tuple(window))}; "
            "widen or move it"
        )
    return indices


def value_of(end: Any, bounds: Bounds, name: str) -> Fraction:
    """Read a number, or a day for dates, that a caller gave as an end."""
    if bounds.is_dates:
        day = day_number(end)
        if day is None:
            raise InvalidParameter(f"{name} must be a date, got {shown(end)}; give a day, as the bounds do")
        return Fraction(day)
    return as_written(end, name, InvalidParameter)


def refuse_infinite(window: Window | None, bounds: Bounds) -> None:
    """Refuse to average over infinitely many answers."""
    if window is None and not bounds.bounded:
        raise InvalidParameter(
            f"a mean over all possible answers needs bounds with ends, and {bounds.brief()} has infinitely many; "
            "use error(value) or worst_error(), or pass a window (low, high)"
        )


def refuse_both(window: Window | None) -> None:
    """Refuse a window beside a prior."""
    if window is not None:
        raise InvalidParameter(
            f"a mean is over a prior or over a window, got both, with the window {shown(window)}; leave one of them "
            "out, or give the prior no weight outside the window"
        )


def stated_window(bounds: Bounds, plain_scale: Fraction) -> Window | None:
    """Return the default window of a mean: None if the bounds are bounded.

    Otherwise it extends ten plain scales beyond the last finite end on each unbounded side.
    """
    if bounds.bounded:
        return None
    ends = bounds.finite_ends or [bounds.offset]
    beyond = PLAIN_SCALES * plain_scale
    low = ends[0] - beyond if bounds.least is None else ends[0]
    high = ends[-1] + beyond if bounds.greatest is None else ends[-1]
    return bounds.as_answer(low), bounds.as_answer(high)


def format_end(end: Any) -> str:
    """Format an end of a window, whole numbers in full unless they are vast."""
    if isinstance(end, Fraction) and end.denominator != 1:
        return rounded(end, 10)
    return concise(end) if isinstance(end, int | Fraction) else str(end)
