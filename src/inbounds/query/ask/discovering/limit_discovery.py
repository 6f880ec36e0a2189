"""A limit of rows per unit that nobody knows beforehand, paid for once.

How many rows a unit has is one number for each unit, whatever the limit of the contract is: so what is asked is about
units, with a public range of its own, and costs epsilon alone.  It is a quantile of these numbers, as an ordinary
question asks for it; or the limit with the least error of a count, by a law of its own (`limit_law`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inbounds.accuracy.confidence import percent
from inbounds.errors import InvalidContract, InvalidParameter, InvalidQuestion, LedgerConflict
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.privacy.claim import checked_epsilon
from inbounds.privacy.rho import bounded_range
from inbounds.query.ask.charging import charge, refuse_expensive
from inbounds.query.ask.discovering import limit_law
from inbounds.query.ask.discovering.limit_law import SHARE, LimitLaw
from inbounds.query.ask.draw import draw_once
from inbounds.query.ask.options import read_cost
from inbounds.query.ask.rank_error import describe_noise, rank_error_of, round_ranks
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.contract_change import apart_from, with_value, write_number
from inbounds.query.tables.table import MOST_LIMIT, ROW, Table

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset
    from inbounds.query.query import Query

LIMIT = "max_rows_per_unit"

LEVEL = 0.95
"""This share of the units is to count in full."""

MOST = 1024
"""No more rows than that are told apart, unless somebody says so."""


class Aim(ABC):
    """What makes a limit a good one."""

    @property
    @abstractmethod
    def cap(self) -> int:
        """So many rows of a unit are told from fewer, and not from more."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Return what was asked for, for programs."""

    @abstractmethod
    def ask(self, units: Dataset, rows: str, payer: _Payer) -> _Drawn:
        """Return a limit, given units and what the column of their numbers of rows is called; charges first."""


@dataclass(frozen=True)
class DiscoveredLimit:
    """A limit that was published, what it is expected to cut, and what it cost."""

    path: tuple[str, ...]
    """Where it stands in the contract."""
    unit: str
    limit: int
    aim: Aim
    """What was asked for."""
    expected_loss: str
    """What to expect of answers under the limit, in words."""
    epsilon: Fraction
    request_id: str
    """Asking again with it returns this limit, free of charge."""

    @property
    def reason(self) -> str:
        """Why the terms of the contract have changed, for the record."""
        return f"{LIMIT} was discovered, request {self.request_id}"

    def write_into(self, text: str) -> str:
        """Return the text of the contract with this limit, what it cost and what it is expected to cut."""
        remarks = (
            f"# discovered for epsilon {float(self.epsilon):g}: request id {self.request_id}",
            f"# expected loss: {self.expected_loss}",
        )
        return write_number(text, self.limit, *self.path, remarks=remarks)


@dataclass(frozen=True)
class _Payer:
    """Who pays for a limit, and how much."""

    epsilon: Any
    analyst: str
    request_id: str | None
    force: bool
    unit: str
    """Whose rows they are."""


@dataclass(frozen=True)
class _Drawn:
    """A limit that was drawn."""

    limit: int
    loss: str
    epsilon: Fraction
    request_id: str


@dataclass(frozen=True)
class ShareOfUnits(Aim):
    """A limit that about this share of the units stays within: a quantile."""

    level: Any
    most: int

    @property
    def cap(self) -> int:
        return self.most

    @property
    def share(self) -> Fraction:
        """The share of units, exactly."""
        return as_written(self.level, "level", InvalidParameter)

    def data(self) -> dict[str, Any]:
        return {"level": self.share}

    def ask(self, units: Dataset, rows: str, payer: _Payer) -> _Drawn:
        query = units.quantile(rows, self.level)
        share = 1 - self.share
        (plan,) = query.plans(payer.epsilon)
        error = rank_error_of(plan)
        answer = query.ask(payer.epsilon, analyst=payer.analyst, request_id=payer.request_id, force=payer.force)
        ((limit,),) = answer.rows
        loss = (
            f"about {float(100 * share):g} % of the units ({payer.unit}) have more rows, which are down-weighted; "
            f"{describe_noise(error, share, 'units', 'a limit that is far too high')}"
        )
        return _Drawn(limit, loss, answer.epsilon, answer.request_id)


@dataclass(frozen=True)
class LeastError(Aim):
    """A limit under which a count that is asked for so much epsilon is least off, by cutting and noise together."""

    law: LimitLaw

    @property
    def cap(self) -> int:
        return self.law.cap

    def data(self) -> dict[str, Any]:
        return {"next_epsilon": self.law.following}

    def ask(self, units: Dataset, rows: str, payer: _Payer) -> _Drawn:
        # The statement is that of a quantile: how many units there are with each number of rows.
        query = units.quantile(rows, LEVEL)
        (plan,) = query.plans(payer.epsilon)
        receipt = charge(
            units,
            payer.analyst,
            self.law.epsilon,
            request_id=payer.request_id,
            fingerprint=self._fingerprint(query),
            note=f"{LIMIT} with the least error"[:1000],
            rho=bounded_range(self.law.epsilon),
        )
        text = draw_once(
            units.ledger,
            receipt,
            lambda: units.engine.run(plan.sql),
            lambda found: json.dumps({"limit": self.law.draw(plan.totals(found)[0])}),
        )
        limit = json.loads(text)["limit"]
        above = round_ranks(self.law.units_above(limit))
        loss = (
            f"with {percent()} confidence at most {above} units ({payer.unit}) have more rows, which are "
            f"down-weighted, if hardly any has more than {self.law.limits[-1]}; it is meant for queries at epsilon "
            f"{float(self.law.following):g}"
        )
        return _Drawn(limit, loss, self.law.epsilon, receipt.request_id)

    def _fingerprint(self, query: Query) -> str:
        """Tell what is asked from anything else."""
        law = self.law
        facts = (*query.facts, "the limit of least error", str(law.epsilon), str(law.following), str(law.limits[-1]))
        return sha256("\0".join(facts).encode()).hexdigest()


