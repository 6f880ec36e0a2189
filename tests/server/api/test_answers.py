"""Answers: charged once, kept under their key, and telling nothing before their tick or in a refusal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from inbounds.errors import EngineFailed, InvalidParameter, InvalidQuestion, LedgerUnavailable, RequestReused
from inbounds.ledger import Ledger
from inbounds.query.engines.engine import Engine
from inbounds.query.methods.method import OneNumber
from inbounds.server.api import datasets
from inbounds.server.basics import readiness
from inbounds.server.basics.problem import REUSED, Problem
from inbounds.server.basics.ticks import Ticks
from inbounds.server.service import asking, explaining
from inbounds.server.service.answer_shape import Question
from inbounds.server.state.question_store import QuestionStore
from tests.helpers.served_hospital import BY_CLINIC, COUNT, SECRETS, As, Served, build, wait_for

ENDLESS = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"


@pytest.fixture
def ana(served: Served) -> As:
    """An analyst."""
    return served.person("ana")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads that ask beside the test."""
    with ThreadPoolExecutor(8) as threads:
        yield threads


COUNTS = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"


@dataclass
class Gate:
    """Where whoever comes waits until it is opened."""

    opened: threading.Event = field(default_factory=threading.Event)
    waiting: int = 0


def spent(who: As) -> tuple[int, str]:
    """Return how many questions were charged, and how much."""
    found = who.get("/v1/datasets/visits/budget").json()
    return found["asked"], found["own"]["spent"]


def follows(who: As) -> tuple[int, bool]:
    """Return how an answer that others tell is refused or given, and whether an explanation says that there is one."""
    given = who.request("POST", "/v1/datasets/visits/owned", json={"sql": COUNTS}).status_code
    asked = {"sql": COUNTS, "epsilon": "0.1"}
    return given, who.request("POST", "/v1/datasets/visits/explain", json=asked).json()["owned"] is not None


def engine(served: Served) -> Engine:
    """Return what runs the statements about visits."""
    return served.service.holdings.open_holding("visits").dataset.engine


def running_instead(served: Served, patch: pytest.MonkeyPatch, run: Callable[[str], Any]) -> None:
    """Let something else happen when a statement is run."""
    patch.setattr(engine(served), "run", run)


def refused(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """Return a refusal, which has this status and code, is a problem, and tells no secret."""
    found: dict[str, Any] = response.json()
    assert (response.status_code, found["code"], found["status"]) == (status, code, status), response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert not [secret for secret in SECRETS if secret in response.text]
    return found


def test_a_question_is_charged_once(ana: As) -> None:
    """The same key with the same question is the same answer, byte for byte, and costs nothing more."""
    first = ana.ask("one", BY_CLINIC)
    assert first.status_code == 200
    assert {ana.ask("one", BY_CLINIC).content for _ in range(3)} == {first.content}
    assert ana.ask('"one"', BY_CLINIC).content == first.content
    assert spent(ana) == (1, "0.5")
    assert ana.get("/v1/answers/one").json() == first.json()
    ana.ask("two", BY_CLINIC)
    assert spent(ana) == (2, "1")


def test_intervals_can_hold_at_once(ana: As) -> None:
    """On request all intervals hold at once, which the answer says each time; without it, each holds by itself."""
    first = ana.ask("one", BY_CLINIC, "1", simultaneous=True).json()
    assert first["simultaneous"] is True
    assert "all intervals hold at once" in first["caveat"]
    assert ana.get("/v1/answers/one").json()["caveat"] == first["caveat"]
    assert ana.ask("two", BY_CLINIC, "1").json()["simultaneous"] is False


def test_an_answer_says_what_it_is(ana: As) -> None:
    """It has its columns and kinds, an interval around every number, and what it cost."""
    found = ana.ask("one", BY_CLINIC, "1", confidence=0.9).json()
    assert [(one["name"], one["kind"], one["is_key"]) for one in found["columns"]] == [
        ("clinic", "text", True), ("count", "whole", False), ("mean_age", "number", False),
    ]  # fmt: skip
    assert (found["id"], found["dataset"], found["epsilon"], found["confidence"]) == ("one", "visits", "1", 0.9)
    for row, intervals in zip(found["rows"], found["intervals"], strict=True):
        assert all(low <= cell <= high for cell, (low, high) in zip(row[1:], intervals, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"sql": BY_CLINIC}, {"epsilon": "0.25"}, {"alone": True, "sql": BY_CLINIC}])
