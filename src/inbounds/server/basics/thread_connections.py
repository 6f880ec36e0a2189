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
        """Return this thread's connection; it waits up to the given seconds for other writers."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        with suppress(OSError):  # connecting fails in the same way, with an error that callers expect
            self._path.touch(mode=0o600, exist_ok=True)  # the file names people, so only its owner may read it
        connection = sqlite3.connect(self._path, timeout=self._seconds, isolation_level=None)
        try:
            for statement in ("PRAGMA journal_mode = WAL", *self._ready):
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    def close_own(self) -> None:
        """Let go of this thread's connection; the next one is made anew."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
