"""Shared answers: for whom they were shared, as long as they are, and with nothing that the owner keeps."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from inbounds.ledger import Ledger
from inbounds.server.basics.person import Person, Role
from inbounds.server.basics.ticks import Ticks
from inbounds.server.service import asking
from inbounds.server.state.share_store import MOST_LINKS
from tests.helpers.reporting import BY, share
from tests.helpers.served_hospital import COUNT, As, Served, wait_for

KEY = "a-key-of-anas-own"


@pytest.fixture
def ana(served: Served) -> As:
    """An analyst who has an answer."""
    found = served.person("ana")
    assert found.ask(KEY, BY).status_code == 200
    return found


def test_a_link_shows_the_answer(served: Served, ana: As) -> None:
    """Whoever a link is for reads what its owner reads, but not what the owner called it; and nothing is spent."""
    head = served.person("dora").get("/v1/ledger/head").json()
    name = share(ana, KEY, "rita", "ben")
    own = ana.get(f"/v1/answers/{KEY}").json()
    for person in ("rita", "ben", "ana"):
        theirs = served.person(person).get(f"/v1/shared/{name}")
        assert KEY not in theirs.text
        assert {**theirs.json(), "id": KEY} == own
    assert served.person("dora").get("/v1/ledger/head").json() == head


def test_only_whoever_it_is_for_sees_it(served: Served, ana: As) -> None:
    """A link is in the lists of those it is for, who do not see the names of the others, and opens for nobody else."""
    name = share(ana, KEY, "rita", "ben")
    assert [(one["id"], one["people"]) for one in served.person("rita").get("/v1/shared").json()] == [(name, ["rita"])]
    assert [one["people"] for one in ana.get(f"/v1/answers/{KEY}/shares").json()] == [["ben", "rita"]]
    for person in ("eve", "carla", "dora"):
        assert served.person(person).get("/v1/shared").json() == []
        assert served.person(person).get(f"/v1/shared/{name}").status_code == 404


def test_a_link_that_is_revoked_is_gone_at_once(served: Served, ana: As) -> None:
    """After it is revoked a link is refused by the bytes of one that never was, also for its owner."""
    name = share(ana, KEY, "rita")
    assert served.person("ben").delete(f"/v1/answers/{KEY}/shares/{name}").status_code == 404
    assert served.person("rita").get(f"/v1/shared/{name}").status_code == 200
    assert ana.delete(f"/v1/answers/{KEY}/shares/{name}").status_code == 204
    gone, never = (served.person("rita").get(f"/v1/shared/{one}") for one in (name, "0" * 32))
    assert (gone.status_code, gone.content) == (never.status_code, never.content) == (404, never.content)
    assert ana.get(f"/v1/shared/{name}").status_code == 404
    assert served.person("rita").get("/v1/shared").json() == []


@pytest.mark.parametrize("then", [None, Person("ana", Role.READER)])
def test_links_of_whoever_left_lead_nowhere(served: Served, ana: As, then: Person | None) -> None:
    """Nobody could revoke the links of an owner who is no analyst any more, so they are closed."""
    name, people = share(ana, KEY, "rita"), dict(served.service.file.people)
    people = {**people, "ana": then} if then else {one: who for one, who in people.items() if one != "ana"}
    object.__setattr__(served.service.file, "people", people)
    assert served.person("rita").get(f"/v1/shared/{name}").status_code == 404
    assert served.person("rita").get("/v1/shared").json() == []


def test_nothing_is_shared_before_its_tick(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that waits for its tick can be neither shared nor read by a link that it has already."""
    ana, opened, waiting = served.person("ana"), threading.Event(), []
    assert ana.ask(KEY, BY).status_code == 200
    name = share(ana, KEY, "rita")

    class Late(Ticks):
        async def next(self) -> None:
            waiting.append(1)
            while not opened.is_set():
                await asyncio.sleep(0.001)

    monkeypatch.setattr(asking, "Ticks", Late)
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(ana.ask, KEY, BY)
        wait_for(lambda: len(waiting) == 1)
        assert served.person("rita").get(f"/v1/shared/{name}").status_code == 409
        sent = {"title": "a", "people": ["rita"]}
        assert ana.post(f"/v1/answers/{KEY}/shares", json=sent).json()["code"] == "request-running"
        opened.set()
        assert again.result(60).status_code == 200


def test_what_is_not_answered_is_not_shared(served: Served) -> None:
    """A question that was charged and not answered has no link, and one of nobody's has none either."""
    ana = served.person("ana")
    ana.get("/v1/datasets/visits/budget")  # which enters the dataset in the ledger
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        ledger.charge("visits", "ana", "0.1", request_id="ana/lost", note=COUNT)
    sent = {"title": "a", "people": ["rita"]}
    assert ana.post("/v1/answers/lost/shares", json=sent).json()["code"] == "not-answered"
    assert ana.post("/v1/answers/never/shares", json=sent).json()["code"] == "not-found"


def test_links_are_limited(served: Served, ana: As) -> None:
    """An analyst has a hundred links at most; one that is revoked makes room."""
    names = [share(ana, KEY, "rita") for _ in range(MOST_LINKS)]
    sent = {"title": "a", "people": ["rita"]}
    assert ana.post(f"/v1/answers/{KEY}/shares", json=sent).status_code == 429
    assert ana.delete(f"/v1/answers/{KEY}/shares/{names[0]}").status_code == 204
    assert ana.post(f"/v1/answers/{KEY}/shares", json=sent).status_code == 201
