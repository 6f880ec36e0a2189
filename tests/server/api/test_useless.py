"""What tells nothing is refused over the network as at hand, and what is public is free."""

from __future__ import annotations

from tests.helpers.served_hospital import Served

IMPOSSIBLE = "SELECT COUNT(*) FROM visits WHERE age > 200"
PUBLIC = "SELECT AVG(age) FROM visits WHERE age = 40"


def spent(served: Served) -> str:
    """Return what ana has spent."""
    found: str = served.person("ana").get("/v1/datasets/visits/budget").json()["own"]["spent"]
    return found


def test_what_tells_nothing_is_refused_until_it_is_forced(served: Served) -> None:
    """The refusal has a code of its own and charges nothing; with force the question is charged and answered."""
    ana = served.person("ana")
    refused = ana.ask("one", IMPOSSIBLE)
    assert (refused.status_code, refused.json()["code"]) == (400, "useless-question")
    assert "use force" in refused.json()["detail"]
    assert spent(served) == "0"
    assert ana.ask("one", IMPOSSIBLE, force=True).status_code == 200
    assert ana.get("/v1/answers/one").status_code == 200
    assert ana.ask("one", IMPOSSIBLE).json()["id"] == "one", "what was charged is answered"
    assert spent(served) == "0.5"


def test_an_explanation_says_that_it_would_be_refused(served: Served) -> None:
    """It is free, and tells beforehand what asking would."""
    told = served.person("ana").post("/v1/datasets/visits/explain", json={"sql": IMPOSSIBLE, "epsilon": "0.5"}).json()
    assert told["useless"].startswith("no row can meet age > 200")
    assert told["public"] is None


def test_what_is_public_costs_nothing_and_is_not_kept(served: Served) -> None:
    """It has a cost of 0, the column is said to be public, and no request is left in the ledger."""
    ana = served.person("ana")
    found = ana.ask("free", PUBLIC).json()
    assert (found["epsilon"], found["rows"], found["public"], found["parts"]) == ("0", [[40.0]], ["mean_age"], [])
    assert ana.ask("free", PUBLIC).json() == found
    assert ana.get("/v1/answers/free").status_code == 404
    assert ana.get("/v1/answers").json() == []
    assert spent(served) == "0"
    owned = ana.post("/v1/datasets/visits/owned", json={"sql": PUBLIC}).json()
    assert owned == {**found, "id": "", "question": owned["question"]}
    told = ana.post("/v1/datasets/visits/explain", json={"sql": PUBLIC, "epsilon": "100"}).json()
    assert (told["epsilon"], told["fits"], told["parts"]) == ("0", True, [])
    assert "public knowledge" in told["public"]
