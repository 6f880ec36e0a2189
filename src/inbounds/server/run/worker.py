"""A worker process: `python -m inbounds.server.run.worker FILE PARENT LISTENER LINE`, as its parent starts it.

FILE is the custodian's, PARENT the number of the process that started this one, LISTENER and LINE are sockets of it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from inbounds.server.run.parent import end_with


def main() -> None:
    """Answer on the socket of all workers, until a signal says to stop or the parent ends."""
    path, parent, listener, line = sys.argv[1], *map(int, sys.argv[2:])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until it can answer; a terminal's Ctrl-C reaches all processes
    for inherited in (listener, line):
        os.set_inheritable(inherited, False)  # what this process starts holds neither the address nor the line
    end_with(parent, socket.socket(fileno=line))
    # To import this takes a second, in which the parent may end.
    from inbounds.errors import InboundsError  # noqa: PLC0415
    from inbounds.server.run.process import answer  # noqa: PLC0415
    from inbounds.server.run.workers import CANNOT_START  # noqa: PLC0415
    from inbounds.server.state.custodian_file import CustodianFile  # noqa: PLC0415

    # The custodian's file and the contracts may have been changed since the server began.
    try:
        answer(CustodianFile.load(path), socket.socket(fileno=listener))
    except InboundsError as problem:
        reason = " ".join(str(problem).split())
        sys.stderr.write(f"inbounds: a worker could not start: {reason}\n")
        sys.exit(CANNOT_START)


if __name__ == "__main__":
    main()
