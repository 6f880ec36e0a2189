"""Access to a dataset, at hand or on a server: a command asks both in one way, and does not ask which it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.output import tell_of_new
from inbounds.cli.shell.server import connected
from inbounds.errors import InvalidParameter
from inbounds.ledger.values.receipt import Balance, more_queries
from inbounds.ledger.values.refresh import Period

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset, RemoteQuery
    from inbounds.query import Dataset, Query

PRACTISING = "somebody"
"""Who asks practice data, if nobody is named."""

TOTAL = "total budget"
"""What the budget of all analysts together is called."""


def own_budget(analyst: str | None) -> str:
    """Return what the budget of one analyst is called."""
    return f"{analyst}'s budget"


@dataclass(frozen=True)
class Balances:
    """What is spent and left: by all analysts together, and by one of them."""

    total: Balance
    analyst: str | None
    own: Balance | None
    more: tuple[dict[str, Any], str] | None
    """How many more queries like the last one it allows, for programs and in words."""
    asked: int | None = None
    """How many queries were charged, if that is told."""
    adding_up: str | None = None
    """What a budget that refreshes adds up to, in words."""

    def data(self) -> dict[str, Any]:
        """Return the balances, for programs."""
        return {"total": self.total.data()} | ({} if self.own is None else {"analyst": self.own.data()})

    def lines(self) -> list[tuple[str, str]]:
        """Return the balances in words, by what they are called."""
        own = [] if self.own is None else [(own_budget(self.analyst), str(self.own))]
        return [(TOTAL, str(self.total)), *own]


class Access(ABC):
    """A dataset, and who asks it."""

    is_practice = False
    """Whether nothing is charged, for its rows are made up."""

    def __init__(self, dataset: Dataset | RemoteDataset, owner: str, **who: str | None) -> None:
        self.dataset = dataset
        self.owner = owner
        """Who has the earlier answers that are looked at, as a message says it."""
        self.who: dict[str, Any] = who
        """What a question has to be told of who asks it."""

    def question(self, sql: str, *, alone: bool) -> Query | RemoteQuery:
        """Return a question, to be explained or asked."""
        question = self.dataset.sql(sql)
        return question.alone() if alone else question

    @abstractmethod
    def budget(self, analyst: str | None = None) -> Balances:
        """Return what is spent and left in all, and of one analyst: of who asks, if nobody is named."""

    def tell_of_ledger(self, *, as_json: bool) -> dict[str, bool]:
        """Say if a ledger at hand is new, and return what JSON says of it; of another there is nothing to say."""
        return {}


class LocalAccess(Access):
    """A dataset at hand, asked in somebody's name."""

    dataset: Dataset

    def budget(self, analyst: str | None = None) -> Balances:
        """Read the ledger; who asks is looked up only where everybody has a cap."""
        ledger, name = self.dataset.ledger, self.dataset.name
        if analyst is None and self.dataset.per_analyst is not None:
            analyst = self.who["analyst"]
        total, own = ledger.balance(name), None if analyst is None else ledger.balance(name, analyst)
        repeats = ledger.repeats(name, analyst)
        more = None if repeats is None else (repeats.data(), str(repeats))
        return Balances(total, analyst, own, more, adding_up=ledger.allowance(name).adding_up)

    def tell_of_ledger(self, *, as_json: bool) -> dict[str, bool]:
        """Say if the ledger is new: then nothing was spent from it."""
        return {"ledger_created": tell_of_new(self.dataset.ledger, as_json=as_json)}


class PracticeAccess(LocalAccess):
    """Made-up rows: nothing is charged, and there is no budget to tell of."""

    is_practice = True

    def tell_of_ledger(self, *, as_json: bool) -> dict[str, bool]:
        """Say nothing: the ledger is gone when the command ends."""
        return {}


class RemoteAccess(Access):
    """A dataset on a server, which knows by the key who asks."""

    dataset: RemoteDataset

    def budget(self, analyst: str | None = None) -> Balances:
        """Read what the server says."""
        facts = self.dataset.budget(analyst)
        period = facts.get("period")  # an older server knows of none
        total, own, last = _read_balance(facts["total"], period), facts["own"], facts["more_like_the_last"]
        more = None
        if last is not None:
            count, cost = last["count"], last["epsilon"]
            more = {"count": count, "epsilon": Fraction(cost)}, more_queries(count, cost)
        mine = None if own is None else _read_balance(own, period)
        adding_up = None if period is None else period["adding_up"]
        if facts.get("lifetime") is not None:
            total = replace(total, lifetime=_read_balance(facts["lifetime"], None))
        return Balances(total, facts["analyst"], mine, more, facts["asked"], adding_up)


def _read_balance(account: dict[str, Any], period: dict[str, Any] | None) -> Balance:
    amounts: dict[str, Any] = {name: None if text is None else Fraction(text) for name, text in account.items()}
    balance = Balance(amounts["cap"], amounts["spent"], amounts["rho_cap"], amounts["rho_spent"])
    return balance if period is None else replace(balance, period=Period.read(period["refresh"], period["begins"]))


@contextmanager
def open_access(
    dataset: str,
    server: str | None,
    key_file: str | None,
    *,
    ledger: str | None,
    analyst: str | None = None,
    create_ledger: bool = True,
    practise: bool = False,
) -> Iterator[Access]:
    """Open the dataset that a contract describes, or that has this name on a server; or practice data like it."""
    if practise and server is None:
        if ledger is not None:
            raise InvalidParameter("--practise spends nothing, so there is no ledger; leave --ledger out")
        with open_dataset(dataset, create_ledger=False) as table, table.practice() as made:
            yield PracticeAccess(made, "from practice data", analyst=analyst or PRACTISING)
        return
    if server is None:
        with open_dataset(dataset, ledger, create_ledger=create_ledger) as table:
            yield LocalAccess(table, f"{analyst} already has", analyst=analyst)
        return
    for name, value in (("analyst", analyst), ("ledger", ledger)):
        if value is not None:
            raise InvalidParameter(f"--{name} cannot be combined with --server, which already knows it; leave it out")
    with connected(server, key_file) as connection:
        found = connection.dataset(dataset)
        access = RemoteAccess(found.practice() if practise else found, "you already have")
        access.is_practice = practise
        yield access
