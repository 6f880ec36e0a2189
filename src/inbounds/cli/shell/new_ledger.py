"""What is said at the moment when a ledger is created: nobody should spend a budget twice by mistyping a path."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from inbounds.ledger import Ledger


def tell_of_new(ledger: Ledger, *, as_json: bool) -> bool:
    """Return whether a ledger is new; say so on standard error, unless a machine reads it in the JSON."""
    if ledger.created and not as_json:
        with suppress(OSError):
            typer.echo(
                f"inbounds: a new ledger was created, {ledger.where}: it starts with nothing spent. If this dataset "
                "was queried before, its spending is in another ledger: name that one with --ledger, or as ledger "
                "under [budget] in the contract",
                err=True,
            )
    return ledger.created
