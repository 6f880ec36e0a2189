"""A ledger in a file: SQLite, in WAL mode with full synchronisation."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from inbounds.errors import LedgerConflict
from inbounds.ledger.stores.disk_space import try_room
from inbounds.ledger.stores.ledger_file import LedgerFile
from inbounds.ledger.stores.log_claim import LogClaim
from inbounds.ledger.stores.log_place import TABLE
from inbounds.ledger.stores.schema import ACCOUNTS, ENTRIES, INDEXES, TABLES
from inbounds.ledger.stores.sqlite_connection import connect, patiently
from inbounds.ledger.stores.sqlite_reason import REASONS, failure, primary_code
from inbounds.ledger.stores.store import Failure, Row, Store
from inbounds.ledger.values.address import without_secrets
from inbounds.ledger.values.entry import FIRST_FIELDS

_APPLICATION = 0x696E626C  # "inbl", in the header of every file that is a ledger

_TRIGGERS = tuple(
    f"""CREATE TRIGGER ledger_no_{event} BEFORE {event} ON ledger_entries
        BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"""
    for event in ("UPDATE", "DELETE")
)


def _rebuild_table(table: str, created: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return what gives a table other columns and constraints: SQLite cannot take a constraint away."""
    columns = ", ".join(names)
    return (
        created.replace(f"CREATE TABLE {table}", f"CREATE TABLE {table}_new"),
        f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE {table}_new RENAME TO {table}",
    )


_IN_THE_LOG = (
    "it is read-only, and part of it is still in its -wal file; copy both, make them writable, and read the copies"
)

WRITTEN_MEANWHILE = "it was written by somebody else meanwhile; read it again"


