"""What somebody has at once: running requests and statements, over all processes of a server.

A claim is a lock on one byte of a file, so that the system takes it back from a process that is killed.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path


class Claims:
    """Claims of one process in the file that all processes share.

    Such locks are the process's, not the thread's: threads see each other's claims in a set.  The file stays open, for
    closing it would let go of every lock.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held: set[int] = set()
        self._turn = threading.Lock()

    @contextmanager
    def one_of(self, name: str, places: int) -> Iterator[bool]:
        """Hold one of so many places under a name while the block runs; it is told whether there was a free one."""
        taken = next((at for number in range(places) if self._take(at := _byte(f"{number} {name}"))), None)
        try:
            yield taken is not None
        finally:
            if taken is not None:
                self._release(taken)

    def is_running(self, request_id: str) -> bool:
        """Return whether a question is being answered, or its answer has not left yet.

        Looking claims nothing: others who look share the lock, in this process they wait for their turn.
        """
        at = _byte(f"0 {running(request_id)}")
        with self._turn:
            if at in self._held:
                return True
            try:
                fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, at)
            except OSError:
                return True
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, at)
            return False

    def _take(self, at: int) -> bool:
        with self._turn:
            if at in self._held:  # the system would grant it again to another thread of this process
                return False
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
            except OSError:
                return False
            self._held.add(at)
            return True

    def _release(self, at: int) -> None:
        with self._turn:
            self._held.discard(at)
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, at)

    def close(self) -> None:
        """Let go of everything."""
        os.close(self._file)


def running(request_id: str) -> str:
    """Return the name under which a question is held until its answer leaves."""
    return f"request {request_id}"


def _byte(name: str) -> int:
    """Return the byte that stands for a name: two names share one with probability 2^-62."""
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 2
