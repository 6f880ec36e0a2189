"""A PostgreSQL server that a test may stop and freeze: its own, and nobody else's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import pytest

from tests.helpers.engine_places import absent
from tests.helpers.programs import PATIENCE, ROOT


class Postgres:
    """A PostgreSQL server that a test may stop: its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.data = folder / "data"
        self.url = url
        self._program = _program("pg_ctl")
        owner = self.data.owner()
        self._prefix = [] if owner == _me() else ["runuser", "-u", owner, "--"]

    def _control(self, *words: str) -> None:
        command = [*self._prefix, self._program, *words, "--pgdata", str(self.data), "--wait", "--silent"]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=PATIENCE)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let none of its processes do anything while the block runs, as if it hung: it accepts, and says nothing."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        stopped: list[int] = []
        try:
            for process in chain((first,), _children(first)):  # listed after the first one, which then starts no more
                with suppress(ProcessLookupError):  # one that just ended needs no freezing
                    os.kill(process, signal.SIGSTOP)
                    stopped.append(process)
            yield
        finally:
            for process in stopped:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def stop(self) -> None:
        """Stop it, whatever it does."""
        self._control("stop", "--mode=immediate")

    def start(self) -> None:
        """Start it again."""
        self._control("start", f"--log={self.data / 'server.log'}")


def _children(parent: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(folder.name)


def _me() -> str:
    return Path("/proc/self").owner()


def _program(name: str) -> str:
    folders = [str(one) for one in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *folders]))
    if found is None:
        absent("this machine has no PostgreSQL server")
    assert found is not None
    return found


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of the test's own, where the others have one."""
    if not os.environ.get("INBOUNDS_TEST_POSTGRES"):
        absent("no PostgreSQL asked for: run the tests by `scripts/postgres run …`, which sets INBOUNDS_TEST_POSTGRES")
    _program("pg_ctl")
    script = str(ROOT / "scripts" / "postgres")
    started = subprocess.run([script, "start"], check=True, capture_output=True, text=True, timeout=PATIENCE)
    url = started.stdout.strip()
    folder = Path(started.stderr.rpartition("started in ")[2].strip())
    try:
        yield Postgres(folder, url)
    finally:
        subprocess.run([script, "stop", url], check=True, capture_output=True, timeout=PATIENCE)
