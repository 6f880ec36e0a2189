"""How often somebody may come: a bucket for each name that fills up again, shared by all processes."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from inbounds.server.basics import clock
from inbounds.server.basics.thread_connections import ThreadConnections

_TABLE = "CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, level REAL NOT NULL, at REAL NOT NULL) STRICT"

_TAKE = """
INSERT INTO buckets (name, level, at) VALUES (:name, :most - :cost, :now)
ON CONFLICT (name) DO UPDATE SET
    level = min(:most, level + max(0, :now - at) * :rate) - :cost, at = :now
    WHERE min(:most, level + max(0, :now - at) * :rate) >= :cost
"""

_FORGET = "DELETE FROM buckets WHERE at < ?"

EVERY = 1000
"""After so many requests to a process, buckets that are full again are forgotten."""


class Rates:
    """Buckets of one limit: `most` requests at once, and after that `most` in a minute.

    They may be lost in a crash, and are begun anew when the machine is: nothing waits for the disk.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._most = most
        self._connections = ThreadConnections(path, "PRAGMA synchronous = OFF", _TABLE, seconds=1)
        self._taken = 0

    def take(self, name: str, part: float = 0) -> bool:
        """Return whether one more may come, which counts as one, or as a part of all that come in a minute.

        A file that cannot be written lets everybody in.
        """
        now, rate = clock.seconds(), self._most / 60
        values = {"name": name, "most": float(self._most), "cost": max(1, part * self._most), "now": now, "rate": rate}
        with suppress(sqlite3.Error):
            connection = self._connections.own()
            taken = connection.execute(_TAKE, values).rowcount == 1
            self._taken += 1
            if self._taken % EVERY == 0:
                connection.execute(_FORGET, (now - 60,))
            return taken
        return True
