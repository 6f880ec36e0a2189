"""A parent that is killed: python -m tests.helpers.orphan_parent MOMENT; prints the number of the child that it leaves.

MOMENT says how the child is to notice: `before`, because the parent is gone when it looks; `kernel`, by the kernel
alone; `line`, by the line to the parent alone.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

CHILD = """
import os, socket, sys, threading, time
moment, parent, line, ready = sys.argv[1], *map(int, sys.argv[2:])
from inbounds.server.run import parent as parents
if moment == "before":
    os.read(ready, 1)  # until the parent has ended
if moment == "kernel":
    parents._listen = lambda line: None
if moment == "line":
    class Deaf:
        def prctl(self, *given): return -1
    parents.ctypes.CDLL = lambda name: Deaf()
parents.end_with(parent, socket.socket(fileno=line))
os.write(ready, b".") if moment != "before" else None
time.sleep(600)
"""


def main() -> None:
    """Start a child, and end without it."""
    moment = sys.argv[1]
    own, its = socket.socketpair()
    here, there = socket.socketpair()
    given = (os.getpid(), its.fileno(), there.fileno())
    command = [sys.executable, "-c", CHILD, moment, *map(str, given)]
    child = subprocess.Popen(command, pass_fds=given[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    its.close()
    there.close()
    if moment == "before":
        own.detach()  # it stays open as long as this process is there
    else:
        here.recv(1)
        time.sleep(0.2)  # it is alive as long as its parent is
        assert child.poll() is None
    sys.stdout.write(str(child.pid))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
