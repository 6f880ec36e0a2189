"""What processes of a server share: claims that the system takes back, and rates."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest

from inbounds.cli.main import main
from inbounds.server.basics import clock
from inbounds.server.run.process import listening
from inbounds.server.service.service import beside
from inbounds.server.state.claims import Claims, running
from inbounds.server.state.rates import Rates
from tests.helpers import served_claimant
from tests.helpers.programs import ROOT
from tests.helpers.served_hospital import Served, build


@pytest.fixture
def claims(tmp_path: Path) -> Iterator[Claims]:
    """The claims of this process."""
    found = Claims(tmp_path / "claims")
    yield found
    found.close()


@contextmanager
def claimant(path: Path, name: str, places: int = 1) -> Iterator[tuple[subprocess.Popen[str], bool]]:
    """Start a process that claims something, and tell whether it got it."""
    command = [sys.executable, "-m", served_claimant.__name__, str(path), name, str(places)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline() == "True\n"
        finally:
            process.kill()


def test_a_claim_is_held_once(claims: Claims) -> None:
    """Of so many places under a name so many are taken, each again when it was let go, and names do not meet."""
    with ExitStack() as held:
        assert [held.enter_context(claims.one_of("ana", 3)) for _ in range(5)] == [True] * 3 + [False] * 2
        assert held.enter_context(claims.one_of("ben", 1))
        assert not held.enter_context(claims.one_of("ben", 1))
    with claims.one_of("ana", 1) as free:
        assert free


def test_a_claim_that_was_not_had_takes_nothing_away(claims: Claims) -> None:
    """Whoever found no place lets go of nobody else's."""
    with claims.one_of("ana", 1):
        with claims.one_of("ana", 1) as free:
            assert not free
        with claims.one_of("ana", 1) as free:
            assert not free


def test_threads_do_not_share_a_claim(claims: Claims) -> None:
    """Of many threads that claim at once, one gets it."""
    found: list[bool] = []
    with ExitStack() as held:
        threads = [Thread(target=lambda: found.append(held.enter_context(claims.one_of("ana", 1)))) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == [False] * 15 + [True]


def test_looking_claims_nothing(claims: Claims) -> None:
    """A question that does not run is running for nobody, however many look at once; one that runs, for everybody."""
    found: list[bool] = []

    def look() -> None:
        found.extend(claims.is_running("ana/one") for _ in range(2000))

    def looked_at_once() -> set[bool]:
        found.clear()
        threads = [Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return set(found)

    assert looked_at_once() == {False}
    with claims.one_of(running("ana/one"), 1) as free:
        assert free
        assert looked_at_once() == {True}
    assert looked_at_once() == {False}


@pytest.mark.slow
def test_processes_share_claims_and_a_killed_one_gives_them_back(claims: Claims, tmp_path: Path) -> None:
    """What another process holds is taken, also for a third, until it is killed; what this one holds, it cannot get."""
    path = tmp_path / "claims"
    with claimant(path, "ana") as (process, first):
        assert first
        with claims.one_of("ana", 1) as free:
            assert not free
        with claims.one_of("ana", 2) as free:
            assert free  # the second place
        with claimant(path, running("ana/one")) as (_, other):
            assert other
            assert claims.is_running("ana/one")
        with claims.one_of("ben", 1) as free, claimant(path, "ben") as (_, other):
            assert (free, other) == (True, False)
        with claims.one_of("ana", 1) as free:
            assert not free  # looking did not take it away
        process.kill()
        process.wait(20)
        with claims.one_of("ana", 1) as free:
            assert free


def test_a_rate_is_a_bucket_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many come at once, then one each time there is room again, up to so many; others have their own."""
    now = 1000.0
    monkeypatch.setattr(clock, "seconds", lambda: now)
    rates = Rates(tmp_path / "rates", 60)
    assert [rates.take("ana") for _ in range(62)] == [True] * 60 + [False] * 2
    assert rates.take("ben")
    now += 1.0
    assert [rates.take("ana") for _ in range(2)] == [True, False]
    now += 0.5
    assert not rates.take("ana")
    now += 0.5
    assert rates.take("ana")
    now += 1e6
    assert [rates.take("ana") for _ in range(61)] == [True] * 60 + [False]
    now -= 500.0
    assert not rates.take("ana")  # a clock that goes back gives nothing


def test_full_buckets_are_forgotten_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many addresses come, the file stays small; whoever came too often is still refused."""
    now = 1000.0
    monkeypatch.setattr(clock, "seconds", lambda: now)
    monkeypatch.setattr("inbounds.server.state.rates.EVERY", 10)
    rates = Rates(tmp_path / "rates", 60)
    for number in range(105):
        assert rates.take(f"address {number}")
    now += 30.0
    assert [rates.take("ana") for _ in range(61)] == [True] * 60 + [False]
    now += 31.0
    assert [rates.take("ana") for _ in range(33)] == [True] * 31 + [False] * 2
    with closing(sqlite3.connect(tmp_path / "rates")) as connection:
        assert connection.execute("SELECT name FROM buckets").fetchall() == [("ana",)]


def take_many(path: Path, most: int) -> int:
    """Return how many requests a process was allowed."""
    rates = Rates(path, most)
    return sum(rates.take("ana") for _ in range(most))


@pytest.mark.slow
def test_processes_share_rates(tmp_path: Path) -> None:
    """Two processes at once get no more than one would, but for what fills up meanwhile."""
    path, most = tmp_path / "rates", 60
    started = clock.seconds()
    with get_context("spawn").Pool(2) as pool:
        found = sum(pool.starmap(take_many, [(path, most)] * 2))
    assert most <= found <= most + clock.seconds() - started + 1


def test_rates_are_their_owners(tmp_path: Path) -> None:
    """Nobody else on the machine can read who asks how often, and from where."""
    assert Rates(tmp_path / "rates", 60).take("ana")
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("what", ["no folder", "no database", "locked"])
def test_rates_that_cannot_be_used_are_counted_by_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], what: str
) -> None:
    """A limit whose file is out of order holds in each process by itself, for all threads; the log has a line."""
    monkeypatch.setattr(clock, "seconds", lambda: 1000.0)
    path = tmp_path / "not" / "there" if what == "no folder" else tmp_path / "rates"
    if what == "no database":
        path.write_bytes(b"something else" * 1000)
    rates = Rates(path, 2)
    with ExitStack() as held:
        if what == "locked":
            Rates.begin(path)
            held.enter_context(closing(sqlite3.connect(path))).execute("BEGIN IMMEDIATE")
        found = [rates.take("ana") for _ in range(2)]
        thread = Thread(target=lambda: found.append(rates.take("ana")))
        thread.start()
        thread.join()
        assert found == [True, True, False]
        assert rates.take("ben")
    assert [json.loads(line)["event"] for line in capfd.readouterr().err.splitlines()] == ["rates"]


