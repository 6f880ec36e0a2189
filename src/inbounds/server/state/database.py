"""The server's own file: keys, sessions, questions, requests, reports, links, and the last heads of the ledger."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.ledger.stores.disk_space import try_room
from inbounds.server.basics.problem import RETRY, Problem
from inbounds.server.basics.thread_connections import ThreadConnections

VERSION = 5

PATIENCE = 5
"""Seconds to wait for others who write."""

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    prefix TEXT PRIMARY KEY, person TEXT NOT NULL, digest TEXT NOT NULL,
    issued TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    digest TEXT PRIMARY KEY, person TEXT NOT NULL, key TEXT, token TEXT NOT NULL, expires TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sign_ins (
    digest TEXT PRIMARY KEY, state TEXT NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL, after TEXT NOT NULL,
    expires TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS questions (
    request_id TEXT PRIMARY KEY, dataset TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS budget_requests (
    number INTEGER PRIMARY KEY, person TEXT NOT NULL, dataset TEXT NOT NULL, amount TEXT NOT NULL,
    reason TEXT NOT NULL, asked TEXT NOT NULL, decided TEXT, granted TEXT, note TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS reports (
    id TEXT PRIMARY KEY, person TEXT NOT NULL, content TEXT NOT NULL, cost TEXT NOT NULL, proposed TEXT NOT NULL,
    state TEXT NOT NULL, decided TEXT, decider TEXT, note TEXT, published TEXT, head TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS shares (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL, description TEXT,
    created TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS share_people (
    id TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (id, person)
) STRICT;
CREATE TABLE IF NOT EXISTS saved_questions (
    id TEXT PRIMARY KEY, person TEXT NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL, sql TEXT NOT NULL,
    epsilon TEXT NOT NULL, UNIQUE (person, dataset, name)
) STRICT;
CREATE TABLE IF NOT EXISTS ledger_heads (
    dataset TEXT PRIMARY KEY, seq INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;
"""

APPLICATION = 0x1B5E12E4
"""How SQLite files of this kind are told from others."""


class Database:
    """An SQLite file that the processes of a server share; each thread has a connection of its own.

    What is written waits for the disk, so that a key that was revoked stays so after a power failure; unless it is
    something that may be lost then.
    """

    def __init__(self, path: Path, *, waits_for_disk: bool = True) -> None:
        self.path = path
        synchronous = "FULL" if waits_for_disk else "NORMAL"
        self._connections = ThreadConnections(path, f"PRAGMA synchronous = {synchronous}", seconds=PATIENCE)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # A file that is ready is neither locked nor written: others may hold its lock, or the disk may be full.
            if _marks(self.connection) != (APPLICATION, VERSION) or not os.access(path, os.W_OK):
                with self.writing() as connection:
                    self._prepare(connection)
        except (OSError, sqlite3.Error, Problem):
            raise InvalidParameter(
                f"the server's file {str(path)!r} cannot be opened; check its folder and permissions, or name another "
                "file with state"
            ) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        application, version = _marks(connection)
        if application not in (0, APPLICATION) or version > VERSION:
            raise InvalidParameter(
                f"{str(self.path)!r} is not this server's file or is from a later release, and was left unchanged; "
                "name another file with state"
            )
        if (application, version) == (APPLICATION, VERSION):
            return  # somebody else was faster
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        return self._connections.own()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Make one transaction of the block."""
        try:
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise
        except sqlite3.Error:
            raise Problem(
                "server-unavailable", "the server's own file cannot be written; try again later", headers=RETRY
            ) from None

    def is_writable(self) -> bool:
        """Return whether something can be written, and try: a session of nobody begins and ends."""
        try:
            with self.writing() as connection:
                connection.execute("INSERT INTO sessions (digest, person, token, expires) VALUES ('', '', '', '')")
                connection.execute("DELETE FROM sessions WHERE digest = ''")
            try_room(self.path.parent)
        except (Problem, OSError):
            return False
        return True

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except sqlite3.Error:
            raise Problem(
                "server-unavailable", "the server's own file cannot be read; try again later", headers=RETRY
            ) from None


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return which program a file says that it is of, and the version of its tables."""
    names = "application_id", "user_version"
    application, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return application, version
