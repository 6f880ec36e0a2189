"""ClickHouse, through clickhouse-connect: each statement by itself, over HTTP.

ClickHouse wraps integers that are too great, has days of sixteen bits, and reads texts as doubles roughly unless it is
told not to.  So the table is read as few kinds of values first (`_read_as`): integers of 64 bits or more, doubles,
texts, and days as the integers that Python gives them.  Every day in a statement is such a number, and the calendar is
computed of it: the types for days have ends that differ from version to version.  A time is a number of microseconds,
too, beside its day: what its own clock shows, and the moment in UTC.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.query.engines.clickhouse.day_numbers import PARTS, call, first_of_month, plus
from inbounds.query.engines.engine import ColumnTypes, Dialect, Engine, Kind, join_texts, nested_kind

try:
    import clickhouse_connect
except ImportError:
    raise ImportError("tables in ClickHouse need clickhouse-connect: pip install 'inbounds[clickhouse]'") from None

SECURE = "clickhouses"
"""How an address begins that is reached by HTTPS."""

GRACE = 5
"""A server that has said nothing so many seconds after it should have stopped a statement is given up."""

DESCRIBING = 20
"""Seconds in which a server says what columns a table has."""

PATIENT = 10 * 365 * 86400
"""Seconds to wait where a statement may take as long as it takes: the driver knows no other way to say so."""

TIMEOUT_EXCEEDED = re.compile(r"\b(code: 159|TIMEOUT_EXCEEDED|timed out)\b", re.IGNORECASE)

LIMITS = ("distinct", "group_by", "join", "read", "result", "set", "sort", "timeout", "transfer")
SETTINGS: dict[str, Any] = {
    "join_use_nulls": 1,
    "precise_float_parsing": 1,
    "prefer_column_name_to_alias": 1,
    "max_query_size": 2**28,
    "max_ast_elements": 10**7,
    "max_expanded_ast_elements": 10**7,
    **{f"{limit}_overflow_mode": "throw" for limit in LIMITS},
}
"""What a statement needs: what a join does not find is NULL, texts are read as the nearest doubles, a name is a column
before it is an alias, a statement may list every key of a contract, and a server that stops at a limit fails, instead
of adding up what it has read so far."""

EPOCH = date(1970, 1, 1).toordinal()
"""The number of the day from which ClickHouse counts."""

EXACT_DIGITS = 15
"""Decimals of so many digits are quotients of two doubles, and so converted by one rounding."""

NARROW = "Int8|Int16|Int32|Int64|UInt8|UInt16|UInt32"
"""The types that 64 bits hold."""
FORMS: tuple[tuple[str, Kind, str], ...] = (
    (NARROW, Kind.INTEGER, "Int64"),
    ("UInt64", Kind.INTEGER, "Int128"),
    ("Int128|UInt128|Int256", Kind.INTEGER, "Int256"),
    ("Float32|Float64", Kind.FLOAT, "Float64"),
    (r"Decimal\(([0-9]+), [0-9]+\)", Kind.DECIMAL, ""),
    (r"String|Enum(8|16)\(.*\)", Kind.TEXT, "String"),
    ("Bool", Kind.BOOLEAN, "Bool"),
    ("UUID", Kind.UUID, "UUID"),
    ("Date|Date32", Kind.DATE, "days"),
    (r"DateTime(\('.*'\))?|DateTime64\(.*\)", Kind.TIMESTAMP, "days"),
)
"""Types, what they hold, and what a statement reads them as."""


class ClickHouseDialect(Dialect):
    """How ClickHouse writes what engines do not share."""

    name = "clickhouse"
    reads_twice = True

    def like(self, value: exp.Expr, pattern: str) -> exp.Expr:
        """Return whether a text fits a pattern; a backslash, which escapes here, is taken as it is."""
        return exp.Like(this=value.copy(), expression=self.text(pattern.replace("\\", "\\\\")))

    def part_of_text(self, value: exp.Expr, part: Sequence[str | int]) -> exp.Expr:
        """Return a part of a text by its characters, and not its bytes."""
        numbers = [exp.Literal.number(int(at)) for at in part]
        return exp.Anonymous(this="substringUTF8", expressions=[value.copy(), *numbers])

    def find_text(self, value: exp.Expr, texts: Sequence[str]) -> exp.Expr:
        """Return the place of a text in a list, counted from 0."""
        found = call("indexOf", self.cut_list(texts), value.copy())
        place = call("toInt64", call("nullIf", found, exp.Literal.number(0)))
        return exp.paren(exp.Sub(this=place, expression=exp.Literal.number(1)))

    def pick_number(self, place: exp.Expr, numbers: Sequence[int]) -> exp.Expr:
        at = exp.Add(this=exp.paren(place.copy()), expression=exp.Literal.number(1))
        return call("toInt64OrNull", call("arrayElement", self.cut_list(list(map(str, numbers))), at))

    def cut_list(self, texts: Sequence[str]) -> exp.Expr:
        joined, separator = join_texts(texts)
        return call("splitByString", self.text(separator), self.text(joined))

    def total(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of integers in 128 bits: one of 64 wraps."""
        return exp.Sum(this=call("toInt128", value))

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double; a wide decimal by way of text, so that it is rounded once."""
        if kind is Kind.WIDE_DECIMAL:
            return call("toFloat64OrNull", call("toString", value))
        return super().as_double(value, kind)

    def stored_time(self, name: str, kind: Kind, *, in_zone: bool) -> exp.Expr:
        """Return a time in microseconds since 1970: in UTC, or as its own clock shows it."""
        assert kind is Kind.TIMESTAMP
        return _column(_time_name(name, in_zone=in_zone))

    def moment(self, at: datetime, kind: Kind) -> exp.Expr:
        return exp.convert((at - datetime(1970, 1, 1)) // timedelta(microseconds=1))

    def microseconds(self, value: exp.Expr, since: datetime, kind: Kind) -> exp.Expr:
        return exp.Sub(this=exp.paren(value.copy()), expression=exp.paren(self.moment(since, kind)))

    def days(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        return exp.Sub(this=exp.paren(later.copy()), expression=exp.paren(earlier.copy()))

    def day_at(self, number: exp.Expr) -> exp.Expr:
        """Return the day of a number, which it is here."""
        return exp.paren(number.copy())

    def day_number(self, day: exp.Expr) -> exp.Expr:
        return day.copy()

    def weekday(self, day: exp.Expr) -> exp.Expr:
        """Return what is left of whole weeks since the first day, which was a Monday."""
        return exp.paren(exp.Mod(this=exp.paren(plus(day, -1)), expression=exp.Literal.number(7)))

    def part_of_day(self, name: str, day: exp.Expr) -> exp.Expr:
        """Return a part of a day by its number; the same for every version, whatever its types for days can hold."""
        return PARTS[name](day.copy())

    def first_of_month(self, year: exp.Expr, month: exp.Expr) -> exp.Expr:
        return first_of_month(year, month)

    def render(self, statement: exp.Expr) -> str:
        """Write a statement, with what sqlglot would write otherwise than ClickHouse reads it."""
        written = statement.copy().transform(_translate)
        for relation in written.find_all(exp.Subquery):
            if relation.alias == RELATION:
                _drop_unused(relation, written)
        return written.sql(dialect=self.name)


RELATION = "table_as_read"
"""What the table is called in a statement once its columns are read."""


class ClickHouse(Engine):
    """A table in a ClickHouse database."""

    dialect = ClickHouseDialect()

    def __init__(self, address: str, table: str) -> None:
        self._address = address
        self._table = exp.to_table(table, dialect="clickhouse")
        self._types: dict[str, str] | None = None
        self._clients: dict[float | None, Any] = {}

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        types = self._columns()
        return ColumnTypes({name: _form_of(kind)[0] for name, kind in types.items()}, types)

    def _columns(self) -> dict[str, str]:
        """Return the types of the columns that can be selected."""
        if self._types is None:
            statement = f"DESCRIBE TABLE {self._table.sql(dialect='clickhouse')}"
            try:
                rows = self._query(statement, DESCRIBING)
            except Exception as problem:  # noqa: BLE001  of the driver, or of what it connects by
                raise InvalidContract(
                    f"the table in ClickHouse cannot be read ({type(problem).__name__}); check source, table and rights"
                ) from None
            self._types = {name: _bare(kind) for name, kind, default, *_ in rows if default != "EPHEMERAL"}
        return self._types

    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        columns = [(name, form) for name, kind in self._columns().items() if (form := _form_of(kind)[1])]
        selected = [exp.alias_(_read_as(_column(name), form), name, quoted=True) for name, form in columns]
        for name in (name for name, kind in self.kinds().items() if kind is Kind.TIMESTAMP):
            selected += [
                exp.alias_(
                    _microseconds(_column(name), in_zone=in_zone), _time_name(name, in_zone=in_zone), quoted=True
                )
                for in_zone in (True, False)
            ]
        return exp.select(*selected).from_(self._table.copy()).subquery(RELATION)

    @property
    def _where(self) -> object:
        return self._address

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        seconds = self.statement_seconds
        try:
            return [tuple(row) for row in self._query(statement, seconds)]
        except Exception as problem:  # noqa: BLE001  of the driver, or of what it connects by: any may hold data
            over = seconds is not None and TIMEOUT_EXCEEDED.search(str(problem)) is not None
            failure = OVERTIME if over else type(problem).__name__
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def _query(self, statement: str, seconds: float | None) -> list[Any]:
        limits = {} if seconds is None else {"max_execution_time": ceil(seconds)}
        if seconds not in self._clients:  # which waits as long as it was made for, and asks a server what it can first
            self._clients[seconds] = connect(self._address, PATIENT if seconds is None else seconds + GRACE)
        return list(self._clients[seconds].query(statement, settings={**SETTINGS, **limits}).result_rows)

    def close(self) -> None:
        """Close the connections."""
        while self._clients:
            self._clients.popitem()[1].close()


def open_table(address: str, table: str) -> ClickHouse:
    """Open a table of a database."""
    try:
        parts = urlsplit(address)
        is_plain = not parts.query and not parts.fragment and parts.port != 0
    except ValueError:  # of a port that is no number, and the address may hold a password
        is_plain = False
    if not is_plain:
        raise InvalidContract(
            "the address of a ClickHouse server must be like clickhouse://user@host:8123/database, with no options "
            "after a ?, got another (not shown, since it may hold a password); write it so"
        )
    return ClickHouse(address, table)


def connect(address: str, seconds: float) -> Any:
    """Return a client of a server; its user and password are those of the address, or of the environment."""
    parts = urlsplit(address)
    return clickhouse_connect.get_client(
        host=parts.hostname or "localhost",
        port=parts.port or (8443 if parts.scheme == SECURE else 8123),
        username=unquote(parts.username or os.environ.get("CLICKHOUSE_USER", "default")),
        password=unquote(parts.password) if parts.password else os.environ.get("CLICKHOUSE_PASSWORD", ""),
        database=unquote(parts.path.strip("/")) or "default",
        secure=parts.scheme == SECURE,
        connect_timeout=DESCRIBING,
        send_receive_timeout=seconds,
        query_limit=0,
        query_retries=0,
        autogenerate_session_id=False,
        show_clickhouse_errors=True,
        settings={},
    )


# Types.


def _bare(kind: str) -> str:
    """Return a type without what says that it may be missing, or how it is kept."""
    while match := re.fullmatch(r"(?:Nullable|LowCardinality)\((.*)\)", kind, re.DOTALL):
        kind = match[1]
    return kind


def _form_of(kind: str) -> tuple[Kind, str]:
    """Return what a type holds, and what a statement reads it as; nothing if it does not."""
    for pattern, held, form in FORMS:
        if match := re.fullmatch(pattern, kind, re.DOTALL):
            if held is not Kind.DECIMAL:
                return held, form
            digits = int(match[1])
            return (Kind.DECIMAL if digits <= EXACT_DIGITS else Kind.WIDE_DECIMAL), kind
    return nested_kind(kind), ""


def _read_as(value: exp.Expr, form: str) -> exp.Expr:
    """Return a column as a statement reads it; a time as the day that its own clock shows."""
    if form == "days":
        return plus(call("toInt64", call("toInt32", call("toDate32", call("toNullable", value)))), EPOCH)
    return call("CAST", value, exp.Literal.string(f"Nullable({form})"))


def _time_name(name: str, *, in_zone: bool) -> str:
    """Return what a time in microseconds is called beside its day."""
    return f" {'moment' if in_zone else 'clock'} of {name}"


def _microseconds(time: exp.Expr, *, in_zone: bool) -> exp.Expr:
    """Return the microseconds since 1970 of a time: in UTC, or as its own clock shows it."""
    present = call("toNullable", time)
    moment = call("toUnixTimestamp64Micro", call("toDateTime64", present, exp.Literal.number(6)))
    if in_zone:
        return moment
    ahead = exp.Mul(this=call("toInt64", call("timezoneOffset", present)), expression=exp.Literal.number(10**6))
    return exp.Add(this=moment, expression=ahead)


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


# What sqlglot writes otherwise.


def _translate(node: exp.Expr) -> exp.Expr:  # noqa: PLR0911  one for each
    """Return what ClickHouse reads as what a node means."""
    match node:
        case exp.TryCast() if node.to.this == exp.DataType.Type.BIGINT:
            return call("accurateCastOrNull", node.this.transform(_translate), exp.Literal.string("Int64"))
        case exp.Cast(this=exp.Literal(is_string=True) as constant) if node.to.this == exp.DataType.Type.DOUBLE:
            return _double(constant.this)
        case exp.Cast(this=exp.Literal(is_string=True) as constant) if node.to.this == exp.DataType.Type.DATE:
            return exp.Literal.number(date.fromisoformat(constant.this).toordinal())
        case exp.Cast() if node.to.this == exp.DataType.Type.DATE:  # of a time, which is read as its day
            return node.this.transform(_translate)
        case exp.IntDiv():
            return call("intDiv", node.this.transform(_translate), node.expression.transform(_translate))
        case exp.Count():
            return call("toInt64", node)
        case exp.Abs():
            return call("toInt64", exp.Abs(this=node.this.transform(_translate)))
        case exp.Alias(this=exp.Literal(is_string=False)):  # a number of its own would have as few bits as it can
            return exp.Alias(this=call("toInt64", node.this), alias=node.args["alias"].copy())
        case exp.Values():
            return _list_rows(node)
    return node


def _list_rows(values: exp.Values) -> exp.Expr:
    """Return rows of constants as what one array of them is joined to: a SELECT for each would be too many of them.

    Rows are calls of `tuple`, since a constant in parentheses alone is a number.
    """
    rows = exp.Array(expressions=[call("tuple", *row.transform(_translate).expressions) for row in values.expressions])
    names, row = values.args["alias"].columns, exp.column("r")
    selected = [
        exp.Alias(this=call("tupleElement", row, exp.Literal.number(place)), alias=name.copy())
        for place, name in enumerate(names, 1)
    ]
    joined = exp.select(exp.alias_(call("arrayJoin", rows), "r")).subquery("v")
    return exp.select(*selected).from_(joined).subquery(values.alias)


def _double(text: str) -> exp.Expr:
    """Return a constant double: as a number, which ClickHouse reads exactly."""
    constant = exp.Literal.string("inf") if text == "Infinity" else exp.Literal.number(text)
    return call("toFloat64", constant)


def _drop_unused(relation: exp.Subquery, statement: exp.Expr) -> None:
    """Leave out the columns of a table that a statement does not look at."""
    inner = relation.this
    used = {column.name for column in statement.find_all(exp.Column) if column.find_ancestor(exp.Select) is not inner}
    selected = [one for one in inner.expressions if one.alias in used]
    inner.set("expressions", selected or [exp.alias_(exp.Literal.number(1), "one")])
