"""How sure intervals are, unless something else is asked for."""

from __future__ import annotations

CONFIDENCE = 0.95
"""The probability with which an interval holds what it is for; another default is this one line."""


def percent(confidence: float = CONFIDENCE) -> str:
    """Format a confidence level: `95 %`."""
    return f"{confidence * 100:.12g} %"
