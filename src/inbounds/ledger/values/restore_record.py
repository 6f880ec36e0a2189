"""What an entry of kind restore says: a ledger was older than what was known of it, or another one, and accepted."""

from __future__ import annotations

import json
from dataclasses import dataclass

from inbounds.errors import InvalidParameter
from inbounds.ledger.values.entry import Head
from inbounds.ledger.values.names import check_text


@dataclass(frozen=True)
class RestoreRecord:
    """Which head was lost, what was found instead, who accepted that, and why."""

    lost: Head | None
    """The last one that was known; None if nobody knew how far the ledger had been."""
    found: Head
    """Where the chain ended that was accepted."""
    by: str
    """The account of the operating system that the command ran under."""
    reason: str

    def dump(self) -> str:
        """Write it, as an entry keeps it."""
        return json.dumps(self.data(), ensure_ascii=False, sort_keys=True)

    def data(self) -> dict[str, str | None]:
        """Return it as a dictionary."""
        lost = None if self.lost is None else str(self.lost)
        return {"lost": lost, "found": str(self.found), "by": self.by, "reason": self.reason}

    @classmethod
    def load(cls, text: str) -> RestoreRecord | None:
        """Read what `dump` wrote; None if it is something else, as in a ledger that was altered."""
        try:
            read = json.loads(text)
            lost = None if read["lost"] is None else Head.parse(read["lost"])
            return cls(lost, Head.parse(read["found"]), str(read["by"]), str(read["reason"]))
        except (ValueError, TypeError, KeyError, InvalidParameter):
            return None

    def __str__(self) -> str:
        before = "how many entries there were before is not known" if self.lost is None else _entries(self.lost)
        return f"{before}, and a ledger that ended at entry {self.found.seq} was accepted by {self.by}: {self.reason}"


def check_restore_reason(reason: object) -> str:
    """Return why a ledger takes the place of another, if that says something."""
    if not check_text(reason, "reason").strip():
        raise InvalidParameter("a restored ledger needs a reason, got none; say why, for the record")
    return str(reason)


def _entries(lost: Head) -> str:
    return f"entry {lost.seq} ({lost.digest[:12]}…) was lost"
