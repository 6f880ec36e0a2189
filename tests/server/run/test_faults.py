"""Whatever is killed, stopped or full: nothing is lost, nothing is paid twice, and the server says what to do."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from benchmarks import server_kills, server_restarts
from benchmarks.served_clinic import ServedClinic, contract
from benchmarks.server_kills import SERVER, WORKER, runs, workers

from inbounds.ledger import Ledger
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.database import Database
from tests.helpers import own_postgres
from tests.helpers.own_postgres import Postgres
from tests.helpers.served_hospital import COUNT, Running, Served, begin_ledger, build, running, wait_for

postgres = own_postgres.postgres

linux = pytest.mark.skipif(sys.platform != "linux", reason="this system tells nothing of other processes in /proc")


def ask(client: httpx2.Client, key: str, sql: str = COUNT) -> httpx2.Response:
    """Ask a question under an Idempotency-Key."""
    body = {"sql": sql, "epsilon": "0.5"}
    return client.post("/v1/datasets/visits/answers", json=body, headers={"Idempotency-Key": key})


def is_refused(response: httpx2.Response) -> bool:
    """Return whether something is refused for now, with a word about when to come again."""
    found = response.json().get("code") in ("ledger-unavailable", "server-unavailable")
    return found and response.status_code == 503 and int(response.headers["Retry-After"]) > 0


@contextmanager
def two_workers(served: Served) -> Iterator[tuple[Running, list[int]]]:
    """Serve with two worker processes, once both are there."""
    with running(served) as found:
        wait_for(lambda: len(workers(found.process.pid)) == 2)
        yield found, workers(found.process.pid)


@pytest.fixture
def pair(tmp_path: Path) -> Served:
    """A hospital that two worker processes serve."""
    return build(tmp_path / "hospital", workers=2)


@linux
@pytest.mark.thorough
def test_kills_lose_nothing(tmp_path: Path) -> None:
    """Every answer is kept and paid once, no charge is without a question, and what was charged is answered later."""
    contracts = {"visits": contract("visits", 10**6, server_kills.TICK)}
    clinic = ServedClinic.build(tmp_path, contracts, server_kills.ANALYSTS, 2, "statements_at_once = 100")
    seen = server_kills.killing(clinic, [WORKER, SERVER, WORKER])
    wrong, facts = server_kills.look(clinic, seen)
    assert wrong == dict.fromkeys(wrong, 0)
    assert facts["charges"] == facts["questions"] >= 3


@linux
@pytest.mark.thorough
def test_a_server_is_back_however_it_ended(tmp_path: Path) -> None:
    """Told to stop or killed, with its workers or while they start, it frees its address, and the next start holds."""
    contracts = {"visits": contract("visits", 10**6, server_kills.TICK)}
    clinic = ServedClinic.build(tmp_path, contracts, server_kills.ANALYSTS, 2, "statements_at_once = 100")
    seen, wrong, facts = server_restarts.restarting(clinic, [*server_restarts.WAYS])
    assert seen.failed == 0
    assert len(seen.back) == len(seen.gone) == len(server_restarts.WAYS)
    assert wrong == dict.fromkeys(wrong, 0)
    assert facts["charges"] == facts["questions"] > 0


@linux
@pytest.mark.slow
def test_workers_are_replaced_and_end_with_their_server(pair: Served) -> None:
    """A worker that is killed comes back as another; workers of a server that is killed end, and free its address."""
    with two_workers(pair) as (found, before), found.client(pair.keys["ana"]) as client:
        os.kill(before[0], signal.SIGKILL)
        wait_for(lambda: len(set(workers(found.process.pid)) - set(before)) == 1)
        wait_for(lambda: _is_there(client))
        left = workers(found.process.pid)
        found.stop(signal.SIGKILL)
        wait_for(lambda: not any(runs(one) for one in left))
    with running(pair) as again, again.client(pair.keys["ana"]) as client:
        assert client.get("/v1/me").json()["name"] == "ana"


@linux
@pytest.mark.thorough
def test_workers_that_die_while_they_start_are_replaced(pair: Served) -> None:
    """Both are killed, and so are those that come in their place; the next ones answer, and the server can be ended."""
    killed: set[int] = set()
    with two_workers(pair) as (found, _), found.client(pair.keys["ana"]) as client:
        for _ in range(3):
            wait_for(lambda: len(set(workers(found.process.pid)) - killed) == 2)
            for one in set(workers(found.process.pid)) - killed:
                os.kill(one, signal.SIGKILL)
                killed.add(one)
        wait_for(lambda: _is_there(client))
        assert found.stop() in (0, -signal.SIGTERM)


@linux
@pytest.mark.thorough
def test_two_workers_are_one_server(tmp_path: Path) -> None:
    """One request runs once, a person has one bucket of requests, and a revoked key is none, whoever is asked."""
    pair = build(tmp_path / "hospital", workers=2)
    slower = pair.folder / "visits.toml"
    slower.write_text(slower.read_text().replace("tick = 0.05", "tick = 3"))
    text = pair.path.read_text().replace("requests_per_minute = 1000000", "requests_per_minute = 60")
    pair.path.write_text(text)
    with two_workers(pair) as (found, _), ThreadPoolExecutor(8) as pool:

        def alone(name: str, key: str) -> httpx2.Response:
            with found.client(pair.keys[name]) as client:  # a connection of its own, to any worker
                return ask(client, key)

        statuses = [one.status_code for one in pool.map(lambda _: alone("ana", "same"), range(8))]
        assert set(statuses) <= {200, 409}
        assert 409 in statuses
        assert 200 in statuses
        with Ledger.open(pair.folder / "budget.db", create=False) as ledger:
            assert ledger.balance("visits").spent == Fraction(1, 2)

        def look(name: str) -> int:
            with found.client(pair.keys[name]) as client:
                return client.get("/v1/me").status_code

        ring = KeyRing(Database(pair.file.state))
        assert look("carla") == 200
        ring.revoke(pair.keys["carla"].split("_")[1])
        assert {look("carla") for _ in range(8)} == {401}
        begun = time.monotonic()
        seen = list(pool.map(look, ["ben"] * 100))
        gone = time.monotonic() - begun
        assert set(seen) <= {200, 429}
        assert 60 <= seen.count(200) <= 61 + gone, "60 at once, and 60 a minute, from both together"


@linux
@pytest.mark.slow
def test_wrong_keys_are_limited_by_address(tmp_path: Path) -> None:
    """Whoever guesses keys is refused before long, from that address; those who have one are not."""
    served = build(tmp_path / "hospital")
    served.path.write_text(served.path.read_text().replace("requests_per_minute = 1000000", "requests_per_minute = 20"))
    try:
        guesses = [served.bearing(f"inb_{number:012x}_{'A' * 43}").get("/v1/me") for number in range(40)]
        assert [one.status_code for one in guesses[:20]] == [401] * 20
        assert 429 in {one.status_code for one in guesses}
        assert guesses[-1].headers["Retry-After"]
        assert served.person("ana").get("/v1/me").status_code == 200
    finally:
        served.close()


@linux
@pytest.mark.slow
def test_a_full_disk_refuses_and_loses_nothing(served: Served) -> None:
    """Charges are refused with 503, what can be read is read, and with room the same requests go on."""
    with running(served) as found, found.client(served.keys["ana"]) as client:
        first = ask(client, "before")
        assert first.status_code == 200
        log = served.folder / "budget.db-wal"
        process, (soft, hard) = found.process.pid, resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
        try:
            refused = [ask(client, f"full-{number}") for number in range(3)]
            assert all(is_refused(one) for one in refused), [one.text for one in refused]
            again = client.get("/v1/answers/before")
            assert again.json()["rows"] == first.json()["rows"]
            explained = client.post("/v1/datasets/visits/explain", json={"sql": COUNT, "epsilon": "0.5"})
            assert explained.status_code == 200
            assert client.get("/v1/datasets/visits/budget").json()["own"]["spent"] in ("0.5", "1", "1.5", "2")
            assert is_refused(client.get("/readyz"))
        finally:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))
        wait_for(lambda: client.get("/readyz").status_code == 200)
        for number in range(3):
            assert ask(client, f"full-{number}").status_code == 200
        assert client.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "2"
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        assert ledger.verify().ok


@linux
@pytest.mark.slow
@pytest.mark.thorough
def test_a_ledger_that_is_stopped_is_waited_for(tmp_path: Path, postgres: Postgres) -> None:
    """While PostgreSQL is away there is 503 and nothing else; once it is back the same requests go on, paid once."""
    served = build(tmp_path / "hospital")
    served.path.write_text(served.path.read_text().replace('ledger = "budget.db"', f'ledger = "{postgres.url}"'))
    begin_ledger(served.file)
    with running(served) as found, found.client(served.keys["ana"]) as client:
        first = ask(client, "before")
        assert first.status_code == 200
        postgres.stop()
        away: list[Any] = [ask(client, "before"), ask(client, "during")]
        away += [client.get("/v1/answers/before"), client.get("/v1/datasets/visits/budget")]
        assert all(is_refused(one) for one in away), [one.text for one in away]
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        postgres.start()
        assert ask(client, "before").json()["rows"] == first.json()["rows"]
        assert ask(client, "during").status_code == 200
        assert client.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "1"
        wait_for(lambda: client.get("/readyz").status_code == 200)
    with Ledger.open(postgres.url, create=False) as ledger:
        assert ledger.verify().ok
        assert [one.kind for one in ledger.statement().entries].count("charge") == 2


@linux
@pytest.mark.slow
@pytest.mark.thorough
def test_a_source_that_is_frozen_is_given_up(tmp_path: Path, postgres: Postgres) -> None:
    """Its questions are stopped when their time is over, charged once, and answered for that when it goes on."""
    served = build(tmp_path / "hospital", limits="statement_seconds = 1")
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE ward AS SELECT i % 9 AS patient, 50 AS age, 'north' AS clinic FROM generate_series(1, 99) i"
        )
    path = served.folder / "visits.toml"
    source = 'source = "ward-records.parquet"'
    assert source in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(source, f'source = "{postgres.url}"\ntable = "ward"'), "utf-8")
    with running(served) as found, found.client(served.keys["ana"]) as client:
        assert ask(client, "before").status_code == 200
        with postgres.frozen():
            away = ask(client, "during")
            assert away.json()["code"] in ("statement-failed", "statement-stopped"), away.text
            assert client.get("/v1/me").status_code == 200
        assert client.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "1"
        assert ask(client, "during").status_code == 200
        assert client.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "1"


def _is_there(client: httpx2.Client) -> bool:
    try:
        return client.get("/v1/me").is_success
    except httpx2.TransportError:
        return False


@pytest.mark.slow
def test_a_ledger_that_went_away_is_not_begun_anew(tmp_path: Path) -> None:
    """A running server makes no ledger: what was spent is in the one that is gone, and until it is back nobody asks."""
    served = build(tmp_path / "hospital")
    ledger, elsewhere = tmp_path / "hospital" / "budget.db", tmp_path / "elsewhere.db"
    with running(served) as found, found.client(served.keys["ana"]) as client:
        asked: dict[str, Any] = {"json": {"sql": COUNT, "epsilon": "0.5"}, "headers": {"Idempotency-Key": "one"}}
        ledger.rename(elsewhere)  # before the process has had a reason to open it
        refused = client.post("/v1/datasets/visits/answers", **asked)
        assert (refused.status_code, refused.json()["code"]) == (503, "ledger-unavailable")
        assert not ledger.exists()
        elsewhere.rename(ledger)
        assert client.post("/v1/datasets/visits/answers", **asked).status_code == 200
