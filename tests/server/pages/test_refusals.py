"""Whatever is refused to somebody in a browser is a page, in words for people, with a way on."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from inbounds.query.methods.method import OneNumber
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import COUNT, Served, build


def is_page(found: httpx2.Response, status: int) -> bool:
    """Return whether a refusal is a page, with this status and nothing for programs on it."""
    assert found.status_code == status, found.text
    program = ("Idempotency-Key", "openapi", "String should", "problem+json")
    return found.headers["content-type"].startswith("text/html") and not any(one in found.text for one in program)


def test_what_is_too_large_is_told_on_a_page(served: Served) -> None:
    """A form that is longer than a request may be is refused before it is read, and on a page all the same."""
    ana = visit(served, "ana")
    found = ana.post("/ask/visits/requests", amount="1", reason="a" * 70_000)
    assert is_page(found, 413)
    assert "ana, analyst" in found.text
    assert found.headers["connection"] == "close"


def test_a_mistake_is_told_on_a_page(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the page about it cannot be made as usual: then it is told as to programs, and nothing of it leaks."""
    ana = visit(served, "ana")

    def broken(*_: object) -> None:
        raise RuntimeError("Quillfeather")

    monkeypatch.setattr("inbounds.server.pages.ask._datasets", broken)
    found = ana.get("/ask")
    assert is_page(found, 500)
    assert "Quillfeather" not in found.text
    monkeypatch.setattr("inbounds.server.run.app.refusal_page", broken)
    found = ana.get("/ask")
    assert (found.status_code, found.json()["code"]) == (500, "failed")


@pytest.mark.slow
def test_whoever_comes_too_often_is_still_signed_in(tmp_path: Path) -> None:
    """The page that says so is theirs: it does not ask them to sign in."""
    served = build(tmp_path / "hospital")
    text = served.path.read_text("utf-8").replace("requests_per_minute = 1000000", "requests_per_minute = 5")
    served.path.write_text(text, "utf-8")
    ana = visit(served, "ana")
    found = [ana.get("/answers") for _ in range(8)][-1]
    served.close()
    assert is_page(found, 429)
    assert "ana, analyst" in found.text


@pytest.mark.slow
@pytest.mark.parametrize(("path", "status"), [("/answers/%20", 400), ("/answers/of-nobody", 404), ("/nothing", 404)])
def test_an_address_that_is_wrong_is_told_in_words(served: Served, path: str, status: int) -> None:
    """Not by the pattern that it does not fit, nor by a key, which for people is what they sign in with."""
    ana = visit(served, "ana")
    assert ana.get("/ask").status_code == 200  # there is a ledger
    found = ana.get(path)
    assert is_page(found, status)
    assert "with this key" not in found.text


def test_an_answer_that_failed_is_told_in_words(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a browser sent no Idempotency-Key, and is told what to do without one, now and later."""

    def broken(*_: object) -> None:
        raise RuntimeError("Quillfeather")

    ana = visit(served, "ana")
    with monkeypatch.context() as patch:
        patch.setattr(OneNumber, "answer_all", broken)
        first = ana.post("/ask/visits", sql=COUNT, epsilon="0.5", key="one")
    for found in (first, ana.get("/answers/one")):
        assert is_page(found, 500)
        assert "run it as a new query" in found.text


def test_a_form_that_was_sent_before_is_told_in_words(served: Served) -> None:
    """One form is for one question."""
    ana = visit(served, "ana")
    assert ana.post("/ask/visits", sql=COUNT, epsilon="0.5", key="one").status_code == 303
    assert is_page(ana.post("/ask/visits", sql=COUNT, epsilon="0.6", key="one"), 422)
