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
from inbounds.ledger.address import without_secrets
from inbounds.ledger.log_place import TABLE, LogPlace, is_mounted_alone
from inbounds.ledger.schema import ENTRIES, INDEXES, TABLES
from inbounds.ledger.sqlite_reason import REASONS, is_busy, primary_code, reason
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

_IN_THE_LOG = (
    "it is read-only, and part of it is still in its -wal file; copy both, make them writable, and read the copies"
)

_LINKED = (
    "the file has another name too, a hard link, and under each name it would have a log of its own; remove one of the "
    "names, or copy it instead of linking it"
)

_MOUNTED_ALONE = (
    "it is mounted as a single file, and would have a log of its own here; mount the folder that it is in instead"
)

WRITTEN_MEANWHILE = "it was written by somebody else meanwhile; read it again"


class SQLiteStore(Store):
    """A file that only its owner can read, created if it is not there, unless that is refused.

    Where that is refused, a file that may not be written, or is in a folder that may not, can still be read.
    """

    _trouble = sqlite3.Error
    # SQLite cannot take a constraint away.
    _upgrades = (
        ENTRIES.replace("ledger_entries", "ledger_entries_new"),
        "INSERT INTO ledger_entries_new SELECT * FROM ledger_entries",
        "DROP TABLE ledger_entries",
        "ALTER TABLE ledger_entries_new RENAME TO ledger_entries",
        *INDEXES,
        *_TRIGGERS,
    )
    _connection: sqlite3.Connection | None

    def __init__(self, path: Path, create: bool = True) -> None:
        super().__init__(without_secrets(str(path)))
        self._path = path.absolute()
        self._create = create
        self._pause = threading.Event()  # never set: to wait for it is to sleep
        self._identity: tuple[int, int] | None = None
        self._read_only = False
        self._without_locks: tuple[int, ...] | None = None  # the state of a file that is read without any
        self._claim: str | None = None  # that the log is here: this process saw it in the file itself
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
            raise Failure(reason(error)) from None

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
        if is_mounted_alone(self._path):
            raise Failure(_MOUNTED_ALONE)
        if self._status().st_nlink > 1:
            raise Failure(_LINKED)
        self._read_only = not self._create and not self._may_be_written()
        if not empty and not self._may_be_ledger():
            raise self._not_a_ledger()
        if not self._read_only and self._logged() > 0:
            self._connected()  # whoever closes last empties the log, which may not yet be known to be here
        self._create_tables()
        with self.writing() if self._create else self.reading():
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
            if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                return False
            stored = LogPlace.stored(connection)
            self._refuse_elsewhere(stored)  # before SQLite makes another log
            if stored == self._here():
                self._claim = stored.claim
            elif self._logged() > 0 and not self._read_only:
                self._refuse_stale_log(connection)
            return True
        except sqlite3.Error as error:
            # Without the log a ledger that is being written may look damaged.
            return primary_code(error) == sqlite3.SQLITE_CORRUPT
        finally:
            connection.close()

    def _refuse_stale_log(self, file: sqlite3.Connection) -> None:
        """Refuse a log that was left here before the file was used elsewhere: SQLite would write it over the file."""
        in_file = file.execute("SELECT seq FROM ledger_head").fetchone() or (0,)
        logged = self._connect("mode=ro")  # which leaves the log alone when it is closed
        try:
            in_log = self._patiently(logged, "SELECT seq FROM ledger_head").fetchone() or (0,)
        except Failure:  # pages of two times together make no sense
            in_log = (-1,)
        finally:
            logged.close()
        if in_log < in_file:
            raise Failure(
                f"the log beside it, {self._beside('-wal').name}, is older than the file, which was used elsewhere "
                "meanwhile; move that log away"
            )

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
                    for statement in (*TABLES, TABLE, *_TRIGGERS, f"PRAGMA application_id = {_APPLICATION}"):
                        connection.execute(statement)
                    self.created = True
                self._patiently(connection, "COMMIT")
            if self._patiently(connection, "PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise self._not_a_ledger()
        except sqlite3.Error as error:
            raise Failure(reason(error)) from None
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
            raise Failure(reason(error)) from None
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

    def _refuse_replaced(self) -> None:
        """Refuse another file than at first, and one that others may find under another name."""
        status = self._status()
        if (status.st_dev, status.st_ino) != self._identity:
            raise Failure("the file was replaced while it was open; open it again if that was meant")
        if status.st_nlink > 1:
            raise Failure(_LINKED)

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
                raise Failure(REASONS[sqlite3.SQLITE_READONLY])
            self._disconnect()  # what was read before without locks may have been changed since
        connection = self._connected()
        self._refuse_replaced()
        if write:
            self._begin_to_write(connection)
            return
        if self._claim is None and not self._read_only and self._came_along(connection):
            self._begin_to_write(connection)
            self._abandon()
        self._patiently(connection, "BEGIN")
        self._patiently(connection, "SELECT 1 FROM ledger_head")  # a reader is in nobody's way only from here on
        if self._claim is None:
            self._refuse_elsewhere(self._stored(connection))

    def _begin_to_write(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction in which the file itself says, durably, that the log is here.

        That is so before the transaction's own entries go to the log: see docs/decisions/0021-one-file-one-name.md.
        """
        for _ in range(ATTEMPTS):
            self._patiently(connection, "BEGIN IMMEDIATE")
            stored = self._stored(connection)
            if stored is not None and stored.claim == self._claim:
                return
            here = self._here()
            self._refuse_elsewhere(stored)
            self._refuse_replaced()
            try:
                if stored != here:
                    here.store(connection)
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise Failure(reason(error)) from None
            self._wait_for_copy(connection)
            self._claim = here.claim if stored is None or stored != here else stored.claim
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _wait_for_copy(self, connection: sqlite3.Connection) -> None:
        """Return when all that is in the log now is in the file too."""
        wanted: int | None = None
        for _ in range(ATTEMPTS):
            logged, copied = self._patiently(connection, "PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1:]
            if logged >= 0:  # else somebody else was copying
                wanted = logged if wanted is None else wanted
                if copied >= wanted or logged < wanted:  # or the log was begun anew, after all of it was copied
                    return
            self._pause.wait(PAUSE)
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _came_along(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file was moved here together with its log, and says that it is elsewhere."""
        return self._logged() > 0 and self._stored(connection) not in (None, self._here())

    def _disconnect(self) -> None:
        """Close the connection; if nobody else writes, the file then says that it has no log, and can be moved."""
        if self._connection is not None and self._claim is not None and not self._connection.in_transaction:
            with suppress(sqlite3.Error):
                _give_up_log(self._connection, self._claim)
        super()._disconnect()

    def _forget(self) -> Any:
        self._claim = None
        return super()._forget()

    def _here(self) -> LogPlace:
        try:
            return LogPlace.of(self._path)
        except OSError:
            raise Failure("the file was removed while it was open; restore it") from None

    def _stored(self, connection: sqlite3.Connection) -> LogPlace | None:
        for _ in range(ATTEMPTS):
            try:
                return LogPlace.stored(connection)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise Failure(self._why(error)) from None
            self._pause.wait(PAUSE)
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _refuse_elsewhere(self, stored: LogPlace | None) -> None:
        """Refuse a file that was last used under another name, if entries may be in the log that is there."""
        if stored is None or stored == self._here() or stored.was_emptied:
            return
        if self._logged() > 0 and not stored.has_log_besides(self._beside("-wal")):
            return
        raise Failure(
            f"it is in use as {stored}, or was moved or copied from there without its log, {stored.log.name}; use "
            "that name, or put it back, open it there and close it, before you use another name"
        )

    def _patiently(self, connection: sqlite3.Connection, sql: str) -> sqlite3.Cursor:
        """Run a statement as soon as no other connection is in its way."""
        for _ in range(ATTEMPTS):
            try:
                return connection.execute(sql)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise Failure(self._why(error)) from None
            self._pause.wait(PAUSE)
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _commit(self) -> None:
        try:
            self._connected().execute("COMMIT")
        except sqlite3.Error as error:
            raise Failure(reason(error), in_commit=True) from None
        if self._without_locks not in (None, self._state()):
            raise Failure(WRITTEN_MEANWHILE)

    def _why(self, error: sqlite3.Error) -> str:
        """Return why something failed; a file that is written while it is read without locks only looks damaged."""
        return reason(error) if self._without_locks in (None, self._state()) else WRITTEN_MEANWHILE

    def _abandon(self) -> None:
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect()


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _give_up_log(connection: sqlite3.Connection, claim: str) -> None:
    """Say in the file that there is no log, once all else is in the file; whoever writes next claims it again."""
    before = connection.execute("SELECT seq FROM ledger_head").fetchone()
    busy, logged, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if busy or logged != copied:
        return
    connection.execute("BEGIN IMMEDIATE")
    stored = LogPlace.stored(connection)
    after = connection.execute("SELECT seq FROM ledger_head").fetchone()
    if after == before and stored is not None and stored.claim == claim:
        LogPlace.clear(connection)
    connection.execute("COMMIT")
