"""Misspelt names are met with the right ones over HTTP and in the console, and with nobody else's."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

MISSPELT = [
    ("SELECT COUNT(*) FROM visist", "did you mean visits?"),
    ("SELECT AVG(aeg) FROM visits", "did you mean age?"),
    ("SELECT COUNT(*) FROM visits WHERE clinic = 'nort'", "did you mean 'north'?"),
    ("SELECT MEDAIN(age) FROM visits", "did you mean MEDIAN?"),
]


@pytest.mark.parametrize(("sql", "told"), MISSPELT)
def test_a_question_is_met_with_the_name_that_was_meant(hospital: Served, sql: str, told: str) -> None:
    """The refusal of a program and the page of a person hold the same suggestion."""
    refused = hospital.person("ana").post("/v1/datasets/visits/explain", json={"sql": sql, "epsilon": "1"})
    assert refused.status_code == 400
    assert told in refused.json()["detail"]
    page = visit(hospital, "ana").get(f"/ask/visits?sql={quote(sql)}&epsilon=1")
    assert told.replace("'", "&#39;") in page.text


def test_an_option_is_met_with_the_one_that_was_meant(hospital: Served) -> None:
    """A field that a request does not have is told which one was meant, or which there are."""
    ana, question = hospital.person("ana"), {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
    near = ana.post("/v1/datasets/visits/explain", json={**question, "polling": "1"}).json()["detail"]
    assert "body.polling: unknown field; did you mean pooling?" in near
    far = ana.post("/v1/datasets/visits/explain", json={**question, "xyz": "1"}).json()["detail"]
    assert "body.xyz: unknown field; known are sql, alone, epsilon, error, rows, pooling, weights" in far


def test_only_datasets_that_one_may_see_are_suggested(hospital: Served) -> None:
    """Nobody is told the name of a dataset that is not theirs, however nearly they guess it."""
    ana, eve = hospital.person("ana"), hospital.person("eve")
    assert "did you mean visits?" in ana.get("/v1/datasets/visit").json()["detail"]
    assert eve.get("/v1/datasets/visit").json() == eve.get("/v1/datasets/visits").json()
    assert "check the name" in eve.get("/v1/datasets/visit").json()["detail"]
