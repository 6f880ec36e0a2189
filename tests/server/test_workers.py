"""Worker processes are looked after without waiting for any of them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from uvicorn import Config

from inbounds.server import clock
from inbounds.server.workers import SILENT, Worker


@dataclass
class Child:
    """What is known of a process."""

    runs: bool = True

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self.runs


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says, to be changed."""
    found = [1000.0]
    monkeypatch.setattr(clock, "seconds", lambda: found[0])
    return found


@pytest.fixture
def worker() -> Worker:
    """A worker that runs and says nothing by itself."""
    found = Worker(Config("nowhere:app"), [])
    found.process = Child()  # type: ignore[assignment]
    return found


def test_a_worker_that_says_nothing_is_not_waited_for(worker: Worker, now: list[float]) -> None:
    """It counts as starting for a while, is asked once, and hangs after that."""
    assert worker.is_alive()
    now[0] += SILENT - 1
    assert worker.is_alive()
    now[0] += 1
    assert not worker.is_alive()
    assert worker.child_conn.recv() == b"ping"
    assert not worker.child_conn.poll(0)


def test_a_worker_that_answers_is_asked_again(worker: Worker, now: list[float]) -> None:
    """However long it has been running, and from each answer on it has as long again."""
    for _ in range(3):
        assert worker.is_alive()
        now[0] += SILENT - 1
        worker.child_conn.recv()
        worker.child_conn.send(True)
        assert worker.is_alive()


def test_a_worker_that_died_is_found_out_at_once(worker: Worker, now: list[float]) -> None:
    """Also one that dies after it was asked, when nobody is left to answer."""
    assert worker.is_alive()
    worker.process.runs = False  # type: ignore[attr-defined]
    assert not worker.is_alive()
    assert now == [1000.0]
