"""How the fields of a csv file seem to be written, from the shape of its first lines: for a custodian who asks for it.

Nothing but the form is told: a decimal sign, what is between thousands, the order of a date.  What is not clear is not
proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from inbounds.query.contract.csv_format import THOUSANDS, UTF_8

LINES = 200
"""So many lines are looked at."""

FALLBACK = "cp1252"
"""What files that are not UTF-8 mostly are, where they come from European spreadsheets."""

_ANY = "[" + "".join(map(re.escape, THOUSANDS)) + "]"
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}({_ANY})[0-9]{{3}}(?:\1[0-9]{{3}})*(?:([.,])[0-9]+)?")
_FRACTION = re.compile(r"[+-]?[0-9]+([.,])[0-9]+")
_DAY = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")
_USUAL_DAY = re.compile(r"[0-9]{4}([-/])[0-9]{1,2}\1[0-9]{1,2}(?:[ T].*)?")


@dataclass(frozen=True)
class CsvShape:
    """What to propose; None for what is as usual, or not clear."""

    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """By the names of columns."""
    other_days: bool = False
    """Whether other columns have days that are written as usual, or not clearly: the formats are not for them."""
    unclear: tuple[str, ...] = ()
    """Columns of days of which day and month cannot be told apart, or of numbers that can be read in two ways."""

    @classmethod
    def of(cls, names: Sequence[str], rows: Iterable[Sequence[str]], *, is_utf_8: bool) -> CsvShape:
        """Look at the fields of some lines, each with as many as there are names."""
        columns = dict(zip(names, zip(*rows, strict=True), strict=False))
        days = {name: how for name, fields in columns.items() if (how := _days(fields)) is not None}
        usual = any(_USUAL_DAY.fullmatch(text.strip()) for fields in columns.values() for text in fields)
        numbers = [text.strip() for name, fields in columns.items() if name not in days for text in fields]
        decimal, thousands = _numbers(numbers)
        doubtful = [] if decimal or thousands else [name for name, fields in columns.items() if _is_doubtful(fields)]
        return cls(
            decimal=decimal if decimal != "." else None,
            thousands=thousands,
            encoding=None if is_utf_8 else FALLBACK,
            date_formats={name: how for name, how in days.items() if how},
            other_days=usual or not all(days.values()),
            unclear=(*(name for name, how in days.items() if not how), *doubtful),
        )

    @property
    def date_format(self) -> str | None:
        """The format of all columns of days, if they have the same, and none has another or may have."""
        formats = set(self.date_formats.values())
        return formats.pop() if len(formats) == 1 and not self.other_days else None


def _numbers(fields: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the decimal sign and what is between thousands, as far as the fields agree about them."""
    decimals, groups = set(), set()
    for text in fields:
        if (match := _GROUPED.fullmatch(text)) and (match[2] or text.count(match[1]) > 1 or match[1] not in ".,"):
            groups.add(match[1])
            decimals |= {match[2]} if match[2] else set()
        elif (match := _FRACTION.fullmatch(text)) and not _GROUPED.fullmatch(text):
            decimals.add(match[1])
    if len(decimals) > 1 or len(groups) > 1 or decimals & groups:
        return None, None
    return (decimals.pop() if decimals else None), (groups.pop() if groups else None)


def _is_doubtful(fields: Sequence[str]) -> bool:
    """Return whether a column has numbers like 1,050, and nothing tells what the comma is."""
    return any(_GROUPED.fullmatch(text.strip()) and "," in text for text in fields)


def _days(fields: Sequence[str]) -> str | None:
    """Return the format of a column of days, empty if day and month cannot be told apart; None if it has no days."""
    filled = [text.strip() for text in fields if text.strip()]
    matches = [match for text in filled if (match := _DAY.fullmatch(text))]
    if not matches or len(matches) < len(filled) / 2:
        return None
    between, year = matches[0][2], "%Y" if len(matches[0][4]) == 4 else "%y"
    if any(int(match[1]) > 12 for match in matches) or between == ".":
        return f"%d{between}%m{between}{year}"
    return f"%m{between}%d{between}{year}" if any(int(match[3]) > 12 for match in matches) else ""


def decode(lines: Sequence[bytes], encoding: str = UTF_8) -> tuple[list[str], bool]:
    """Return lines as texts, and whether they are in the encoding; if not, as they mostly are."""
    try:
        return [line.decode(encoding) for line in lines], True
    except UnicodeDecodeError:
        return [line.decode(FALLBACK, "backslashreplace") for line in lines], False
