"""Whether the ledger is there when a server starts: a new one has the whole budget, whatever was spent in the last."""

from __future__ import annotations

from collections.abc import Collection

from inbounds.errors import InvalidParameter, LedgerMissing, LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.address import without_secrets
from inbounds.ledger.values.entry import Head
from inbounds.server.state.ledger_heads import LedgerHeads


def check_presence(where: str, heads: LedgerHeads, *, new: bool) -> None:
    """Refuse a ledger that is lost, and a new one in the place of one that is there or was."""
    shown = without_secrets(where)
    try:
        Ledger.open(where, create=False).close()
    except LedgerMissing:
        known = _known(heads)
        if known:
            last = max(head.seq for head in known)
            raise LedgerMissing(
                f"there is no ledger at {shown}, and this server has used one with {last} entries; put it back, or "
                "restore a backup (inbounds budget restore); if it is lost for good, record that with inbounds budget "
                "accept-restore --new-ledger"
            ) from None
        if not new:
            raise LedgerMissing(
                f"there is no ledger at {shown}; put it back, or restore a backup (inbounds budget restore); if this "
                "server is new, start it once with --new-ledger"
            ) from None
    else:
        if new:
            raise InvalidParameter(f"there is a ledger at {shown} already; start the server without --new-ledger")


def _known(heads: LedgerHeads) -> Collection[Head]:
    try:
        return heads.heads()
    except Failure as failure:
        raise LedgerUnavailable(f"the ledger's saved checkpoints cannot be read: {failure}") from None
