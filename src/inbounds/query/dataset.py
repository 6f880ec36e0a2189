"""Dataset: the custodian's table, open for questions.

visits = Dataset.load("visits.toml")
visits.mean("age").where("age >= 65").by("clinic").ask(0.5, analyst="ana")
visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").explain(0.5)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.ledger import Ledger
from inbounds.ledger.address import is_address, path_of
from inbounds.ledger.amount import delta_fraction, delta_units, fraction, units
from inbounds.ledger.terms import Terms
from inbounds.query.asking import Query
from inbounds.query.column import Keys
from inbounds.query.condition import Condition
from inbounds.query.contract import Contract
from inbounds.query.discovery import Discovered, discover
from inbounds.query.engines.engine import Engine
from inbounds.query.expression import Expression, indicated
from inbounds.query.group import by_bins, by_key
from inbounds.query.measure import (
    MOST_LEVELS,
    Cdf,
    Correlation,
    Count,
    CountKeys,
    CountUnits,
    Covariance,
    Deviation,
    Extreme,
    Mean,
    Measure,
    Moment,
    Proportion,
    Quantile,
    Quantiles,
    Sum,
    Variance,
    refuse_level,
)
from inbounds.query.plan import Plan, plan
from inbounds.query.question import Question, checked
from inbounds.query.relation import Joined, JoinOnUnit, JoinPublic, UnitRows, base_tables
from inbounds.query.source import open_source
from inbounds.query.sql.conditions import read_condition
from inbounds.query.sql.select import Selected, read_select
from inbounds.query.sql.unit_measures import read_made
from inbounds.query.table import Table
from inbounds.query.tables import Tables
from inbounds.query.terms import terms_of

BUDGET_KEYS = ("total", "per_analyst", "delta", "delta_reserved", "ledger")

MOST_PLANS = 256
"""So many plans are kept, to be used again."""

Where = str | PathLike[str]


class Dataset:
    """A table that can be asked, and the budget that answers are paid from."""

    def __init__(
        self,
        contract: Contract,
        *,
        frame: Any = None,
        spark: Any = None,
        ledger: Where | Ledger | None = None,
        create_ledger: bool = True,
    ) -> None:
        self.contract = contract
        self.tables = Tables.of(contract)
        self.table = self.tables.main
        contract.refuse_unknown(BUDGET_KEYS, "budget")
        self.total = _amount(contract, "total")
        self.per_analyst = _amount(contract, "per_analyst") if contract.has("budget", "per_analyst") else None
        if self.per_analyst is not None and self.per_analyst > self.total:
            raise contract.refuse(
                "per_analyst must not be above total; lower it, or raise the total", "budget", "per_analyst"
            )
        self.delta = _delta(contract, "delta")
        self.delta_reserved = _delta(contract, "delta_reserved")
        if (self.delta_reserved or 0) > (self.delta or 0):
            raise contract.refuse(
                "delta_reserved must be part of delta; lower it, or give a delta that is not below it",
                "budget",
                "delta_reserved",
            )
        if contract.has("budget", "ledger"):
            contract.text_of("budget", "ledger")
        self._sources = {"frame": frame, "spark": spark}
        self._ledger = ledger
        self._create_ledger = create_ledger
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._others: dict[str, Engine] = {}
        self._whole: Dataset | None = None

    @classmethod
    def load(
        cls,
        path: Where,
        *,
        frame: Any = None,
        spark: Any = None,
        ledger: Where | Ledger | None = None,
        create_ledger: bool = True,
    ) -> Dataset:
        """Open the dataset that a contract describes, a TOML file.

        * `frame`: a pandas, polars or Arrow table to ask instead of the contract's source.
        * `spark`: the session to use, if the source is in Spark.
        * `ledger`: where spending is recorded, instead of where the contract says: a path, an address or a `Ledger`.
        * `create_ledger`: whether to create a ledger that is not there, and to enter the dataset in one that does not
          know it.  If not, using `ledger`, as asking does, raises `InvalidParameter` for the one and `LedgerConflict`
          for the other, and nothing is written: for whoever only wants to look.
        """
        return cls(Contract.load(Path(path)), frame=frame, spark=spark, ledger=ledger, create_ledger=create_ledger)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        frame: Any = None,
        spark: Any = None,
        ledger: Where | Ledger | None = None,
        create_ledger: bool = True,
    ) -> Dataset:
        """Open the dataset that the text of a contract describes."""
        return cls(Contract.parse(text), frame=frame, spark=spark, ledger=ledger, create_ledger=create_ledger)

    @property
    def sources(self) -> dict[str, Any]:
        """The frame and the Spark session that were given, if any."""
        return self._sources

    @property
    def name(self) -> str:
        """What the dataset is called, in SQL and in the ledger."""
        return self.tables.main.name

    @cached_property
    def engine(self) -> Engine:
        """Where the table is; opened when it is first needed."""
        if self._whole is not None:
            return self._whole.engine
        return open_source(self.contract, self.tables.main, **self._sources)

    def close(self) -> None:
        """Let go of the source, and of the ledger if it was opened here."""
        self._plans.clear()
        if self._whole is not None:
            self.__dict__.pop("engine", None)
            self.__dict__.pop("ledger", None)
            self._whole.close()
            return
        while self._others:
            self._others.popitem()[1].close()
        if "engine" in self.__dict__:
            self.__dict__.pop("engine").close()
        if "ledger" in self.__dict__ and (opened := self.__dict__.pop("ledger")) is not self._ledger:
            opened.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Dataset {self.name}, unit {self.table.unit}, {len(self.table.columns)} columns>"

    # Questions.

    def count(self) -> Query:
        """Ask how many rows there are."""
        return self._query(Count())

    def count_units(self) -> Query:
        """Ask how many units there are."""
        return self._query(Count() if self.table.rows_are_units else CountUnits(self.table.unit))

    def count_keys(self, column: str | Expression) -> Query:
        """Ask how many of the public keys of a column have a row."""
        return self._query(CountKeys(by_key(self.table.column(column)).column.name))

    def sum(self, column: str | Expression) -> Query:
        """Ask for the sum of a column."""
        return self._query(Sum(self.table.numbers(column).name))

    def mean(self, column: str | Expression) -> Query:
        """Ask for the mean of a column, or of an expression such as `price * quantity`."""
        name = self.table.numbers(column).name
        return self._query(Mean(name)) if (of := indicated(name)) is None else self.proportion(of)

    def variance(self, column: str | Expression, *, population: bool = False) -> Query:
        """Ask for the variance of a column: of a sample, as `VARIANCE` is in SQL, or of the rows themselves."""
        return self._query(Variance(self.table.numbers(column).name, sample=not population))

    def stddev(self, column: str | Expression, *, population: bool = False) -> Query:
        """Ask for the standard deviation of a column: of a sample, or of the rows themselves."""
        return self._query(Deviation(self.table.numbers(column).name, sample=not population))

    def covariance(self, column: str | Expression, other: str | Expression, *, population: bool = False) -> Query:
        """Ask for the covariance of two columns: of a sample, or of the rows themselves."""
        return self._query(Covariance(*self._two(column, other), sample=not population))

    def correlation(self, column: str | Expression, other: str | Expression) -> Query:
        """Ask for the correlation of two columns, from -1 to 1."""
        return self._query(Correlation(*self._two(column, other)))

    def _two(self, column: str | Expression, other: str | Expression) -> tuple[str, str]:
        found = self.table.numbers(column).name, self.table.numbers(other).name
        if found[0] == found[1]:
            raise InvalidQuestion(f"this takes two different columns, got {shown(found[0])} twice; name another one")
        return found

    def proportion(self, condition: Condition | str) -> Query:
        """Ask for which part of the rows a condition is true."""
        found = read_condition(condition, self.table.columns) if isinstance(condition, str) else condition
        return self._query(Proportion(checked(self.table, found)))

    def median(self, column: str | Expression) -> Query:
        """Ask for the median of a column."""
        return self.quantile(column, 0.5)

    def quantile(self, column: str | Expression, level: Any) -> Query:
        """Ask for the value below which this part of the rows are, for example 0.9."""
        try:
            found = as_written(level, "the level of a quantile", InvalidQuestion)
        except InvalidQuestion:
            raise InvalidQuestion(
                f"the level of a quantile must be a number above 0 and below 1, got {shown(level)}; "
                "give a number such as 0.9"
            ) from None
        if (problem := refuse_level(found)) is not None:
            raise InvalidQuestion(problem)
        return self._query(Quantile(self.table.numbers(column).name, found))

    def minimum(self, column: str | Expression) -> Query:
        """Ask for the quantile at 0.01: the least value would show one row."""
        return self._query(Extreme.of("MIN", self.table.numbers(column).name))

    def maximum(self, column: str | Expression) -> Query:
        """Ask for the quantile at 0.99: the greatest value would show one row."""
        return self._query(Extreme.of("MAX", self.table.numbers(column).name))

    def quantiles(self, column: str | Expression, levels: Iterable[Any]) -> Query:
        """Ask for several quantiles of a column, for example [0.1, 0.5, 0.9]; none is released below the one before."""
        found = [self.quantile(column, level).question.measure for level in levels]
        if not 1 <= len(found) <= MOST_LEVELS or len(set(found)) < len(found):
            raise InvalidQuestion(f"quantiles takes from 1 to {MOST_LEVELS} different levels, got others; give such")
        return Query.of(self, tuple(found))

    def histogram(self, column: str | Expression, bins: int | list[Any] | None = None) -> Query:
        """Ask how many rows are in each bin of a column: so many bins, or those that begin at the values given.

        Without `bins`, each possible value has its own if they are few; each key, for a column of keys.
        """
        found = self.table.column(column)
        if isinstance(found, Keys):
            if bins is not None:
                raise InvalidQuestion(f"{found.name} holds keys, each of them a bin; leave bins out")
            return self._query(Count()).by(found.name)
        question = Question(self.table, Count(), groups=(by_bins(found, bins),))
        return Query(self, (question,), measures=(question.measure,))

    def cdf(self, column: str | Expression, bins: int | list[Any] | None = None) -> Query:
        """Ask which part of the rows is at or below each value of a column: shares from 0 to 1 that never fall.

        Values are told apart by bins, as in `histogram`; each is called by its greatest value.
        """
        found = self.table.numbers(column)
        return Query(self, (Question(self.table, Cdf(), groups=(by_bins(found, bins),)),), measures=(Cdf(),))

    def sql(self, text: str) -> Query:
        """Ask in SQL; see `inbounds.query.sql` for what is answered."""
        if self.table is not self.tables.main:
            raise InvalidQuestion("SQL names its tables itself, after FROM; ask the dataset in SQL, or this in Python")
        read = read_select(text, self.tables)
        if read.made is None and read.table == self.name:
            return self._selected(read)
        return self._over(self._private(read.table) if read.made is None else read.made)._selected(read)

    def _selected(self, read: Selected) -> Query:
        measures = tuple(self._checked(one) for one in read.measures)
        query = Query.of(self, measures) if read.histogram is None else self._binned(measures[0], read)
        if read.condition is not None:
            query = query.where(read.condition)
        if read.grouped.keys:
            query = query.by(*read.grouped.keys)
        if read.grouped.sets is not None:
            query = query.groupings(*read.grouped.sets)
        checked_as = dict(zip(read.measures, measures, strict=True))
        return replace(query, shown=read.shown.with_measures(checked_as.__getitem__))

    @cached_property
    def identity(self) -> str:
        """What tells this contract from others: its text, and the maps that it reads from files."""
        keys = [one for one in self.table.columns.values() if isinstance(one, Keys) and one.within is not None]
        return "\0".join((self.contract.text, *(f"{one.name} {one.parents}" for one in keys)))

    def planned(self, question: Question, epsilon: Fraction, pooling: Fraction | None) -> Plan:
        """Return the plan for a question; the same question again is not planned again."""
        key = (str(question), question.alone, epsilon, pooling)
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            engines = {name: self._engine_of(name) for name in base_tables(question.table)}
            found = self._plans[key] = plan(question, epsilon, self.engine, pooling, engines)
        return found

    # Other tables, and what is made of tables.

    def rows_of(self, table: str) -> Dataset:
        """Ask another private table of the contract: `clinic.rows_of("prescriptions").count()`."""
        found = self._private(table)
        return self if found is self.table else self._over(found)

    def per_unit(self, *, where: Condition | str | None = None, **measures: str) -> Dataset:
        """Ask about units, each of them one row: `visits.per_unit(n="COUNT(*)", oldest="MAX(age)").mean("n")`.

        Each measure of a unit's rows is written as in SQL.  With `where`, units are those that have such rows.
        """
        given = read_condition(where, self.table.columns) if isinstance(where, str) else where
        kept = None if given is None else checked(self.table, given)
        made = {name: read_made(measure) for name, measure in measures.items()}
        return self._over(UnitRows("t", self.table, made, kept).table)

    def join(self, other: str | Dataset, *, on: str | None = None, keep: bool = False) -> Dataset:
        """Ask about joined rows: `visits.join("prescriptions")`, or `visits.join("airports", on="destination")`.

        Private tables are joined on the unit, public ones by their key to the column `on`.  With `keep`, rows without a
        match stay.
        """
        relation = self.table.relation
        name, first, joins = (
            (relation.name, relation.first, relation.joins)
            if isinstance(relation, Joined)
            else (self.table.name, self.table, ())
        )
        if isinstance(other, str) and other in self.tables.public:
            if on is None:
                raise InvalidQuestion(f"{other} is joined by its key; name the column that holds it")
            return self._over(Joined(name, first, (*joins, self._public(other, on, keep))).table)
        table = self._private(other) if isinstance(other, str) else other.table
        if on not in (None, table.owner):
            raise InvalidQuestion(f"private tables are joined on the unit {table.owner}; leave on out")
        return self._over(Joined(name, first, (*joins, JoinOnUnit(table.name, table, keep))).table)

    def _public(self, name: str, on: str, keep: bool) -> JoinPublic:
        relation = self.table.relation
        if not isinstance(relation, Joined):
            return JoinPublic(name, self.tables.public[name], self.table.name, on, keep)
        places = {said: (table, own) for table, names in relation.names.items() for own, said in names.items()}
        to, column = places.get(on, (relation.name, on))
        return JoinPublic(name, self.tables.public[name], to, column, keep)

    def _private(self, name: object) -> Table:
        found = self.tables.private.get(str(name))
        if found is None:
            known = ", ".join(repr(one) for one in self.tables.private)
            only = "a contract has one table" if not self.tables.others else f"its tables are {known}"
            raise InvalidQuestion(f"FROM must name the dataset {self.name!r}, got {shown(name)}; {only}")
        return found

    def _over(self, table: Table) -> Dataset:
        """Return this dataset with another table to ask; the source, the budget and the ledger are the same."""
        found = copy(self)
        found.table, found._whole = table, self if self._whole is None else self._whole
        for name in ("engine", "ledger", "terms"):
            found.__dict__.pop(name, None)
        return found

    def _engine_of(self, name: str) -> Engine:
        """Return the engine of a private table, which the engine of the dataset must be able to read beside its own."""
        if name == self.name:
            return self.engine
        if name not in self._others:
            part = self.contract.part("tables", name)
            found = open_source(part, self.tables.others[name], spark=self._sources["spark"])
            if not self.engine.reads(found):
                raise part.refuse(
                    f"the tables of a contract must be where one statement can read them, and {name!r} is elsewhere "
                    f"than {self.name!r}; bring them together",
                    "dataset",
                    "source",
                )
            self._others[name] = found
        return self._others[name]

    def _binned(self, measure: Measure, read: Selected) -> Query:
        """Return the histogram or the cumulative distribution that was read from SQL."""
        assert read.histogram is not None
        if not isinstance(measure, Cdf):
            return self.histogram(*read.histogram)
        if read.grouped.keys:
            raise InvalidQuestion("CDF is of all rows at once; leave GROUP BY out, and name the group in WHERE")
        return self.cdf(*read.histogram)

    def together(self, *queries: Query) -> Query:
        """Ask for several measures at once, such as `together(visits.count(), visits.mean("age")).by("clinic")`.

        Those that go together share what they cost and never contradict each other: rows, sum, mean and variance of a
        column, covariances of two, and quantiles of a column.  Each of the others has a part of epsilon.
        """
        measures = tuple(measure for query in queries for measure in _alone(query))
        if not measures or len(set(measures)) < len(measures):
            raise InvalidQuestion("together takes one or more measures, each once, got others; name each once")
        return Query.of(self, measures)

    def _checked(self, measure: Measure) -> Measure:
        """Return a measure that was read from SQL, if it fits the columns."""
        if isinstance(measure, CountUnits) and self.table.relation is not None and self.table.rows_are_units:
            return Count()
        if isinstance(measure, Proportion):
            return Proportion(checked(self.table, measure.condition))
        if isinstance(measure, CountKeys):
            by_key(self.table.column(measure.column))
        if isinstance(measure, Sum | Mean | Quantile | Quantiles | Moment):
            self.table.numbers(measure.column)
        if isinstance(measure, Covariance | Correlation):
            self.table.numbers(measure.other)
        return measure

    def _query(self, measure: Measure) -> Query:
        return Query.of(self, (measure,))

    def discover_keys(
        self,
        column: str,
        epsilon: Any,
        delta: Any,
        *,
        analyst: str,
        keys_per_unit: int = 1,
        request_id: str | None = None,
    ) -> Discovered:
        """Publish the keys of a column that the contract does not describe, for (epsilon, delta), once.

        A key comes out the likelier the more units have it.  A unit counts for at most `keys_per_unit` of its keys:
        one, unless more are given.  Add `section()` of what comes back to the contract, and record the change of its
        terms.
        """
        return discover(
            self, column, epsilon, delta, analyst=analyst, keys_per_unit=keys_per_unit, request_id=request_id
        )

    # The ledger.

    @cached_property
    def ledger(self) -> Ledger:
        """Where the budget is kept, with this dataset entered; opened when it is first needed."""
        if self._whole is not None:
            return self._whole.ledger
        given = self._ledger if self._ledger is not None else self._usual_ledger()
        ledger = given if isinstance(given, Ledger) else Ledger.open(given, create=self._create_ledger)
        try:
            ledger.open_dataset(
                self.name,
                fraction(self.total),
                self._each,
                delta=self.delta,
                delta_reserved=self.delta_reserved,
                terms=self.terms,
                create=self._create_ledger,
            )
        except BaseException:
            if ledger is not given:
                ledger.close()
            raise
        return ledger

    @cached_property
    def terms(self) -> Terms:
        """What the ledger keeps of the contract: what a charge promises depends on it."""
        given = self._ledger
        if given is None and (self.contract.stem is not None or self.contract.has("budget", "ledger")):
            given = self._usual_ledger()
        path = given.path if isinstance(given, Ledger) else None if given is None else path_of(str(given))
        return terms_of(self.contract, self.tables, framed=self._sources["frame"] is not None, ledger=path)

    def recorded_terms(self) -> Terms | None:
        """Return the terms that the ledger has for this dataset, whether they are this contract's or not."""
        with self.unchecked_ledger() as ledger:
            return ledger.terms(self.name)

    def record_terms(self, reason: str) -> None:
        """Record in the ledger, as the custodian, that the contract was changed, and why."""
        with self.unchecked_ledger() as ledger:
            ledger.change_terms(self.name, self.terms, reason)

    @contextmanager
    def unchecked_ledger(self) -> Iterator[Ledger]:
        """Yield the ledger as it is, for whoever looks at it: it may know another contract, or be altered."""
        given = self._ledger if self._ledger is not None else self._usual_ledger()
        if isinstance(given, Ledger):
            yield given
            return
        with Ledger.open(given, create=False) as ledger:
            yield ledger

    @property
    def _each(self) -> Any:
        return None if self.per_analyst is None else fraction(self.per_analyst)

    def _usual_ledger(self) -> str:
        contract = self.contract
        if not contract.has("budget", "ledger"):
            if contract.stem is None:
                raise InvalidParameter(
                    "a contract that is not a file needs a ledger to be named; give one, for example 'budget.db'"
                )
            return str(contract.folder / f"{contract.stem}.ledger.db")
        where = contract.text_of("budget", "ledger")
        return where if is_address(where) else str(contract.folder / Path(where).expanduser())


def _alone(query: Query) -> tuple[Measure, ...]:
    """Return the measures of a query that says nothing else."""
    found = query.asked
    if query != Query.of(query.dataset, found):
        raise InvalidQuestion("together takes measures of all rows; say where and by what groups afterwards")
    return found


def _amount(contract: Contract, key: str) -> int:
    value = contract.value("budget", key)
    try:
        return units(value, key)
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "budget", key) from None


def _delta(contract: Contract, key: str) -> Fraction | None:
    """Return a delta that may be there."""
    if not contract.has("budget", key):
        return None
    value = contract.value("budget", key)
    try:
        return delta_fraction(delta_units(value, key))
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "budget", key) from None
