"""Spark: a table of an existing session, in process or over Spark Connect."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp

from inbounds.errors import EngineFailed, InvalidContract
from inbounds.query.engines.by_contract import DAY_US
from inbounds.query.engines.engine import FIRST_DAY, ColumnTypes, Dialect, Engine, Kind, join_texts, nested_kind

try:
    from pyspark.errors import PySparkException
except ImportError:
    raise ImportError("tables in Spark need PySpark: pip install 'inbounds[spark]', or pyspark-client") from None

KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.FLOAT),
    "string": Kind.TEXT,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp_ntz": Kind.TIMESTAMP,
    "timestamp": Kind.INSTANT,
}


class SparkDialect(Dialect):
    """How Spark writes what engines do not share."""

    name = "spark"
    reads_twice = True  # a view may stand for a table of another database

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

    def find_text(self, value: exp.Expr, texts: Sequence[str]) -> exp.Expr:
        """Return the place of a text in a list, which is searched from its beginning."""
        found = exp.Anonymous(this="ARRAY_POSITION", expressions=[self.cut_list(texts), value.copy()])
        place = exp.Nullif(this=found, expression=exp.Literal.number(0))
        return exp.paren(exp.Sub(this=place, expression=exp.Literal.number(1)))

    def pick_number(self, place: exp.Expr, numbers: Sequence[int]) -> exp.Expr:
        """Return the number at a place by a CASE with a branch for each: a list that is cut gave other numbers."""
        ifs = [
            exp.If(this=exp.Literal.number(at), true=exp.cast(exp.Literal.number(number), "BIGINT"))
            for at, number in enumerate(numbers)
        ]
        return exp.Case(this=exp.paren(place.copy()), ifs=ifs)

    def cut_list(self, texts: Sequence[str]) -> exp.Expr:
        joined, separator = join_texts(texts)
        return exp.Anonymous(this="SPLIT", expressions=[self.text(joined), exp.Literal.string(f"[{separator}]")])

    def days(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="DATEDIFF", expressions=[later.copy(), earlier.copy()])

    def day_at(self, number: exp.Expr) -> exp.Expr:
        days = exp.Sub(this=exp.paren(number.copy()), expression=exp.Literal.number(1))
        return exp.Anonymous(this="DATE_ADD", expressions=[FIRST_DAY.copy(), exp.cast(days, "INT")])

    def weekday(self, day: exp.Expr) -> exp.Expr:
        """Return what is left of whole weeks since the first day, a Monday: to Sail, the WEEKDAY of a Sunday is -1."""
        days = exp.cast(self.days(day, FIRST_DAY), "BIGINT")
        return exp.Mod(this=days, expression=exp.Literal.number(7))

    def microseconds(self, value: exp.Expr, since: datetime, kind: Kind) -> exp.Expr:
        """Return the microseconds between two moments; without a zone they are put together of what a clock shows.

        A difference of two timestamps without a zone is an interval, and the clock of the session must not matter.
        """
        if kind is Kind.INSTANT:
            start = (since - datetime(1970, 1, 1)) // timedelta(microseconds=1)
            return exp.Sub(this=_call("UNIX_MICROS", value), expression=exp.paren(_whole(start)))
        day, midnight = exp.cast(value.copy(), "DATE"), datetime.combine(since.date(), datetime.min.time())
        days = exp.cast(self.days(day, _day(since.date())), "BIGINT")
        seconds = exp.Extract(this=exp.var("SECOND"), expression=value.copy())
        parts = [
            (days, DAY_US),
            (exp.cast(_call("HOUR", value), "BIGINT"), 3600 * 10**6),
            (exp.cast(_call("MINUTE", value), "BIGINT"), 60 * 10**6),
            (exp.cast(exp.Mul(this=seconds, expression=_whole(10**6)), "BIGINT"), 1),
        ]
        return exp.Sub(this=_sum(parts), expression=_whole((since - midnight) // timedelta(microseconds=1)))


class Spark(Engine):
    """A table that a Spark session can read."""

    dialect = SparkDialect()

    def __init__(self, session: Any, table: str) -> None:
        self._session = session
        self._name = table
        self._kinds: dict[str, Kind] | None = None

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        if self._kinds is None:
            try:
                fields = self._session.table(self._name).schema.fields
            except Exception as problem:  # noqa: BLE001  of PySpark, of py4j or of gRPC, by how the session is reached
                raise InvalidContract(
                    f"the table in Spark cannot be read ({_reason(problem)}); check table, and the session"
                ) from None
            types = {field.name: field.dataType.simpleString() for field in fields}
            self._kinds = ColumnTypes({name: _kind(kind) for name, kind in types.items()}, types)
        return self._kinds

    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        return exp.to_table(self._name, dialect="spark")

    @property
    def _where(self) -> object:
        return self._session

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in self._session.sql(statement).collect()]
        except Exception as problem:  # noqa: BLE001  as above; the message of any of them may hold data
            failure = _reason(problem)
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def close(self) -> None:
        """The session is the caller's."""


def _kind(name: str) -> Kind:
    if name.startswith("decimal"):
        return Kind.DECIMAL
    return KINDS.get(name) or nested_kind(name)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _whole(number: int) -> exp.Expr:
    return exp.convert(number)


def _day(day: date) -> exp.Expr:
    return exp.cast(exp.Literal.string(day.isoformat()), "DATE")


def _sum(parts: Sequence[tuple[exp.Expr, int]]) -> exp.Expr:
    """Return multiples of integers, added up."""
    total, *others = (exp.Mul(this=part, expression=_whole(times)) if times != 1 else part for part, times in parts)
    for term in others:
        total = exp.Add(this=total, expression=term)
    return total


def _reason(problem: Exception) -> str:
    """Return the kind of a failure; its message may hold data."""
    condition = problem.getCondition() if isinstance(problem, PySparkException) else None
    return f"{type(problem).__name__} {condition or ''}".strip()
