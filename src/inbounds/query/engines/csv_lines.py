"""Csv files, line by line: one line is one row, or none, whatever is in the others.

A line is a row if it has as many fields as the header and its quotes are in order.  Line breaks inside quotes are line
breaks all the same: whoever has such fields converts the file first.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from glob import glob
from itertools import islice
from pathlib import Path

from sqlglot import exp

from inbounds.errors import InvalidContract
from inbounds.files.csv_text import field_pattern, split_line, unquote
from inbounds.ledger.values.address import without_secrets
from inbounds.query.columns.column import Column
from inbounds.query.columns.kind import DAY, NUMBER, TEXT_KEY, TIME, WHOLE_KEY
from inbounds.query.contract.csv_format import UTF_8, CsvForm, is_utf_8
from inbounds.query.engines.by_contract import read, zone_of
from inbounds.query.engines.csv_shape import FALLBACK, LINES, CsvShape, decode
from inbounds.query.engines.engine import Fields
from inbounds.query.engines.utf8_copy import Utf8Copy, open_bytes

NEVER = "\x1e\x1f\x1e\x1f"
"""What separates columns of lines, of which there is one."""


DIRECTIVES = {"Y": "[0-9]{4}", "%": "%", **dict.fromkeys("dmyHIMSf", "[0-9]+")}
"""What parts of a day are written as; others, such as names of months, as any text."""


class CsvLines:
    """The lines of csv files that have the same header, and how their fields are written."""

    def __init__(self, pattern: str, files: list[str], form: CsvForm) -> None:
        self._copy = None if is_utf_8(form.encoding) else Utf8Copy(files, form.encoding)
        self._pattern, self._files = (pattern, files) if self._copy is None else (self._copy.pattern, self._copy.files)
        self._form = form
        self.names = same_header(self._files, form.delimiter)

    def relation(self, wanted: Mapping[str, Column | None]) -> exp.Subquery:
        """Return a relation with the rows, and of their fields those that are wanted, each as the contract says."""
        columns = [(place, name) for place, name in enumerate(self.names, 1) if name in wanted]
        selected = [exp.alias_(self._read(name, place, wanted[name]), name, quoted=True) for place, name in columns]
        return exp.select(*selected or [exp.Literal.number(1)]).from_(self._split()).where(self._whole()).subquery("t")

    def unread(self) -> Fields:
        """Return every line, whether it is a row or not, with its fields as texts."""
        aliases = {name: f"c{place}" for place, name in enumerate(self.names, 1)}
        texts = [exp.alias_(_text_at(place), alias) for place, alias in enumerate(aliases.values(), 1)]
        lines = exp.select(exp.alias_(self._whole(), "w"), *texts).from_(self._split())
        return Fields(lines.subquery("t"), aliases, lost=sum(map(_count_not_utf_8, self._files)))

    def close(self) -> None:
        """Remove what was copied."""
        if self._copy is not None:
            self._copy.close()

    def _read(self, name: str, place: int, column: Column | None) -> exp.Expr:
        """Return a field as the contract says, NULL if it is not."""
        text, form = _text_at(place), self._form
        if column is None or column.kind is TEXT_KEY:
            return text
        if (how := time_format(column, form, name)) is not None:
            return _day(text, how, "DATE" if column.kind is DAY and zone_of(column) is None else "TIMESTAMP")
        is_number = column.kind in (NUMBER, WHOLE_KEY)
        return read(column, _plain_number(text, form) if is_number and not form.has_plain_numbers else text)

    def _split(self) -> exp.Subquery:
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
        lines = read_files("read_csv", self._pattern, options)
        return exp.select(exp.alias_(_fields(self._form.delimiter), "f")).from_(lines).subquery("s")

    def _whole(self) -> exp.Expr:
        """Return whether a line has as many fields as the header."""
        return exp.EQ(this=_call("LEN", exp.column("f")), expression=exp.Literal.number(len(self.names)))


def read_files(function: str, patterns: str | Sequence[str], options: Mapping[str, exp.Expr]) -> exp.Table:
    """Return the rows of the files that a pattern or several name, as a function of DuckDB reads them."""
    arguments = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    named = _text(patterns) if isinstance(patterns, str) else exp.Array(expressions=list(map(_text, patterns)))
    return exp.Table(this=exp.Anonymous(this=function, expressions=[named, *arguments]))


def read_parquet(pattern: str | Sequence[str]) -> exp.Expr:
    """Return the rows of the parquet files that a pattern or several name."""
    options = {
        "union_by_name": exp.true(),  # and by their common type
        "hive_partitioning": exp.false(),  # a folder named age=5 says nothing about the rows
    }
    return read_files("read_parquet", pattern, options)


def find_files(pattern: str) -> list[str]:
    """Return the files that a pattern names on this machine, an address as it is; refuse a pattern that names none."""
    if "://" in pattern:
        return [pattern]
    files = glob(pattern, recursive=True)
    if not files:
        raise InvalidContract(f"no file at {without_secrets(pattern)}; a source is relative to the contract's folder")
    return files


def _fields(delimiter: str) -> exp.Expr:
    """Return the list of a line's fields, NULL if its quotes are not in order."""
    # Most lines have no quotes, and to split at the delimiter is quicker than to match.  Of others every field is
    # extracted together with the delimiter behind it, so one is put at the end of the line first.
    line, field, between = exp.column("line"), field_pattern(delimiter), re.escape(delimiter)
    in_order = _call("REGEXP_FULL_MATCH", line, _text(f"(?:{field})(?:{between}(?:{field}))*"))
    ended = exp.DPipe(this=line.copy(), expression=_text(delimiter))
    extracted = _call("REGEXP_EXTRACT_ALL", ended, _text(f"({field}){between}"), exp.Literal.number(1))
    plain = _call("STRING_SPLIT", line, _text(delimiter))
    quoted = exp.Case(ifs=[exp.If(this=in_order, true=extracted)])
    return exp.Case(ifs=[exp.If(this=_call("CONTAINS", line, _text('"')), true=quoted)], default=plain)


