"""What a day is written as: a form such as %Y-%m, of parts that the day has and of characters as they stand."""

from __future__ import annotations

import re

from inbounds.errors import InvalidQuestion

HOUR = "%H"
"""The form that writes the hour of a time."""

OF_YEARS = ("%Y", "%y")
OF_QUARTERS = ("%q",)
OF_MONTHS = ("%m", "%-m", "%B", "%b")
OF_WEEKS = ("%G", "%V")
OF_DAYS = ("%d", "%-d", "%j", "%A", "%a", "%u", "%w")
PARTS = (*OF_YEARS, *OF_QUARTERS, *OF_MONTHS, *OF_WEEKS, *OF_DAYS)
"""The parts of a form; names of days and months are English, %q is the quarter, and %G and %V are of ISO weeks."""

PIECE = re.compile(r"%-?[A-Za-z]|[^%]+|%")

LONGEST = 40


def split_form(form: str) -> list[str]:
    """Return the parts of a form and what stands between them; refuse a form that has others."""
    pieces = PIECE.findall(form)
    parts = [piece for piece in pieces if piece.startswith("%")]
    if not parts or not set(parts) <= set(PARTS) or len(form) > LONGEST:
        raise InvalidQuestion(
            f"STRFTIME takes {HOUR}, or a form of {', '.join(PARTS)}, got '{form}'; write it like "
            "STRFTIME(day, '%Y-%m')"
        )
    return pieces


def check_form(form: str) -> None:
    """Refuse a form that no day or hour is written as."""
    if form != HOUR:
        split_form(form)
