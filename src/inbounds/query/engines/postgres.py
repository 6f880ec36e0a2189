"""PostgreSQL, through psycopg: one read-only transaction for each statement."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.query.engines.by_contract import DAY_US, MONTH, MOST_DAYS, MOST_MONTHS
from inbounds.query.engines.catalogue import DeclaredTable, Reference, implies_unique
from inbounds.query.engines.engine import ColumnTypes, Dialect, Engine, Kind, nested_kind

try:
    import psycopg

    from inbounds.ledger.stores.postgres_connection import Silent, connect
except ImportError:
    raise ImportError("tables in PostgreSQL need psycopg: pip install 'inbounds[postgres]'") from None

DESCRIBING = 20
"""Seconds in which a server says what columns a table has."""

GRACE = 5
"""A server that has said nothing so many seconds after it should have stopped a statement is given up."""

KINDS = {
    20: Kind.INTEGER, 21: Kind.INTEGER, 23: Kind.INTEGER,
    1700: Kind.WIDE_DECIMAL,
    700: Kind.FLOAT, 701: Kind.FLOAT,
    25: Kind.TEXT, 1043: Kind.TEXT, 1042: Kind.TEXT,
    16: Kind.BOOLEAN, 2950: Kind.UUID,
    1082: Kind.DATE, 1114: Kind.TIMESTAMP, 1184: Kind.INSTANT, 1083: Kind.TIME, 1186: Kind.INTERVAL,
}  # fmt: skip
"""By the numbers of PostgreSQL's own types, which never change."""

TYPE_NAMES = "SELECT format_type(code, NULL) FROM unnest(%s::oid[]) WITH ORDINALITY t(code, place) ORDER BY place"

TABLES = """
    SELECT c.oid, c.relname, quote_ident(c.relname), quote_ident(n.nspname)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = COALESCE(%s, current_schema()) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT c.relispartition AND has_table_privilege(c.oid, 'SELECT')
    ORDER BY c.relname
"""
UNIQUE = """
    SELECT i.indrelid, array_agg(a.attname::text ORDER BY k.place)
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = ANY(%s::oid[]) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
        AND k.place <= i.indnkeyatts
    GROUP BY i.indexrelid, i.indrelid, i.indisprimary
    ORDER BY i.indisprimary DESC, i.indexrelid
"""
REFERENCES = """
    SELECT f.conrelid, f.confrelid, array_agg(a.attname::text ORDER BY k.place),
        array_agg(b.attname::text ORDER BY k.place)
    FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY k(own, other, place)
        JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.own
        JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.other
    WHERE f.contype = 'f' AND f.conrelid = ANY(%s::oid[])
    GROUP BY f.oid, f.conrelid, f.confrelid
    ORDER BY f.oid
"""
"""What the catalogue says: the tables of a schema, what is unique in them, and what refers to other tables."""


