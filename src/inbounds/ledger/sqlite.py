"""A ledger in a file: SQLite, in WAL mode with full synchronisation."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from inbounds.errors import LedgerConflict
from inbounds.ledger.schema import TABLES
from inbounds.ledger.store import Failure, Row, Store

PAUSE = 0.001
"""Seconds between two attempts to get the write lock; see docs/decisions/0014-ledger.md."""

ATTEMPTS = 20_000

_APPLICATION = 0x696E626C  # "inbl", in the header of every file that is a ledger

# Held while a new file has a descriptor that is not SQLite's; a fork waits for it, so that no child finds it held.
_CREATING = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_CREATING.acquire, after_in_parent=_CREATING.release, after_in_child=_CREATING.release)

_TRIGGERS = tuple(
    f"""CREATE TRIGGER ledger_no_{event} BEFORE {event} ON ledger_entries
        BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"""
    for event in ("UPDATE", "DELETE")
)

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process kept it locked for too long; end that process or try again",
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable",
    sqlite3.SQLITE_IOERR: "the disk reported an error or a limit; look at its state and at the limits on files",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that it is there, and the rights to it and to its folder",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a copy and verify it against a saved head",
    sqlite3.SQLITE_NOTADB: "the file is damaged; restore a copy and verify it against a saved head",
    sqlite3.SQLITE_CONSTRAINT: "its records contradict each other; verify it",
}


_IN_THE_LOG = (
    "it is read-only, and part of it is still in its -wal file; copy both, make them writable, and read the copies"
)

WRITTEN_MEANWHILE = "it was written by somebody else meanwhile; read it again"


class SQLiteStore(Store):
    """A file that only its owner can read, created if it is not there, unless that is refused.

    Where that is refused, a file that may not be written, or is in a folder that may not, can still be read.
    """

    _trouble = sqlite3.Error
    _connection: sqlite3.Connection | None

    def __init__(self, path: Path, create: bool = True) -> None:
        super().__init__(str(path))
        self._path = path.absolute()
        self._create = create
        self._pause = threading.Event()  # never set: to wait for it is to sleep
        self._identity: tuple[int, int] | None = None
        self._read_only = False
        self._without_locks: tuple[int, ...] | None = None  # the state of a file that is read without any
        try:
            self._prepare()
        except BaseException:
            self._disconnect()
            raise

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """Run a query, with ? for each parameter, and yield what it finds."""
        try:
            yield from self._connected().execute(sql, parameters)
        except sqlite3.Error as error:
            raise Failure(self._why(error)) from None

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement, with ? for each parameter, and return how many rows it changed."""
        try:
            return self._connected().execute(sql, parameters).rowcount
        except sqlite3.Error as error:
            raise Failure(_reason(error)) from None

    def _prepare(self) -> None:
        """Create what is not there, and make sure that what is there is a ledger, before anything is written."""
        try:
            if self._create:
                self._create_file()
            empty = self._path.stat().st_size == 0
        except OSError as error:
            if not self._create and isinstance(error, FileNotFoundError | NotADirectoryError):
                raise self.no_ledger() from None
            raise Failure(f"{os.strerror(error.errno or 0)}; check its folder, and the rights to it") from None
        if not self._path.is_file():
            raise Failure("it is a folder or a device; give the path of a file")
        if empty and not self._create:
            raise self.no_ledger()
        self._read_only = not self._create and not self._may_be_written()
        if not empty and not self._may_be_ledger():
            raise self._not_a_ledger()
        self._create_tables()
        with self.reading():
            self.check_version()

    def _create_file(self) -> None:
        """Create an empty file that only its owner can read; SQLite gives its companions the same rights."""
        with _CREATING, suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _not_a_ledger(self) -> LedgerConflict:
        return LedgerConflict(f"{self.where} is a file but not a ledger, and was left as it is; give another path")

    def _may_be_ledger(self) -> bool:
        """Return what the header says, without a lock, a log or a recovery, for the file may be somebody else's.

        SQLite reads it, since a descriptor that anybody else closes takes along all locks of this process on the file.
        """
        connection = self._connect("mode=ro&immutable=1")
        try:
            return connection.execute("PRAGMA application_id").fetchone() == (_APPLICATION,)
        except sqlite3.Error as error:
            # Without the log a ledger that is being written may look damaged.
            return _code(error) == sqlite3.SQLITE_CORRUPT
        finally:
            connection.close()

    def _may_be_written(self) -> bool:
        """Return whether the rights suffice to write the file, and its log beside it."""
        file = self._path.resolve()
        effective = os.access in os.supports_effective_ids
        return all(os.access(place, os.W_OK, effective_ids=effective) for place in (file, file.parent))

    def _create_tables(self) -> None:
        """Create the tables if there are none, as in an empty file or after a process that was killed here.

        That is before WAL mode, so that the header in the file says what it is from the first moment.
        """
        connection = self._connect_to_read() if self._read_only else self._connect()
        try:
            if not self._has_tables(connection):
                if not self._create:
                    raise self.no_ledger()
                self._patiently(connection, "BEGIN IMMEDIATE")
                if not self._has_tables(connection):  # still not, now that nobody else can create them
                    for statement in (*TABLES, *_TRIGGERS, f"PRAGMA application_id = {_APPLICATION}"):
                        connection.execute(statement)
                self._patiently(connection, "COMMIT")
            if self._patiently(connection, "PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise self._not_a_ledger()
        except sqlite3.Error as error:
            raise Failure(_reason(error)) from None
        finally:
            connection.close()

    def _has_tables(self, connection: sqlite3.Connection) -> bool:
        return self._patiently(connection, "SELECT 1 FROM sqlite_master").fetchone() is not None

    def _connect(self, options: str = "mode=rw") -> sqlite3.Connection:
        """Return a connection to the file, which must be there."""
        uri = f"{self._path.as_uri()}?{options}"
        try:
            connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise Failure(_reason(error)) from None
        # Whatever bytes were put into a tampered file, they are read, and fail to match their digest.
        connection.text_factory = _lenient
        return connection

    def _connect_to_read(self) -> sqlite3.Connection:
        """Return a connection to a file that may not be written, which leaves everything as it is.

        SQLite would create the log and the index of a file in WAL mode if they were not there.  But without a log the
        file is the whole ledger, and is read as if nobody could change it; whether somebody did shows at the end.
        """
        logged = self._logged() > 0
        if logged and not self._beside("-shm").exists():  # SQLite would create it
            raise Failure(_IN_THE_LOG)
        self._without_locks = None if logged else self._state()
        connection = self._connect("mode=ro" if logged else "mode=ro&immutable=1")
        try:
            if logged:
                self._patiently(connection, "SELECT 1 FROM sqlite_master").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        if self._read_only:
            self._connection = self._connect_to_read()
            self._identity = self._identity or self._found()
            return self._connection
        connection = self._connect()
        try:
            (mode,) = self._patiently(connection, "PRAGMA journal_mode = WAL").fetchone()
            self._patiently(connection, "PRAGMA synchronous = FULL")
            self._identity = self._identity or self._found()
        except BaseException:
            connection.close()
            raise
        if mode != "wal":
            connection.close()
            raise Failure("its file system has no shared memory for SQLite's WAL mode; use a local disk")
        self._connection = connection
        return connection

    def _found(self) -> tuple[int, int]:
        """Return which file is at the path now."""
        status = self._status()
        return status.st_dev, status.st_ino

    def _state(self) -> tuple[int, ...]:
        """Return what changes when the file, or its log, is written."""
        status = self._status()
        return status.st_size, status.st_mtime_ns, self._logged()

    def _logged(self) -> int:
        """Return how long the log is."""
        try:
            return self._beside("-wal").stat().st_size
        except OSError:
            return 0

    def _beside(self, ending: str) -> Path:
        return Path(f"{self._path.resolve()}{ending}")

    def _status(self) -> os.stat_result:
        try:
            return self._path.stat()
        except OSError:
            raise Failure("the file was removed while it was open; restore it") from None

    def _begin(self, write: bool) -> None:
        if self._read_only:
            if write:
                raise Failure(_REASONS[sqlite3.SQLITE_READONLY])
            self._disconnect()  # what was read before without locks may have been changed since
        connection = self._connected()
        if self._found() != self._identity:
            raise Failure("the file was replaced while it was open; open it again if that was meant")
        self._patiently(connection, "BEGIN IMMEDIATE" if write else "BEGIN")
        if not write:
            self._patiently(connection, "SELECT 1 FROM ledger_head")  # a reader is in nobody's way only from here on

    def _patiently(self, connection: sqlite3.Connection, sql: str) -> sqlite3.Cursor:
        """Run a statement as soon as no other connection is in its way."""
        for _ in range(ATTEMPTS):
            try:
                return connection.execute(sql)
            except sqlite3.Error as error:
                if not _is_busy(error):
                    raise Failure(self._why(error)) from None
            self._pause.wait(PAUSE)
        raise Failure(_REASONS[sqlite3.SQLITE_BUSY])

    def _commit(self) -> None:
        try:
            self._connected().execute("COMMIT")
        except sqlite3.Error as error:
            raise Failure(_reason(error), in_commit=True) from None
        if self._without_locks not in (None, self._state()):
            raise Failure(WRITTEN_MEANWHILE)

    def _why(self, error: sqlite3.Error) -> str:
        """Return why something failed; a file that is written while it is read without locks only looks damaged."""
        return _reason(error) if self._without_locks in (None, self._state()) else WRITTEN_MEANWHILE

    def _abandon(self) -> None:
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect()


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.Error) -> int:
    """Return the primary error code; the finer ones share its lowest byte."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return _REASONS.get(_code(error), f"SQLite failed with {name}; verify the ledger")
