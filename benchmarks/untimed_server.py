"""A server whose answers leave when they are there: the negative control of the one that has ticks."""

from __future__ import annotations

import sys
from pathlib import Path

from inbounds.query.contract import Contract
from inbounds.server import holdings
from inbounds.server.custodian_file import CustodianFile
from inbounds.server.process import listening, run


def none(contract: Contract) -> float:
    """Return that there are no ticks; no contract can say so."""
    del contract
    return 0.0


def main() -> None:
    """Serve what a custodian's file says, in this process."""
    holdings._tick = none
    path = Path(sys.argv[1])
    file = CustodianFile.load(path)
    run(path, file, listening(file))


if __name__ == "__main__":
    main()
