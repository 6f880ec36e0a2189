"""Reports: paid by whoever proposes them, once, published whole or not at all, and made of the ledger's answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from inbounds.errors import EngineFailed
from inbounds.publish import Report
from inbounds.report.report import digest_of
from inbounds.server.basics.ticks import Ticks
from inbounds.server.service import asking
from tests.helpers.reporting import TABLES, proposal, propose, publish
from tests.helpers.served_hospital import As, Served, build, wait_for


@pytest.fixture
def ana(served: Served) -> As:
    """An analyst."""
    return served.person("ana")


@pytest.fixture
def carla(served: Served) -> As:
    """The custodian."""
    return served.person("carla")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """A thread that asks beside the test."""
    with ThreadPoolExecutor(2) as threads:
        yield threads


def spent(served: Served, person: str = "ana") -> tuple[int, str]:
    """Return how many questions of an analyst were charged, and how much."""
    found = served.person("carla").get(f"/v1/datasets/visits/budget?analyst={person}").json()
    return found["asked"], found["own"]["spent"]


def refused(response: httpx2.Response, status: int, code: str) -> str:
    """Return what a refusal says, after it has been found to be the one that is meant."""
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return str(response.json()["detail"])


def test_proposing_costs_nothing_and_approving_is_paid_by_the_analyst(served: Served, ana: As, carla: As) -> None:
    """Nothing is charged until a custodian approves, and then exactly what was shown, to whoever proposed."""
    name = propose(ana)
    assert spent(served) == (0, "0")
    waiting = next(one for one in carla.get("/v1/reports").json() if one["id"] == name)
    assert (waiting["state"], waiting["epsilon"]) == ("proposed", "0.75")
    assert carla.post(f"/v1/reports/{name}/approve").json()["state"] == "published"
    assert spent(served) == (2, "0.75")
    assert spent(served, "ben") == (0, "0")


def test_a_report_is_made_of_answers_of_the_ledger(served: Served, ana: As) -> None:
    """Every number of a published report is that of an answer of its analyst, found by the request id beside it."""
    found = served.person("rita").get(f"/v1/reports/{publish(served)}").json()
    assert [table["name"] for table in found["tables"]] == ["by_clinic", "ages"]
    for table in found["tables"]:
        person, key = table["answer"]["id"].split("/")
        own = ana.get(f"/v1/answers/{key}").json()
        assert person == "ana"
        assert (own["rows"], own["intervals"]) == (table["answer"]["rows"], table["answer"]["intervals"])


def test_what_is_public_is_free_in_a_report(served: Served) -> None:
    """A table that follows from the contract is shown, exact, and adds nothing to the cost."""
    public = {"name": "clinics", "title": "Clinics", "sql": "SELECT DISTINCT clinic FROM visits", "epsilon": "0.5"}
    name = publish(served, questions=[public, TABLES[1]])
    found = served.person("rita").get(f"/v1/reports/{name}").json()
    assert (found["epsilon"], spent(served)) == ("0.25", (1, "0.25"))
    assert found["tables"][0]["answer"]["rows"] == [["north"], ["south"]]


def test_a_report_is_the_same_for_everybody(served: Served) -> None:
    """Everybody with a role reads the same bytes, and their digest is that of what they say."""
    name = publish(served)
    people = ("ana", "ben", "eve", "carla", "dora", "rita")
    assert len({served.person(one).get(f"/v1/reports/{name}").content for one in people}) == 1
    data = served.person("rita").get(f"/v1/reports/{name}").json()
    assert data["digest"] == digest_of(data) == Report.read(data).digest


def test_a_report_does_not_tell_the_end_of_the_ledger(served: Served) -> None:
    """Neither number nor digest of the ledger's last entry is in a report: their times would tell how long it took."""
    name = publish(served)
    with served.service.holdings.reading() as ledger:
        head = ledger.head()
    text = served.person("rita").get(f"/v1/reports/{name}").text
    assert head.digest not in text
    assert '"ledger_head":""' in text
    stored = served.service.reports.find(name)
    assert stored is not None
    assert stored.head == str(head)


def test_what_is_approved_again_is_paid_once(served: Served, carla: As) -> None:
    """A second click changes nothing: the same report, and the same budget."""
    name = publish(served)
    before = carla.get(f"/v1/reports/{name}").content
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert carla.get(f"/v1/reports/{name}").content == before
    assert spent(served) == (2, "0.75")


