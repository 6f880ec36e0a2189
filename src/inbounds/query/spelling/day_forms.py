"""Forms of days as databases write them: patterns of PostgreSQL, MySQL, Java and .NET, as forms of strftime."""

from __future__ import annotations

import re
from collections.abc import Callable

POSTGRES = {
    "yyyy": "%Y", "yy": "%y", "q": "%q", "mm": "%m", "fmmm": "%-m", "month": "%B", "fmmonth": "%B", "mon": "%b",
    "dd": "%d", "fmdd": "%-d", "day": "%A", "fmday": "%A", "dy": "%a", "ddd": "%j", "id": "%u", "iyyy": "%G",
    "iw": "%V", "hh24": "%H",
}  # fmt: skip
"""Of TO_CHAR, also of Oracle and Snowflake; blanks that fill up names are left out."""

JAVA = {
    "yyyy": "%Y", "yy": "%y", "y": "%Y", "Q": "%q", "q": "%q", "MM": "%m", "M": "%-m", "MMMM": "%B", "LLLL": "%B",
    "MMM": "%b", "LLL": "%b", "dd": "%d", "d": "%-d", "EEEE": "%A", "EEE": "%a", "E": "%a", "dddd": "%A", "ddd": "%a",
    "HH": "%H",
}  # fmt: skip
"""Of Spark and of SQL Server; one letter as often as the part is wide."""

MYSQL = {"%M": "%B", "%W": "%A", "%c": "%-m", "%e": "%-d", "%x": "%G", "%v": "%V", "%u": "%W", "%V": "%U"}
"""Of DATE_FORMAT, where they differ; the last two are weeks that begin otherwise, which are refused."""

QUOTED = r"\"[^\"]*\"|'[^']*'"


def of_postgres(form: str) -> str | None:
    """Return a pattern of TO_CHAR, in any case, as a form; None if part of it is unknown."""
    part = "|".join(sorted(POSTGRES, key=len, reverse=True))
    return _translate(form, f"(?i:{part})", lambda written: POSTGRES.get(written.lower()))


def of_java(form: str) -> str | None:
    """Return a pattern of letters that are repeated as a form; None if part of it is unknown."""
    return _translate(form, "(?P<letter>[A-Za-z])(?P=letter)*", JAVA.get)


def of_mysql(form: str) -> str:
    """Return a form of DATE_FORMAT as one of strftime."""
    return re.sub("%[A-Za-z]", lambda part: MYSQL.get(part[0], part[0]), form)


def _translate(form: str, part: str, find: Callable[[str], str | None]) -> str | None:
    """Return a pattern with its parts replaced; letters that are no part must be in quotes."""
    pieces, at = list[str](), 0
    for found in re.finditer(rf"(?P<quoted>{QUOTED})|(?P<part>{part})|[^A-Za-z%\"']", form):
        if found.start() != at:
            return None
        at = found.end()
        written = find(found[0]) if found["part"] else found[0]
        if written is None:
            return None
        pieces.append(found[0][1:-1] if found["quoted"] else written)
    return "".join(pieces) if at == len(form) else None
