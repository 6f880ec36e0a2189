"""Dataset: the custodian's table, open for questions.

visits = Dataset.load("visits.toml")
visits.mean("age").where("age >= 65").by("clinic").ask(0.5, analyst="ana")
visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").explain(0.5)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from fractions import Fraction
from functools import cached_property
from os import fspath
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.ledger import Ledger
from inbounds.ledger.values.terms import Terms
from inbounds.query.answer.budget_forecast import BudgetForecast
from inbounds.query.ask.account import Account, Where
from inbounds.query.ask.discovery import Discovered, discover
from inbounds.query.askable import Questions
from inbounds.query.columns.column import Keys
from inbounds.query.contract.budget import Budget
from inbounds.query.contract.contract import Contract
from inbounds.query.engines.engine import Engine
from inbounds.query.expressions.condition import Condition
from inbounds.query.grammar.rows import to_condition
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.plan_question import plan
from inbounds.query.query import Query
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.query.sql.select import Select, read_select
from inbounds.query.sql.unit_measures import parse_unit_measure
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.join import join_table, private_table
from inbounds.query.tables.relation import UnitRows, base_tables
from inbounds.query.tables.source import open_source
from inbounds.query.tables.table import Table

MOST_PLANS = 256
"""So many plans are kept to be used again, and so many questions as they were read."""


class Dataset(Questions):
    """A table that can be queried, and the privacy budget that pays for its answers."""

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
        budget = Budget.of(contract)
        self.total, self.per_analyst = budget.total, budget.per_analyst
        self.delta, self.delta_reserved = budget.delta, budget.delta_reserved
        self._sources = {"frame": frame, "spark": spark}
        self._account = Account(contract, self.tables, budget, ledger, create_ledger, frame is not None)
        self._selects: dict[str, Select] = {}
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._planning: dict[tuple[Any, ...], Lock] = {}
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
        """Open the dataset described by a contract, a TOML file.

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
        """Open the dataset described by the text of a contract."""
        return cls(Contract.parse(text), frame=frame, spark=spark, ledger=ledger, create_ledger=create_ledger)

    @property
    def sources(self) -> dict[str, Any]:
        """The frame and the Spark session that were given, if any."""
        return self._sources

    @property
    def name(self) -> str:
        """The name of the dataset, in SQL and in the ledger."""
        return self.tables.main.name

    @cached_property
    def engine(self) -> Engine:
        """The engine that reads the table; opened on first use."""
        if self._whole is not None:
            return self._whole.engine
        return open_source(self.contract, self.tables.main, **self._sources)

    def close(self) -> None:
        """Close the source, and the ledger if it was opened here."""
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
        if "ledger" in self.__dict__ and (ledger := self.__dict__.pop("ledger")) is not self._account.ledger:
            ledger.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Dataset {self.name}, unit {self.table.unit}, {len(self.table.columns)} columns>"

    # Questions.

    def sql(self, text: str) -> Query:
        """Write a query in SQL; `inbounds.query.sql` documents what is supported."""
        if self.table is not self.tables.main:
            raise InvalidQuestion(
                "SQL names its tables after FROM; call sql on the dataset, or ask this table in Python"
            )
        select = self._read_sql(text)
        if select.relation is not None:
            return self._with_table(select.relation)._build_query(select)
        return self.rows_of(select.table)._build_query(select)

    def _read_sql(self, text: object) -> Select:
        """Return what a text asks; the same text again, as after explaining it, is not read again."""
        if not isinstance(text, str):
            return read_select(text, self.tables)  # which refuses it
        select = self._selects.get(text)
        if select is None:
            select = read_select(text, self.tables)
            if len(self._selects) >= MOST_PLANS:
                self._selects.clear()
            self._selects[text] = select
        return select

    @cached_property
    def identity(self) -> str:
        """What tells this contract from others: its text, and the maps that it reads from files."""
        keys = [
            column for column in self.table.columns.values() if isinstance(column, Keys) and column.within is not None
        ]
        return "\0".join((self.contract.text, *(f"{column.name} {column.parents}" for column in keys)))

    def _ask_for(self, *measures: Measure) -> Query:
        return Query.of(self, measures)

    def _ask_question(self, question: Question) -> Query:
        return Query(self, (question,), measures=(question.measure,))

    def planned(self, question: Question, epsilon: Fraction, pooling: Fraction | None) -> Plan:
        """Return the plan for a question; the same question again is not planned again."""
        key = (question, epsilon, pooling)  # whole, and not as it is written: two that read alike may differ
        cached = self._plans.get(key)
        if cached is not None:
            return cached
        with self._planning.setdefault(key, Lock()):  # those who ask the same at once wait for one plan
            try:
                cached = self._plans.get(key)
                return self._make_plan(key, question, epsilon, pooling) if cached is None else cached
            finally:
                self._planning.pop(key, None)

    def _make_plan(self, key: tuple[Any, ...], question: Question, epsilon: Fraction, pooling: Fraction | None) -> Plan:
        engines = {name: self.engine_of(name) for name in base_tables(question.table)}
        new_plan = plan(question, epsilon, self.engine, pooling, engines)
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[key] = new_plan
        return new_plan

    # Other tables, and what is made of tables.

    def rows_of(self, table: str) -> Dataset:
        """Query another private table of the contract: `clinic.rows_of("prescriptions").count()`."""
        private = private_table(self.tables, table)
        return self if private is self.table else self._with_table(private)

    def per_unit(self, *, where: Condition | str | None = None, **measures: str) -> Dataset:
        """Query units, one row for each: `visits.per_unit(n="COUNT(*)", oldest="MAX(age)").mean("n")`.

        Each measure of a unit's rows is written as in SQL.  With `where`, units are those that have such rows.
        """
        condition = None if where is None else to_condition(where, self.table)
        unit_measures = {name: parse_unit_measure(measure) for name, measure in measures.items()}
        return self._with_table(UnitRows("t", self.table, unit_measures, condition).table)

    def join(self, other: str | Dataset, *, on: str | None = None, keep: bool = False) -> Dataset:
        """Query joined rows: `visits.join("prescriptions")`, or `visits.join("airports", on="destination")`.

        Private tables are joined on the unit, public ones by their key to the column `on`.  With `keep`, rows without a
        match stay.
        """
        if isinstance(other, Dataset) and other.tables is not self.tables:
            raise InvalidQuestion(
                f"{other.name} is of another contract, whose units are not those of {self.name}; join tables of one "
                "contract, as one dataset has them"
            )
        table = other.table if isinstance(other, Dataset) else other
        return self._with_table(join_table(self.tables, self.table, table, on, keep=keep))

    def _with_table(self, table: Table) -> Dataset:
        """Return this dataset with another table to ask; the source, the budget and the ledger are the same."""
        dataset = copy(self)
        dataset.table, dataset._whole = table, self if self._whole is None else self._whole
        for name in ("engine", "ledger", "identity"):  # which are cached, and of the table before
            dataset.__dict__.pop(name, None)
        return dataset

    def engine_of(self, name: str) -> Engine:
        """Return the engine of a private table, which the engine of the dataset must be able to read beside its own."""
        if name == self.name:
            return self.engine
        if name not in self._others:
            part = self.contract.part("tables", name)
            engine = open_source(part, self.tables.others[name], spark=self._sources["spark"])
            if not self.engine.reads(engine):
                raise part.refuse(
                    f"the tables of a contract must be where one statement can read them, and {name!r} is elsewhere "
                    f"than {self.name!r}; bring them together",
                    "dataset",
                    "source",
                )
            self._others[name] = engine
        return self._others[name]

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
        """Publish the categories of a column that the contract does not describe, for (epsilon, delta), once.

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
        """The ledger that records spending, with this dataset entered; opened on first use."""
        return self._account.open() if self._whole is None else self._whole.ledger

    @property
    def ledger_place(self) -> str:
        """Where the ledger is, or would be: a path or an address, which may hold a password; it is not opened."""
        place = self._account.place
        if isinstance(place, Ledger):
            raise InvalidParameter("the ledger was opened elsewhere; name a path or an address instead")
        return fspath(place)

    def record_delta(self, reason: str) -> None:
        """Record in the ledger, as the custodian, a delta for a budget that had none, with the reason."""
        if self.delta is None:
            raise InvalidParameter("the contract has no delta; add one under [budget], such as delta = 1e-6")
        with self.unchecked_ledger() as ledger:
            ledger.add_delta(self.name, self.delta, reason, delta_reserved=self.delta_reserved)

    def lasting(self, epsilon: Fraction, rho: Fraction) -> BudgetForecast | None:
        """Return how many questions of so much fit the budget, where it has a delta; the ledger is not opened."""
        return BudgetForecast.of(self._account.budget.caps, epsilon, rho)

    @property
    def terms(self) -> Terms:
        """The terms of the contract that the ledger records: the guarantee depends on them."""
        return self._account.terms

    def unchecked_ledger(self) -> AbstractContextManager[Ledger]:
        """Return the ledger as it is, for whoever looks at it: it may know another contract, or be altered."""
        return self._account.open_unchecked()

    def recorded_terms(self) -> Terms | None:
        """Return the terms recorded in the ledger for this dataset, whether they are this contract's or not."""
        with self.unchecked_ledger() as ledger:
            return ledger.terms(self.name)

    def record_terms(self, reason: str) -> None:
        """Record in the ledger, as the custodian, that the contract has changed, with the reason."""
        with self.unchecked_ledger() as ledger:
            ledger.change_terms(self.name, self.terms, reason)
