"""How the fields of a csv file are written, as the contract says: nothing of it is guessed from rows.

[dataset]
delimiter = ";"
decimal = ","
thousands = "."
date_format = "%d.%m.%Y"
encoding = "cp1252"
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column
from inbounds.query.columns.kind import DAY, TIME
from inbounds.query.contract.contract import Contract

FORM_KEYS = ("delimiter", "decimal", "thousands", "date_format", "encoding")
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")

THOUSANDS = (",", ".", " ", "'", "\u2019", "\u00a0", "\u202f", "_")
"""What may stand between the digits of a large number; among them spaces that do not break."""

UTF_8 = "utf-8"

_ENCODINGS = re.compile(
    r"ascii|utf-8(-sig)?|cp[0-9]+|iso8859-[0-9]+|koi8-[rtu]|mac-[a-z0-9]+|hp-roman8|kz1048|ptcp154|tis-620|"
    r"big5(hkscs)?|gb2312|gbk|gb18030|euc_(jp|jis_2004|jisx0213|kr)|shift_jis|johab"
)
"""Character sets, as Python calls them, in which no bytes but a line break's become one.

Other codecs keep ASCII as it is, too, and yet can make several lines of one, such as `unicode_escape`.
"""

_DIRECTIVE = re.compile(r"%(.?)")
_OF_A_DAY = ({"d"}, {"m", "b", "B"}, {"Y", "y"})
_OTHERS = frozenset("HIMSfpaA%")
_EXAMPLES = (date(2026, 12, 31), date(1999, 2, 3))


@dataclass(frozen=True)
class CsvForm:
    """How fields are written; as most programs write them unless the contract says otherwise."""

    delimiter: str = ","
    decimal: str = "."
    thousands: str | None = None
    date_format: str | None = None
    """As `strptime` has it; None for days like 2026-12-31."""
    encoding: str = UTF_8
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """The columns whose days are written in another way."""

    @classmethod
    def of(cls, contract: Contract, source: str = "") -> CsvForm:
        """Read how the fields of a table are written; refuse what cannot be."""
        form = {key: _text(contract, key) for key in FORM_KEYS if contract.has("dataset", key)}
        if problem := _problem(form):
            key, why = problem
            raise contract.refuse(why, "dataset", key)
        usual = "\t" if ".tsv" in source.lower() else ","
        return cls(**{"delimiter": usual} | form, date_formats=_column_formats(contract))

    def day_format(self, name: str) -> str | None:
        """Return how the days of a column are written; None for days like 2026-12-31."""
        return self.date_formats.get(name, self.date_format)

    @property
    def has_plain_numbers(self) -> bool:
        """Whether numbers are written as programs write them."""
        return self.decimal == "." and self.thousands is None


def refuse_forms(contract: Contract, columns: Mapping[str, Column]) -> None:
    """Refuse what a contract says of the form of a file that is no csv file, and of columns that hold no days."""
    form = CsvForm.of(contract)
    for name in form.date_formats:
        column = columns[name]
        if column.is_derived or column.kind not in (DAY, TIME):
            raise contract.refuse(
                f"date_format needs bounds that are dates or times, but column {name!r} has none; leave it out",
                "columns", name, "date_format",
            )  # fmt: skip
    source = contract.content.get("dataset", {}).get("source", "")
    if not isinstance(source, str) or not source or source.lower().endswith(CSV_ENDINGS):
        return
    keys = [key for key in FORM_KEYS[1:] if contract.has("dataset", key)]
    path = ("dataset", *keys[:1]) if keys else ("columns", *list(form.date_formats)[:1], "date_format")
    if keys or form.date_formats:
        raise contract.refuse(f"{path[-1]} is for csv files, but the source is not one; leave it out", *path)


def _column_formats(contract: Contract) -> dict[str, str]:
    formats = {}
    for name, table in contract.table("columns").items() if contract.has("columns") else ():
        if isinstance(table, Mapping) and "date_format" in table:
            text = contract.text_of("columns", name, "date_format")
            if problem := _problem({"date_format": text}):
                raise contract.refuse(problem[1], "columns", name, "date_format")
            formats[name] = text
    return formats


def _text(contract: Contract, key: str) -> str:
    value: Any = contract.value("dataset", key)
    if key in ("delimiter", "thousands") and isinstance(value, str) and len(value) == 1:  # which may be blank
        return value
    return contract.text_of("dataset", key)


def _problem(form: Mapping[str, str]) -> tuple[str, str] | None:
    """Return which key cannot be so and why, None if all can."""
    tests = (_delimiter, _decimal, _thousands, _date_format, _encoding)
    for key, test in zip(FORM_KEYS, tests, strict=True):
        if key in form and (why := test(form[key])):
            return key, why
    if form.get("decimal", ".") == form.get("thousands"):
        return "thousands", (
            f"decimal and thousands must differ, got {shown(form['thousands'])} for both; "
            "with thousands = '.' write decimal = ','"
        )
    return None


def _delimiter(text: str) -> str | None:
    return None if len(text) == 1 else f"delimiter must be one character, got {shown(text)}; write it like ';'"


def _decimal(text: str) -> str | None:
    return None if text in (".", ",") else f"decimal must be '.' or ',', got {shown(text)}; write one of the two"


def _thousands(text: str) -> str | None:
    if text in THOUSANDS:
        return None
    return (
        f"thousands must be a comma, a point, a space, an apostrophe or an underscore, got {shown(text)}; "
        "write it like ','"
    )


def _date_format(text: str) -> str | None:
    """Return why a format does not tell a day, None if it does: each part of it is there once."""
    directives = _DIRECTIVE.findall(text)
    once = all(sum(directive in part for directive in directives) == 1 for part in _OF_A_DAY)
    known = all(directive in _OTHERS or any(directive in part for part in _OF_A_DAY) for directive in directives)
    if once and known and text.isprintable() and all(_reads_back(text, day) for day in _EXAMPLES):
        return None
    return (
        f"date_format must have a day %d, a month %m or %b and a year %Y or %y, each once, got {shown(text)}; "
        "write it like '%d.%m.%Y' for 31.12.2026, or '%m/%d/%Y' for 12/31/2026"
    )


def _reads_back(text: str, day: date) -> bool:
    try:
        return datetime.strptime(day.strftime(text), text).date() == day
    except ValueError:
        return False


def _encoding(text: str) -> str | None:
    """Return why files in an encoding cannot be read line by line, None if they can."""
    try:
        is_known = _ENCODINGS.fullmatch(codecs.lookup(text).name) is not None
        if is_known and bytes(range(128)).decode(text) == bytes(range(128)).decode("ascii"):
            return None
    except (LookupError, ValueError):
        pass
    return (
        "encoding must be one that keeps ASCII as it is and lines apart, such as 'utf-8', 'cp1252' or 'latin-1', "
        f"got {shown(text)}; write one of these, or convert the file to UTF-8"
    )


def is_utf_8(encoding: str) -> bool:
    """Return whether an encoding, which is one, is UTF-8."""
    return codecs.lookup(encoding).name in (UTF_8, "utf-8-sig", "ascii")
