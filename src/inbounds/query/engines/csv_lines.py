"""Csv files, line by line: one line is one row, or none, whatever is in the others.

A line is a row if it has as many fields as the header and its quotes are in order.  Line breaks inside quotes are line
breaks all the same: whoever has such fields converts the file first.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp

from inbounds.errors import InvalidContract
from inbounds.query.column import Column, Keys
from inbounds.query.engines.engine import Fields

NEVER = "\x1e\x1f\x1e\x1f"
"""What separates columns of lines, of which there is one."""


def lines(pattern: str, files: list[str], columns: Mapping[str, Column], delimiter: str) -> exp.Subquery:
    """Return a relation with the rows of csv files, each field as the contract says, NULL if it is not."""
    names = same_header(files, delimiter)
    selected = [_converted(name, place, columns.get(name)) for place, name in enumerate(names, 1)]
    return exp.select(*selected).from_(_split(pattern, delimiter)).where(_whole(names)).subquery("t")


def unconverted(pattern: str, files: list[str], delimiter: str) -> Fields:
    """Return every line of csv files, whether it is a row or not, with its fields as texts."""
    names = same_header(files, delimiter)
    called = {name: f"c{place}" for place, name in enumerate(names, 1)}
    texts = [_converted(called[name], place, None) for place, name in enumerate(names, 1)]
    found = exp.select(exp.alias_(_whole(names), "w"), *texts).from_(_split(pattern, delimiter))
    return Fields(found.subquery("t"), called)


def _split(pattern: str, delimiter: str) -> exp.Subquery:
    """Return a relation with the lines of csv files, each as a list `f` of its fields."""
    options = {
        "header": exp.true(),
        "auto_detect": exp.false(),
        "hive_partitioning": exp.false(),  # a folder named line=5 says nothing about the lines
        "delim": exp.Literal.string(NEVER),
        "quote": exp.Literal.string(""),
        "escape": exp.Literal.string(""),
        "columns": exp.Struct(
            expressions=[exp.PropertyEQ(this=exp.Literal.string("line"), expression=exp.Literal.string("VARCHAR"))]
        ),
        "ignore_errors": exp.true(),
        "null_padding": exp.true(),
        "strict_mode": exp.false(),
    }
    given = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    read = exp.Table(this=exp.Anonymous(this="read_csv", expressions=[exp.Literal.string(pattern), *given]))
    return exp.select(exp.alias_(_fields(delimiter), "f")).from_(read).subquery("s")


def _whole(names: list[str]) -> exp.Expr:
    """Return whether a line has as many fields as the header."""
    return exp.EQ(this=_call("LEN", exp.column("f")), expression=exp.Literal.number(len(names)))


def _field(delimiter: str) -> str:
    """Return what matches one field: in quotes, with quotes inside it doubled, or without any."""
    other = re.escape(delimiter)
    return f'"(?:[^"]|"")*"|[^"{other}]*'


def _fields(delimiter: str) -> exp.Expr:
    """Return the list of a line's fields, NULL if its quotes are not in order."""
    line, field, between = exp.column("line"), _field(delimiter), re.escape(delimiter)
    in_order = _call("REGEXP_FULL_MATCH", line, _text(f"(?:{field})(?:{between}(?:{field}))*"))
    ended = exp.DPipe(this=line.copy(), expression=_text(delimiter))
    taken = _call("REGEXP_EXTRACT_ALL", ended, _text(f"({field}){between}"), exp.Literal.number(1))
    plain = _call("STRING_SPLIT", line, _text(delimiter))
    quoted = exp.Case(ifs=[exp.If(this=in_order, true=taken)])
    return exp.Case(ifs=[exp.If(this=_call("CONTAINS", line, _text('"')), true=quoted)], default=plain)


def _converted(name: str, place: int, column: Column | None) -> exp.Expr:
    this = _unquoted(_call("LIST_EXTRACT", exp.column("f"), exp.Literal.number(place)))
    found = this if (kind := _kind(column)) is None else exp.TryCast(this=this, to=exp.DataType.build(kind))
    return exp.alias_(found, name, quoted=True)


def _kind(column: Column | None) -> str | None:
    """Return what to convert a field to, None for text."""
    if column is None:
        return None
    if not isinstance(column, Keys):
        return "DATE" if column.is_dates else "DOUBLE"
    return {str: None, int: "BIGINT", bool: "BOOLEAN"}[type(column.keys[0])]


def _unquoted(field: exp.Expr) -> exp.Expr:
    """Return a field without the quotes around it, with those inside it single, and NULL if it is empty."""
    inside = _call("SUBSTRING", field, exp.Literal.number(2), exp.Sub(this=_call("LENGTH", field), expression=_two()))
    single = _call("REPLACE", inside, _text('""'), _text('"'))
    bare = exp.Case(ifs=[exp.If(this=_call("STARTS_WITH", field, _text('"')), true=single)], default=field.copy())
    return _call("NULLIF", bare, _text(""))


def same_header(files: list[str], delimiter: str) -> list[str]:
    """Return the names of the columns, which every file must have in the same order."""
    headers = [_header(path, delimiter) for path in sorted(files)]
    if any(header != headers[0] for header in headers):
        raise InvalidContract(
            "the csv files have different headers; give them the same header, or ask about them one by one"
        )
    return headers[0]


def _header(path: str, delimiter: str) -> list[str]:
    """Return the names of the columns of a file."""
    line, field, between = first_line(path), _field(delimiter), re.escape(delimiter)
    if re.fullmatch(f"(?:{field})(?:{between}(?:{field}))*", line):
        fields = [found.replace('""', '"') for found in re.findall(f"({field}){between}", line + delimiter)]
        names = [name[1:-1] if name.startswith('"') else name for name in fields]
        if all(name and name.isprintable() for name in names) and len({name.lower() for name in names}) == len(names):
            return names
    raise InvalidContract(
        f"the first line of {Path(path).name} must be a csv header in UTF-8: every column, named once; correct it"
    )


def first_line(path: str) -> str:
    """Return the first line of a file, empty if it cannot be read; no other line is looked at."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            return re.split(rb"[\r\n]", file.readline(), maxsplit=1)[0].decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return ""


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _two() -> exp.Expr:
    return exp.Literal.number(2)
