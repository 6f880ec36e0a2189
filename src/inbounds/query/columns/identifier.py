"""Identifiers: columns of which neither bounds nor keys are known.

Rows are matched by them, counted and grouped by them within one unit; texts are also compared and matched with LIKE.
None of them is ever shown.
"""

from __future__ import annotations

from dataclasses import dataclass

Domain = tuple[str, str]
"""What two columns must share for equal values to mean the same thing: the table and the column that they refer to."""

UNIT: Domain = ("", "unit")
"""The domain of all units."""


@dataclass(frozen=True)
class Identifier:
    """A column that rows are matched by."""

    name: str
    domain: Domain
    is_text: bool = False
    """Whether the contract says that it holds text, which may be compared."""
    keys_of: str | None = None
    """The public table whose keys it holds, or which it is of."""
    has_whole_keys: bool | None = None
    """Whether the keys that it holds are whole numbers; None if they are no keys, or have no type."""

    @property
    def remedy(self) -> str:
        """Say what can be done with it."""
        if self.is_text:
            return "it is free text: compare it, match it with LIKE, or count its rows"
        return "it identifies rows: join tables on it, group by it in a subquery, or count its rows"
