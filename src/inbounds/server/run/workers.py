"""The worker processes of a server: as many as the custodian's file says, each replaced when it dies or hangs.

uvicorn has a parent for workers, which waits for each of them in turn, hears no signal while it starts them, and leaves
them behind when it is killed.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from uvicorn.config import STARTUP_FAILURE

from inbounds.server.basics import clock

SILENT = 60
"""A worker that says nothing for so many seconds is replaced."""

PAUSE = 0.5
"""Seconds between two looks at the workers."""

CANNOT_START = STARTUP_FAILURE
"""How a worker ends that could not begin, as another one would; uvicorn ends so as well."""

STOPPING = (signal.SIGTERM, signal.SIGINT)
NOT_HEARD = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTTIN, signal.SIGTTOU, signal.SIGUSR1, signal.SIGUSR2)
"""What is changed in the custodian's file is in force after a restart, and by no signal."""


class Worker:
    """A worker that is asked for a sign of life, and nobody waits for that: it may hang, or die meanwhile."""

    def __init__(self, process: subprocess.Popen[bytes], line: socket.socket) -> None:
        self._process = process
        self._line = line
        self._asked: float | None = None

    @classmethod
    def start(cls, path: Path, listener: socket.socket) -> Worker:
        """Start a process that answers on a socket, as a custodian's file says."""
        own, its = socket.socketpair()
        with its:
            numbers = (os.getpid(), listener.fileno(), its.fileno())
            command = [sys.executable, "-P", "-m", "inbounds.server.run.worker", str(path), *map(str, numbers)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=numbers[1:], env=_environment())
        own.setblocking(False)
        return cls(process, own)

    def is_alive(self) -> bool:
        """Return whether it runs, and has said something in the last so many seconds."""
        if self.ended:
            return False
        now = clock.seconds()
        # At most one question is under way; the byte that answers it may have been there since the last look.
        try:
            if self._asked is None:
                self._line.send(b"?")
                self._asked = now
            if self._line.recv(1):
                self._asked = None
        except BlockingIOError:
            pass
        except OSError:  # there is nobody at the other end
            return False
        return self._asked is None or now - self._asked < SILENT

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def cannot_start(self) -> bool:
        """Whether it has ended because it could not begin, as another one would."""
        return self._process.returncode == CANNOT_START

    def stop(self) -> None:
        """Tell it to answer what it was asked, and to end."""
        self._process.terminate()

    def kill(self) -> None:
        """End it, and let go of it."""
        self._process.kill()
        self._process.wait()
        self._line.close()


class Workers:
    """All workers of a server.  Signals end them, also while they start."""

    def __init__(self, most: int, start: Callable[[], Worker], grace: float) -> None:
        self._most = most
        self._start = start
        self._grace = grace
        self._workers: list[Worker] = []
        self._stopped = False
        self._cannot_start = False
        self._signalled: socket.socket | None = None

    def run(self) -> bool:
        """Have workers until a signal says to stop, or one of them cannot start at all; return whether all could."""
        with self._signals():
            try:
                while not self._stopped:
                    self._look_after()
                    self._rest()
                self._stop()
            finally:
                for worker in self._workers:
                    worker.kill()
        return not self._cannot_start

    def _look_after(self) -> None:
        """Replace what has died or hangs, and start what is not there yet, one after the other."""
        dead = [worker for worker in self._workers if not worker.is_alive()]
        for worker in dead:
            worker.kill()
            self._workers.remove(worker)
            self._cannot_start = self._cannot_start or worker.cannot_start
        self._stopped = self._stopped or self._cannot_start
        while len(self._workers) < self._most and not self._stopped:
            self._workers.append(self._start())

    def _stop(self) -> None:
        """Tell all to end, and wait until they have, so long as they may take for it."""
        for worker in self._workers:
            worker.stop()
        end = clock.seconds() + self._grace
        while not all(worker.ended for worker in self._workers) and clock.seconds() < end:
            self._rest(PAUSE / 10)

    def _rest(self, seconds: float = PAUSE) -> None:
        """Wait a little, or until a signal comes."""
        assert self._signalled is not None
        select.select([self._signalled], [], [], seconds)
        with suppress(BlockingIOError):
            self._signalled.recv(4096)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Hear signals for the time of the block."""

        def stop(*_: object) -> None:
            self._stopped = True

        def pass_over(*_: object) -> None:
            """Do nothing; were it ignored, workers would ignore it too."""

        # A signal writes a byte to `woken`, so that a wait in `_rest` ends at once; handlers alone would not end it.
        self._signalled, woken = socket.socketpair()
        with self._signalled, woken:
            self._signalled.setblocking(False)
            woken.setblocking(False)
            wakes = signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
            before = {number: signal.signal(number, stop) for number in STOPPING}
            before |= {number: signal.signal(number, pass_over) for number in NOT_HEARD}
            try:
                yield
            finally:
                signal.set_wakeup_fd(wakes)
                for number, handler in before.items():
                    signal.signal(number, handler)


def _environment() -> dict[str, str]:
    """Return the environment of a worker, which finds modules where this process does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)}
