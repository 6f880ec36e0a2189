"""What the contract says is public of the rows over the row limit.  It is NOT protected: intervals are made of it.

[known.over_limit]
limit = 4             # of more than 4 rows of a patient
units = 40            # at most so many patients have more
rows = 900            # at most so many rows in all are more than the 4 of their patient
most_per_unit = 30    # instead of rows: no patient has more than this

It is about a limit of its own, and stays true whatever `max_rows_per_unit` is.  From that limit on it can be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.exact.rational import shown
from inbounds.query.contract.contract import Contract

PATH = ("known", "over_limit")
KEYS = ("limit", "units", "rows", "most_per_unit")

LARGEST = 2**50
"""No public number of rows or units is above this."""


@dataclass(frozen=True)
class OverLimit:
    """At most so many units have more rows than a limit, and at most so many rows are over it."""

    limit: int
    units: int
    rows: int | None
    """None if only the units are known."""

    @classmethod
    def of(cls, contract: Contract, limit: int) -> OverLimit | None:
        """Read what a contract says of a table with this row limit; None if it says nothing."""
        if not contract.has(*PATH):
            return None
        contract.refuse_unknown(KEYS, *PATH)
        own = contract.whole_of(*PATH, "limit")
        if own > limit:
            raise contract.refuse(
                f"over_limit is about more than {own} rows of a unit, and max_rows_per_unit is {limit}, which cuts "
                f"more; state it for a limit of {limit}, or leave it out",
                *PATH,
                "limit",
            )
        units, rows, most = (_number(contract, key) for key in KEYS[1:])
        if units is None and rows is None:
            raise contract.refuse(
                "over_limit must say how many rows are over the limit, or how many units have more; write it like "
                f"over_limit = {{ limit = {own}, units = 40, rows = 900 }}",
                *PATH,
            )
        if most is not None and units is None:
            raise contract.refuse(
                "most_per_unit goes with units: how many have more rows than the limit; add that, or leave it out",
                *PATH,
                "most_per_unit",
            )
        if most is not None and most < own:
            raise contract.refuse(
                f"most_per_unit must be {own} or more, which is the limit, got {most}; where no unit has more rows, "
                "write units = 0",
                *PATH,
                "most_per_unit",
            )
        each = None if most is None or units is None else units * (most - own)
        stated = [number for number in (rows, each) if number is not None]
        least = min(stated, default=None)
        if units == 0:
            least = 0
        assert units is not None or least is not None
        # A unit that has more rows has at least one that is over the limit.
        return cls(own, min(number for number in (units, least) if number is not None), least)

    def __str__(self) -> str:
        """Say it in words that fit behind "at most"."""
        units = "1 unit" if self.units == 1 else f"{self.units:,} units"
        rows = "" if self.rows is None else f"{_rows(self.rows)} of "
        return f"{rows}{units} are over a limit of {self.limit}"


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _number(contract: Contract, key: str) -> int | None:
    if not contract.has(*PATH, key):
        return None
    value = contract.value(*PATH, key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise contract.refuse(
            f"{key} must be a whole number from 0 to 2^50, got {shown(value)}; give the most that there can be",
            *PATH,
            key,
        )
    return value
