"""Children that work for ever and are killed at random moments, for tests of what is left."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable

Work = Callable[[int, Callable[[], None]], None]
"""Takes the number of a child, and what to call when it is ready; never returns."""


def kill_children(work: Work, total: int, longest: float, at_once: int, *, once_ready: bool = False) -> None:
    """Start children, a few at once, and kill one after the other within so many seconds, counted from their readiness
    if a kill before that would test nothing."""
    chance = random.Random(0)
    for first in range(0, total, at_once):
        children = [_start(work, first + number) for number in range(at_once)]
        for pid, ready in children:
            if once_ready:
                os.read(ready, 1)
            time.sleep(chance.uniform(0, longest))
            os.kill(pid, signal.SIGKILL)
        for pid, ready in children:
            os.close(ready)
            status = os.waitpid(pid, 0)[1]
            if not os.WIFSIGNALED(status):
                raise SystemExit("a child ended by itself")


def _start(work: Work, number: int) -> tuple[int, int]:
    """Return the process id of a new child, and where it tells that it is ready."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work(number, lambda: os.close(writing))  # whoever reads finds the end
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    os.close(writing)
    return pid, reading
