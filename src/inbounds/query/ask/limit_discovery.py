"""A limit of rows per unit that nobody knows beforehand: a quantile of the units' numbers of rows, paid for once.

How many rows a unit has is one number for each unit, whatever the limit of the contract is: so the question is an
ordinary one about units, with a public range of its own, and costs epsilon alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidContract, InvalidParameter, InvalidQuestion, LedgerConflict
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.query.ask.rank_error import describe_noise, rank_error_of
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.contract_change import apart_from, with_value, write_number
from inbounds.query.tables.table import MOST_LIMIT, ROW

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

LIMIT = "max_rows_per_unit"

LEVEL = 0.95
"""This share of the units is to count in full."""

MOST = 1024
"""No more rows than that are told apart, unless somebody says so."""


@dataclass(frozen=True)
class DiscoveredLimit:
    """A limit that was published, what it is expected to cut, and what it cost."""

    path: tuple[str, ...]
    """Where it stands in the contract."""
    unit: str
    limit: int
    level: Fraction
    """The share of units that was asked for."""
    rank_error: float
    """By how many units that may be off, at most, with the usual confidence."""
    epsilon: Fraction
    request_id: str
    """Asking again with it returns this limit, free of charge."""

    @property
    def expected_loss(self) -> str:
        """What to expect of answers under the limit, in words."""
        share = 1 - self.level
        return (
            f"about {float(100 * share):g} % of the units ({self.unit}) have more rows, which are down-weighted; "
            f"{describe_noise(self.rank_error, share, 'units', 'a limit that is far too high')}"
        )

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


@sheltered()
def discover_limit(
    dataset: Dataset,
    epsilon: Any,
    *,
    analyst: str,
    level: Any = LEVEL,
    most: int = MOST,
    request_id: str | None = None,
    force: bool = False,
) -> DiscoveredLimit:
    """Publish a limit that about this share of the units stays within; charges epsilon first."""
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
    if type(most) is not int or not 2 <= most <= MOST_LIMIT:
        raise InvalidParameter(
            f"most must be a whole number from 2 to {MOST_LIMIT}, got {shown(most)}; give one that no limit should "
            f"exceed, such as {MOST}"
        )
    path = ("dataset", LIMIT) if table.is_main else ("tables", table.name, LIMIT)
    _refuse_dropped(dataset)
    write_number(dataset.contract.text, 0, *path)  # 0 stands in no contract; what could not be written is refused
    # What the limit is now, if there is one, changes neither the question nor the answer.
    apart = with_value(apart_from(dataset.contract, *path, asked=()), MOST_LIMIT, *path)
    with dataset.described_by(with_largest_limit(apart)) as described:
        name = "rows" if table.unit != "rows" else "n"
        units = described.rows_of(table.name).per_unit(**{name: f"GREATEST(LEAST(COUNT(*), {most}), 1)"})
        query = units.quantile(name, level)
        share, (plan,) = as_written(level, "level", InvalidParameter), query.plans(epsilon)
        error = rank_error_of(plan)
        answer = query.ask(epsilon, analyst=analyst, request_id=request_id, force=force)
    ((limit,),) = answer.rows
    return DiscoveredLimit(path, table.unit, limit, share, error, answer.epsilon, answer.request_id)


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