def test_rates_whose_file_is_replaced_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes the file away while a server runs begins the buckets anew, and does not end the limit."""
    monkeypatch.setattr(clock, "seconds", lambda: 1000.0)
    rates = Rates(tmp_path / "rates", 2)
    assert [rates.take("ana") for _ in range(3)] == [True, True, False]
    (tmp_path / "rates").unlink()
    Rates(tmp_path / "rates", 2).take("ben")
    assert sum(rates.take("ana") for _ in range(10)) <= 2


def test_rates_of_another_run_of_the_machine_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clock has begun anew: buckets of a later time would never fill up; those of this run stay."""
    now = 1000.0
    monkeypatch.setattr(clock, "seconds", lambda: now)
    path = tmp_path / "rates"
    rates = Rates(path, 1)
    assert rates.take("ana")
    now = 500.0
    assert rates.take("ben")
    Rates.begin(path)
    assert (rates.take("ana"), rates.take("ben")) == (True, False)


def test_damaged_rates_are_begun_anew(tmp_path: Path) -> None:
    """A server that starts removes what is no database, with all that belongs to it, and shares rates again."""
    path = tmp_path / "rates"
    path.write_bytes(b"something else" * 1000)
    (tmp_path / "rates-wal").write_bytes(b"and a log")
    Rates.begin(path)
    assert Rates(path, 1).take("ana")
    assert not Rates(path, 1).take("ana")


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Served]:
    """A server that has little patience."""
    found = build(tmp_path)
    text = found.path.read_text("utf-8").replace("requests_per_minute = 1000000", "requests_per_minute = 5")
    found.path.write_text(text, encoding="utf-8")
    yield found
    found.close()


def test_requests_are_limited_for_each_person(strict: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes too often is told when to come again; others are not touched."""
    monkeypatch.setattr(clock, "seconds", lambda: 1000.0)
    ana, ben = strict.person("ana"), strict.person("ben")
    assert [ana.get("/v1/me").status_code for _ in range(6)] == [200] * 5 + [429]
    refused = ana.ask("one")
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
    assert refused.headers["retry-after"].isdigit()
    assert ben.get("/v1/me").status_code == 200


def test_wrong_keys_are_limited_for_an_address(strict: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessing is stopped after so many keys, and right keys from the same address still open."""
    monkeypatch.setattr(clock, "seconds", lambda: 1000.0)
    guesses = [strict.bearing(strict.keys["ana"][:-1] + letter) for letter in "ABCDEFGH"]
    wrong = [one for one in guesses if one.headers["Authorization"] != f"Bearer {strict.keys['ana']}"]
    assert [one.get("/v1/me").status_code for one in wrong[:7]] == [401] * 5 + [429] * 2
    assert strict.person("ana").get("/v1/me").status_code == 200
    unreadable = strict.nobody.post("/v1/keys", content=b"{", headers={"Content-Type": "application/json"})
    assert unreadable.status_code == 429


def test_a_server_that_is_refused_leaves_the_limits_of_another(
    strict: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second server finds the address in use and ends; whoever came too often is still refused, by any process."""
    monkeypatch.setattr(clock, "seconds", lambda: 1000.0)
    monkeypatch.setattr("inbounds.server.run.process.PATIENCE", 0.0)
    ana = strict.person("ana")
    assert [ana.get("/v1/me").status_code for _ in range(6)] == [200] * 5 + [429]
    with listening(strict.file):
        assert main(["serve", str(strict.path)]) == 2
    assert "cannot listen" in capsys.readouterr().err
    assert not Rates(beside(strict.file.state, "rates"), 5).take("person ana")  # as a worker that comes later does
    assert [ana.get("/v1/me").status_code for _ in range(3)] == [429] * 3
