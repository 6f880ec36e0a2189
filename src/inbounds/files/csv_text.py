"""Csv as text: how a line is taken apart into fields, and how a table is written.

A line is a row: a field is in quotes, with quotes inside it doubled and no line break, or has none.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What is recognised between the names of a header, and what several of it are called."""

_IN_QUOTES = re.compile(r'"(?:[^"]|"")*"')


def field_pattern(delimiter: str) -> str:
    """Return what matches one field: in quotes, with quotes inside it doubled, or without any."""
    return f'{_IN_QUOTES.pattern}|[^"{re.escape(delimiter)}]*'


def split_line(line: str, delimiter: str) -> list[str] | None:
    """Return the fields of a line, quotes and all: joined again they are the line.  None if no fields are."""
    if '"' not in line:
        return line.split(delimiter)
    fields = re.findall(f"({field_pattern(delimiter)}){re.escape(delimiter)}", line + delimiter)
    return fields if delimiter.join(fields) == line else None


def unquote(field: str) -> str:
    """Return what a field says."""
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def find_delimiters(header: str) -> list[str]:
    """Return what may be between the names of a header: a guess among several could cut names apart."""
    bare = _IN_QUOTES.sub("", header)
    return [delimiter for delimiter in DELIMITERS if delimiter in bare]


def write_table(names: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Return a table as csv, with a header."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()


def key_text(key: str | int | bool) -> str:
    """Return a category as a csv file has it, and as the left side of a line in TOML has it."""
    return str(key).lower() if isinstance(key, bool) else str(key)
