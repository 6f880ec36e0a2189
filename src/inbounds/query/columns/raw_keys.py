"""Columns of a few constants that are made of a text or an identifier of which nothing is known."""

from __future__ import annotations

from dataclasses import dataclass, field

from inbounds.query.columns.column import Keys
from inbounds.query.expressions.node import Node
from inbounds.query.expressions.raw import Raw


@dataclass(frozen=True)
class RawKeys(Keys):
    """A test of a raw column, or a part of it: computed where the table is read, and a code from there on."""

    raw: Raw = field(kw_only=True)

    @classmethod
    def of(cls, raw: Raw) -> RawKeys:
        """Return the column that a test or a part makes."""
        if raw.function == "PART":
            return cls(raw.name, raw.keys, raw=raw)
        return cls(raw.name, (True,) if raw.function == "PRESENT" else (False, True), raw=raw)

    @property
    def node(self) -> Node:
        return self.raw

    def as_stored(self, name: str) -> Keys:
        """Return it as a table holds it under a name: looked at no more, with the same keys."""
        return Keys(name, self.keys)
