"""How far off something is expected to be, as people read it: rounded in one way wherever it is told."""

from __future__ import annotations

DIGITS = 4
"""How many digits of an error are shown; the rest tells nobody anything."""

BRIEF_DIGITS = 3
"""How many where several errors stand in one sentence."""


def format_error(error: float, *, brief: bool = False) -> str:
    """Return an expected error, or an expected noise, with as many digits as people need."""
    return f"{error:.{BRIEF_DIGITS if brief else DIGITS}g}"
