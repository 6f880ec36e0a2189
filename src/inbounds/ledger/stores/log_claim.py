"""What a process knows of the note in the file that says where its log is, and how it is put there and taken away.

Nothing goes to a log before the file says that it is there, nothing is acknowledged before the disk has that note, and
the note goes only after all of the log is in the file.  See docs/decisions/0021-one-file-one-name.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from inbounds.ledger.stores.ledger_file import LedgerFile
from inbounds.ledger.stores.log_place import LogPlace
from inbounds.ledger.stores.sqlite_connection import attempts, connect, patiently
from inbounds.ledger.stores.sqlite_reason import REASONS, is_busy
from inbounds.ledger.stores.store import Failure


class LogClaim:
    """The note about the log of one file."""

    def __init__(self, file: LedgerFile, why: Callable[[sqlite3.Error], Failure]) -> None:
        self._file = file
        self._why = why
        self._seen: str | None = None  # the claim that this process saw in the file itself
        self._durable = False  # whether the disk has it

    def check_file(self, connection: sqlite3.Connection) -> bool:
        """Refuse a file that is in use elsewhere, by what is in it without any log; return whether it is in use here.

        That comes before SQLite makes another log.
        """
        # Read with no log at all: what a log elsewhere would add is not seen, but the note is in the file itself.
        stored = LogPlace.load(connection)
        self._refuse_elsewhere(stored)
        self.forget()
        if stored is not None and stored == self._file.log_place():
            self._file.refuse_lost_log()
            self._seen = stored.claim
        return self._seen is not None

    def check(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is in use elsewhere; call it inside a transaction."""
        if self._seen is None:
            self._refuse_elsewhere(self._load(connection))

    def came_along(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file was moved here together with its log, and still says that it is elsewhere."""
        return (
            self._seen is None
            and self._file.log_size() > 0
            and self._load(connection) not in (None, self._file.log_place())
        )

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that may write, at a time when the file itself says that the log is here."""
        for _ in attempts(pause=0):
            patiently(connection, "BEGIN IMMEDIATE")
            stored = self._load(connection)
            if stored is not None and stored.claim == self._seen:
                return
            self._refuse_elsewhere(stored)
            self._file.refuse_replaced()
            try:
                self._claim(connection, stored)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise self._why(error) from None
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            self._file.refuse_replaced()  # whoever finds it elsewhere from now on sees the note
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def settle(self, connection: sqlite3.Connection) -> None:
        """Return when the disk has the note; call it after the first commit, before that is acknowledged."""
        if not self._durable:
            self._wait_for_copy(connection)
            self._durable = True

    def forget(self) -> None:
        """Know nothing, as in a new process."""
        self._seen, self._durable = None, False

    def give_up(self, connection: sqlite3.Connection) -> None:
        """Take the note away if all of the log is in the file; whoever writes next puts it there again."""
        here = self._file.log_place()
        if LogPlace.load(connection) == here:
            self._change_alone(connection, here, None)

    def _claim(self, connection: sqlite3.Connection, stored: LogPlace | None) -> None:
        """Let the file say that the log is here; it is called in a transaction, and ends it."""
        here = self._file.log_place()
        if stored is None:
            connection.execute("ROLLBACK")
            if LogPlace.has_table(connection) and self._change_alone(connection, None, here):
                self._seen, self._durable = here.claim, False
                return
            patiently(connection, "BEGIN IMMEDIATE")
            stored = self._load(connection)
            self._refuse_elsewhere(stored)
        if stored is None or stored != here:
            here.store(connection)
            stored = here
        connection.execute("COMMIT")
        self._wait_for_copy(connection)
        self._seen, self._durable = stored.claim, True

    def _change_alone(self, connection: sqlite3.Connection, old: LogPlace | None, new: LogPlace | None) -> bool:
        """Exchange the note, in the file too, if all else is there already; return false if others are in the way.

        The disk is not waited for.  After a power failure the old note may be there again, and is as true as it was.
        """
        # 1. Copy the log into the file; give up if others are reading or writing, so that not all could be copied.
        # 2. Write the note, which is then alone in the log.
        # 3. Copy that as well, while nobody else can write.
        before = _head(connection)
        busy, logged, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if busy or logged != copied:
            return False
        connection.execute("PRAGMA synchronous = OFF")
        try:
            connection.execute("BEGIN IMMEDIATE")
            if (_head(connection), LogPlace.load(connection)) != (before, old):
                return False
            LogPlace.replace(connection, new)
            connection.execute("COMMIT")
            with self._nobody_writing():  # so that nothing else is copied without waiting for the disk
                if (_head(connection), LogPlace.load(connection)) != (before, new):
                    return False
                busy, logged, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return not busy and 0 <= logged == copied
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("PRAGMA synchronous = FULL")

    def refuse_stale_log(self, file: sqlite3.Connection) -> None:
        """Refuse a log that was left here before the file was used elsewhere: SQLite would write it over the file."""
        in_file = _head(file)
        logged = connect(self._file.path, "mode=ro")  # which leaves the log alone when it is closed
        try:
            in_log = tuple(patiently(logged, "SELECT seq FROM ledger_head").fetchone() or ())
        except Failure:  # pages of two times together make no sense
            in_log = (-1,)
        finally:
            logged.close()
        if in_log < in_file:
            raise Failure(
                f"the log beside it, {self._file.beside('-wal').name}, is older than the file, which was used "
                "elsewhere meanwhile; move that log away",
                lasting=True,
            )

    @contextmanager
    def _nobody_writing(self) -> Iterator[None]:
        """Keep others from writing, by another connection: one that is in a transaction cannot copy."""
        self._file.refuse_replaced()
        keeper = connect(self._file.path)
        try:
            keeper.execute("BEGIN IMMEDIATE")
            yield
            keeper.execute("ROLLBACK")
        finally:
            keeper.close()

    def _wait_for_copy(self, connection: sqlite3.Connection) -> None:
        """Return when all that is in the log now is in the file too."""
        # What was in the log at the first look is what has to be copied; others may go on adding to it.
        wanted: int | None = None
        for _ in attempts():
            logged, copied = patiently(connection, "PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1:]
            if logged >= 0:  # else somebody else was copying
                wanted = logged if wanted is None else wanted
                if copied >= wanted or logged < wanted:  # or the log was begun anew, after all of it was copied
                    return
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _load(self, connection: sqlite3.Connection) -> LogPlace | None:
        for _ in attempts():
            try:
                return LogPlace.load(connection)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise self._why(error) from None
        raise Failure(REASONS[sqlite3.SQLITE_BUSY])

    def _refuse_elsewhere(self, stored: LogPlace | None) -> None:
        """Refuse a file that was last used under another name, if entries may be in the log that is there."""
        if stored is None or stored == self._file.log_place() or stored.was_emptied:
            return
        if self._file.log_size() > 0 and not stored.has_log_besides(self._file.beside("-wal")):
            return
        raise Failure(
            f"it is in use as {stored}, or was moved or copied from there without its log, {stored.log.name}; use "
            'that name, or put it back, open it there and close it; if that is not possible any more, see "One file, '
            'one name" in docs/ledger.md',
            lasting=True,
        )


def _head(connection: sqlite3.Connection) -> tuple[int, ...]:
    return connection.execute("SELECT seq FROM ledger_head").fetchone() or ()
