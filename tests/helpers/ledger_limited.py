"""A program whose files may not grow: python ledger_limited.py WHERE; prints what it got until the limit, and after."""

from __future__ import annotations

import json
import resource
import sys

from inbounds.errors import LedgerUnavailable
from inbounds.ledger import Ledger


def main() -> None:
    """Charge until the limit, tell the refusal, then lift the limit and ask for the same again."""
    with Ledger.open(sys.argv[1]) as ledger:
        ledger.open_dataset("clinic", 1000)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        receipts = 0
        message, uncertain = "", False
        while not message:
            try:
                ledger.charge("clinic", "ada", "0.001", f"request {receipts}")
                receipts += 1
            except LedgerUnavailable as refused:
                message, uncertain = str(refused), refused.uncertain
        ok = ledger.verify().ok
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        ledger.charge("clinic", "ada", "0.001", f"request {receipts}")
        json.dump({"receipts": receipts + 1, "message": message, "uncertain": uncertain, "ok": ok}, sys.stdout)


if __name__ == "__main__":
    main()
