"""Where the tests keep ledgers: a file, and a schema of its own in PostgreSQL if there is a server."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest

from tests.helpers.engine_places import absent

SERVER = os.environ.get("INBOUNDS_TEST_POSTGRES", "")

_UNLOCK = {
    "sqlite": ["DROP TRIGGER IF EXISTS ledger_no_UPDATE", "DROP TRIGGER IF EXISTS ledger_no_DELETE"],
    "postgres": ["DROP TRIGGER IF EXISTS ledger_no_change ON ledger_entries"],
}


_INDEXES = [f"DROP INDEX IF EXISTS ledger_one_{kind}" for kind in ("opening", "charge", "answer")]


@dataclass(frozen=True)
class Place:
    """A place for one ledger, and the way in behind the ledger's back."""

    kind: str
    where: str

    def raw(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement as somebody who has the database."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.where, isolation_level=None)) as file:
                file.execute("PRAGMA ignore_check_constraints = ON")
                return file.execute(sql, parameters).fetchall()
        with psycopg.connect(self.where, autocommit=True) as server:
            done = server.execute(sql.replace("?", "%s").encode(), parameters)
            return done.fetchall() if done.description else []

    def unlock(self) -> None:
        """Take away the triggers, indexes and constraints that keep honest people from altering entries."""
        for statement in (*_UNLOCK[self.kind], *_INDEXES):
            self.raw(statement)
        if self.kind == "postgres":
            # Of this schema only: others on the same server are those of tests that run at the same time.
            here = "contype = 'c' AND conname LIKE ? AND connamespace = current_schema()::regnamespace"
            found = f"SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE {here}"
            for table, constraint in self.raw(found, ("ledger%",)):
                self.raw(f"ALTER TABLE IF EXISTS {table} DROP CONSTRAINT IF EXISTS {constraint}")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Yield an empty place in each kind of store."""
    if request.param == "sqlite":
        yield Place("sqlite", str(tmp_path / "budget.db"))
        return
    yield from postgres_place()


def postgres_place() -> Iterator[Place]:
    """Yield a schema of its own, and remove it afterwards."""
    if not SERVER:
        absent("no PostgreSQL asked for: run the tests by `scripts/postgres run …`, which sets INBOUNDS_TEST_POSTGRES")
    schema = f"ledger_{uuid4().hex}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE SCHEMA {schema}".encode())
        yield Place("postgres", f"{SERVER}{'&' if '?' in SERVER else '?'}options={quote(f'-csearch_path={schema}')}")
        server.execute(f"DROP SCHEMA {schema} CASCADE".encode())