class PostgresDialect(Dialect):
    """How PostgreSQL writes what engines do not share."""

    name = "postgres"

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double: a numeric beyond all doubles is cut first, for the cast would fail."""
        if kind is not Kind.WIDE_DECIMAL:
            return super().as_double(value, kind)
        huge, tiny = exp.Literal.number("1e300"), exp.Literal.number("1e-300")
        nan = exp.cast(exp.Literal.string("NaN"), "DECIMAL")
        ifs = [
            (exp.EQ(this=value.copy(), expression=nan), exp.Null()),
            (exp.GTE(this=value.copy(), expression=huge), huge.copy()),
            (exp.LTE(this=value.copy(), expression=exp.Neg(this=huge.copy())), exp.Neg(this=huge.copy())),
            (
                exp.and_(
                    exp.LT(this=value.copy(), expression=tiny),
                    exp.GT(this=value.copy(), expression=exp.Neg(this=tiny.copy())),
                ),
                exp.Literal.number(0),
            ),
        ]
        cut = exp.Case(ifs=[exp.If(this=test, true=then) for test, then in ifs], default=value.copy())
        return exp.cast(cut, "DOUBLE")

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        return exp.Collate(this=exp.cast(value.copy(), "TEXT"), expression=exp.to_identifier("C", quoted=True))

    def find_text(self, value: exp.Expr, texts: Sequence[str]) -> exp.Expr:
        """Return the place of a text in a list: a JSON object finds a key by halving, and compares its bytes."""
        places = json.dumps({text: place for place, text in enumerate(texts)}, ensure_ascii=False)
        return self._read_json(places, value)

    def pick_number(self, place: exp.Expr, numbers: Sequence[int]) -> exp.Expr:
        return self._read_json(json.dumps(list(numbers)), place)

    def _read_json(self, content: str, at: exp.Expr) -> exp.Expr:
        parts = [exp.cast(self.text(content), "JSONB"), exp.cast(at.copy(), "TEXT")]
        return exp.cast(exp.Anonymous(this="JSONB_EXTRACT_PATH_TEXT", expressions=parts), "BIGINT")

    def rounded(self, value: exp.Expr, digits: int) -> exp.Expr:
        """Return a number rounded as a decimal: doubles are not rounded to digits."""
        return super().rounded(exp.cast(value.copy(), "DECIMAL"), digits)

    def plain_text(self, value: exp.Expr) -> exp.Expr:
        """Return a text without its collation, of which some cannot be matched with patterns."""
        return self.bytes_of(value)

    def microseconds(self, value: exp.Expr, since: datetime, kind: Kind) -> exp.Expr:
        """Return the difference in microseconds: of doubles, as old servers have seconds, the nearest whole number."""
        return _microseconds(exp.paren(exp.Sub(this=value.copy(), expression=self.moment(since, kind))))

    def clock_microseconds(self, value: exp.Expr) -> exp.Expr:
        return _microseconds(value)

    def interval_microseconds(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of months, days and microseconds, each of which is kept apart and clipped."""
        months = exp.Add(
            this=exp.Mul(this=_part("YEAR", value), expression=_number(12)), expression=_part("MONTH", value)
        )
        hours = exp.Mul(this=_part("HOUR", value), expression=_number(3600 * 10**6))
        minutes = exp.Mul(this=_part("MINUTE", value), expression=_number(60 * 10**6))
        rest = exp.Add(this=exp.Add(this=hours, expression=minutes), expression=_part("MICROSECONDS", value))
        parts = [(months, MOST_MONTHS, MONTH), (_part("DAY", value), MOST_DAYS, DAY_US), (rest, MOST_DAYS * DAY_US, 1)]
        terms = [exp.Mul(this=_clip(part, most), expression=_number(unit)) for part, most, unit in parts]
        return exp.paren(exp.Add(this=exp.Add(this=terms[0], expression=terms[1]), expression=terms[2]))

    def divide(self, value: exp.Expr, by: exp.Expr) -> exp.Expr:
        """Return how often an integer goes into another: the operator, for the function divides decimals."""
        return exp.Div(this=value.copy(), expression=by.copy(), typed=True)


