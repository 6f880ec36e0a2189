"""Why SQLite failed, in plain words and with a remedy; what it says itself may hold paths and data."""

from __future__ import annotations

import sqlite3

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


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection was in the way."""
    return primary_code(error) == sqlite3.SQLITE_BUSY


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is not what SQLite wrote."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary_code(error: sqlite3.Error) -> int:
    """Return the primary error code; the finer ones share its lowest byte."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def reason(error: sqlite3.Error) -> str:
    """Return what failed, and the remedy."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return REASONS.get(primary_code(error), f"SQLite failed with {name}; verify the ledger")
