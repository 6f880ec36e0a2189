"""A server whose answers leave when they are there: the negative control of the one that has ticks."""

from __future__ import annotations

import sys
from pathlib import Path

from inbounds.query.contract.contract import Contract
from inbounds.server.run.process import listening, run
from inbounds.server.state import open_datasets
from inbounds.server.state.custodian_file import CustodianFile


def none(contract: Contract) -> float:
    """Return that there are no ticks; no contract can say so."""
    del contract
    return 0.0


def main() -> None:
    """Serve what a custodian's file says, in this process."""
    open_datasets.read_tick = none
    path = Path(sys.argv[1])
    file = CustodianFile.load(path)
    run(path, file, listening(file))


if __name__ == "__main__":
    main()
