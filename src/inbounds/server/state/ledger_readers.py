"""Ledgers that are read and never charged: threads take turns with one ledger, and a charge waits for the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inbounds.errors import InvalidParameter, LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.server.state.ledger_heads import LedgerHeads


class Readers:
    """As many open ledgers as were ever read at once, so that reading waits neither for charges nor for a check."""

    def __init__(self, where: str, heads: LedgerHeads) -> None:
        self._where = where
        self._heads = heads
        self._free: list[Ledger] = []

    @contextmanager
    def lend(self) -> Iterator[Ledger]:
        """Lend a ledger for the time of the block."""
        try:
            ledger = self._free.pop()
        except IndexError:
            ledger = self._open()
        try:
            yield ledger
        finally:
            self._free.append(ledger)

    def _open(self) -> Ledger:
        try:
            return Ledger.open(self._where, create=False, witness=self._heads)
        except InvalidParameter:  # its words name the file, which is the custodian's business
            raise LedgerUnavailable("the ledger cannot be opened for reading; check that it exists") from None

    def close(self) -> None:
        """Close all that are not lent."""
        while self._free:
            self._free.pop().close()
