"""All questions, in one list."""

from __future__ import annotations

from tests.helpers.spellings.asked import conditions, counted, days, joined, made, measured, names, tools, windows

ASKED = [
    *names.ASKED,
    *counted.ASKED,
    *conditions.ASKED,
    *measured.ASKED,
    *days.ASKED,
    *made.ASKED,
    *joined.ASKED,
    *windows.ASKED,
    *tools.ASKED,
]