def aim_of(epsilon: Any, level: Any, most: Any, *, least_error: bool, next_epsilon: Any) -> Aim:
    """Return what a limit is to be, as it was asked for."""
    largest = limit_law.MOST if least_error else MOST_LIMIT
    if type(most) is not int or not 2 <= most <= largest:
        raise InvalidParameter(
            f"most must be a whole number from 2 to {largest}, got {shown(most)}; give one that no limit should "
            f"exceed, such as {MOST}"
        )
    if not least_error:
        if next_epsilon is not None:
            raise InvalidParameter("next_epsilon goes with least_error only; add that, or leave next_epsilon out")
        return ShareOfUnits(LEVEL if level is None else level, most)
    if level is not None:
        raise InvalidParameter("level and least_error are two ways to choose a limit; give one of them")
    cost = checked_epsilon(read_cost(epsilon))
    following = (
        cost * (1 - SHARE) / SHARE
        if next_epsilon is None
        else checked_epsilon(as_written(next_epsilon, "next_epsilon", InvalidParameter))
    )
    return LeastError(LimitLaw(cost, following, most))


@sheltered()
def discover_limit(  # noqa: PLR0913  what is asked, at which cost, by whom
    dataset: Dataset,
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
    """Publish a limit that serves its aim; charges epsilon first."""
    table = dataset.table
    if table.relation is not None:
        raise InvalidQuestion(
            "a limit belongs to a table of the contract, got one made of tables; discover it on the dataset, or on "
            "rows_of(…)"
        )
    if table.rows_are_units:
        raise InvalidQuestion(
            'with unit = "row" each row is a unit of its own, so the limit is 1; there is nothing to discover'
        )
    aim = aim_of(epsilon, level, most, least_error=least_error, next_epsilon=next_epsilon)
    refuse_expensive(dataset, read_cost(epsilon), request_id)
    path = ("dataset", LIMIT) if table.is_main else ("tables", table.name, LIMIT)
    _refuse_dropped(dataset)
    _refuse_facts(table)
    write_number(dataset.contract.text, 0, *path)  # 0 stands in no contract; what could not be written is refused
    # What the limit is now, if there is one, changes neither the question nor the answer.
    apart = with_value(apart_from(dataset.contract, *path, asked=()), MOST_LIMIT, *path)
    with dataset.described_by(with_largest_limit(apart)) as described:
        name = "rows" if table.unit != "rows" else "n"
        units = described.rows_of(table.name).per_unit(**{name: f"GREATEST(LEAST(COUNT(*), {aim.cap}), 1)"})
        drawn = aim.ask(units, name, _Payer(epsilon, analyst, request_id, force, table.unit))
    return DiscoveredLimit(path, table.unit, drawn.limit, aim, drawn.loss, drawn.epsilon, drawn.request_id)


def _refuse_dropped(dataset: Dataset) -> None:
    """Refuse a contract that says no limit where the ledger has one on record: it would be refused without a remedy."""
    recorded = None
    open_tables = [table for table in dataset.tables.private.values() if table.limit == MOST_LIMIT]
    if open_tables:
        with suppress(InvalidParameter, LedgerConflict):  # there is no ledger yet, or none of this dataset
            recorded = dataset.recorded_terms()
    for table in open_tables if recorded is not None else ():
        assert recorded is not None
        key, where = (LIMIT, "dataset") if table.is_main else (f"table {table.name}: {LIMIT}", f"tables.{table.name}")
        limit = recorded.get(key, str(MOST_LIMIT))
        if limit != str(MOST_LIMIT):
            raise InvalidContract(
                f"the ledger has {LIMIT} = {limit} on record, and the contract has none; write that under [{where}], "
                "and discover the limit again, which replaces it"
            )


def _refuse_facts(table: Table) -> None:
    """Refuse a contract that says what is over a limit: a lower one may be found, and the contract be none then."""
    over = table.known.over_limit
    if over is not None and over.limit > 1:
        raise InvalidContract(
            f"known.over_limit is about a limit of {over.limit}, and a lower one may be found; take it out of the "
            "contract, and state it for the new limit afterwards"
        )


def with_largest_limit(contract: Contract) -> Contract:
    """Return a contract with the largest limit there is where it must say one: whatever is asked under it is private.

    A table of [dataset] beside other private ones has the limit 1 if it says none (`contract_tables`), and keeps it.
    """
    path = ("dataset", LIMIT)
    if contract.has(*path):
        return contract
    others = _private_names(contract)
    for name in others:
        if not contract.has("tables", name, LIMIT):
            contract = with_value(contract, MOST_LIMIT, "tables", name, LIMIT)
    if others or not contract.has("dataset", "unit") or contract.value("dataset", "unit") == ROW:
        return contract
    return with_value(contract, MOST_LIMIT, *path)


def _private_names(contract: Contract) -> list[str]:
    """Return the other private tables of a contract, as far as it is one."""
    tables = contract.content.get("tables")
    if not isinstance(tables, Mapping):
        return []
    return [name for name, table in tables.items() if isinstance(table, Mapping) and "public" not in table]
