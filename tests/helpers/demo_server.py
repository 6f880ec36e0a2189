"""The server of the demonstration, as `inbounds serve --demo` starts it, on a port that is free."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import inbounds
from inbounds.errors import ServerUnreachable
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import free_port

ADDRESS = "http://127.0.0.1:8750"
"""Where it is if nothing else is said, and where the documents say that it is."""


@dataclass(frozen=True)
class DemoServer:
    """A server that runs, and everybody's key."""

    url: str
    keys: dict[str, str]


@contextmanager
def served() -> Iterator[DemoServer]:
    """Run the server while the block does."""
    port = free_port()
    words = [sys.executable, "-m", "inbounds.cli", "serve", "--demo", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield _started(process, f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _started(process: subprocess.Popen[str], url: str) -> DemoServer:
    """Read the keys that are shown, and return when the server answers; it may not listen yet when it shows them."""
    keys: dict[str, str] = {}
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.fullmatch(r" +(\w+) +\w+ +(inb_\S+)\n", line):
            keys[found[1]] = found[2]
        if "SELECT" in line:  # the last one of what is shown
            break
    while process.poll() is None:
        with suppress(ServerUnreachable), inbounds.connect(url, key=keys["ana"]) as connection:
            connection.me()
            return DemoServer(url, keys)
    raise AssertionError("the server of the demonstration has ended by itself")