def test_a_key_is_for_one_question(ana: As, change: dict[str, Any]) -> None:
    """Another question or another price under a key that was used is refused, and the answer stays what it is."""
    first = ana.ask("one").content
    told = refused(ana.ask("one", **change), 422, "request-reused")
    assert told["detail"] == REUSED
    assert ana.ask("one").content == first
    assert spent(ana) == (1, "0.5")


def test_what_is_refused_is_not_kept(served: Served, ana: As) -> None:
    """A question that was refused leaves nothing behind, and what is asked next with its key is shown as it was."""
    for epsilon in ("1000", "0", "1e9"):
        assert ana.ask("one", BY_CLINIC, epsilon).status_code in (400, 402)
        assert served.service.questions.find("ana/one") is None
    written = COUNT.lower()
    first = ana.ask("one", written)
    assert (first.status_code, first.json()["question"]) == (200, written)
    assert ana.ask("one", BY_CLINIC).status_code == 422
    assert ana.get("/v1/answers/one").json() == first.json()


def test_an_answer_that_is_charged_is_given(served: Served, ana: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server's own file cannot be written, an answer is given, and read again as it was released."""

    def full(*_: Any) -> None:
        raise Problem("server-unavailable", "the disk is full")

    monkeypatch.setattr(QuestionStore, "keep", full)
    first = ana.ask("one")
    assert first.status_code == 200
    assert ana.get("/v1/answers/one").json()["rows"] == first.json()["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["", "a/b", "a b", "é", "x" * 81, '"a', 'a"', "'", "..\\x", "a\tb", ".", "..", '".."'])
def test_a_key_is_a_token(ana: As, key: str) -> None:
    """What cannot be part of an address, or of a request id, is no Idempotency-Key; neither is none at all."""
    asked = {"json": {"sql": COUNT, "epsilon": "0.5"}}
    named = ana.post("/v1/datasets/visits/answers", **asked, headers={"Idempotency-Key": key.encode()})
    told = refused(named, 400, "invalid-request")["detail"]
    assert "an Idempotency-Key has 1 to 80 of the letters A to Z and a to z" in told
    assert "choose another one" in told
    assert "pattern" not in told
    refused(ana.post("/v1/datasets/visits/answers", **asked), 400, "invalid-request")
    assert spent(ana) == (0, "0")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["a", "7", "-", ".a", "a.", "..a", "...", "~", "x" * 80, f'"{"y" * 80}"'])
def test_every_other_token_is_a_key(ana: As, key: str) -> None:
    """What stands in an address as it is names a question, whose answer is found there."""
    asked = ana.ask(key)
    assert asked.status_code == 200
    assert ana.get(f"/v1/answers/{asked.json()['id']}").json()["rows"] == asked.json()["rows"]


@pytest.mark.parametrize("key", [".", ".."])
def test_answers_of_before_are_still_read(served: Served, ana: As, key: str) -> None:
    """A question that was charged under a name that is refused now can be read by it, and costs nothing more."""
    person = served.file.people["ana"]
    holding = served.service.holdings.holding("visits", person)
    query = explaining.to_query(holding, Question(sql=COUNT, epsilon=Decimal("0.5")))
    released = query.ask("0.5", analyst="ana", request_id=f"ana/{key}")
    found = ana.get(f"/v1/answers/{key.replace('.', '%2E')}")
    assert (found.status_code, found.json()["rows"]) == (200, [list(row) for row in released.rows])


def test_two_people_with_one_key_do_not_meet(served: Served) -> None:
    """The same key of two analysts stands for two requests, each charged to and read by its own."""
    ana, ben = served.person("ana"), served.person("ben")
    hers, his = ana.ask("one"), ben.ask("one", BY_CLINIC, "0.25")
    assert (hers.status_code, his.status_code) == (200, 200)
    assert ana.get("/v1/answers/one").json() == hers.json()
    assert ben.get("/v1/answers/one").json() == his.json()
    assert (spent(ana), spent(ben)) == ((1, "0.5"), (1, "0.25"))


def test_a_question_that_runs_is_running(
    served: Served, ana: As, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a statement runs, asking again and looking for the answer are refused, and nothing is charged twice."""
    gate, run = Gate(), engine(served).run

    def waiting(statement: str) -> Any:
        gate.waiting += 1
        assert gate.opened.wait(60)
        return run(statement)

    running_instead(served, monkeypatch, waiting)
    first = pool.submit(ana.ask, "one")
    wait_for(lambda: gate.waiting == 1)
    refused(ana.ask("one"), 409, "request-running")
    refused(ana.ask("one", BY_CLINIC), 409, "request-running")
    refused(ana.get("/v1/answers/one"), 409, "request-running")
    assert [one["answered"] for one in ana.get("/v1/answers").json()] == [False]
    assert served.person("ben").get("/v1/answers/one").status_code == 404
    gate.opened.set()
    assert first.result(60).json() == ana.get("/v1/answers/one").json()
    assert (gate.waiting, spent(ana)) == (1, (1, "0.5"))


def test_nothing_tells_before_the_tick(
    served: Served, ana: As, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is kept already is running for everybody who asks, until its tick has come."""
    gate = Gate()

    class Late(Ticks):
        async def next(self) -> None:
            gate.waiting += 1
            while not gate.opened.is_set():
                await asyncio.sleep(0.001)

    monkeypatch.setattr(asking, "Ticks", Late)
    first: Future[httpx2.Response] = pool.submit(ana.ask, "one", COUNTS)
    wait_for(lambda: gate.waiting == 1)
    with served.service.holdings.reading() as ledger:
        kept = ledger.request("ana/one")
    assert kept is not None
    assert kept[1] is not None  # it is there, and nobody sees that
    refused(ana.ask("one", COUNTS), 409, "request-running")
    refused(ana.get("/v1/answers/one"), 409, "request-running")
    assert [one["answered"] for one in ana.get("/v1/answers").json()] == [False]
    assert follows(ana) == (404, False)
    gate.opened.set()
    assert first.result(60).status_code == 200
    assert ana.get("/v1/answers/one").json() == first.result().json()
    assert [one["answered"] for one in ana.get("/v1/answers").json()] == [True]
    assert follows(ana) == (200, True)


@pytest.mark.parametrize("answered_first", [True, False])
def test_numbers_of_questions_tell_no_time(
    served: Served, ana: As, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, answered_first: bool
) -> None:
    """Whether one question was answered before the next one was charged cannot be told from the list of them."""
    gate, late, run = Gate(), Gate(), engine(served).run

    def waiting(statement: str) -> Any:
        gate.waiting += 1
        assert answered_first or gate.opened.wait(60)
        return run(statement)

    class Late(Ticks):
        async def next(self) -> None:
            late.waiting += 1
            while not late.opened.is_set():
                await asyncio.sleep(0.001)

    running_instead(served, monkeypatch, waiting)
    monkeypatch.setattr(asking, "Ticks", Late)
    first = pool.submit(ana.ask, "one")
    wait_for(lambda: gate.waiting == 1 and late.waiting == answered_first)
    second = pool.submit(ana.ask, "two")
    wait_for(lambda: gate.waiting == 2)
    told = [{**one, "asked_at": ""} for one in ana.get("/v1/answers").json()]
    gate.opened.set()
    late.opened.set()
    assert [one.result(60).status_code for one in (first, second)] == [200, 200]
    known = {"dataset": "visits", "asked_at": "", "epsilon": "0.5", "question": told[0]["question"], "answered": False}
    assert told == [{"number": 1, "id": "one", **known}, {"number": 2, "id": "two", **known}]


def test_what_depends_on_the_database_leaves_at_a_tick(
    served: Served, ana: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure after the charge waits for its tick as an answer does; what is refused before does not."""
    ticks: list[int] = []

    class Counted(Ticks):
        async def next(self) -> None:
            ticks.append(1)

    monkeypatch.setattr(asking, "Ticks", Counted)
    refused(ana.ask("no", "SELECT age FROM visits"), 400, "invalid-question")
    refused(ana.ask("no", epsilon="1000"), 402, "budget-exceeded")
    assert len(ticks) == 0
    ana.ask("one")
    assert len(ticks) == 1
    running_instead(served, monkeypatch, failing)
    refused(ana.ask("two"), 503, "statement-failed")
    assert len(ticks) == 2


@pytest.mark.slow
@pytest.mark.parametrize("error", [InvalidParameter("7"), InvalidQuestion("7"), RequestReused("7"), KeyError("7")])
def test_whatever_is_raised_after_a_statement_leaves_at_a_tick(
    served: Served, ana: As, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Once a statement has begun, every refusal waits for its tick, also those that are otherwise made before."""
    ticks: list[int] = []

    class Counted(Ticks):
        async def next(self) -> None:
            ticks.append(1)

    def unreadable(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(asking, "Ticks", Counted)
    monkeypatch.setattr("inbounds.query.ask.steps.read_kept", unreadable)
    assert ana.ask("one").status_code >= 400
    assert len(ticks) == 1


def test_an_answer_that_failed_fails_for_ever(served: Served, ana: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be made of a draw is refused alike whenever it is asked or looked for; it is paid once."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("Quillfeather-7")

    with monkeypatch.context() as patch:
        patch.setattr(OneNumber, "answer_all", broken)
        found = [ana.ask("one")]
    found += [ana.ask("one"), ana.get("/v1/answers/one")]
    told = [refused(one, 500, "answer-failed") for one in found]
    assert told[0] == told[1] == told[2]
    assert "with a new Idempotency-Key" in told[0]["detail"]
    assert "Quillfeather" not in "".join(one.text for one in found)
    assert [one["answered"] for one in ana.get("/v1/answers").json()] == [False]
    assert spent(ana) == (1, "0.5")
    assert ana.ask("two").status_code == 200


def failing(statement: str) -> Any:
    """A database that is broken, and says why."""
    raise EngineFailed("IOException") from OSError(f"Quillfeather-7 in ward-records.parquet: {statement}")


def test_a_failure_of_the_database_is_paid_once(served: Served, ana: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """The charge stands, the refusal says so and nothing else, and asking again answers without another charge."""
    with monkeypatch.context() as patch:
        running_instead(served, patch, failing)
        failed = ana.ask("one")
        told = refused(failed, 503, "statement-failed")
        assert "the charge stands" in told["detail"]
        assert "IOException" not in failed.text
        assert failed.headers["retry-after"].isdigit()
        refused(ana.get("/v1/answers/one"), 409, "not-answered")
        assert [one["answered"] for one in ana.get("/v1/answers").json()] == [False]
        assert spent(ana) == (1, "0.5")
    assert ana.ask("one").status_code == 200
    assert spent(ana) == (1, "0.5")


def test_a_mistake_of_the_server_tells_nothing(
    served: Served, ana: As, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What nobody thought of is a problem as any other, with the headers of all, and its message is told to nobody."""

    def broken(statement: str) -> Any:
        raise RuntimeError(f"Quillfeather-7 {statement}")

    with monkeypatch.context() as patch:
        running_instead(served, patch, broken)
        found = ana.ask("one")
        refused(found, 500, "failed")
        assert found.headers["x-frame-options"] == "DENY"
        said = capfd.readouterr().err
        assert '"event": "mistake", "kind": "RuntimeError"' in said
        assert found.headers["x-request-number"] in said
        assert "Quillfeather" not in said
    assert ana.ask("one").status_code == 200
    assert spent(ana) == (1, "0.5")


def test_a_statement_over_its_time_is_stopped(served: Served, ana: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped, the charge stands, and asking again with the same key may run it again."""
    run = engine(served).run
    with monkeypatch.context() as patch:
        patch.setattr(engine(served), "statement_seconds", 0.05)
        running_instead(served, patch, lambda _: run(ENDLESS))
        told = refused(ana.ask("one"), 504, "statement-stopped")
        assert "same Idempotency-Key" in told["detail"]
        refused(ana.get("/v1/answers/one"), 409, "not-answered")
        assert spent(ana) == (1, "0.5")
    assert ana.ask("one").status_code == 200
    assert spent(ana) == (1, "0.5")


def test_the_time_of_statements_is_the_custodians(tmp_path: Path) -> None:
    """The engine of every dataset has the limit of the file."""
    served = build(tmp_path, limits="statement_seconds = 7")
    try:
        found = [one.dataset.engine.statement_seconds for one in served.service.holdings.all()]
    finally:
        served.service.close()
    assert found == [7, 7]


@pytest.mark.parametrize("uncertain", [True, False])
def test_a_ledger_that_is_away_is_told(ana: As, monkeypatch: pytest.MonkeyPatch, uncertain: bool) -> None:
    """Without the ledger nothing is answered, and it is said whether something may have been charged."""

    def away(*_: Any, **__: Any) -> Any:
        raise LedgerUnavailable("no route to budget.db of Quillfeather", uncertain=uncertain)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "charge", away)
        told = refused(ana.ask("one"), 503, "ledger-unavailable")
        assert ("may have been charged" in told["detail"]) == uncertain
    with monkeypatch.context() as patch:
        for name in ("request", "requests", "balance", "head", "verify", "try_writing"):
            patch.setattr(Ledger, name, away)
        for path in ("/v1/answers", "/v1/answers/one", "/v1/datasets/visits/budget"):
            refused(ana.get(path), 503, "ledger-unavailable")
        refused(ana.get("/readyz"), 503, "server-unavailable")
    assert ana.ask("one").status_code == 200
    assert spent(ana) == (1, "0.5")


@pytest.mark.slow
def test_a_source_that_is_away_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset that cannot be read is told without saying where it is, and is there again when it is."""
    served = build(tmp_path)
    source = served.folder / "ward-records.parquet"
    hidden = source.rename(served.folder / "elsewhere")
    try:
        ana = served.person("ana")
        refused(ana.get("/v1/datasets/visits"), 503, "dataset-unavailable")
        refused(ana.ask("one"), 503, "dataset-unavailable")
        refused(ana.get("/readyz"), 503, "server-unavailable")
        hidden.rename(source)
        monkeypatch.setattr(readiness, "FRESH", 0)
        wait_for(lambda: ana.get("/readyz").status_code == 200)
        assert ana.ask("one").status_code == 200
        assert ana.get("/readyz").status_code == 200
        source.unlink()
        refused(ana.ask("two"), 503, "statement-failed")
        assert spent(ana) == (2, "1")
    finally:
        served.close()


def test_a_budget_is_not_exceeded(tmp_path: Path) -> None:
    """What is more than is left is refused with what is left, to the analyst and to everybody."""
    served = build(tmp_path, total="3", per_analyst="2")
    try:
        ana, ben = served.person("ana"), served.person("ben")
        assert ana.ask("one", epsilon="1.5").status_code == 200
        told = refused(ana.ask("two", epsilon="1"), 402, "budget-exceeded")
        assert {"left_analyst": "0.5", "left_total": "1.5", "requested": "1"}.items() <= told.items()
        assert not ana.post("/v1/datasets/visits/explain", json={"sql": COUNT, "epsilon": "1"}).json()["fits"]
        told = refused(ben.ask("one", epsilon="2"), 402, "budget-exceeded")
        assert told["left_total"] == "1.5"
        assert (spent(ana), spent(ben)) == ((1, "1.5"), (0, "0"))
        grant = {"amount": "1", "analyst": "ana", "note": "a good reason"}
        assert served.person("carla").post("/v1/datasets/visits/grants", json=grant).json()["left"] == "1.5"
        assert ana.ask("two", epsilon="1").status_code == 200
    finally:
        served.close()


def test_plans_at_once_are_limited_for_each(
    tmp_path: Path, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has many questions planned at once waits, and keeps nobody else from being let in or explained to."""
    served, gate = build(tmp_path, limits="plans_at_once = 2\nplans = 3"), Gate()
    try:
        explained = explaining.explain_question

        def waiting(*given: Any) -> Any:
            gate.waiting += 1
            assert gate.opened.wait(60)
            return explained(*given)

        monkeypatch.setattr(datasets, "explain_question", waiting)
        question = {"json": {"sql": COUNT, "epsilon": "0.5"}}
        hers, his = (
            partial(served.person(name).post, "/v1/datasets/visits/explain", **question) for name in ("ana", "ben")
        )
        first = [pool.submit(hers) for _ in range(2)]
        wait_for(lambda: gate.waiting == 2)
        refused(hers(), 429, "too-many-statements")
        assert served.person("ana").get("/v1/me").status_code == 200
        other = pool.submit(his)
        wait_for(lambda: gate.waiting == 3)
        gate.opened.set()
        assert [one.result(60).status_code for one in (*first, other)] == [200] * 3
    finally:
        gate.opened.set()
        served.close()


def test_questions_at_once_are_limited_for_each(
    tmp_path: Path, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has so many questions at once waits; others do not, and nothing is charged for a refusal."""
    served, gate = build(tmp_path, limits="statements_at_once = 2"), Gate()
    try:
        ana, run = served.person("ana"), engine(served).run

        def waiting(statement: str) -> Any:
            gate.waiting += 1
            assert gate.opened.wait(60)
            return run(statement)

        running_instead(served, monkeypatch, waiting)
        first = [pool.submit(ana.ask, f"{number}") for number in range(2)]
        wait_for(lambda: gate.waiting == 2)
        refused(ana.ask("more"), 429, "too-many-statements")
        his = pool.submit(served.person("ben").ask, "more")
        wait_for(lambda: gate.waiting == 3)
        gate.opened.set()
        assert [one.result(60).status_code for one in (*first, his)] == [200] * 3
        assert ana.ask("more").status_code == 200
        assert spent(ana) == (3, "1.5")
    finally:
        gate.opened.set()
        served.close()


WRONG = [
    ({"sql": "SELECT age FROM visits"}, "invalid-question"),
    ({"sql": "SELECT town, COUNT(*) FROM visits GROUP BY town"}, "invalid-question"),
    ({"sql": "SELECT COUNT(*) FROM births"}, "invalid-question"),
    ({"sql": "SELECT COUNT(*) FROM 'other.csv'"}, "invalid-question"),
    ({"sql": "SELECT COUNT(*) FROM read_csv('/etc/passwd')"}, "invalid-question"),
    ({"sql": "SELECT COUNT(*) FROM visits; DROP TABLE visits"}, "invalid-question"),
    ({"sql": "SELECT COUNT(*) FROM visits WHERE clinic = ''' OR 1=1 --'"}, "invalid-question"),
    ({"sql": "COPY visits TO 'x'"}, "invalid-question"),
    ({"sql": "\x00"}, "invalid-question"),
    ({"sql": "("}, "invalid-question"),
    ({"sql": ""}, "invalid-request"),
    ({"sql": "SELECT " + "(" * 5000}, "invalid-question"),
    ({"epsilon": "0"}, "invalid-parameter"),
    ({"epsilon": "-1"}, "invalid-parameter"),
    ({"epsilon": "nan"}, "invalid-request"),
    ({"epsilon": "inf"}, "invalid-request"),
    ({"epsilon": "1e-400"}, "invalid-parameter"),
    ({"epsilon": None}, "invalid-parameter"),
    ({"confidence": 0}, "invalid-request"),
    ({"confidence": 1e-300}, "invalid-parameter"),
    ({"pooling": "2"}, "invalid-parameter"),
    ({"weights": ["1", "1"]}, "invalid-parameter"),
    ({"analyst": "ben"}, "invalid-request"),
    ({"request_id": "ben/one"}, "invalid-request"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: str(one)[:60])
def test_what_is_wrong_is_refused_and_free(hospital: Served, wrong: tuple[dict[str, Any], str]) -> None:
    """A question that cannot be answered costs nothing, and tells nothing of the table, also when it is explained."""
    ana = hospital.person("ana")
    change, code = wrong
    status = 400
    refused(ana.ask("wrong", **change), status, code)
    if "confidence" not in change:
        sent = {"sql": COUNT, "epsilon": "0.5", **change}
        refused(ana.post("/v1/datasets/visits/explain", json=sent), status, code)
    assert spent(ana) == (0, "0")


def test_explaining_is_free_and_says_what_would_be_left(ana: As) -> None:
    """An explanation costs nothing, and names no file and no statement."""
    found = ana.post("/v1/datasets/visits/explain", json={"sql": BY_CLINIC, "epsilon": "0.5"})
    assert found.json()["left_afterwards"] == "19.5"
    assert found.json()["fits"]
    assert not [secret for secret in SECRETS if secret in found.text]
    assert spent(ana) == (0, "0")


def test_what_is_explained_to_fit_is_answered(tmp_path: Path) -> None:
    """Also where epsilon is spent and some rho is left: it is enough for a small question and not for a large one."""
    served = build(tmp_path, per_analyst="0.5\ndelta = 0.000001")
    try:
        ana = served.person("ana")
        assert ana.ask("first", epsilon="0.01").status_code == 200  # which enters the dataset in the ledger
        with Ledger.open(tmp_path / "budget.db", create=False) as ledger:
            for _ in range(50):
                ledger.charge("visits", "ana", "0.01")
        for epsilon, fits in (("0.1", False), ("0.01", True)):
            told = ana.post("/v1/datasets/visits/explain", json={"sql": COUNT, "epsilon": epsilon}).json()
            assert (told["fits"], told["left_afterwards"]) == (fits, "0")
            assert ana.ask(f"of {epsilon}".replace(" ", "-"), epsilon=epsilon).status_code == (200 if fits else 402)
    finally:
        served.close()


def test_own_questions_are_listed_by_pages(
    served: Served, ana: As, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question is listed once, in the order of the charges, and as answered, however answers lie in between."""
    gate, run = Gate(), engine(served).run

    def waiting(statement: str) -> Any:
        gate.waiting += 1
        assert gate.opened.wait(60)
        return run(statement)

    with monkeypatch.context() as patch:
        running_instead(served, patch, waiting)
        first = [pool.submit(ana.ask, f"q{number}") for number in range(2)]
        wait_for(lambda: gate.waiting == 2)
        gate.opened.set()
        assert [one.result(60).status_code for one in first] == [200] * 2
    assert served.person("ben").ask("his").status_code == 200
    assert [ana.ask(key).status_code for key in ("q2", "q3")] == [200] * 2
    listed = ana.get("/v1/answers").json()
    assert [one["number"] for one in listed] == [1, 2, 3, 4]
    assert sorted(one["id"] for one in listed) == ["q0", "q1", "q2", "q3"]
    assert all(one["answered"] for one in listed)
    pages, after = [], 0
    while page := ana.get(f"/v1/answers?most=1&after={after}").json():
        pages += page
        after = page[-1]["number"]
    assert pages == listed