def time_format(column: Column, form: CsvForm, name: str) -> str | None:
    """Return how the days or times of a column are written; None as ISO has them.

    What is said of all columns is about days only, unless it has hours.
    """
    how = form.day_format(name) if column.kind in (DAY, TIME) else None
    is_of_time = how is not None and (name in form.date_formats or "%H" in how or "%I" in how)
    return how if column.kind is DAY or is_of_time else None


def _day(field: exp.Expr, how: str, kind: str) -> exp.Expr:
    """Return a day or a time that is written in a format, NULL if it is not.

    DuckDB reads `epoch` and `infinity` in any format, and a year of two digits where four are meant.
    """
    shape = "".join(
        DIRECTIVES.get(part[1], ".+") if len(part) == 2 else re.escape(part) for part in re.findall("%.|[^%]+", how)
    )
    day = exp.TryCast(this=_call("TRY_STRPTIME", field, _text(how)), to=exp.DataType.build(kind))
    fits = _call("REGEXP_FULL_MATCH", _call("TRIM", field), _text(shape.replace("\\ ", "\\s+")))
    return exp.Case(ifs=[exp.If(this=fits, true=day)])


def _plain_number(field: exp.Expr, form: CsvForm) -> exp.Expr:
    """Return a number that people wrote as programs write it, NULL if it is not written in this form.

    Thousands are apart in threes: what is not, such as 1,05, could as well be meant otherwise, and is not read.
    """
    text, point = _call("TRIM", field), re.escape(form.decimal)
    grouped = f"[0-9]{{1,3}}(?:[{form.thousands}][0-9]{{3}})+|" if form.thousands else ""
    shape = _text(f"[+-]?(?:{grouped}[0-9]+)?(?:{point}[0-9]*)?(?:[eE][+-]?[0-9]+)?")
    together = _call("REPLACE", text, _text(form.thousands), _text("")) if form.thousands else text
    plain = _call("REPLACE", together, _text(form.decimal), _text("."))
    return exp.Case(ifs=[exp.If(this=_call("REGEXP_FULL_MATCH", text, shape), true=plain)])


def _text_at(place: int) -> exp.Expr:
    """Return a field without the quotes around it, with those inside it single, and NULL if it is empty."""
    field = _call("LIST_EXTRACT", exp.column("f"), exp.Literal.number(place))
    two = exp.Literal.number(2)
    inside = _call("SUBSTRING", field, two, exp.Sub(this=_call("LENGTH", field), expression=two.copy()))
    single = _call("REPLACE", inside, _text('""'), _text('"'))
    bare = exp.Case(ifs=[exp.If(this=_call("STARTS_WITH", field, _text('"')), true=single)], default=field.copy())
    return _call("NULLIF", bare, _text(""))


def same_header(files: list[str], delimiter: str, encoding: str = UTF_8) -> list[str]:
    """Return the names of the columns, which every file must have in the same order."""
    headers = [_read_header(path, delimiter, encoding) for path in sorted(files)]
    if any(header != headers[0] for header in headers):
        raise InvalidContract(
            "the csv files have different headers; give them the same header, or ask about them one by one"
        )
    return headers[0]


def _read_header(path: str, delimiter: str, encoding: str) -> list[str]:
    """Return the names of the columns of a file."""
    names = [unquote(field) for field in split_line(first_line(path, encoding), delimiter) or [""]]
    if all(name and name.isprintable() for name in names) and len({name.lower() for name in names}) == len(names):
        return names
    raise InvalidContract(
        f"the first line of {Path(path).name} must be a csv header in UTF-8, or in the encoding that the contract "
        "gives: every column, named once; correct it"
    )


def first_line(path: str, encoding: str = UTF_8) -> str:
    """Return the first line of a file, empty if it cannot be read; no other line is looked at."""
    try:
        with open_bytes(path) as file:
            line = re.split(rb"[\r\n]", file.readline(), maxsplit=1)[0]
            return line.decode("utf-8-sig" if is_utf_8(encoding) else encoding)
    except (OSError, EOFError, zlib.error, UnicodeError):
        return ""


def encoding_of(path: str) -> str:
    """Return what the first lines of a file seem to be encoded in."""
    return UTF_8 if decode(_read_first_lines(path), "utf-8-sig")[1] else FALLBACK


def shape_of(path: str, names: list[str], delimiter: str) -> CsvShape:
    """Return how the fields in the first lines of a file seem to be written."""
    lines, is_utf_8 = decode(_read_first_lines(path), "utf-8-sig")
    split = (split_line(line.rstrip("\r\n"), delimiter) or [] for line in lines[1:])
    rows = [list(map(unquote, fields)) for fields in split if len(fields) == len(names)]
    return CsvShape.of(names, rows, is_utf_8=is_utf_8)


def _read_first_lines(path: str) -> list[bytes]:
    """Return the first lines of a file, none if it cannot be read."""
    try:
        with open_bytes(path) as file:
            return list(islice(file, LINES))
    except (OSError, EOFError, zlib.error):
        return []


def _count_not_utf_8(path: str) -> int:
    """Return how many lines of a file are not UTF-8, and so passed over."""
    count = 0
    with open_bytes(path) as file:
        for line in file:
            try:
                line.decode()
            except UnicodeDecodeError:
                count += 1
    return count


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)
