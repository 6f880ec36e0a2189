"""A statement on a server that accepts and says nothing ends, as one that is over its time."""

from __future__ import annotations

import sys
import threading

import psycopg
import pytest

from inbounds.errors import EngineFailed, InvalidContract
from inbounds.ledger.stores import postgres_connection
from inbounds.query.engines import postgres as engine
from inbounds.query.engines.postgres import Postgres as Engine
from tests.helpers import own_postgres
from tests.helpers.own_postgres import Postgres
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import wait_for

postgres = own_postgres.postgres

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="this system tells nothing of other processes in /proc"),
]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "GRACE", 0.5)
    monkeypatch.setattr(engine, "DESCRIBING", 0.5)
    monkeypatch.setitem(postgres_connection.UNLESS_GIVEN, "connect_timeout", 2)


def table(postgres: Postgres) -> Engine:
    """Return an engine on a small table, which has its time for a statement."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS age FROM generate_series(1, 9) g(i)")
    found = Engine(postgres.url, "visits")
    found.statement_seconds = 600.0
    return found


def test_a_frozen_server_is_left(postgres: Postgres) -> None:
    """Neither a statement nor a look at the columns begins, and both do when the server goes on."""
    found = table(postgres)
    with postgres.frozen():
        with pytest.raises(EngineFailed) as refused:
            found.run("SELECT COUNT(*) FROM visits")
        assert not refused.value.stopped
        with pytest.raises(InvalidContract, match="cannot be read"):
            found.kinds()
    assert found.run("SELECT COUNT(*) FROM visits") == [(9,)]
    assert list(found.kinds()) == ["age"]


def test_a_server_that_freezes_within_a_statement_is_left(postgres: Postgres) -> None:
    """A statement that had begun is over its time, whatever the server says later."""
    found = table(postgres)
    refused: list[EngineFailed] = []

    def run() -> None:
        with pytest.raises(EngineFailed) as failed:
            found.run("SELECT COUNT(*) FROM visits, pg_sleep(600)")
        refused.append(failed.value)

    found.statement_seconds = 5.0
    thread = threading.Thread(target=run)
    thread.start()
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        sleeping = (
            "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"
        )
        wait_for(lambda: connection.execute(sleeping).fetchone() == (1,))
    with postgres.frozen():
        thread.join(PATIENCE)
    assert [one.stopped for one in refused] == [True]
    assert found.run("SELECT COUNT(*) FROM visits") == [(9,)]


def test_an_address_decides_how_long_it_is_waited_for(postgres: Postgres) -> None:
    """What an address says about waiting comes before what is usual."""
    with postgres_connection.connect(f"{postgres.url}?connect_timeout=77", None) as connection:
        assert connection.info.get_parameters()["connect_timeout"] == "77"
        assert connection.info.get_parameters()["keepalives_idle"] == "10"