class Postgres(Engine):
    """A table in a PostgreSQL database."""

    dialect = PostgresDialect()

    def __init__(self, url: str, table: str) -> None:
        self._url = url
        self._table = exp.to_table(table, dialect="postgres")
        self._kinds: dict[str, Kind] | None = None

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        if self._kinds is None:
            statement = exp.select("*").from_(self._table.copy()).limit(0).sql(dialect="postgres")
            try:
                with connect(self._url, DESCRIBING + GRACE, options=_options(DESCRIBING)) as connection:
                    description = connection.execute(statement).description or []
                    codes = [column.type_code for column in description]
                    names = [name for (name,) in connection.execute(TYPE_NAMES, [codes]).fetchall()]
            except psycopg.Error as problem:
                raise InvalidContract(
                    f"the table in PostgreSQL cannot be read ({_reason(problem)}); check source, table and rights"
                ) from None
            types = {column.name: name for column, name in zip(description, names, strict=True)}
            kinds = {
                column.name: KINDS.get(column.type_code) or nested_kind(types[column.name]) for column in description
            }
            self._kinds = ColumnTypes(kinds, types)
        return self._kinds

    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        return self._table.copy()

    def declares_unique(self, columns: Collection[str]) -> bool | None:
        table = self._table.sql(dialect="postgres")
        found = _ask_catalogue(self._url, "SELECT to_regclass(%s)::oid", table)
        keys = _ask_catalogue(self._url, UNIQUE, [oid for (oid,) in found if oid is not None])
        return implies_unique([key for _, key in keys], columns)

    @property
    def _where(self) -> object:
        return self._url

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        seconds = self.statement_seconds
        silence = None if seconds is None else seconds + GRACE
        try:
            with connect(self._url, silence, options=_options(seconds)) as connection:
                return connection.execute(statement).fetchall()
        except psycopg.Error as problem:
            over = seconds is not None and isinstance(problem, psycopg.errors.QueryCanceled | Silent)
            failure = OVERTIME if over else _reason(problem)
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def close(self) -> None:
        """Nothing is kept open."""


def open_table(url: str, table: str) -> Postgres:
    """Open a table of a database."""
    return Postgres(url, table)


def list_tables(url: str, schema: str | None = None) -> list[DeclaredTable]:
    """Return the tables and views of a schema, by default the usual one, and what the catalogue says of them."""
    tables = {oid: (name, own, within) for oid, name, own, within in _ask_catalogue(url, TABLES, schema)}
    unique, references = (_ask_catalogue(url, statement, list(tables)) for statement in (UNIQUE, REFERENCES))
    return [
        DeclaredTable(
            name,
            own if schema is None else f"{within}.{own}",
            tuple(tuple(key) for of, key in unique if of == oid),
            tuple(
                Reference(tuple(columns), tables[to][0], tuple(others))
                for of, to, columns, others in references
                if of == oid and to in tables
            ),
        )
        for oid, (name, own, within) in tables.items()
    ]


def _ask_catalogue(url: str, statement: str, about: object) -> list[tuple[Any, ...]]:
    """Return what the catalogue says; it holds names and types, and no row."""
    try:
        with connect(url, DESCRIBING + GRACE, options=_options(DESCRIBING)) as connection:
            return connection.execute(statement.encode(), [about]).fetchall()
    except psycopg.Error as problem:
        raise InvalidContract(
            f"the catalogue of PostgreSQL cannot be read ({_reason(problem)}); check source and rights"
        ) from None


def _microseconds(value: exp.Expr) -> exp.Expr:
    """Return the microseconds of a difference or of a time of day."""
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=value.copy())
    scaled = exp.Mul(this=seconds, expression=exp.Literal.number(10**6))
    return exp.cast(exp.Anonymous(this="ROUND", expressions=[scaled]), "BIGINT")


def _part(name: str, interval: exp.Expr) -> exp.Expr:
    """Return a part of an interval as an integer that does not overflow when it is multiplied.

    Of an infinite interval, which newer servers have, some parts are infinite and the others are missing.
    """
    part = exp.cast(exp.Extract(this=exp.var(name), expression=interval.copy()), "DECIMAL")
    return exp.Coalesce(this=part, expressions=[_number(0)])


def _clip(number: exp.Expr, most: int) -> exp.Expr:
    at_least = exp.Anonymous(this="GREATEST", expressions=[number, exp.Neg(this=_number(most))])
    return exp.cast(exp.Anonymous(this="LEAST", expressions=[at_least, _number(most)]), "BIGINT")


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _options(seconds: float | None) -> str:
    """Return what a connection is opened with: it reads only, and each statement has its time."""
    options = "-c default_transaction_read_only=on"
    return options if seconds is None else f"{options} -c statement_timeout={max(1, int(seconds * 1000))}"


def _reason(problem: psycopg.Error) -> str:
    """Return the kind of a failure; its message may hold data."""
    return f"{type(problem).__name__} {problem.sqlstate or ''}".strip()