def test_an_interrupted_report_goes_on(served: Served, ana: As, carla: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a question fails nothing is published; approved again the report is finished, and nothing is paid twice."""
    name, engine = propose(ana), served.service.holdings.open_holding("visits").dataset.engine
    run, count = engine.run, 0

    def failing(statement: str) -> Any:
        nonlocal count
        count += 1
        if count > 1:
            raise EngineFailed("IOException")
        return run(statement)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "run", failing)
        said = refused(carla.post(f"/v1/reports/{name}/approve"), 503, "statement-failed")
    assert said.startswith("ages: ")
    assert said.endswith("the charge stands: approve the report again, at no extra cost")
    assert spent(served) == (2, "0.75")
    for person in ("ana", "carla", "rita"):
        refused(served.person(person).get(f"/v1/reports/{name}"), 404, "not-found")
    first = ana.get("/v1/answers").json()[0]
    kept = ana.get(f"/v1/answers/{first['id']}").json()["rows"]
    assert carla.post(f"/v1/reports/{name}/approve").json()["state"] == "published"
    assert spent(served) == (2, "0.75")
    assert carla.get(f"/v1/reports/{name}").json()["tables"][0]["answer"]["rows"] == kept


def test_a_report_is_repeated_free_by_its_name(served: Served, ana: As, carla: As) -> None:
    """A report that is proposed again under its name and edition pays no question twice; another edition is paid."""
    name = publish(served, edition="first")
    with served.service.reports._database.writing() as connection:  # as if the server's own file had been lost
        connection.execute("DELETE FROM reports")
    again = propose(ana, edition="first")
    assert again != name
    assert carla.post(f"/v1/reports/{again}/approve").status_code == 200
    assert spent(served) == (2, "0.75")
    other = propose(ana, edition="second")
    assert carla.post(f"/v1/reports/{other}/approve").status_code == 200
    assert spent(served) == (4, "1.5")


def test_a_report_is_published_after_its_last_tick(
    served: Served, ana: As, carla: As, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an answer waits for its tick, nobody reads the report, and no one can approve or reject it beside."""
    opened, waiting = threading.Event(), []

    class Late(Ticks):
        async def next(self) -> None:
            waiting.append(1)
            while not opened.is_set():
                await asyncio.sleep(0.001)

    name = propose(ana, questions=TABLES[:1])
    monkeypatch.setattr(asking, "Ticks", Late)
    first = pool.submit(carla.post, f"/v1/reports/{name}/approve")
    wait_for(lambda: len(waiting) == 1)
    refused(served.person("rita").get(f"/v1/reports/{name}"), 404, "not-found")
    assert [one["state"] for one in carla.get("/v1/reports").json()] == ["approved"]
    refused(carla.post(f"/v1/reports/{name}/approve"), 409, "request-running")
    refused(carla.post(f"/v1/reports/{name}/reject", json={}), 409, "request-running")
    opened.set()
    assert first.result(60).json()["state"] == "published"
    assert served.person("rita").get(f"/v1/reports/{name}").status_code == 200


@pytest.mark.slow
def test_a_report_that_does_not_fit_is_not_begun(tmp_path: Any) -> None:
    """If all of it together is more than its analyst has left, nothing is charged; after a grant it is published."""
    poor = build(tmp_path / "poor", per_analyst="0.6")
    try:
        carla, name = poor.person("carla"), propose(poor.person("ana"))
        found = carla.post(f"/v1/reports/{name}/approve")
        assert "grant more budget" in refused(found, 402, "budget-exceeded")
        told = {one: found.json()[one] for one in ("dataset", "analyst", "requested", "left_total", "left_analyst")}
        assert list(told.values()) == ["visits", "ana", "0.75", "50", "0.6"]
        assert spent(poor) == (0, "0")
        more = {"amount": "0.15", "analyst": "ana", "note": "for the report"}
        assert carla.post("/v1/datasets/visits/grants", json=more).status_code == 201
        assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
        assert spent(poor) == (2, "0.75")
    finally:
        poor.close()


def test_whoever_lost_the_dataset_pays_for_no_report(served: Served, ana: As, carla: As) -> None:
    """A report of an analyst who may no longer ask cannot be approved, and can be rejected."""
    name, people = propose(ana), dict(served.service.file.people)
    people["ana"] = replace(people["ana"], datasets=())
    object.__setattr__(served.service.file, "people", people)
    refused(carla.post(f"/v1/reports/{name}/approve"), 400, "invalid-parameter")
    assert carla.post(f"/v1/reports/{name}/reject", json={"note": "gone"}).json()["state"] == "rejected"


def test_a_rejected_report_stays_rejected(served: Served, ana: As, carla: As) -> None:
    """It is not approved any more, its analyst reads why, and its name is free again."""
    name = propose(ana)
    assert carla.post(f"/v1/reports/{name}/reject", json={"note": "too dear"}).status_code == 200
    assert [(one["state"], one["note"]) for one in ana.get("/v1/reports").json()] == [("rejected", "too dear")]
    refused(carla.post(f"/v1/reports/{name}/approve"), 400, "invalid-parameter")
    refused(carla.post(f"/v1/reports/{name}/reject", json={}), 400, "invalid-parameter")
    assert propose(ana) != name
    assert spent(served) == (0, "0")


FILE = """
-- report: year
-- title: A year of visits
-- total: 1
-- name: visits
-- epsilon: 0.25
SELECT COUNT(*) AS visits FROM visits;
-- name: by_clinic
-- chart: bars
SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic;
"""


def test_a_report_file_is_proposed_as_it_says(served: Served, ana: As, carla: As) -> None:
    """The text of a report file makes a proposal: its costs are found, and nothing is charged until it is approved."""
    found = ana.post("/v1/datasets/visits/reports", json={"file": FILE})
    assert found.status_code == 201, found.text
    asked = [(one["name"], one["title"], one["epsilon"]) for one in found.json()["questions"]]
    assert asked == [("visits", "Visits", "0.25"), ("by_clinic", "By clinic", "0.75")]
    assert (found.json()["name"], found.json()["epsilon"], spent(served)) == ("year", "1", (0, "0"))
    assert carla.post(f"/v1/reports/{found.json()['id']}/approve").json()["state"] == "published"
    assert spent(served) == (1, "1")  # both are about the same counts


def test_a_faulty_report_file_is_refused_with_every_line(served: Served, ana: As) -> None:
    """All faults of a file are told, each with its line."""
    text = "-- report: Year\n-- name: a\nSELECT 1;"
    said = refused(ana.post("/v1/datasets/visits/reports", json={"file": text}), 400, "invalid-parameter")
    assert said.startswith("the report has 2 faults")
    assert "line 1: " in said
    assert "line 2: " in said


WRONG: dict[str, tuple[dict[str, Any], int, str]] = {
    "no question": ({"questions": []}, 400, "invalid-request"),
    "no table": ({"questions": [{**TABLES[0], "sql": "SELECT COUNT(*) FROM nothing"}]}, 400, "invalid-question"),
    "no query": ({"questions": [{**TABLES[0], "sql": "DROP TABLE visits"}]}, 400, "invalid-question"),
    "useless": (
        {"questions": [{**TABLES[0], "sql": "SELECT COUNT(*) FROM visits WHERE age > 200"}]},
        400,
        "useless-question",
    ),
    "a name twice": ({"questions": [TABLES[0], TABLES[0]]}, 400, "invalid-parameter"),
    "a name that is none": ({"questions": [{**TABLES[0], "name": "By clinic"}]}, 400, "invalid-request"),
    "a path": ({"name": "../year"}, 400, "invalid-request"),
    "another chart": ({"questions": [{**TABLES[0], "chart": "pie"}]}, 400, "invalid-request"),
    "a number": ({"questions": [{**TABLES[0], "rows": [[1]]}]}, 400, "invalid-request"),
    "a title without end": ({"title": "a" * 201}, 400, "invalid-request"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_asked_is_not_proposed(hospital: Served, wrong: str) -> None:
    """A report that could not be run, or that brings a number of its own, is refused when it is proposed."""
    instead, status, code = WRONG[wrong]
    said = refused(hospital.person("ana").post("/v1/reports", json=proposal(**instead)), status, code)
    if code in ("invalid-question", "useless-question"):
        assert said.startswith("by_clinic: ")
    assert hospital.person("ana").get("/v1/reports").json() == []


def test_proposals_are_limited(served: Served, ana: As) -> None:
    """One analyst has ten proposals open at most, and one of each name and edition."""
    propose(ana)
    refused(ana.post("/v1/reports", json=proposal()), 400, "invalid-parameter")
    for number in range(9):
        propose(ana, edition=str(number))
    refused(ana.post("/v1/reports", json=proposal(edition="last")), 429, "too-many")
