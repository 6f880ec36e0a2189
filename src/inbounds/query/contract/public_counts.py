"""What the contract says is public already of the numbers of rows.  It is NOT protected: answers hold it as it is.

[known]
total = 1200                                          # rows in all
zeros = [{ clinic = "west", finding = "rare" }]       # combinations that cannot be
[known.by.clinic]
north = 300
[known.over_limit]                                    # what the row limit cuts at most (`over_limit`)
limit = 4
rows = 900
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Keys
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.over_limit import OverLimit

LARGEST = 2**50
"""No public number of rows is above this."""


@dataclass(frozen=True)
class Known:
    """Public facts about a table; keys are given by their codes."""

    total: int | None = None
    by: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """For a column the number of rows of each of some keys."""
    zeros: tuple[Mapping[str, int], ...] = ()
    """Combinations of keys that no row can have."""
    over_limit: OverLimit | None = None
    """What the row limit cuts at most."""

    @property
    def names(self) -> set[str]:
        """The columns that any of this is about."""
        return {*self.by, *(name for zero in self.zeros for name in zero)}

    @classmethod
    def of(cls, contract: Contract, columns: Mapping[str, Column], limit: int, *, rows_are_units: bool) -> Known:
        """Read the public facts of a contract, about a table with this row limit."""
        if not contract.has("known"):
            return cls()
        contract.refuse_unknown(("over_limit",) if contract.at else ("total", "by", "zeros", "over_limit"), "known")
        if rows_are_units and contract.has("known", "over_limit"):
            raise contract.refuse(
                'with unit = "row" no row is over a limit; leave over_limit out', "known", "over_limit"
            )
        if not rows_are_units and (contract.has("known", "total") or contract.has("known", "by")):
            raise contract.refuse(
                'public row counts need unit = "row": with a row limit, the rows that are counted are down-weighted; '
                "leave them out",
                "known",
            )
        total = _number(contract, "known", "total") if contract.has("known", "total") else None
        by = contract.table("known", "by") if contract.has("known", "by") else {}
        counts = {name: _by(contract, columns, name) for name in by}
        return cls(total, counts, _zeros(contract, columns), OverLimit.of(contract, limit))


def _by(contract: Contract, columns: Mapping[str, Column], name: str) -> dict[int, int]:
    path = ("known", "by", name)
    column = _keys(contract, columns, name, *path)
    return {_code(contract, column, key, *path, key): _number(contract, *path, key) for key in contract.table(*path)}


def _zeros(contract: Contract, columns: Mapping[str, Column]) -> tuple[dict[str, int], ...]:
    if not contract.has("known", "zeros"):
        return ()
    path, zeros = ("known", "zeros"), contract.value("known", "zeros")
    if not isinstance(zeros, list) or not all(isinstance(zero, Mapping) and zero for zero in zeros):
        raise contract.refuse(
            f"zeros must be a list of combinations of keys, got {shown(zeros)}; write it like "
            '[{ clinic = "west", finding = "rare" }]',
            *path,
        )
    return tuple(
        {name: _code(contract, _keys(contract, columns, name, *path), key, *path) for name, key in zero.items()}
        for zero in zeros
    )


def _keys(contract: Contract, columns: Mapping[str, Column], name: str, *path: str) -> Keys:
    column = columns.get(name)
    if not isinstance(column, Keys):
        raise contract.refuse(f"{name!r} is not a column with keys; name one that is", *path)
    return column


def _code(contract: Contract, column: Keys, key: Any, *path: str) -> int:
    code = column.find(key)
    if code is None:
        raise contract.refuse(
            f"{shown(key)} is not a key of {column.name!r}; add it there, or leave it out here", *path
        )
    return code


def _number(contract: Contract, *path: str) -> int:
    value = contract.value(*path)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise contract.refuse(
            f"a public number of rows must be a whole number from 0 to 2^50, got {shown(value)}; correct it", *path
        )
    return value
