"""Keys that were revoked while the server's file could not be written, in a file that has its room beforehand.

A line of it is written over in place, which needs no room on a disk that has none.  What is noted here goes to the
server's file as soon as that can be written.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from inbounds.server.basics.problem import RETRY, Problem

PLACES = 1000

FREE = b"-" * 38 + b"\n"
"""A line that says nothing; others have the prefix of a key, a blank and the time, and are as long."""

_LINE = re.compile(rb"([0-9a-f]{12}) ([0-9T:+-]{25})\n")


class Revocations:
    """The lines of the file; every process of a server, and the command line, reads and writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with suppress(OSError):  # a server starts without it, too: on a disk that was full before
            self._reserve()

    def _reserve(self) -> None:
        """Take the room, all that is missing of it."""
        if self._path.exists() and self._path.stat().st_size >= PLACES * len(FREE):
            return
        with self._locked() as file:
            have = os.fstat(file).st_size // len(FREE)  # these lines stay: another process may have noted keys in them
            os.pwrite(file, FREE * (PLACES - have), have * len(FREE))
            os.fsync(file)

    def pending(self) -> dict[str, str]:
        """Return when each key here was revoked, by prefix; where that cannot be known, no key can be trusted."""
        try:
            lines = _LINE.findall(self._path.read_bytes().replace(FREE, b""))
        except FileNotFoundError:
            return {}
        except OSError:
            raise Problem(
                "server-unavailable", "the list of revoked API keys cannot be read; try again later", headers=RETRY
            ) from None
        return {prefix.decode(): when.decode() for prefix, when in lines}

    def note(self, prefix: str, when: str) -> bool:
        """Write a key down, on the disk when this returns; false if that cannot be done."""
        try:
            with self._locked() as file:
                self._replace(file, FREE, f"{prefix} {when}\n".encode())
        except OSError:
            return False
        return prefix in self.pending()

    def forget(self, pending: dict[str, str]) -> None:
        """Free the lines of keys that are revoked elsewhere by now."""
        with suppress(OSError), self._locked() as file:
            for prefix, when in pending.items():
                self._replace(file, f"{prefix} {when}\n".encode(), FREE)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Open the file for one who writes."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    @staticmethod
    def _replace(file: int, old: bytes, new: bytes) -> None:
        """Write a line over another one, if there is such a one."""
        lines = os.pread(file, PLACES * len(FREE), 0)
        for at in range(0, len(lines) - len(FREE) + 1, len(FREE)):
            if lines[at : at + len(FREE)] == old:
                os.pwrite(file, new, at)
                os.fsync(file)
                return
