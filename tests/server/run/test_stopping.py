"""Stopping: what was asked is answered first, and what was charged is kept."""

from __future__ import annotations

import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from inbounds.ledger import Ledger
from tests.helpers.served_hospital import COUNT, Running, Served, build, running, wait_for
from tests.helpers.sparing import sparing


def slow(folder: Path, workers: int, tick: int = 2) -> Served:
    """Return a server whose answers leave after so many seconds."""
    found = build(folder, workers=workers)
    contract = found.folder / "visits.toml"
    contract.write_text(contract.read_text("utf-8").replace("tick = 0.05", f"tick = {tick}"), "utf-8")
    return found


def ask(found: Running, key: str, name: str) -> httpx2.Response:
    """Ask a question, on a connection of its own."""
    with found.client(key) as client:
        body = {"sql": COUNT, "epsilon": "0.5"}
        return client.post("/v1/datasets/visits/answers", json=body, headers={"Idempotency-Key": name})


def charged(served: Served) -> list[str]:
    """Return the requests that were charged so far, as they are in the ledger's file."""
    with closing(sqlite3.connect(f"file:{served.folder / 'budget.db'}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT request_id FROM ledger_entries WHERE kind = 'charge'").fetchall()
    return [row[0] for row in found]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "workers"),
    sparing([(signal.SIGTERM, 2), (signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGINT, 2)]),
)
def test_a_running_question_is_answered_first(tmp_path: Path, how: signal.Signals, workers: int) -> None:
    """Told to stop, a server answers what was asked, ends without a complaint, and leaves a ledger that verifies."""
    served = slow(tmp_path / "hospital", workers)
    with running(served) as found, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, found, served.keys[name], "q1") for name in ("ana", "ben")]
        wait_for(lambda: len(charged(served)) == 2)
        code = found.stop(how)
        told = [one.result() for one in asked]
    assert code == 0
    assert [one.status_code for one in told] == [200, 200]
    assert not [line for line in found.lines if not line.startswith(("{", "serving on "))]
    with Ledger.open(str(served.folder / "budget.db")) as ledger:
        assert ledger.verify().ok
        assert ledger.balance("visits").spent == 1
        for name in ("ana", "ben"):
            kept = ledger.request(f"{name}/q1")
            assert kept is not None
            assert kept[1] is not None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_an_answer_that_nobody_received_is_fetched_later(tmp_path: Path) -> None:
    """A server that is killed between charge and response has the answer, or finds it, when it is there again."""
    served = slow(tmp_path / "hospital", 1, tick=5)  # time to kill it in
    with running(served) as found, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, found, served.keys["ana"], "q1")
        wait_for(lambda: charged(served) == ["ana/q1"])
        found.stop(signal.SIGKILL)
        with pytest.raises(httpx2.TransportError):
            asked.result()
    with running(served) as again:
        first, second = (ask(again, served.keys["ana"], "q1") for _ in range(2))
    assert first.status_code == 200
    assert first.json() == second.json()
    assert charged(served) == ["ana/q1"]
