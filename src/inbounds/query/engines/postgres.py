"""PostgreSQL, through psycopg: one read-only transaction for each statement."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.query.engines.engine import Dialect, Engine, Kind

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
    16: Kind.BOOLEAN, 1082: Kind.DATE, 1114: Kind.TIMESTAMP, 2950: Kind.UUID,
}  # fmt: skip
"""By the numbers of PostgreSQL's own types, which never change."""


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
            except psycopg.Error as problem:
                raise InvalidContract(
                    f"the table in PostgreSQL cannot be read ({_reason(problem)}); check source, table and rights"
                ) from None
            self._kinds = {column.name: KINDS.get(column.type_code, Kind.OTHER) for column in description}
        return self._kinds

    def relation(self) -> exp.Expr:
        return self._table.copy()

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


def _options(seconds: float | None) -> str:
    """Return what a connection is opened with: it reads only, and each statement has its time."""
    options = "-c default_transaction_read_only=on"
    return options if seconds is None else f"{options} -c statement_timeout={max(1, int(seconds * 1000))}"


def _reason(problem: psycopg.Error) -> str:
    """Return the kind of a failure; its message may hold data."""
    return f"{type(problem).__name__} {problem.sqlstate or ''}".strip()
