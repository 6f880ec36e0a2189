"""Reports whose queries are released together: one charge, numbers that agree, and older reports paid as they were."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from fractions import Fraction
from typing import Any

import pytest

from inbounds.report.report import digest_of
from inbounds.server.basics.ticks import Ticks
from inbounds.server.service import asking
from inbounds.server.service.publishing import report_plan, report_shape, reports
from inbounds.server.state.database import VERSION
from inbounds.server.state.report_store import StoredReport
from tests.helpers.reporting import proposal, propose, publish
from tests.helpers.served_hospital import As, Served
from tests.server.api.test_reports import refused, spent

TOTAL = "SELECT COUNT(*) AS visits FROM visits"
BY_CLINIC = "SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic ORDER BY visits DESC"
BY_AGE = "SELECT age // 20 AS twenties, COUNT(*) AS visits FROM visits GROUP BY age // 20"
MEAN = "SELECT AVG(age) AS age FROM visits"
TOGETHER = [
    {"name": "all_visits", "title": "Visits", "sql": TOTAL, "epsilon": "0.25"},
    {"name": "by_clinic", "title": "By clinic", "sql": BY_CLINIC, "epsilon": "0.5"},
    {"name": "ages", "title": "Ages", "sql": MEAN, "epsilon": "0.125"},
    {"name": "by_age", "title": "By age", "sql": BY_AGE, "epsilon": "0.25"},
]
COST = Fraction("1.125")


@pytest.fixture
def ana(served: Served) -> As:
    """An analyst."""
    return served.person("ana")


@pytest.fixture
def carla(served: Served) -> As:
    """The custodian."""
    return served.person("carla")


def charges(served: Served) -> Counter[str]:
    """Return how often each request of the ledger was charged."""
    with served.service.holdings.reading() as ledger:
        entries = ledger.statement("visits").entries
    return Counter(entry.request_id for entry in entries if entry.kind == "charge")


def answers(served: Served) -> dict[str, str]:
    """Return what the ledger keeps."""
    with served.service.holdings.reading() as ledger:
        entries = ledger.statement("visits").entries
    return {entry.request_id: entry.text for entry in entries if entry.kind == "answer"}


def tables_of(served: Served, name: str) -> dict[str, Any]:
    """Return the tables of a published report."""
    found = served.person("rita").get(f"/v1/reports/{name}")
    assert found.status_code == 200, found.text
    assert found.json()["digest"] == digest_of(found.json())
    return {table["name"]: table["answer"] for table in found.json()["tables"]}


def test_queries_about_the_same_counts_are_one_charge(served: Served) -> None:
    """They are views of one release, at the sum of what each costs, and numbers that stand in two of them are one."""
    name = publish(served, questions=TOGETHER)
    assert spent(served) == (2, "1.125")
    tables = tables_of(served, name)
    assert len({tables[one]["id"] for one in ("all_visits", "by_clinic", "by_age")}) == 1
    ((total,),) = tables["all_visits"]["rows"]
    for one in ("by_clinic", "by_age"):
        rest = total - sum(row[1] for row in tables[one]["rows"])
        assert rest >= 0
        assert f"Not in these groups: {rest:,} without a category of " in tables[one]["note"]
    assert [row[1] for row in tables["by_clinic"]["rows"]] == sorted(
        (row[1] for row in tables["by_clinic"]["rows"]), reverse=True
    )
    assert tables["ages"]["note"] is None
    listed = next(one for one in served.person("rita").get("/v1/reports").json() if one["id"] == name)
    assert {one["name"]: one["together"] for one in listed["questions"]} == {
        "all_visits": ["by_clinic", "by_age"],
        "by_clinic": ["all_visits", "by_age"],
        "ages": [],
        "by_age": ["all_visits", "by_clinic"],
    }


def test_a_proposal_says_what_is_released_together(served: Served, ana: As) -> None:
    """Before anything is charged it tells the cost, and the expected errors of the numbers as they will be released."""
    name = propose(ana, questions=TOGETHER)
    found = next(one for one in ana.get("/v1/reports").json() if one["id"] == name)
    assert found["epsilon"] == "1.125"
    assert found["notes"][0].startswith("all_visits, by_clinic, by_age are released together, for ε = 1")
    noise = {one["name"]: one["expected_noise"] for one in found["questions"]}
    assert all("on average" in text for text in noise.values())
    assert spent(served) == (0, "0")


def test_queries_can_be_left_apart(served: Served, ana: As) -> None:
    """With `consistent` false every query is a charge of its own; a wanted error is kept rather than agreement."""
    publish(served, questions=TOGETHER, consistent=False, edition="apart")
    assert spent(served) == (4, "1.125")
    costly = [{**TOGETHER[0], "error": "2"}, {**TOGETHER[1], "epsilon": "0.001"}]
    name = propose(ana, questions=costly, edition="wanted")
    found = next(one for one in ana.get("/v1/reports").json() if one["id"] == name)
    assert found["questions"][0]["together"] == []
    assert "above the wanted one" in found["notes"][0]
    refused(ana.post("/v1/reports", json=proposal(questions=[{**TOGETHER[0], "error": "few"}])), 400, "invalid-request")


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(6))
def test_interrupted_at_any_step_it_is_paid_once(
    served: Served, ana: As, carla: As, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Wherever it stops, approving it again goes on: nothing is charged twice, and what was kept stays as it is."""
    name, ask, left = propose(ana, questions=TOGETHER), asking.answer_question, steps

    async def stopping(*given: Any) -> Any:
        nonlocal left
        if left == 0:
            raise RuntimeError
        left -= 1
        return await ask(*given)

    with monkeypatch.context() as patch:
        patch.setattr(reports, "answer_question", stopping)
        assert carla.post(f"/v1/reports/{name}/approve").status_code == (500 if steps < 5 else 200)
    kept = answers(served)
    assert len(kept) == (0 if steps == 0 else 1 if steps < 5 else 2)
    assert carla.post(f"/v1/reports/{name}/approve").json()["state"] == "published"
    assert set(charges(served).values()) == {1}
    assert spent(served) == (2, "1.125")
    assert kept.items() <= answers(served).items()
    tables_of(served, name)


