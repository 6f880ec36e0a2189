"""What one query may cost on a server: by the contract and by the custodian's file, said before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import inbounds
from inbounds.errors import InvalidContract, QuestionTooExpensive
from inbounds.server.state.custodian_file import CustodianFile
from tests.helpers.reporting import propose
from tests.helpers.served_hospital import BY_CLINIC, COUNT, Served, build, running

ANA = "[people.ana]"


def limit(served: Served, *, dataset: str | None = None, ana: str | None = None) -> Served:
    """Write limits into the contract of visits and into what the file says of ana."""
    if dataset is not None:
        contract = served.folder / "visits.toml"
        contract.write_text(f"{contract.read_text('utf-8')}max_epsilon_per_question = {dataset}\n", "utf-8")
    if ana is not None:
        text = served.path.read_text("utf-8")
        served.path.write_text(text.replace(ANA, f"{ANA}\nmax_epsilon_per_question = {ana}"), "utf-8")
    return served


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Served]:
    """A hospital where a query of visits may cost 0.5, and one by ana 0.2."""
    found = limit(build(tmp_path / "hospital"), dataset="0.5", ana='"0.2"')
    yield found
    found.close()


def spent(served: Served, person: str = "ana") -> Any:
    """Return what somebody has spent."""
    return served.person(person).get("/v1/datasets/visits/budget").json()["own"]["spent"]


@pytest.mark.parametrize(("person", "most"), [("ana", "0.2"), ("ben", "0.5")])
def test_it_is_refused_and_nothing_is_charged(limited: Served, person: str, most: str) -> None:
    """The refusal has a code of its own, what was asked and what may be; a query at the limit is answered."""
    asker = limited.person(person)
    refused = asker.ask("one", COUNT, "0.6")
    found = refused.json()
    assert (refused.status_code, found["code"]) == (402, "question-too-expensive")
    assert (found["requested"], found["most"]) == ("0.6", most)
    assert f"ask with an epsilon of {most} or less" in found["detail"]
    assert spent(limited, person) == "0"
    assert asker.ask("one", COUNT, most).status_code == 200
    assert spent(limited, person) == most


def test_it_is_said_before_anything_is_asked(limited: Served) -> None:
    """The description of a dataset, of oneself and a preview say it: the stricter of both limits."""
    ana, ben = limited.person("ana"), limited.person("ben")
    assert ana.get("/v1/me").json()["max_epsilon_per_question"] == "0.2"
    assert ben.get("/v1/me").json()["max_epsilon_per_question"] is None
    for asker, most in ((ana, "0.2"), (ben, "0.5")):
        assert asker.get("/v1/datasets/visits").json()["max_epsilon_per_question"] == most
        asked = {"sql": BY_CLINIC, "epsilon": "0.6"}
        told = asker.post("/v1/datasets/visits/explain", json=asked).json()
        assert told["max_epsilon_per_question"] == most
        assert told["too_expensive"].endswith(f"got 0.6; ask with an epsilon of {most} or less")
        found = asker.post("/v1/datasets/visits/explain", json={"sql": COUNT, "error": "30"}).json()
        assert Fraction(found["epsilon"]) <= Fraction(most)
        assert found["too_expensive"] is None
    assert limited.person("eve").get("/v1/datasets/births").json()["max_epsilon_per_question"] is None


def test_what_was_paid_before_stays_answered(tmp_path: Path) -> None:
    """A limit that comes later takes no answer away: the same request is answered again, and free."""
    served = build(tmp_path / "hospital")
    first = served.person("ana").ask("one", COUNT, "0.6").json()
    served.close()
    again = Served(served.folder, limit(served, ana="0.2").path, served.keys)
    try:
        ana = again.person("ana")
        assert ana.ask("one", COUNT, "0.6").json() == first
        assert ana.ask("two", COUNT, "0.6").status_code == 402
        assert spent(again) == "0.6"
    finally:
        again.close()


def test_a_report_is_held_to_it_question_by_question(limited: Served) -> None:
    """A proposal with one question above the limit is refused by its name; one below it costs more together."""
    ana, carla = limited.person("ana"), limited.person("carla")
    question = {"name": "all", "title": "All", "sql": COUNT, "epsilon": "0.2"}
    body = {"dataset": "visits", "name": "r", "title": "R", "questions": [question, {**question, "name": "again"}]}
    dear = {**body, "questions": [question, {**question, "name": "dear", "epsilon": "0.3"}]}
    refused = ana.post("/v1/reports", json=dear)
    assert (refused.status_code, refused.json()["code"]) == (402, "question-too-expensive")
    assert refused.json()["detail"].startswith("dear: a query by 'ana' may cost at most ε = 0.2")
    name = ana.post("/v1/reports", json=body).json()["id"]
    assert carla.post(f"/v1/reports/{name}/approve").status_code == 200
    assert spent(limited) == "0.4"


def test_a_report_is_not_run_above_a_limit_that_came_later(tmp_path: Path) -> None:
    """Approving refuses before anything is charged, if the analyst's limit has been lowered since."""
    served = build(tmp_path / "hospital")
    name = propose(served.person("ana"))
    served.close()
    again = Served(served.folder, limit(served, ana="0.1").path, served.keys)
    try:
        refused = again.person("carla").post(f"/v1/reports/{name}/approve")
        assert (refused.status_code, refused.json()["code"]) == (402, "question-too-expensive")
        assert spent(again) == "0"
    finally:
        again.close()


@pytest.mark.slow
def test_a_client_gets_the_same_error(tmp_path: Path) -> None:
    """Over a connection it is the error of a dataset at hand, with its amounts; practice is held to it as well."""
    served = limit(build(tmp_path / "hospital"), ana="0.2")
    with running(served) as found, inbounds.connect(found.url, key=served.keys["ana"]) as connection:
        query = connection.dataset("visits").sql(COUNT)
        for ask in (query.ask, query.practise):
            with pytest.raises(QuestionTooExpensive) as refused:
                ask(1)
            assert (refused.value.requested, refused.value.most) == (Fraction(1), Fraction(1, 5))
        assert "ask with an epsilon of 0.2 or less" in " ".join(str(query.explain(1)).split())


@pytest.mark.parametrize("value", ["0", '"a lot"', "-2", "1e-13"])
def test_the_file_says_an_amount(tmp_path: Path, value: str) -> None:
    """Anything else is refused with its line."""
    served = limit(build(tmp_path / "hospital"), ana=value)
    with pytest.raises(InvalidContract, match=r"custodian\.toml, line \d+: max_epsilon_per_question must"):
        CustodianFile.load(served.path)


def test_only_analysts_have_a_limit(tmp_path: Path) -> None:
    """Nobody else asks anything; the limit is refused there rather than passed over."""
    more = '[people.max]\nrole = "auditor"\nmax_epsilon_per_question = 1'
    with pytest.raises(InvalidContract, match="only analysts have max_epsilon_per_question"):
        build(tmp_path / "hospital", more=more)
