"""A connection to the file of a ledger, and the patience to wait for others that use it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from inbounds.ledger.stores.sqlite_reason import REASONS, failure, is_busy
from inbounds.ledger.stores.store import Failure

PAUSE = 0.001
"""Seconds between two attempts to get the write lock; see docs/decisions/0014-ledger.md."""

ATTEMPTS = 20_000

_NEVER = threading.Event()  # to wait for it is to sleep


def connect(path: Path, options: str = "mode=rw") -> sqlite3.Connection:
    """Return a connection to the file, which must be there."""
    uri = f"{path.as_uri()}?{options}"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise failure(error) from None
    # Whatever bytes were put into a tampered file, they are read, and fail to match their digest.
    connection.text_factory = _lenient
    return connection


def patiently(
    connection: sqlite3.Connection, sql: str, why: Callable[[sqlite3.Error], Failure] = failure
) -> sqlite3.Cursor:
    """Run a statement as soon as no other connection is in its way."""
    for _ in attempts():
        try:
            return connection.execute(sql)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise why(error) from None
    raise Failure(REASONS[sqlite3.SQLITE_BUSY])


def attempts(pause: float = PAUSE) -> Iterator[None]:
    """Yield once for each attempt, and pause between them."""
    for _ in range(ATTEMPTS):
        yield
        _NEVER.wait(pause)


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
