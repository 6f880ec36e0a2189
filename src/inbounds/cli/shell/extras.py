"""What only some commands need; if it is missing, the message names the extra to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from inbounds.query import Dataset
    from inbounds.server.people.key_ring import KeyRing
    from inbounds.server.state.custodian_file import CustodianFile


@contextmanager
def needing(extra: str, purpose: str) -> Iterator[None]:
    """Say which extra to install if a module that is imported in the block is missing."""
    try:
        yield
    except ImportError as problem:
        raise ImportError(
            f"{purpose} needs {problem.name}, which is not installed: pip install 'inbounds[{extra}]'"
        ) from None


def open_dataset(
    contract: str | Path, ledger: str | None = None, *, create_ledger: bool = True, without_limit: bool = False
) -> Dataset:
    """Open the dataset that a contract describes, even one that says no row limit yet if it may be without."""
    with needing("query", "querying tables"):
        from inbounds.query import Dataset  # noqa: PLC0415  the other commands do without
    return Dataset.load(contract, ledger=ledger, create_ledger=create_ledger, without_limit=without_limit)


def import_duckdb() -> Any:
    """Return DuckDB, which reads and writes files."""
    try:
        import duckdb  # noqa: PLC0415
    except ImportError:
        raise ImportError("reading files needs DuckDB, which is not installed: pip install 'inbounds[query]'") from None
    return duckdb


def load_custodian(path: str | Path) -> CustodianFile:
    """Read the custodian's file of a server, if everything that a server needs is installed."""
    with needing("serve", "the server"):
        import inbounds.server.run.process  # noqa: F401, PLC0415  which imports all of it
        from inbounds.server.state.custodian_file import CustodianFile  # noqa: PLC0415
    return CustodianFile.load(path)


def open_key_ring(file: CustodianFile) -> KeyRing:
    """Return the keys of a server."""
    from inbounds.server.people.key_ring import KeyRing  # noqa: PLC0415  what only a server needs
    from inbounds.server.state.database import Database  # noqa: PLC0415

    return KeyRing(Database(file.state))
