"""Dataset: the custodian's table, open for questions.

visits = Dataset.load("visits.toml")
visits.mean("age").where("age >= 65").by("clinic").ask(0.5, analyst="ana")
visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").explain(0.5)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from os import fspath
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from types import TracebackType
from typing import Any
from weakref import finalize

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.amount import LIMIT, fraction
from inbounds.ledger import Ledger
from inbounds.ledger.values.refresh import Allowance
from inbounds.ledger.values.terms import Terms
from inbounds.query.answer.budget_forecast import BudgetForecast
from inbounds.query.ask.account import Account, Where
from inbounds.query.ask.charging import PriceLimit
from inbounds.query.ask.discovering.bounds_discovery import OUTSIDE, DiscoveredBounds, discover_bounds
from inbounds.query.ask.discovering.discovery import Discovered, discover
from inbounds.query.ask.discovering.limit_discovery import MOST, DiscoveredLimit, discover_limit, with_largest_limit
from inbounds.query.ask.privacy_options import cut_options
from inbounds.query.columns.column import Keys
from inbounds.query.contract.budget import Budget
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.faults import read_all
from inbounds.query.contract.listed_keys import digest_keys
from inbounds.query.contract.places import keep_places
from inbounds.query.engines.engine import Engine
from inbounds.query.made_tables import MadeTables
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.plan_question import plan, share_statements
from inbounds.query.overview import Overview
from inbounds.query.practice.practice_engines import PracticeTables
from inbounds.query.query import Query
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.query.several.build import Builder
from inbounds.query.several.several_query import SeveralQuery
from inbounds.query.sql.select import Select, read_select
from inbounds.query.sql.several.statement import ColumnsSelect, PivotedSelect, Statement
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.relation import base_tables, public_tables
from inbounds.query.tables.source import open_source
from inbounds.query.tables.table import Table

PRACTICE_CAP = LIMIT
"""So much may be spent on practice data."""

MOST_PLANS = 256
"""So many plans are kept to be used again, and so many questions as they were read."""


class Dataset(MadeTables, Overview):
    """A table that can be queried, and the privacy budget that pays for its answers."""

    is_practice: bool
    """Whether its rows are made up."""
    allowance: Allowance
    """What may be spent, in each period if the budget refreshes."""
    price_limit: PriceLimit | None
    """What a single question may cost, if there is a limit."""

    def __init__(
        self,
        contract: Contract,
        *,
        frame: Any = None,
        spark: Any = None,
        ledger: Where | Ledger | None = None,
        create_ledger: bool = True,
        within: Contract | None = None,
    ) -> None:
        """Open the dataset that a contract describes; one `within` another has the places of that, whatever it says."""

        def read(contract: Contract) -> tuple[Tables, Budget]:
            own = contract if within is None else keep_places(contract, within)
            return Tables.of(own, spark), Budget.of(own)

        # Each time that it is read: putting one fault right can make a place of what was none.
        self.tables, budget = read_all(contract, read)
        self.contract = contract if within is None else keep_places(contract, within)
        self.table = self.tables.main
        self.is_practice = self.tables.is_practice
        self.total, self.per_analyst = budget.total, budget.per_analyst
        self.delta, self.delta_reserved = budget.delta, budget.delta_reserved
        self.allowance = budget.allowance
        most = budget.max_epsilon_per_question
        self.price_limit = None if most is None else PriceLimit.of_dataset(self.name, fraction(most))
        self._sources = {"frame": frame, "spark": spark}
        self._account = Account(self.contract, self.tables, budget, ledger, create_ledger, frame is not None)
        self._selects: dict[str, Statement | PivotedSelect | ColumnsSelect] = {}
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
        without_limit: bool = False,
    ) -> Dataset:
        """Open the dataset described by a contract, a TOML file.

        * `frame`: a pandas, polars or Arrow table, a relation of DuckDB, or whatever offers its rows to Arrow, to ask
          instead of the contract's source.
        * `spark`: the session to use, if the source is in Spark.
        * `ledger`: where spending is recorded, instead of where the contract says: a path, an address or a `Ledger`.
        * `create_ledger`: whether to create a ledger that is not there, and to enter the dataset in one that does not
          know it.  If not, using `ledger`, as asking does, raises `InvalidParameter` for the one and `LedgerConflict`
          for the other, and nothing is written: for whoever only wants to look.
        * `without_limit`: whether to take a contract that does not say `max_rows_per_unit` yet, with the largest limit
          there is: for `discover_limit`.
        """
        contract = Contract.load(Path(path))
        contract = with_largest_limit(contract) if without_limit else contract
        return cls(contract, frame=frame, spark=spark, ledger=ledger, create_ledger=create_ledger)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        frame: Any = None,
        spark: Any = None,
        ledger: Where | Ledger | None = None,
        create_ledger: bool = True,
        without_limit: bool = False,
    ) -> Dataset:
        """Open the dataset described by the text of a contract."""
        contract = Contract.parse(text)
        contract = with_largest_limit(contract) if without_limit else contract
        return cls(contract, frame=frame, spark=spark, ledger=ledger, create_ledger=create_ledger)

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
        self.tables.close()
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
        """Write a query in SQL; `inbounds.query.sql` documents what is supported.

        It may say what it costs: `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM visits`.
        """
        if self.table is not self.tables.main:
            raise InvalidQuestion(
                "SQL names its tables after FROM; call sql on the dataset, or ask this table in Python"
            )
        text, options = cut_options(text)
        statement = self._read_sql(text)
        if isinstance(statement, Select) and not statement.beside:
            query = self._build_select(statement)
        else:
            query = SeveralQuery.of_piece(self, Builder(self._build_select).piece(statement))
        options.check(question.table for question in query.questions)
        return query if options.epsilon is None else replace(query, stated=options.epsilon)

    def _build_select(self, select: Select) -> Query:
        """Return the query for one SELECT about rows."""
        if select.relation is not None:
            return self._with_table(select.relation)._build_query(select)
        return self.rows_of(select.table)._build_query(select)

    def _read_sql(self, text: object) -> Statement | PivotedSelect | ColumnsSelect:
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
        """What tells this contract from others: its text, and the maps and long lists that it reads from files."""
        keys = [
            column for column in self.table.columns.values() if isinstance(column, Keys) and column.within is not None
        ]
        maps = (f"{column.name} {column.parents}" for column in keys)
        return "\0".join((self.contract.text, *maps, *digest_keys(self.table.columns)))

    def _ask_for(self, *measures: Measure) -> Query:
        return Query.of(self, measures)

    def _ask_question(self, question: Question) -> Query:
        return Query(self, (question,), measures=(question.measure,))

    def planned(self, question: Question, epsilon: Fraction, pooling: Fraction | None) -> Plan:
        """Return the plan for a question; the same question again is not planned again."""
        key = (question, epsilon, pooling)  # whole, and not as it is written: two that read alike may differ
        for public in public_tables(question.table).values():
            public.refuse_changed()
        cached = self._plans.get(key)
        if cached is not None:
            return cached
        with self._planning.setdefault(key, Lock()):  # those who ask the same at once wait for one plan
            try:
                cached = self._plans.get(key)
                return self._make_plan(key, question, epsilon, pooling) if cached is None else cached
            finally:
                self._planning.pop(key, None)

    def share_statements(self, plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
        """Return plans for the same rows with one statement for those that can share it."""
        if len(plans) < 2:
            return plans
        return share_statements(plans, self.engine, self._engines_for(plans[0].question.table))

    def _make_plan(self, key: tuple[Any, ...], question: Question, epsilon: Fraction, pooling: Fraction | None) -> Plan:
        new_plan = plan(question, epsilon, self.engine, pooling, self._engines_for(question.table))
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[key] = new_plan
        return new_plan

    def _engines_for(self, table: Table) -> dict[str, Engine]:
        """Return what reads the tables that a table is made of, by their names."""
        engines = {name: self.engine_of(name) for name in base_tables(table)}
        for name, public in public_tables(table).items():
            engine = self._engine_of_public(public)
            if engine is not None:
                engines[name] = engine
        return engines

    def practice(self, rows: int = 1000, seed: int = 0) -> Dataset:
        """Return the same dataset with made-up rows, to try questions on for free: they tell nothing about anybody.

        Rows are made of the contract and its public tables alone, `rows` of them in each table, the same ones for the
        same seed; the source is never opened.  Spending is kept in a temporary ledger of its own, without a cap that
        matters.  Answers say that they are practice.
        """
        return PracticeDataset(self, rows, seed)

    # Other tables.

    def _with_table(self, table: Table) -> Dataset:
        """Return this dataset with another table to ask; the source, the budget and the ledger are the same."""
        dataset = copy(self)
        dataset.table, dataset._whole = table, self if self._whole is None else self._whole
        for name in ("engine", "ledger", "identity"):  # which are cached, and of the table before
            dataset.__dict__.pop(name, None)
        return dataset

    def limited(self, limit: PriceLimit | None) -> Dataset:
        """Return this dataset for somebody whose questions may cost less; all else is the same."""
        dataset = copy(self)
        dataset._whole = self if self._whole is None else self._whole
        dataset.price_limit = PriceLimit.strictest((self.price_limit, limit))
        return dataset

    def engine_of(self, name: str) -> Engine:
        """Return the engine of a private table, which the engine of the dataset must be able to read beside its own."""
        if name == self.name:
            return self.engine
        if name not in self._others:
            part = self.contract.part("tables", name)
            engine = open_source(part, self.tables.others[name], spark=self._sources["spark"])
            if not self.engine.reads(engine):
                raise part.refuse(self.engine.explain_apart(engine, self.name, name), "dataset", "source")
            self._others[name] = engine
        return self._others[name]

    def _engine_of_public(self, public: PublicTable) -> Engine | None:
        """Return the engine of a public table, None if it is written into the statement."""
        public.refuse_changed()
        if public.engine is not None and self.engine.reads(public.engine):
            return public.engine
        if public.rows is not None:
            return None
        raise self.contract.part("tables", public.name).refuse(
            f"the public table {public.name!r} is too large to be written into a statement, and one statement cannot "
            f"read it beside {self.name!r}; bring them together",
            "dataset",
            "source",
        )

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

    def discover_limit(  # noqa: PLR0913  what is asked, at which cost, by whom
        self,
        epsilon: Any,
        *,
        analyst: str,
        level: Any = None,
        most: int = MOST,
        least_error: bool = False,
        next_epsilon: Any = None,
        request_id: str | None = None,
        force: bool = False,
    ) -> DiscoveredLimit:
        """Publish a limit of rows per unit, for epsilon, once; write it with `write_into`, and record the new terms.

        It is a quantile of the units' numbers of rows, from 1 to `most`: about the share `level` of them, 0.95 if not
        given, stays within.  With `least_error` it is the power of two up to `most` with the least error of a count
        that costs `next_epsilon`, four times as much if not given.
        """
        return discover_limit(
            self,
            epsilon,
            analyst=analyst,
            level=level,
            most=most,
            least_error=least_error,
            next_epsilon=next_epsilon,
            request_id=request_id,
            force=force,
        )

    def discover_bounds(
        self,
        column: str,
        epsilon: Any,
        *,
        analyst: str,
        within: str,
        outside: Any = OUTSIDE,
        request_id: str | None = None,
    ) -> DiscoveredBounds:
        """Publish bounds of a column that the contract does not describe, for epsilon, once.

        About this share of its values lies `outside`, on each side.  They are two quantiles under the wide and public
        bounds `within`, rounded outwards.  Add `section()` of what comes back to the contract, and record the change of
        its terms.
        """
        return discover_bounds(
            self, column, epsilon, analyst=analyst, within=within, outside=outside, request_id=request_id
        )

    @contextmanager
    def described_by(self, contract: Contract) -> Iterator[Dataset]:
        """Yield this dataset as another contract describes its tables: charges are under the terms of its own."""
        other = copy(self)
        other.contract, other.tables = contract, Tables.of(contract, self._sources["spark"])
        other.table, other._whole = other.tables.main, None
        other._selects, other._plans, other._planning, other._others = {}, {}, {}, {}
        for name in ("engine", "identity"):  # which are cached, and of the contract before
            other.__dict__.pop(name, None)
        other.__dict__["ledger"] = self.ledger
        try:
            yield other
        finally:
            del other.__dict__["ledger"]  # which stays open
            other.close()

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
            self._account.record_allowance(ledger, reason)  # which may be refused, so it comes first
            ledger.change_terms(self.name, self.terms, reason)

    def recorded_allowance(self) -> Allowance:
        """Return the budget that the ledger has on record, whether it is this contract's or not."""
        with self.unchecked_ledger() as ledger:
            return ledger.allowance(self.name)