def test_every_view_leaves_at_a_tick(served: Served, ana: As, carla: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is free, since it was charged with another table, is asked as the analyst's own, and leaves at a tick."""
    waited: list[float] = []

    class Noted(Ticks):
        async def next(self) -> None:
            waited.append(1)
            await super().next()

    name = propose(ana, questions=TOGETHER)
    monkeypatch.setattr(asking, "Ticks", Noted)
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert len(waited) == len(TOGETHER) + 1  # all groupings, for what the total has beyond the groups


def test_approving_plans_a_report_once(served: Served, ana: As, carla: As, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query is previewed once before it is charged, and what is joined once for each new grouping."""
    name, looked = propose(ana, questions=TOGETHER), Counter[tuple[str, Fraction]]()
    preview = report_plan.ServerAsker._preview

    def counted(self: Any, sql: str, epsilon: Fraction) -> Any:
        looked[sql, epsilon] += 1
        return preview(self, sql, epsilon)

    monkeypatch.setattr(report_plan.ServerAsker, "_preview", counted)
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert set(looked.values()) == {1}
    assert len(looked) == len(TOGETHER) + 2


def test_a_report_is_repeated_free_together(served: Served, ana: As, carla: As) -> None:
    """If the server's file is lost, a report that is proposed again is the same release, and costs nothing."""
    before = tables_of(served, publish(served, questions=TOGETHER, edition="first"))
    with served.service.reports._database.writing() as connection:
        connection.execute("DELETE FROM reports")
    again = propose(ana, questions=TOGETHER, edition="first")
    assert carla.post(f"/v1/reports/{again}/approve").status_code == 200
    assert spent(served) == (2, "1.125")
    assert tables_of(served, again) == before


def test_what_is_too_long_together_is_asked_apart(served: Served, ana: As) -> None:
    """Queries that fit, but not with the groupings of others, are asked by themselves, and the proposal says why."""
    long = f"{BY_CLINIC} -- {'x' * 30}".replace("BY clinic", f"BY clinic HAVING COUNT(*) > 0{' AND 1 = 1' * 1985}", 1)
    assert len(long) < 20_000
    name = propose(ana, questions=[{**TOGETHER[0]}, {**TOGETHER[1], "sql": long}])
    found = next(one for one in ana.get("/v1/reports").json() if one["id"] == name)
    assert [one["together"] for one in found["questions"]] == [[], []]
    assert "a query may have 20,000 characters" in found["notes"][0]


# The file of an older server.


def as_older(served: Served, name: str) -> None:
    """Let the server's file have a report as a server had it that asked every query by itself."""
    with closing(sqlite3.connect(served.file.state)) as file, file:
        (text,) = file.execute("SELECT content FROM reports WHERE id = ?", (name,)).fetchone()
        content = json.loads(text)
        for added in ("foreseen", "consistent"):
            content.pop(added)
        for question in content["questions"]:
            question.pop("error")
        file.execute("UPDATE reports SET content = ? WHERE id = ?", (json.dumps(content), name))
        file.execute("PRAGMA user_version = 4")


def stored(served: Served, name: str) -> StoredReport:
    """Return a report as it is kept."""
    found = served.service.reports.find(name)
    assert found is not None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("steps", [0, 1, 2, 4])
def test_a_report_of_an_older_server_goes_on(
    served: Served, ana: As, carla: As, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Proposed, interrupted or published there, it has the request ids that it had, and pays only what is left."""
    assert VERSION > 4
    name = propose(ana, questions=TOGETHER)
    as_older(served, name)
    served.close()
    served.__dict__.pop("service")
    served.__dict__.pop("app")
    served.__dict__.pop("nobody")
    ana, carla = served.person("ana"), served.person("carla")
    whole = report_shape.proposal_of(stored(served, name))
    keys = {f"ana/{report_plan.key_for(whole, question)}" for question in whole.questions}
    for question in whole.questions[:steps]:  # as the older server asked them
        asked = {"sql": question.sql, "epsilon": str(question.epsilon)}
        answered = ana.post(
            "/v1/datasets/visits/answers",
            json=asked,
            headers={"Idempotency-Key": report_plan.key_for(whole, question)},
        )
        assert answered.status_code == 200, answered.text
    kept = answers(served)
    assert carla.post(f"/v1/reports/{name}/approve").json()["state"] == "published"
    assert charges(served) == dict.fromkeys(keys, 1)
    assert spent(served) == (4, "1.125")
    assert kept.items() <= answers(served).items()
    before = carla.get(f"/v1/reports/{name}").content
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert carla.get(f"/v1/reports/{name}").content == before
    assert {table["note"] for table in tables_of(served, name).values()} == {None}


def test_what_an_older_server_charged_is_not_charged_again(served: Served, ana: As, carla: As) -> None:
    """Proposed anew under its name, a report joins nothing that was charged by itself; the rest joins each other."""
    whole = report_shape.proposal_of(stored(served, propose(ana, questions=TOGETHER)))
    first = {"sql": whole.questions[0].sql, "epsilon": "0.25"}
    key = report_plan.key_for(whole, whole.questions[0])
    assert ana.post("/v1/datasets/visits/answers", json=first, headers={"Idempotency-Key": key}).status_code == 200
    with served.service.reports._database.writing() as connection:
        connection.execute("DELETE FROM reports")
    name = propose(ana, questions=TOGETHER)
    found = next(one for one in ana.get("/v1/reports").json() if one["id"] == name)
    assert [one["together"] for one in found["questions"]] == [[], ["by_age"], [], ["by_clinic"]]
    assert any("by_clinic, by_age are asked apart from all_visits, which is paid already" in n for n in found["notes"])
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert spent(served) == (3, "1.125")
    assert set(charges(served).values()) == {1}
