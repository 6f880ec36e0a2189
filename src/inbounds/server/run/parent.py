"""The parent of a worker process: a worker ends when its parent does, however that ends.

The kernel is asked to see to it, which it does at once, whatever the worker is doing.  Where it cannot be asked, the
line to the parent tells: it ends with the parent, and a thread of the worker listens to it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading

_SET_SIGNAL = 1  # PR_SET_PDEATHSIG, in <linux/prctl.h>


def end_with(parent: int, line: socket.socket) -> None:
    """Kill this process when its parent ends.  Call it before anything that takes time, so that no orphan is left.

    What a killed process was answering is as after any crash: charged once, and answered when it is asked for again.
    """
    if sys.platform == "linux":
        # It is sent when the *thread* ends that started this process: workers are started by the main thread.
        ctypes.CDLL(None).prctl(_SET_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the kernel was asked
        _end()
    threading.Thread(target=_listen, args=(line,), daemon=True, name="parent").start()


def _listen(line: socket.socket) -> None:
    """Give a sign of life for each that is asked for, until nobody is there to ask."""
    try:
        while line.recv(1):
            line.sendall(b".")
    finally:
        _end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
