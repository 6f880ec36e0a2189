"""Text for models: facts, tables and quotations.

What comes from contracts and reports is quoted, on one line, with whatever cannot be printed written out.  So it
cannot look like a line of ours, and a model is told that quoted text is data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, time
from typing import Any

from inbounds.display.text import printable

LONGEST_QUOTATION = 2000


def quote(text: object) -> str:
    """Return a text from elsewhere in quotes."""
    whole = str(text)
    cut = whole if len(whole) <= LONGEST_QUOTATION else f"{whole[:LONGEST_QUOTATION]}…"
    return json.dumps(printable(cut), ensure_ascii=False)


def list_facts(facts: Iterable[tuple[str, object]]) -> str:
    """Return names and values, a line each; those without a value are left out."""
    return "\n".join(f"{name}: {printable(str(value))}" for name, value in facts if value not in (None, "", [], ()))


def draw_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in which nothing is cut off; a bar within a cell is marked."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        f"| {' | '.join(printable(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def write_value(value: Any) -> str:
    """Return a released value as text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"
    return value.isoformat() if isinstance(value, date | time) else str(value)
