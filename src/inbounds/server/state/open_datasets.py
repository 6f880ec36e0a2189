"""The datasets and the ledger that a process has open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from inbounds.display.suggestion import find_nearest
from inbounds.errors import InboundsError, InvalidContract, InvalidParameter, LedgerUnavailable
from inbounds.exact.rational import shown
from inbounds.ledger import Ledger
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.address import is_address
from inbounds.query import Dataset
from inbounds.query.ask.account import named_ledger
from inbounds.query.ask.charging import PriceLimit
from inbounds.query.contract.contract import Contract
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from inbounds.server.state.ledger_heads import LedgerHeads
from inbounds.server.state.ledger_readers import Readers

TICK = 1.0
"""Answers leave at whole multiples of so many seconds after they were asked, unless the contract says otherwise."""

LONGEST_TICK = 3600

RESERVED = {"keys", "requests"}
"""What pages of the custodian are called beside those of datasets."""


@dataclass(frozen=True)
class Holding:
    """A dataset that is served."""

    dataset: Dataset
    tick: float

    @property
    def name(self) -> str:
        """What it is called."""
        return self.dataset.name

    def for_person(self, person: Person) -> Holding:
        """Return it with the limit of a person on what one question may cost."""
        most = person.max_epsilon_per_question
        if most is None:
            return self
        return replace(self, dataset=self.dataset.limited(PriceLimit.of_person(person.name, most)))


class Holdings:
    """What is served, by name.  What cannot be opened is tried again when it is needed.

    A ledger that is not there is not begun anew, unless `create` says so: one that went away comes back with what was
    spent.  Nor is one used that is older than what the server's file knows of it.
    """

    def __init__(self, file: CustodianFile, database: Database, *, create: bool = False) -> None:
        self._file = file
        self._create = create
        self._turn = threading.Lock()
        self._ledger: Ledger | None = None
        self._contracts = contracts_of(file)
        self.heads = LedgerHeads(database, self._contracts)
        self._readers = Readers(file.ledger, self.heads)
        for name in self._contracts:
            _refuse_no_address(name)
        self._opened: dict[str, Holding] = {}
        self._refuse_unknown_datasets()

    def _refuse_unknown_datasets(self) -> None:
        for person in self._file.people.values():
            for name in person.datasets:
                if name not in self._contracts:
                    known = ", ".join(map(repr, self._contracts))
                    raise InvalidContract(
                        f"{person.name!r} has access to {shown(name)}, which no contract describes; choose from {known}"
                    )

    @property
    def names(self) -> list[str]:
        """The names of all datasets."""
        return list(self._contracts)

    def reading(self) -> AbstractContextManager[Ledger]:
        """Lend the ledger of all datasets, to look at it."""
        return self._readers.lend()

    def _open_ledger(self) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger.open(self._file.ledger, create=self._create, witness=self.heads)
        return self._ledger

    def record_head(self) -> None:
        """Let the server's file have where the chain ends; if its disk is full, the next charge waits for that."""
        with suppress(Failure):
            self.heads.keep(self._open_ledger().head())

    def holding(self, name: str, person: Person) -> Holding:
        """Return a dataset, if it is this person's to see; others are told from none at all by nothing."""
        if name not in self._contracts or not person.may_see(name):
            near = find_nearest(name, [known for known in self._contracts if person.may_see(known)])
            remedy = f"did you mean {' or '.join(near)}?" if near else "check the name"
            raise Problem("not-found", f"no dataset has this name, or you don't have access to it; {remedy}")
        try:
            return self.open_holding(name).for_person(person)
        except InvalidParameter:  # about the ledger: its words name the file, which is the custodian's business
            raise LedgerUnavailable("the ledger cannot be opened; check that it exists") from None

    def open_holding(self, name: str) -> Holding:
        """Return a dataset, entered in the ledger."""
        holding = self._opened.get(name)
        if holding is None:
            with self._turn:  # while this thread waited, another one may have opened it
                holding = self._opened.get(name) or self._open(self._contracts[name])
                self._opened[name] = holding
        return holding

    def _open(self, contract: Contract) -> Holding:
        tick = read_tick(contract)
        _refuse_other_ledger(contract, self._file.ledger)
        dataset = Dataset(contract, ledger=self._open_ledger())
        try:
            assert dataset.ledger is self._ledger  # which enters the dataset, if it is new
            dataset.engine.statement_seconds = self._file.limits.statement_seconds
            dataset.engine.kinds()
        except BaseException:
            dataset.close()
            raise
        return Holding(dataset, tick)

    def all(self) -> Iterator[Holding]:
        """Open everything, one after the other."""
        return (self.open_holding(name) for name in self._contracts)

    def is_ready(self) -> bool:
        """Return whether every dataset can be used, and the ledger can be written."""
        try:
            for name in self._contracts:
                self.open_holding(name)
            with self.reading() as ledger:  # one of its own: whoever looks does not wait for a turn after a charge
                ledger.try_writing()
        except InboundsError:
            return False
        return True

    def close(self) -> None:
        """Let go of everything."""
        with self._turn:
            while self._opened:
                self._opened.popitem()[1].dataset.close()
            self._readers.close()
            if self._ledger is not None:
                self._ledger.close()


def contracts_of(file: CustodianFile) -> dict[str, Contract]:
    """Return the contracts that are served, by the names of their datasets."""
    contracts = {contract.text_of("dataset", "name"): contract for contract in map(Contract.load, file.contracts)}
    if len(contracts) < len(file.contracts):
        raise InvalidContract("two contracts use the same dataset name; give each its own")
    return contracts


def _refuse_no_address(name: str) -> None:
    """Refuse a name that cannot stand in the address of a page."""
    if name in RESERVED:
        raise InvalidContract(f"a served dataset cannot be called {name!r}, which is the address of a page; rename it")
    if "/" in name or name in (".", ".."):
        raise InvalidContract(
            f"the name of a served dataset must not contain '/' or be '.' or '..', got {shown(name)}; rename it"
        )


def read_tick(contract: Contract) -> float:
    """Return how many seconds apart answers leave, as a contract says."""
    if not contract.has("dataset", "tick"):
        return TICK
    value = contract.value("dataset", "tick")
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= LONGEST_TICK:
        raise contract.refuse(
            f"tick must be above 0 and at most {LONGEST_TICK} seconds, got {shown(value)}; write it like 1",
            "dataset",
            "tick",
        )
    return float(value)


def _refuse_other_ledger(contract: Contract, ledger: str) -> None:
    """Refuse a contract whose own ledger is another one: its budget could be spent twice."""
    if not contract.has("budget", "ledger"):
        return
    own = named_ledger(contract)
    same = own == ledger if is_address(own) or is_address(ledger) else Path(own).resolve() == Path(ledger).resolve()
    if not same:
        raise contract.refuse(
            "this ledger is not the server's, so the budget could be spent in both; name the same one",
            "budget",
            "ledger",
        )
