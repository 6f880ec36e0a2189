"""A process that claims something, says whether it got it, and keeps it until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from inbounds.server.state.claims import Claims


def main() -> None:
    """Claim one of so many places under a name."""
    path, name, places = sys.argv[1:]
    with Claims(Path(path)).one_of(name, int(places)) as free:
        sys.stdout.write(f"{free}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
