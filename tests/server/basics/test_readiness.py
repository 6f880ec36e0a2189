"""Whether the server can answer is found by writing, at most once in some seconds, however many ask."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from inbounds.errors import LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.ledger.stores.disk_space import ROOM
from inbounds.server.basics import clock, pace, readiness
from inbounds.server.basics.readiness import FRESH, Readiness
from inbounds.server.state.database import Database
from tests.helpers import ledger_places
from tests.helpers.full_disk import filled, no_growth, small_disk
from tests.helpers.ledger_places import Place
from tests.helpers.served_hospital import Served, wait_for

place = ledger_places.place


class Looks:
    """Looks that are counted, and find what they are told to."""

    def __init__(self, *outcomes: bool | Exception) -> None:
        self.count = 0
        self._outcomes = list(outcomes)

    def __call__(self) -> bool:
        """Look once more."""
        self.count += 1
        found = self._outcomes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says, to be changed."""
    found = [1000.0]
    monkeypatch.setattr(clock, "seconds", lambda: found[0])
    return found


def test_many_who_ask_at_once_share_one_look(now: list[float]) -> None:
    """A thousand who ask together, and a thousand after them, are told what one look found."""
    looks = Looks(True)
    found = Readiness(looks)

    async def ask() -> list[bool]:
        together = await asyncio.gather(*(found.is_ready() for _ in range(1000)))
        return [*together, *[await found.is_ready() for _ in range(1000)]]

    assert set(asyncio.run(ask())) == {True}
    assert looks.count == 1
    assert now == [1000.0]


def test_an_outcome_holds_for_some_seconds(now: list[float]) -> None:
    """Good or bad, or a failure of the look itself: until then it is told again, and after that it is looked for."""
    looks = Looks(True, False, RuntimeError(), True)
    found = Readiness(looks)

    async def ask() -> list[bool]:
        told = []
        for _ in range(4):
            told.append(await found.is_ready())
            now[0] += FRESH / 2
            told.append(await found.is_ready())
            now[0] += FRESH / 2
        return told

    assert asyncio.run(ask()) == [True, True, False, False, False, False, True, True]
    assert looks.count == 4


def test_a_look_that_hangs_finds_nothing_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks meanwhile is told so, without a second look, and its end is told when it comes."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.01)
    go_on, looks = threading.Event(), Looks(True)
    found = Readiness(lambda: go_on.wait(60) and looks())

    async def ask() -> list[bool]:
        hanging = [await found.is_ready() for _ in range(3)]
        go_on.set()
        while not await found.is_ready():
            await asyncio.sleep(0.01)
        return hanging

    assert asyncio.run(ask()) == [False] * 3
    assert looks.count == 1


def waits(now: list[float], monkeypatch: pytest.MonkeyPatch, moments: list[float]) -> list[float]:
    """Return how long each has to wait who comes at one of these moments."""
    told: list[float] = []

    async def sleep(seconds: float) -> None:
        told[-1] = seconds

    async def come() -> None:
        probes = pace.Pace()
        for moment in moments:
            now[0] = moment
            told.append(0.0)
            await probes.turn()

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "sleep", sleep)
        asyncio.run(come())
    return told


def test_probes_that_come_now_and_then_do_not_wait(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten a second for a minute, and twenty at once after a pause, are answered as they come."""
    moments = [1000 + number / 10 for number in range(600)]
    assert set(waits(now, monkeypatch, [*moments, *[1100.0] * pace.AT_ONCE])) == {0.0}


def test_whoever_asks_without_a_pause_waits_a_little(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand at once each waits longer than the one before, none more than half a second, and later nobody."""
    found = waits(now, monkeypatch, [*[1000.0] * 1000, 1010.0])
    assert found == [*sorted(found[:-1]), 0.0]
    assert found[pace.AT_ONCE] > 0
    assert max(found) == pytest.approx(pace.LONGEST)


def test_trying_to_write_leaves_nothing(place: Place) -> None:
    """No entry, no account, the same head, and a ledger that verifies; also while others charge."""
    with Ledger.open(place.where) as ledger, Ledger.open(place.where, create=False) as other:
        ledger.open_dataset("clinic", 1)
        ledger.charge("clinic", "ada", "0.5")
        before = place.raw("SELECT * FROM ledger_accounts ORDER BY 1, 2"), ledger.head()
        for _ in range(3):
            other.try_writing()
        assert (place.raw("SELECT * FROM ledger_accounts ORDER BY 1, 2"), ledger.head()) == before
        ledger.charge("clinic", "ada", "0.5")
        assert ledger.verify().ok


def test_trying_to_write_writes(tmp_path: Path) -> None:
    """Where no file can grow, trying says so; once there is room, it says nothing, and nothing is left of it."""
    where = tmp_path / "budget.db"
    database = Database(tmp_path / "server.db")
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        files = sorted(tmp_path.iterdir())
        for _ in range(2):
            ledger.try_writing()
            assert database.is_writable()
            with no_growth(ROOM - 1):
                with pytest.raises(LedgerUnavailable, match="the disk is full; make room"):
                    ledger.try_writing()
                assert not database.is_writable()
        assert sorted(tmp_path.iterdir()) == files
    assert database.rows("SELECT * FROM sessions") == []


def test_trying_to_write_goes_to_the_file_itself(tmp_path: Path) -> None:
    """A file that may not be written is found out, whatever room its disk has."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        ledger._store._open_connection().execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]
        with pytest.raises(LedgerUnavailable, match="it is read-only"):
            ledger.try_writing()
    database = Database(tmp_path / "server.db")
    database.connection.execute("PRAGMA query_only = ON")
    assert not database.is_writable()


@pytest.mark.slow
@pytest.mark.parametrize("full", ["budget.db", "custodian.server.db"])
def test_a_full_disk_is_not_ready(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str) -> None:
    """With the ledger's or the keys' disk full there is 503 for everybody, and 200 once there is room again."""
    monkeypatch.setattr(readiness, "FRESH", 0)
    with small_disk(tmp_path / "disk") as disk:
        if full == "budget.db":
            _edit(served, 'ledger = "budget.db"', f'ledger = "{disk / full}"')
            Ledger.open(disk / full).close()
        else:
            shutil.copytree(served.folder, disk, dirs_exist_ok=True)
            _edit(served, 'ledger = "budget.db"', f'ledger = "budget.db"\nstate = "{disk / full}"')
        try:
            told: Callable[[], int] = lambda: served.nobody.get("/readyz").status_code  # noqa: E731
            assert told() == 200
            with filled(disk):
                assert told() == 503
                assert served.person("ana").get("/v1/me").status_code == 200
            wait_for(lambda: told() == 200)
        finally:
            served.close()


def _edit(served: Served, old: str, new: str) -> None:
    text = served.path.read_text("utf-8")
    assert old in text
    served.path.write_text(text.replace(old, new), "utf-8")
