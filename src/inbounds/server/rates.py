"""How often somebody may come: a bucket for each name that fills up again, shared by all processes."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from inbounds.server import clock

_TABLE = "CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, level REAL NOT NULL, at REAL NOT NULL) STRICT"

_TAKE = """
INSERT INTO buckets (name, level, at) VALUES (:name, :most - 1, :now)
ON CONFLICT (name) DO UPDATE SET
    level = min(:most, level + max(0, :now - at) * :rate) - 1, at = :now
    WHERE min(:most, level + max(0, :now - at) * :rate) >= 1
"""


class Rates:
    """Buckets of one limit: `most` requests at once, and after that `most` in a minute.

    They may be lost in a crash, and are begun anew when the machine is: nothing waits for the disk.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path = path
        self._most = most
        self._own = threading.local()

    def take(self, name: str) -> bool:
        """Return whether one more may come; a file that cannot be written lets everybody in."""
        rate = self._most / 60
        with suppress(sqlite3.Error):
            values = {"name": name, "most": float(self._most), "now": clock.seconds(), "rate": rate}
            return self._connection().execute(_TAKE, values).rowcount == 1
        return True

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if found is None:
            with suppress(OSError):
                self._path.touch(mode=0o600, exist_ok=True)  # names of people and addresses are in it
            found = sqlite3.connect(self._path, timeout=1, isolation_level=None)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = OFF")
            found.execute(_TABLE)
            self._own.connection = found
        return found