class PracticeDataset(Dataset):
    """A dataset whose rows are made up: everything can be asked of it, and nothing is told about anybody."""

    def __init__(self, dataset: Dataset, rows: int, seed: int) -> None:
        whole = dataset if dataset._whole is None else dataset._whole
        self.__dict__.update(whole.__dict__)
        for name in ("engine", "ledger", "identity"):
            self.__dict__.pop(name, None)
        self.is_practice = True
        self._selects, self._plans, self._planning = {}, {}, {}
        self.practice_tables = PracticeTables.of(self.tables, rows, seed)
        self._others = self.practice_tables.engines()
        self.__dict__["engine"] = self._others.pop(self.name)
        folder = mkdtemp(prefix="inbounds-practice-")
        self._clean = finalize(self, rmtree, folder, ignore_errors=True)
        budget = Budget(PRACTICE_CAP, None, None, None)
        ledger = str(Path(folder) / "practice.ledger.db")
        self._account = Account(self.contract, self.tables, budget, ledger, create=True, framed=True)
        self.total, self.per_analyst, self.delta, self.delta_reserved = PRACTICE_CAP, None, None, None
        self.allowance = budget.allowance
        self.table = self.tables.main if dataset._whole is None else dataset.table
        self.price_limit = dataset.price_limit

    def close(self) -> None:
        """Forget the rows; the dataset that it was made of stays open, and so do its public tables."""
        if self._whole is not None:
            super().close()
            return
        self._plans.clear()
        if "ledger" in self.__dict__:
            self.__dict__.pop("ledger").close()
        for engine in (self.engine, *self._others.values()):
            engine.close()
        self.practice_tables.close()
        self._clean()
