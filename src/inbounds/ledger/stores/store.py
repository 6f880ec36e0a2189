"""Where a ledger is kept: transactions over a database, of whatever make."""

from __future__ import annotations

import atexit
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from weakref import WeakSet

from inbounds.errors import LedgerConflict, LedgerMissing
from inbounds.ledger.stores.schema import LATER_INDEX, SAME_TABLES, VERSION

Row: TypeAlias = "tuple[Any, ...]"


class Failure(Exception):
    """A store could not do what it was asked to; the message is a reason in plain words, never the driver's.

    With `in_commit` it is not known whether the transaction was kept; without, it was not.  A failure that is `lasting`
    stays until somebody mends it, however long one waits.
    """

    def __init__(self, reason: str, in_commit: bool = False, *, lasting: bool = False) -> None:
        super().__init__(reason)
        self.in_commit = in_commit
        self.lasting = lasting


class Store(ABC):
    """One database, for one process: its threads take turns, and a forked child opens a connection of its own."""

    locking = ""
    """What makes a SELECT keep other writers from its row, if `writing` does not already."""

    place = "path"
    """What tells where it is."""

    _trouble: ClassVar[type[Exception]]
    """What the driver raises."""
    _connection: Any

    _upgrades: ClassVar[tuple[str, ...]]
    """What makes tables of this release of those of any before."""

    def __init__(self, where: str) -> None:
        self.where = where
        """The place, as a person may see it: without a password."""
        self.path: Path | None = None
        """Its file, wherever that is and whatever it is called; None on a server.  Not for messages."""
        self.created = False
        """Whether the ledger was created when it was opened."""
        self._turn = threading.Lock()
        self._closed = False
        self._connection = None
        _STORES.add(self)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make one transaction of the block: kept whole and durable when it ends, dropped if it raises."""
        with self._transaction(write=True):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the block see one state of the database, whatever others write meanwhile."""
        with self._transaction(write=False):
            yield

    @contextmanager
    def _transaction(self, write: bool) -> Iterator[None]:
        with self._turn:
            if self._closed:
                raise Failure("it was closed; open it again")
            try:
                self._begin(write)
                yield
                self._commit()
            except BaseException:
                self._abandon()
                raise

    def close(self) -> None:
        """Let go of the database; closing twice does nothing."""
        with self._turn:
            self._closed = True
            self._disconnect()

    def leave(self) -> None:
        """Let go of the database until it is needed again, unless it is needed now."""
        if self._turn.acquire(blocking=False):
            try:
                self._disconnect()
            finally:
                self._turn.release()

    def after_fork(self) -> None:
        """Forget, in a child, the parent's connection, without a word to the database, and its threads' turn."""
        self._turn = threading.Lock()
        _INHERITED.append(self._forget())

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """Return the first row that a query finds."""
        return next(self.rows(sql, parameters), None)

    def check_version(self) -> None:
        """Refuse a ledger that a later release made; call it inside a transaction."""
        row = self.row("SELECT version FROM ledger_head")
        version = row[0] if row else None
        if not isinstance(version, int) or not 1 <= version <= VERSION:
            raise LedgerConflict(
                f"the ledger {self.where} has version {version} of the tables, and this release reads versions "
                f"up to {VERSION}; use the release of inbounds that wrote it"
            )

    def upgrade(self, needed: int) -> None:
        """Give a ledger of a version below `needed` the tables of this release; call it inside a transaction."""
        if self.row("SELECT 1 FROM ledger_head WHERE version < ?", (needed,)):
            if self.row("SELECT 1 FROM ledger_head WHERE version < ?", (SAME_TABLES,)):
                for statement in self._upgrades:
                    self.execute(statement)
            self.execute(LATER_INDEX)
            self.execute("UPDATE ledger_head SET version = ?", (VERSION,))

    def try_writing(self) -> None:
        """Write what this transaction need not keep: an account of nobody comes and goes, for no name is empty."""
        self.execute("INSERT INTO ledger_accounts (dataset, analyst, spent) VALUES ('', '', 0)")
        self.execute("DELETE FROM ledger_accounts WHERE dataset = ''")

    def no_ledger(self) -> LedgerMissing:
        """Return the refusal of a place where there is no ledger, and none is to be created."""
        return LedgerMissing(f"there is no ledger at {self.where}; check the {self.place}, or ask a question first")

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """Run a query, with ? for each parameter, and yield what it finds."""

    @abstractmethod
    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement, with ? for each parameter, and return how many rows it changed."""

    @abstractmethod
    def _begin(self, write: bool) -> None:
        """Begin a transaction, on a new connection if there is none."""

    @abstractmethod
    def _commit(self) -> None:
        """End the transaction; on return it is durable."""

    @abstractmethod
    def _abandon(self) -> None:
        """Drop the transaction, if there is one; raise nothing."""

    def _disconnect(self) -> None:
        """Close the connection, if there is one."""
        connection = self._forget()
        if connection is not None:
            with suppress(self._trouble):
                connection.close()

    def _forget(self) -> Any:
        """Return the connection, and have none."""
        connection, self._connection = self._connection, None
        return connection


_STORES: WeakSet[Store] = WeakSet()

# Connections of a parent process. To close one here would end it there, so they are kept and never used.
_INHERITED: list[object] = []


def _after_fork() -> None:
    for store in list(_STORES):
        store.after_fork()


@atexit.register
def _leave_all() -> None:
    """Disconnect what nobody closed, as closing would, unless a thread is still using it."""
    for store in list(_STORES):
        store.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
