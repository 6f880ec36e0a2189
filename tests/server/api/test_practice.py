"""Practice data over the interface: made-up rows as csv, and answers that are not charged."""

from __future__ import annotations

from tests.helpers.served_hospital import Served

COUNT = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
ASK = "/v1/datasets/visits/answers"
ROWS = "/v1/datasets/visits/practice"


def test_an_answer_on_practice_data_is_free_and_not_kept(served: Served) -> None:
    """Nothing is charged, no answer is stored, and it says that its rows are made up; a real one says that not."""
    ana = served.person("ana")
    budget = ana.get("/v1/datasets/visits/budget").json()
    head = served.person("dora").get("/v1/ledger/head").json()
    body = {"sql": COUNT, "epsilon": "0.5", "practise": True}
    found = ana.post(ASK, json=body, headers={"Idempotency-Key": "tried"})
    assert found.status_code == 200
    assert found.json()["practice"] is True
    assert ana.get("/v1/answers/tried").status_code == 404
    assert ana.get("/v1/datasets/visits/budget").json() == budget
    assert served.person("dora").get("/v1/ledger/head").json() == head
    paid = ana.post(ASK, json={"sql": COUNT, "epsilon": "0.5"}, headers={"Idempotency-Key": "tried"}).json()
    assert paid["practice"] is False
    assert [column["name"] for column in paid["columns"]] == [column["name"] for column in found.json()["columns"]]
    assert [row[0] for row in paid["rows"]] == [row[0] for row in found.json()["rows"]]


def test_made_up_rows_are_csv_and_few(served: Served) -> None:
    """The rows are those of the contract's columns, the same for the same seed, and bounded."""
    ana = served.person("ana")
    text = ana.get(ROWS, params={"rows": 50}).text
    header, *lines = text.splitlines()
    assert {"clinic", "age"} <= set(header.split(","))
    assert 40 <= len(lines) <= 60
    assert ana.get(ROWS, params={"rows": 50, "seed": 0}).text == text
    assert ana.get(ROWS, params={"rows": 50, "seed": 1}).text != text
    for wrong in ({"rows": 10_001}, {"rows": 0}, {"rows": "many"}, {"seed": "x"}):
        assert ana.get(ROWS, params=wrong).status_code == 400
    assert "there is no private table" in ana.get(ROWS, params={"table": "visitz"}).json()["detail"]


def test_who_may_not_preview_gets_no_practice_data(served: Served) -> None:
    """An auditor, another analyst and nobody are refused, as for a preview."""
    assert served.person("dora").get(ROWS).status_code == 403
    assert served.person("eve").get(ROWS).status_code == 404
    assert served.person("carla").get(ROWS).status_code == 200
