"""Why SQLite failed, in plain words and with a remedy; what it says itself may hold paths and data."""

from __future__ import annotations

import sqlite3

from inbounds.ledger.stores.store import Failure

REASONS = {
    sqlite3.SQLITE_BUSY: "another process kept it locked for too long; end that process or try again",
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable",
    sqlite3.SQLITE_IOERR: "the disk reported an error or a limit; look at its state and at the limits on files",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that it is there, and the rights to it and to its folder",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a copy and verify it against a saved head",
    sqlite3.SQLITE_NOTADB: "the file is damaged; restore a copy and verify it against a saved head",
    sqlite3.SQLITE_CONSTRAINT: "its records contradict each other; verify it",
}

PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PROTOCOL,
)
"""What may be over by the next time without a change to the file."""


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection was in the way."""
    return primary_code(error) == sqlite3.SQLITE_BUSY


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is not what SQLite wrote."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary_code(error: sqlite3.Error) -> int:
    """Return the primary error code; the finer ones share its lowest byte."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def failure(error: sqlite3.Error, *, in_commit: bool = False) -> Failure:
    """Return what failed, for whoever uses a store."""
    return Failure(reason(error), in_commit, lasting=primary_code(error) not in PASSING)


def reason(error: sqlite3.Error) -> str:
    """Return what failed, and the remedy."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return REASONS.get(primary_code(error), f"SQLite failed with {name}; verify the ledger")
