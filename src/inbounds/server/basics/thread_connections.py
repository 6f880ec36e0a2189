"""Connections to an SQLite file, one for each thread: none can be shared while it is used."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path


class ThreadConnections:
    """The connections of all threads, each made ready by the same statements."""

    def __init__(self, path: Path, *ready: str, seconds: float) -> None:
        self._path = path
        self._ready = ready
        self._seconds = seconds
        self._own = threading.local()

    def own(self) -> sqlite3.Connection:
        """Return this thread's connection; it waits so many seconds for others to end what they write."""
        found: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if found is None:
            with suppress(OSError):  # which connecting would find as well
                self._path.touch(mode=0o600, exist_ok=True)  # people are named in it
            found = sqlite3.connect(self._path, timeout=self._seconds, isolation_level=None)
            try:
                for statement in ("PRAGMA journal_mode = WAL", *self._ready):
                    found.execute(statement)
            except BaseException:
                found.close()
                raise
            self._own.connection = found
        return found

    def close_own(self) -> None:
        """Let go of this thread's connection; the next one is made anew."""
        found: sqlite3.Connection | None = getattr(self._own, "connection", None)
        self._own.connection = None
        if found is not None:
            with suppress(sqlite3.Error):
                found.close()