class SQLiteStore(Store):
    """A file that only its owner can read, created if it is not there, unless that is refused.

    Where that is refused, a file that may not be written, or is in a folder that may not, can still be read.
    """

    _trouble = sqlite3.Error
    _upgrades = (
        *_rebuild_table("ledger_entries", ENTRIES, FIRST_FIELDS),
        *_rebuild_table("ledger_accounts", ACCOUNTS, ("dataset", "analyst", "cap", "spent")),
        *INDEXES,
        *_TRIGGERS,
    )
    _connection: sqlite3.Connection | None

    def __init__(self, path: Path, create: bool = True) -> None:
        super().__init__(without_secrets(str(path)))
        self._file = LedgerFile(path)
        self.path = self._file.path
        self._claim = LogClaim(self._file, self._why)
        self._create = create
        self._read_only = False
        self._without_locks: tuple[int, ...] | None = None  # the state of a file that is read without any
        self._changes: int | None = None  # how many there were before the transaction, if it may write
        try:
            self._prepare()
        except BaseException:
            self._disconnect()
            raise

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        try:
            yield from self._open_connection().execute(sql, parameters)
        except sqlite3.Error as error:
            raise self._why(error) from None

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        try:
            return self._open_connection().execute(sql, parameters).rowcount
        except sqlite3.Error as error:
            raise failure(error) from None

    def copy_to(self, target: Path) -> None:
        """Copy what is in the ledger now to an empty file, whatever others write meanwhile."""
        with self.reading():
            copy = connect(target)
            try:
                self._open_connection().backup(copy)
            except sqlite3.Error as error:
                raise self._why(error) from None
            finally:
                copy.close()

    def try_writing(self) -> None:
        """Write what this transaction need not keep, and see whether the disk has room for more."""
        super().try_writing()
        try:
            try_room(self._file.path.parent)
        except OSError:
            raise Failure(REASONS[sqlite3.SQLITE_FULL]) from None

    def _prepare(self) -> None:
        """Create what is not there, and make sure that what is there is a ledger, before anything is written."""
        # Nothing is written, and no lock taken, before the header has said that the file is a ledger, or is empty.
        path = self._file.path
        try:
            if self._create:
                self._file.create()
            empty = path.stat().st_size == 0
        except OSError as error:
            if not self._create and isinstance(error, FileNotFoundError | NotADirectoryError):
                raise self.no_ledger() from None
            why = os.strerror(error.errno or 0)
            raise Failure(f"{why}; check its folder, and the rights to it", lasting=True) from None
        if not path.is_file():
            raise Failure("it is a folder or a device; give the path of a file", lasting=True)
        if empty and not self._create:
            raise self.no_ledger()
        self._file.refuse_two_names()
        self._read_only = not self._create and not self._file.may_be_written()
        if not empty and not self._may_be_ledger():
            raise self._not_a_ledger()
        self._connection = self._connect(self._create_tables)
        with self.reading():
            self.check_version()

    def _not_a_ledger(self) -> LedgerConflict:
        return LedgerConflict(f"{self.where} is a file but not a ledger, and was left as it is; give another path")

    def _may_be_ledger(self) -> bool:
        """Return what the header says, without a lock, a log or a recovery, for the file may be somebody else's.

        SQLite reads it, since a descriptor that anybody else closes takes along all locks of this process on the file.
        """
        connection = connect(self._file.path, "mode=ro&immutable=1")
        try:
            if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                return False
            if not self._claim.check_file(connection) and self._file.log_size() > 0 and not self._read_only:
                self._claim.refuse_stale_log(connection)
            return True
        except sqlite3.Error as error:
            # Without the log a ledger that is being written may look damaged.
            return primary_code(error) == sqlite3.SQLITE_CORRUPT
        finally:
            connection.close()

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables if there are none, as in an empty file or after a process that was killed here.

        That is before WAL mode, so that the header in the file says what it is from the first moment.
        """
        try:
            if not _has_tables(connection):
                if not self._create:
                    raise self.no_ledger()
                patiently(connection, "BEGIN IMMEDIATE")
                if not _has_tables(connection):  # still not, now that nobody else can create them
                    for statement in (*TABLES, TABLE, *_TRIGGERS, f"PRAGMA application_id = {_APPLICATION}"):
                        connection.execute(statement)
                    self.created = True
                patiently(connection, "COMMIT")
            if patiently(connection, "PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise self._not_a_ledger()
        except sqlite3.Error as error:
            raise failure(error) from None

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self, prepare: Callable[[sqlite3.Connection], None] | None = None) -> sqlite3.Connection:
        """Return a connection for transactions; `prepare` is called before it makes a log."""
        connection = self._connect_to_read() if self._read_only else connect(self._file.path)
        try:
            if prepare is not None:
                prepare(connection)
            if not self._read_only:
                _use_log(connection)
            self._file.remember()
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_to_read(self) -> sqlite3.Connection:
        """Return a connection to a file that may not be written, which leaves everything as it is.

        SQLite would create the log and the index of a file in WAL mode if they were not there.  But without a log the
        file is the whole ledger, and is read as if nobody could change it; whether somebody did shows at the end.
        """
        logged = self._file.log_size() > 0
        if logged and not self._file.beside("-shm").exists():  # SQLite would create it
            raise Failure(_IN_THE_LOG, lasting=True)
        self._without_locks = None if logged else self._file.state()
        connection = connect(self._file.path, "mode=ro" if logged else "mode=ro&immutable=1")
        try:
            if logged:
                patiently(connection, "SELECT 1 FROM sqlite_master").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, write: bool) -> None:
        if self._read_only:
            if write:
                raise Failure(REASONS[sqlite3.SQLITE_READONLY], lasting=True)
            self._disconnect()  # what was read before without locks may have been changed since
        connection = self._open_connection()
        self._file.refuse_replaced()
        if not (write or self._read_only) and self._claim.came_along(connection):
            self._claim.begin(connection)
            self._abandon()
        self._changes = None
        if write:
            self._claim.begin(connection)
            self._changes = connection.total_changes
            return
        patiently(connection, "BEGIN", self._why)
        patiently(connection, "SELECT 1 FROM ledger_head", self._why)  # a reader is in nobody's way only from here on
        self._claim.check(connection)

    def _commit(self) -> None:
        connection = self._open_connection()
        # A transaction that changed nothing leaves the log as it is, and need not wait for the note.
        changed = self._changes not in (None, connection.total_changes)
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise failure(error, in_commit=True) from None
        if changed:
            try:
                self._claim.settle(connection)
            except Failure as late:
                raise Failure(str(late), in_commit=True, lasting=late.lasting) from None
        if self._was_written():
            raise Failure(WRITTEN_MEANWHILE)

    def _abandon(self) -> None:
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect()

    def _disconnect(self) -> None:
        """Close the connection; if nobody else writes, the file then says that it has no log, and can be moved."""
        if self._connection is not None and not self._read_only and not self._connection.in_transaction:
            with suppress(sqlite3.Error, Failure):
                self._claim.give_up(self._connection)
        super()._disconnect()

    def _forget(self) -> Any:
        self._claim.forget()
        return super()._forget()

    def _why(self, error: sqlite3.Error) -> Failure:
        """Return why something failed; a file that is written while it is read without locks only looks damaged."""
        return Failure(WRITTEN_MEANWHILE) if self._was_written() else failure(error)

    def _was_written(self) -> bool:
        """Return whether a file that is read without locks was written since it was opened."""
        return self._without_locks is not None and self._without_locks != self._file.state()


def _has_tables(connection: sqlite3.Connection) -> bool:
    return patiently(connection, "SELECT 1 FROM sqlite_master").fetchone() is not None


def _use_log(connection: sqlite3.Connection) -> None:
    """Let every commit go to a log, and wait until it is on the disk."""
    (mode,) = patiently(connection, "PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise Failure("its file system has no shared memory for SQLite's WAL mode; use a local disk", lasting=True)
    patiently(connection, "PRAGMA synchronous = FULL")
