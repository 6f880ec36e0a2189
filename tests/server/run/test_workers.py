"""Worker processes are looked after without waiting for any of them, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.server_kills import runs

from inbounds.errors import InvalidParameter
from inbounds.server.basics import clock
from inbounds.server.basics.metrics import FOLDER
from inbounds.server.run.process import listening, run
from inbounds.server.run.workers import SILENT, Worker, Workers
from tests.helpers import orphan_parent
from tests.helpers.programs import run_program
from tests.helpers.served_hospital import build, wait_for
from tests.helpers.sparing import sparing


@dataclass
class Child:
    """What is known of a process."""

    returncode: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, if it has."""
        return self.returncode


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says, to be changed."""
    found = [1000.0]
    monkeypatch.setattr(clock, "seconds", lambda: found[0])
    return found


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of the line between a parent and a worker."""
    own, its = socket.socketpair()
    with own, its:
        own.setblocking(False)
        its.setblocking(False)
        yield own, its


Ends = tuple[socket.socket, socket.socket]


def worker(ends: Ends, child: Child) -> Worker:
    """Return a worker that runs and says nothing by itself."""
    return Worker(child, ends[0])  # type: ignore[arg-type]


def test_a_worker_that_says_nothing_is_not_waited_for(ends: Ends, now: list[float]) -> None:
    """It counts as alive for a while, is asked once, and hangs after that."""
    found = worker(ends, Child())
    assert found.is_alive()
    now[0] += SILENT - 1
    assert found.is_alive()
    now[0] += 1
    assert not found.is_alive()
    assert ends[1].recv(10) == b"?"


def test_a_worker_that_answers_is_asked_again(ends: Ends, now: list[float]) -> None:
    """However long it has been running, and from each answer on it has as long again."""
    found = worker(ends, Child())
    for _ in range(3):
        assert found.is_alive()
        now[0] += SILENT - 1
        assert ends[1].recv(10) == b"?"
        ends[1].sendall(b".")
        assert found.is_alive()


def test_a_worker_that_died_is_found_out_at_once(ends: Ends, now: list[float]) -> None:
    """Also one that dies after it was asked, when nobody is left to answer."""
    child = Child()
    found = worker(ends, child)
    assert found.is_alive()
    child.returncode = -signal.SIGKILL
    assert not found.is_alive()
    assert now == [1000.0]


class Started:
    """Processes that do nothing, in place of workers; each start may have a consequence."""

    def __init__(self, *then: Any, code: str = "import time; time.sleep(600)") -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self._then = list(then)
        self._code = code
        self._lines = ExitStack()

    def __call__(self) -> Worker:
        """Start one more."""
        own, its = socket.socketpair()
        self._lines.enter_context(its)
        own.setblocking(False)
        process = subprocess.Popen([sys.executable, "-S", "-c", self._code])
        self.processes.append(process)
        if self._then:
            self._then.pop(0)()
        return Worker(process, own)

    def all_ended(self) -> bool:
        """Return whether all have ended, and let go of their lines."""
        self._lines.close()
        return all(one.poll() is not None for one in self.processes)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_obeyed_while_workers_start(how: signal.Signals) -> None:
    """Told to stop after the second of a thousand workers, a server starts no third, and ends the two."""
    before = signal.getsignal(how)
    started = Started(lambda: None, lambda: os.kill(os.getpid(), how))
    assert Workers(1000, started, grace=30).run()
    assert len(started.processes) == 2
    assert started.all_ended()
    assert signal.getsignal(how) is before


def test_a_worker_that_does_not_stop_is_killed() -> None:
    """One that is deaf to the signal to stop ends all the same when its time is over."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    started = Started(lambda: os.kill(os.getpid(), signal.SIGTERM), code=deaf)
    Workers(2, started, grace=0.2).run()
    assert len(started.processes) == 1
    assert started.all_ended()


@pytest.mark.slow
def test_workers_that_cannot_start_end_the_server() -> None:
    """Where one says that it cannot start, no other is started in its place."""
    started = Started(code="import sys; sys.exit(3)")
    assert not Workers(2, started, grace=1).run()
    assert len(started.processes) == 2
    assert started.all_ended()


@pytest.mark.slow
@pytest.mark.parametrize("broken", sparing(["custodian.toml", "visits.toml"]))
def test_a_file_that_was_broken_later_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], broken: str
) -> None:
    """Workers that cannot read it say so in a line each, none is started in their place, and the server ends badly."""
    served = build(tmp_path, workers=2)
    monkeypatch.setenv(FOLDER, "")  # to be as before afterwards
    with listening(served.file) as listener:
        file = served.file
        (tmp_path / broken).write_text("[server\n", encoding="utf-8")
        with pytest.raises(InvalidParameter, match="a worker could not start; fix the problem reported above"):
            run(served.path, file, listener)
    lines = capfd.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 2
    assert all(line.startswith("inbounds: a worker could not start: ") and broken in line for line in lines)


def test_other_signals_change_nothing() -> None:
    """A server goes on after SIGHUP and its like."""
    others = [signal.SIGHUP, signal.SIGUSR1, signal.SIGTTIN]
    started = Started(*[lambda one=one: os.kill(os.getpid(), one) for one in [*others, signal.SIGTERM]])
    Workers(10, started, grace=30).run()
    assert len(started.processes) == 4
    assert started.all_ended()


@pytest.mark.skipif(sys.platform != "linux", reason="this system tells nothing of other processes in /proc")
@pytest.mark.parametrize("moment", ["before", "kernel", "line"])
def test_an_orphan_ends(moment: str) -> None:
    """A worker ends with its parent, if that ends before it looks, or later by either way of noticing alone."""
    orphan = int(run_program(orphan_parent, moment, timeout=120))
    wait_for(lambda: not runs(orphan))
