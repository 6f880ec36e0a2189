"""Spark: a table of an existing cluster's session."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from inbounds.errors import EngineFailed, InvalidContract
from inbounds.query.engines.engine import FIRST_DAY, Dialect, Engine, Kind

try:
    from py4j.protocol import Py4JError  # what a session that was stopped raises
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
except ImportError:
    raise ImportError("tables in Spark need PySpark: pip install 'inbounds[spark]'") from None

KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.FLOAT),
    "string": Kind.TEXT,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp_ntz": Kind.TIMESTAMP,
}


class SparkDialect(Dialect):
    """How Spark writes what engines do not share."""

    name = "spark"

    def total(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of integers as a decimal: a sum of big integers wraps or fails in Spark."""
        return exp.Sum(this=exp.cast(value, "DECIMAL(20, 0)"))

    def text(self, value: str) -> exp.Expr:
        """Return a constant text, torn apart where Spark would put a variable of its session in."""
        pieces = value.split("${")
        ends = [*(piece + "$" for piece in pieces[:-1]), pieces[-1]]
        starts = [ends[0], *("{" + piece for piece in ends[1:])]
        if len(starts) == 1:
            return exp.Literal.string(value)
        return exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string(piece) for piece in starts])

    def days(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="DATEDIFF", expressions=[later.copy(), earlier.copy()])

    def day_at(self, number: exp.Expr) -> exp.Expr:
        days = exp.Sub(this=exp.paren(number.copy()), expression=exp.Literal.number(1))
        return exp.Anonymous(this="DATE_ADD", expressions=[FIRST_DAY.copy(), exp.cast(days, "INT")])

    def weekday(self, day: exp.Expr) -> exp.Expr:
        return exp.cast(exp.Anonymous(this="WEEKDAY", expressions=[day.copy()]), "BIGINT")


class Spark(Engine):
    """A table that a Spark session can read."""

    dialect = SparkDialect()

    def __init__(self, session: SparkSession, table: str) -> None:
        self._session = session
        self._name = table
        self._kinds: dict[str, Kind] | None = None

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        if self._kinds is None:
            try:
                fields = self._session.table(self._name).schema.fields
            except (PySparkException, Py4JError) as problem:
                raise InvalidContract(
                    f"the table in Spark cannot be read ({_reason(problem)}); check table, and the session"
                ) from None
            self._kinds = {field.name: _kind(field.dataType.simpleString()) for field in fields}
        return self._kinds

    def relation(self) -> exp.Expr:
        return exp.to_table(self._name, dialect="spark")

    @property
    def _where(self) -> object:
        return self._session

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in self._session.sql(statement).collect()]
        except (PySparkException, Py4JError) as problem:
            failure = _reason(problem)
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def close(self) -> None:
        """The session is the caller's."""


def _kind(name: str) -> Kind:
    if name.startswith("decimal"):
        return Kind.DECIMAL
    return KINDS.get(name, Kind.OTHER)


def _reason(problem: PySparkException | Py4JError) -> str:
    """Return the kind of a failure; its message may hold data."""
    condition = problem.getCondition() if isinstance(problem, PySparkException) else None
    return f"{type(problem).__name__} {condition or ''}".strip()
