"""What the server keeps for browsers: sessions, questions as they were written, requests for budget."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from inbounds.server.basics import clock
from inbounds.server.people.sessions import HOURS, Sessions
from inbounds.server.state.budget_requests import MOST_OPEN, BudgetRequests
from inbounds.server.state.database import Database
from inbounds.server.state.question_store import QuestionStore


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A file of a server."""
    return Database(tmp_path / "server.db")


def test_a_session_is_found_by_its_cookie_alone(database: Database, tmp_path: Path) -> None:
    """A cookie finds its session, no other text does, and neither file nor token tells what the cookie says."""
    sessions = Sessions(database)
    cookie, other = sessions.begin("ana", "abc"), sessions.begin("ana", None)
    found = sessions.find(cookie)
    assert found is not None
    assert (found.person, found.key) == ("ana", "abc")
    assert cookie != other
    assert len(cookie) >= 43
    for wrong in ("", cookie[:-1], cookie + "a", cookie.swapcase(), "\udc80"):
        assert sessions.find(wrong) is None
    assert cookie not in (found.token, repr(database.rows("SELECT * FROM sessions", ())))
    assert all(cookie.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_session_has_its_own_token(database: Database) -> None:
    """The token of one session is not that of another, and a form without it carries nothing."""
    sessions = Sessions(database)
    one, two = (sessions.find(sessions.begin("ana", None)) for _ in range(2))
    assert one is not None
    assert two is not None
    assert one.has_token(one.token)
    assert not one.has_token(two.token)
    assert not one.has_token("")
    assert not one.has_token("é")


def test_a_session_ends_at_once_and_by_itself(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ended session is not found, others are until their time is over, and then they are forgotten."""
    sessions = Sessions(database)
    ended, kept = sessions.begin("ana", None), sessions.begin("ben", None)
    sessions.end(ended)
    sessions.end("never begun")
    assert sessions.find(ended) is None
    assert sessions.find(kept) is not None
    later = clock.now() + timedelta(hours=HOURS, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert sessions.find(kept) is None
    sessions.begin("eve", None)
    assert database.rows("SELECT person FROM sessions", ()) == [("eve",)]


def test_the_first_question_with_an_id_counts(database: Database) -> None:
    """A question is kept as it was written; another with the same id changes nothing, and an unknown id has none."""
    store = QuestionStore(database)
    store.keep("ana/a", "visits", {"sql": "SELECT 1", "epsilon": "0.5"})
    store.keep("ana/a", "births", {"sql": "SELECT 2", "epsilon": "1"})
    assert store.find("ana/a") == ("visits", {"sql": "SELECT 1", "epsilon": "0.5"})
    assert store.find("ben/a") is None


def test_requests_are_listed_by_person_and_dataset(database: Database) -> None:
    """The newest request is first, and each can be found by its number, its person and its dataset."""
    requests = BudgetRequests(database)
    for person, dataset in (("ana", "visits"), ("ben", "visits"), ("ana", "births")):
        assert requests.add(person, dataset, "1", "more")
    assert [one.number for one in requests.find_all()] == [3, 2, 1]
    assert [one.number for one in requests.find_all("visits")] == [2, 1]
    assert [one.number for one in requests.find_all(person="ana")] == [3, 1]
    assert [one.number for one in requests.find_all("visits", "ana")] == [1]
    assert requests.find(4) is None


def test_a_request_is_decided_once(database: Database) -> None:
    """Of many decisions at once one counts; taken back, the request waits again."""
    requests = BudgetRequests(database)
    requests.add("ana", "visits", "1", "more")
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: requests.decide(1, str(number), "yes"), range(8)))
    assert done.count(True) == 1
    found = requests.find(1)
    assert found is not None
    assert found.granted == str(done.index(True))
    requests.reopen(1)
    assert [one.decided for one in requests.find_all()] == [None]
    assert requests.decide(1, None, "no")


def test_few_requests_of_one_person_wait(database: Database) -> None:
    """Nobody fills the custodian's page: a person has so many requests that wait, and room again after a decision."""
    requests = BudgetRequests(database)
    assert [requests.add("ana", "visits", "1", "more") for _ in range(MOST_OPEN + 1)] == [True] * MOST_OPEN + [False]
    assert requests.add("ben", "visits", "1", "more")
    assert requests.decide(1, None, "no")
    assert requests.add("ana", "visits", "1", "more")
