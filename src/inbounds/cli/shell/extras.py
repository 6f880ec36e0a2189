"""What only some commands need; if it is missing, the message names the extra to install."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from inbounds.query import Dataset


def open_dataset(contract: str | Path, ledger: str | None = None, *, create_ledger: bool = True) -> Dataset:
    """Open the dataset that a contract describes."""
    try:
        from inbounds.query import Dataset  # noqa: PLC0415  the other commands do without
    except ImportError as problem:
        raise ImportError(
            f"querying tables needs {problem.name}, which is not installed: pip install 'inbounds[query]'"
        ) from None
    return Dataset.load(contract, ledger=ledger, create_ledger=create_ledger)


def import_duckdb() -> Any:
    """Return DuckDB, which reads and writes files."""
    try:
        import duckdb  # noqa: PLC0415
    except ImportError:
        raise ImportError("reading files needs DuckDB, which is not installed: pip install 'inbounds[query]'") from None
    return duckdb


def import_server() -> Any:
    """Return the server's package, if everything that it needs is installed."""
    try:
        import inbounds.server.run.process  # noqa: PLC0415
    except ImportError as problem:
        raise ImportError(
            f"the server needs {problem.name}, which is not installed: pip install 'inbounds[serve]'"
        ) from None
    return inbounds.server.run.process
