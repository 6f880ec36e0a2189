"""When something fails behind a page: what was charged is had for nothing, and no decision stands that was not done."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from inbounds.errors import EngineFailed, LedgerConflict, LedgerUnavailable
from inbounds.ledger import Ledger
from tests.helpers import page_words as words
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import BY_CLINIC, COUNT, Served


def failing(statement: str) -> Any:
    """Fail, as a database does that is away."""
    raise EngineFailed("IOException")


def sent_again(who: Visit, page: str) -> int:
    """Send the form of a page that asks again, and return the status of the answer that it leads to."""
    fields = dict(re.findall(r'name="(key|sql|epsilon|alone)" value="([^"]*)"', page))
    address = re.findall(r'action="(/ask/[^"]*)"', page)[0]
    found = who.post(address, **{name: unescape(value) for name, value in fields.items()})
    assert found.status_code == 303, found.text
    return who.get(found.headers["location"]).status_code


@pytest.mark.parametrize("alone", ["yes", "no"])
def test_a_question_that_failed_is_asked_again_for_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch, alone: str
) -> None:
    """The page says that it was charged, and has a button that asks exactly that, once more and for nothing."""
    ana = visit(served, "ana")
    asked = {"sql": BY_CLINIC.lower(), "epsilon": "0.5", "key": "failed", "alone": alone}
    with monkeypatch.context() as patch:
        patch.setattr(served.service.holdings.open_holding("visits").dataset.engine, "run", failing)
        failed = ana.post("/ask/visits", **asked)
        assert failed.status_code == 503
        assert "the charge stands" in failed.text
    waiting = ana.get("/answers/failed")
    assert waiting.status_code == 409
    assert words.AGAIN in waiting.text
    assert sent_again(ana, waiting.text) == 200
    with served.service.holdings.reading() as ledger:
        assert ledger.charges("visits", "ana") == 1


def test_what_a_page_cannot_ask_again_is_left_to_the_program(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question with options that no form has is not asked without them."""
    question = {"sql": COUNT, "epsilon": "0.5", "pooling": "0"}
    with monkeypatch.context() as patch:
        patch.setattr(served.service.holdings.open_holding("visits").dataset.engine, "run", failing)
        asked = served.person("ana").post(
            "/v1/datasets/visits/answers", json=question, headers={"Idempotency-Key": "by-program"}
        )
        assert asked.status_code == 503
    page = visit(served, "ana").get("/answers/by-program").text
    assert words.PROGRAM in page
    assert words.AGAIN not in page


@pytest.mark.slow
def test_a_question_that_was_lost_is_asked_again_as_the_ledger_has_it(served: Served) -> None:
    """Where the server died before it kept what was written, the ledger knows what was charged."""
    ana = visit(served, "ana")
    assert ana.post("/ask/visits", sql=COUNT.lower(), epsilon="0.5", key="lost").status_code == 303
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        charged = ledger.request("ana/lost")
        assert charged is not None
        entry = charged[0]
        ledger.charge("visits", "ana", "0.5", "ana/again", entry.fingerprint, entry.text)
    waiting = ana.get("/answers/again")
    assert waiting.status_code == 409
    assert sent_again(ana, waiting.text) == 200
    with served.service.holdings.reading() as ledger:
        assert ledger.charges("visits", "ana") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (LedgerUnavailable("it is away"), True),
        (LedgerConflict("it has other caps"), True),
        (LedgerUnavailable("it went away meanwhile", uncertain=True), False),
    ],
)
def test_a_grant_that_was_not_made_can_be_made_later(
    served: Served, monkeypatch: pytest.MonkeyPatch, error: Exception, waits: bool
) -> None:
    """A request waits for a decision as before, unless the grant may have been written."""
    ana, carla = visit(served, "ana"), visit(served, "carla")
    assert ana.post("/ask/visits/requests", amount="1", reason="a second survey").status_code == 303

    def refuse(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "grant", refuse)
        assert carla.post("/keep/requests/1", decision="grant", note="agreed").status_code in (409, 503)
    assert (served.service.budget_requests.find_all()[0].decided is None) == waits
    assert carla.post("/keep/requests/1", decision="grant", note="agreed").status_code == (303 if waits else 404)
