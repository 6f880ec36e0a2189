"""The worker processes of a server: as many as the custodian's file says, each replaced when it dies or hangs.

uvicorn's own supervisor waits for each worker in turn, also for one that has died meanwhile.
"""

from __future__ import annotations

from socket import socket

from uvicorn import Config
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from inbounds.server import clock

SILENT = 60
"""A worker that says nothing for so many seconds is replaced; one that starts says nothing while it imports."""


class Worker(Process):
    """A worker that is asked for a sign of life, and nobody waits for that: it may be starting, or die meanwhile."""

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self._asked: float | None = None

    def is_alive(self, timeout: float = SILENT) -> bool:
        """Return whether it runs, and has said something in the last so many seconds."""
        if not self.process.is_alive():
            return False
        now = clock.seconds()
        try:
            if self._asked is None:
                self.parent_conn.send(b"ping")
                self._asked = now
            if self.parent_conn.poll(0):
                self.parent_conn.recv()
                self._asked = None
        except (OSError, EOFError):
            return False
        return self._asked is None or now - self._asked < timeout


class Workers(Multiprocess):
    """All workers of a server.  Signals end it; what the file says is changed by a restart, not by other signals."""

    def init_processes(self) -> None:
        """Start all workers."""
        self.processes = [self._started() for _ in range(self.processes_num)]

    def keep_subprocess_alive(self) -> None:
        """Replace those that have died or hang; where one cannot be started at all, end."""
        for place, worker in enumerate(self.processes):
            if worker.is_alive():
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:
                self.should_exit.set()
                return
            self.processes[place] = self._started()

    def _started(self) -> Worker:
        found = Worker(self.config, self.sockets)
        found.start()
        return found

    def handle_hup(self) -> None:
        """Do nothing."""

    handle_ttin = handle_ttou = handle_hup
