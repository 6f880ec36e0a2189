"""The page "SQL you know": what people write and what it is read as, one line for each spelling.

python -m tests.helpers.spelling_page > docs/sql-you-know.md
"""

from __future__ import annotations

import sys

from inbounds.query.spelling.spelling import Place, Spelling
from inbounds.query.spelling.spellings import SPELLINGS

HEAD = """# SQL you know

Queries may be written in the words of other databases. They are translated into the grammar of
[querying tables](tables.md) before anything is read, so two spellings of one question are one question: asked again in
the other, it is free. Aliases, the order of conditions and that of joined tables make no other question either. What
is not in this table, nor on the page about tables, is refused with what to write instead.

Names may be in double quotes, in backticks or in brackets, and `public.`, `main.` and `dbo.` before a table are left
out. A measure of some rows, such as `COUNT(*) FILTER (WHERE …)`, is a condition after `WHERE` if all measures of the
query are about the same rows; then the contribution bound is about these rows alone.

Databases disagree about a few things. Here `a // b` is rounded down, as `FLOOR(a / b)` is; `WEEKDAY(day)` is 0 on a
Monday, and weeks begin with it; and `CONCAT` of a missing text is missing, as `||` is.
"""

TITLES: dict[Place, str] = {
    "statement": "Clauses",
    "measure": "Measures",
    "value": "Values",
    "condition": "Conditions",
    "group": "Groups",
    "unit": "Measures of each person",
}

FRAMES: dict[Place, str] = {
    "statement": "{}",
    "measure": "SELECT {} AS x FROM visits",
    "value": "SELECT SUM({}) AS x FROM visits",
    "condition": "SELECT COUNT(*) FROM visits WHERE {}",
    "group": "SELECT {} AS x, COUNT(*) FROM visits GROUP BY x",
    "unit": "SELECT x, COUNT(*) FROM (SELECT patient, {} AS x FROM visits GROUP BY patient) AS t GROUP BY x",
}
"""The query that an example stands in."""


def frame(spelling: Spelling, text: str) -> str:
    """Return the query that an example, or what it is read as, stands in."""
    return FRAMES[spelling.place].format(text)


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for place, title in TITLES.items():
        lines = [
            f"| {_code(spelling.written)} | {_code(spelling.read_as)} |"
            for spelling in SPELLINGS
            if spelling.place == place
        ]
        parts.append("\n".join([f"## {title}", "", "| written | read as |", "|---|---|", *lines, ""]))
    return "\n".join(parts)


def _code(text: str) -> str:
    return f"``{text}``" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    sys.stdout.write(page())
