"""Which files and hosts Python goes to while something is done, so that a test can say which it must not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

EVENTS = ("open", "glob.glob", "os.listdir", "os.scandir", "os.stat", "socket.connect", "socket.getaddrinfo")
OTHERS = ("sqlite3.connect", "subprocess.Popen", "shutil.copyfile", "urllib.Request")

_watching: list[list[str]] = []
"""Hooks stay as long as the process: there is one, which notes nothing unless somebody watches."""


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event in (*EVENTS, *OTHERS):
        for seen in _watching:
            seen.append(f"{event} {arguments!r}")


sys.addaudithook(_note)


@contextmanager
def watching() -> Iterator[list[str]]:
    """Give a list of all that is gone to, by any thread, while the block runs."""
    seen: list[str] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)
