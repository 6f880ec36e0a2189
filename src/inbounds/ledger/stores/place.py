"""Where a ledger is: a file of SQLite, or PostgreSQL."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.ledger.stores.sqlite import SQLiteStore
from inbounds.ledger.stores.store import Store
from inbounds.ledger.values.address import HIDDEN, is_address, is_server, without_secrets


def open_store(where: object, create: bool) -> Store:
    """Return the store that a path or a URL names."""
    if isinstance(where, str) and is_server(where):
        from inbounds.ledger.stores.postgres import PostgresStore  # noqa: PLC0415  only whoever has psycopg comes here

        return PostgresStore(where, create)
    path = fspath(where) if isinstance(where, str | PathLike) else None
    if not isinstance(path, str) or not path or "\0" in path or path == ":memory:":
        received = shown(without_secrets(path)) if isinstance(path, str) else f"a value of type {type(where).__name__}"
        raise InvalidParameter(
            f"a ledger must be a path or a postgresql:// URL, got {received}; give for example 'budget.db'"
        )
    if is_address(path):
        raise InvalidParameter(
            f"a ledger must be a path or a postgresql:// URL, got another address {HIDDEN}; write it like budget.db or "
            "postgresql://user:password@host:5432/database"
        )
    return SQLiteStore(Path(path), create)
