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
        days = {name: found for name, fields in columns.items() if (found := _days(fields)) is not None}
        usual = any(_USUAL_DAY.fullmatch(one.strip()) for fields in columns.values() for one in fields)
        numbers = [one.strip() for name, fields in columns.items() if name not in days for one in fields]
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
    for one in fields:
        if (found := _GROUPED.fullmatch(one)) and (found[2] or one.count(found[1]) > 1 or found[1] not in ".,"):
            groups.add(found[1])
            decimals |= {found[2]} if found[2] else set()
        elif (found := _FRACTION.fullmatch(one)) and not _GROUPED.fullmatch(one):
            decimals.add(found[1])
    if len(decimals) > 1 or len(groups) > 1 or decimals & groups:
        return None, None
    return (decimals.pop() if decimals else None), (groups.pop() if groups else None)


def _is_doubtful(fields: Sequence[str]) -> bool:
    """Return whether a column has numbers like 1,050, and nothing tells what the comma is."""
    return any(_GROUPED.fullmatch(one.strip()) and "," in one for one in fields)


def _days(fields: Sequence[str]) -> str | None:
    """Return the format of a column of days, empty if day and month cannot be told apart; None if it has no days."""
    filled = [one.strip() for one in fields if one.strip()]
    found = [match for one in filled if (match := _DAY.fullmatch(one))]
    if not found or len(found) < len(filled) / 2:
        return None
    between, year = found[0][2], "%Y" if len(found[0][4]) == 4 else "%y"
    if any(int(match[1]) > 12 for match in found) or between == ".":
        return f"%d{between}%m{between}{year}"
    return f"%m{between}%d{between}{year}" if any(int(match[3]) > 12 for match in found) else ""


def decoded(lines: Iterable[bytes], encoding: str = UTF_8) -> tuple[list[str], bool]:
    """Return lines as texts, and whether they are in the encoding; if not, as they mostly are."""
    given = list(lines)
    try:
        return [line.decode(encoding) for line in given], True
    except UnicodeDecodeError:
        return [line.decode(FALLBACK, "backslashreplace") for line in given], False
