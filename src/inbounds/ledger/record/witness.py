"""Witness: whoever keeps the last head of a ledger elsewhere, so that an older copy of it is noticed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from inbounds.ledger.values.entry import Head


class Witness(Protocol):
    """What a ledger is compared with before it is used, and told of before anything leaves it.

    A ledger with a witness is refused where its chain lacks a head that the witness has.  No charge is acknowledged and
    no answer given out before the witness has a head that includes it.  Both methods raise `Failure` if they cannot.
    """

    def heads(self) -> Collection[Head]:
        """Return the heads that the chain has to go through."""

    def keep(self, head: Head) -> None:
        """Keep a head durably, unless a later one is kept already."""
