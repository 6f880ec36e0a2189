"""Account: where the budget of a dataset is kept, and under which terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import fraction
from inbounds.ledger import Ledger
from inbounds.ledger.values.address import is_address, path_of
from inbounds.ledger.values.terms import Terms
from inbounds.query.ask.terms import terms_of
from inbounds.query.contract.budget import Budget
from inbounds.query.contract.contract import Contract
from inbounds.query.tables.contract_tables import Tables

Where = str | PathLike[str]


@dataclass(frozen=True)
class Account:
    """The ledger of a dataset: the one that was given, or the one that the contract names."""

    contract: Contract
    tables: Tables
    budget: Budget
    ledger: Where | Ledger | None
    """The one that was given: where it is, or open."""
    create: bool
    """Whether to create a ledger that is not there, and to enter the dataset in one that does not know it."""
    framed: bool
    """Whether a frame is asked instead of the contract's source."""

    def open(self) -> Ledger:
        """Return the ledger, with the dataset entered."""
        place = self.place
        ledger = place if isinstance(place, Ledger) else Ledger.open(place, create=self.create)
        cap = self.budget.per_analyst
        try:
            ledger.open_dataset(
                self.tables.main.name,
                fraction(self.budget.total),
                None if cap is None else fraction(cap),
                delta=self.budget.delta,
                delta_reserved=self.budget.delta_reserved,
                terms=self.terms,
                create=self.create,
            )
        except BaseException:
            if ledger is not place:  # one that was handed over stays open for its owner
                ledger.close()
            raise
        return ledger

    @contextmanager
    def open_unchecked(self) -> Iterator[Ledger]:
        """Yield the ledger as it is: it may know another contract, or be altered."""
        place = self.place
        if isinstance(place, Ledger):
            yield place
            return
        with Ledger.open(place, create=False) as ledger:
            yield ledger

    @cached_property
    def terms(self) -> Terms:
        """What the ledger keeps of the contract: what a charge promises depends on it."""
        ledger = self.ledger
        if ledger is None and (self.contract.stem is not None or self.contract.has("budget", "ledger")):
            ledger = self._default_place
        path = ledger.path if isinstance(ledger, Ledger) else None if ledger is None else path_of(str(ledger))
        return terms_of(self.contract, self.tables, framed=self.framed, ledger=path)

    @property
    def place(self) -> Where | Ledger:
        """Where the ledger is."""
        return self.ledger if self.ledger is not None else self._default_place

    @property
    def _default_place(self) -> str:
        contract = self.contract
        if not contract.has("budget", "ledger"):
            if contract.stem is None:
                raise InvalidParameter(
                    "a contract that is not a file needs a named ledger; give one, for example 'budget.db'"
                )
            return str(contract.folder / f"{contract.stem}.ledger.db")
        return named_ledger(contract)


def named_ledger(contract: Contract) -> str:
    """Return the ledger that a contract names: a path from its folder, or an address."""
    where = contract.text_of("budget", "ledger")
    return where if is_address(where) else str(contract.folder / Path(where).expanduser())
