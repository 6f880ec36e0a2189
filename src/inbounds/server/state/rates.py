"""How often somebody may come: a bucket for each name that fills up again, shared by all processes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from inbounds.ledger.stores.sqlite_reason import is_busy, is_damage
from inbounds.server.basics import clock
from inbounds.server.basics.log import tell
from inbounds.server.basics.thread_connections import ThreadConnections

_TABLE = "CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, level REAL NOT NULL, at REAL NOT NULL) STRICT"

# A bucket gains :rate a second, up to :most.  One that holds less than :cost is left alone: then no row changes.
_TAKE = """
INSERT INTO buckets (name, level, at) VALUES (:name, :most - :cost, :now)
ON CONFLICT (name) DO UPDATE SET
    level = min(:most, level + max(0, :now - at) * :rate) - :cost, at = :now
    WHERE min(:most, level + max(0, :now - at) * :rate) >= :cost
"""

_FORGET = "DELETE FROM buckets WHERE at < ?"

_FORGET_LATER = "DELETE FROM buckets WHERE at > ?"

_READ_ALL = "PRAGMA quick_check(1)"

EVERY = 1000
"""After so many requests to a process, buckets that are full again are forgotten."""


class Rates:
    """Buckets of one limit: `most` requests at once, and after that `most` in a minute.

    They may be lost in a crash: nothing waits for the disk.  While their file cannot be used, each process counts for
    itself, so that the limit holds in each of them.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._most = most
        self._connections = ThreadConnections(path, "PRAGMA synchronous = OFF", _TABLE, seconds=1)
        self._taken = 0
        self._alone: sqlite3.Connection | None = None
        self._turn = threading.Lock()

    @staticmethod
    def begin(path: Path) -> None:
        """Forget what another run of the machine has left, whose clock was another, and a file that is damaged.

        Call it where the address of the server is owned: the file of one that runs stays what it is.
        """
        with suppress(OSError, sqlite3.Error):
            if path.exists() and _is_damaged(path):
                for ending in ("", "-wal", "-shm"):
                    path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
            with closing(ThreadConnections(path, _TABLE, seconds=1).own()) as connection:
                connection.execute(_FORGET_LATER, (clock.seconds(),))

    def take(self, name: str, part: float = 0) -> bool:
        """Return whether one more may come, which counts as one, or as a part of all that come in a minute."""
        now, rate = clock.seconds(), self._most / 60
        values = {"name": name, "most": float(self._most), "cost": max(1, part * self._most), "now": now, "rate": rate}
        # First the shared file; once more with a new connection, since the file may have been replaced; then alone.
        for _ in range(2):
            try:
                return self._take(self._connections.own(), values)
            except sqlite3.Error as error:
                self._connections.close_own()
                if is_busy(error):
                    break
        return self._take_alone(values)

    def _take(self, connection: sqlite3.Connection, values: Mapping[str, Any]) -> bool:
        taken = connection.execute(_TAKE, values).rowcount == 1
        self._taken += 1
        if self._taken % EVERY == 0:
            connection.execute(_FORGET, (values["now"] - 60,))
        return taken

    def _take_alone(self, values: Mapping[str, Any]) -> bool:
        """Take from a bucket of this process."""
        with self._turn:
            if self._alone is None:
                tell("rates", unusable=True, remedy="look at the disk of the server's own file")
                self._alone = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                self._alone.execute(_TABLE)
            return self._take(self._alone, values)


def _is_damaged(path: Path) -> bool:
    try:
        with closing(ThreadConnections(path, _TABLE, seconds=1).own()) as connection:
            return bool(connection.execute(_READ_ALL).fetchone() != ("ok",))
    except sqlite3.Error as error:
        return is_damage(error)
