"""What commands do with --server: the same questions, asked over the network."""

from __future__ import annotations

import os
import stat
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import inbounds
from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from inbounds.client import Connection

Server = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="Query this server; --dataset is then a dataset name.")
]
KeyFile = Annotated[
    str | None,
    typer.Option(
        "--key-file", metavar="FILE", help="The file with your API key for --server.  [default: $INBOUNDS_KEY]"
    ),
]


def connected(server: str, key_file: str | None, **not_here: Any) -> Connection:
    """Return a connection to a server; options that only go with a contract at hand are refused."""
    for name, value in not_here.items():
        if value is not None:
            raise InvalidParameter(
                f"--{name.replace('_', '-')} cannot be combined with --server, which already knows it; leave it out"
            )
    return inbounds.connect(server, key=None if key_file is None else _key(Path(key_file)))


def _key(path: Path) -> str:
    """Read a key from a file that nobody else can read."""
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InvalidParameter(
            f"--key-file must be readable by you alone, but others can read {str(path)!r}; run chmod 600 {path}"
        )
    return path.read_text(encoding="utf-8").strip()


TOTAL = "total budget"
"""What the budget of all analysts together is called."""


def own_budget(analyst: str) -> str:
    """Return what the budget of one analyst is called."""
    return f"{analyst}'s budget"


def accounts(budget: dict[str, Any]) -> dict[str, str]:
    """Return what is left, in words, of a budget that a server told."""
    names = {"total": TOTAL, "own": own_budget(budget["analyst"])}
    return {words: _words(budget[name]) for name, words in names.items() if budget[name] is not None}


def balances(budget: dict[str, Any]) -> dict[str, Any]:
    """Return what is left, for programs: as it is told of a ledger at hand."""
    names = {"total": "total", "own": "analyst"}
    return {name: _numbers(budget[told]) for told, name in names.items() if budget[told] is not None}


def _words(account: dict[str, Any]) -> str:
    if account["cap"] is None:
        return f"{account['spent']} spent, no cap of its own"
    told = f"{account['spent']} of {account['cap']} spent, {account['left']} left"
    if account["rho_left"] is None:
        return told
    return f"{told}; or in rho {account['rho_spent']} of {account['rho_cap']} spent, {account['rho_left']} left"


def _numbers(account: dict[str, Any]) -> dict[str, Any]:
    read = {name: None if text is None else Fraction(text) for name, text in account.items()}
    told: dict[str, Any] = {name: read[name] for name in ("cap", "spent", "left")}
    if read["rho_spent"] is not None:
        told["rho"] = {name: read[f"rho_{name}"] for name in ("cap", "spent", "left")}
    return told
