"""A query whose SQL says its epsilon needs none beside it: over /v1, in reports, and in the console."""

from __future__ import annotations

from fractions import Fraction
from urllib.parse import quote

from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import As, Served

STATED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM visits"
SENT = {"Idempotency-Key": "stated"}
ANSWERS = "/v1/datasets/visits/answers"


def spent(ana: As) -> Fraction:
    """Return what ana has spent."""
    return Fraction(ana.get("/v1/datasets/visits/budget").json()["own"]["spent"])


def test_it_is_charged_as_its_sql_says(hospital: Served) -> None:
    """The answer costs so much, can be fetched later, and is free with the same epsilon beside it."""
    ana = hospital.person("ana")
    before = spent(ana)
    assert ana.post("/v1/datasets/visits/explain", json={"sql": STATED}).json()["epsilon"] == "0.5"
    paid = ana.post(ANSWERS, json={"sql": STATED}, headers=SENT).json()
    assert (paid["epsilon"], spent(ana) - before) == ("0.5", Fraction(1, 2))
    assert ana.get("/v1/answers/stated").json()["rows"] == paid["rows"]
    again = ana.post(ANSWERS, json={"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"}, headers=SENT)
    assert (again.json()["rows"], spent(ana) - before) == (paid["rows"], Fraction(1, 2))


def test_two_epsilons_are_refused(hospital: Served) -> None:
    """Another epsilon beside the SQL is refused, and so is none at all; nothing is charged."""
    ana = hospital.person("ana")
    before = spent(ana)
    other = ana.post(ANSWERS, json={"sql": STATED, "epsilon": "1"}, headers=SENT)
    assert (other.status_code, other.json()["code"]) == (400, "invalid-parameter")
    assert "leave one of them out" in other.json()["detail"]
    none = ana.post("/v1/datasets/visits/explain", json={"sql": "SELECT COUNT(*) FROM visits"})
    assert "a query needs an epsilon" in none.json()["detail"]
    assert spent(ana) == before


def test_a_report_takes_it_from_the_sql(hospital: Served) -> None:
    """A proposed report costs what its queries say."""
    ana = hospital.person("ana")
    before = spent(ana)
    questions = [{"name": "rows", "title": "Rows", "sql": STATED}]
    report = {"dataset": "visits", "name": "year", "title": "A year", "questions": questions}
    proposed = ana.post("/v1/reports", json=report)
    assert (proposed.status_code, proposed.json()["epsilon"]) == (201, "0.5")
    found = hospital.person("carla").post(f"/v1/reports/{proposed.json()['id']}/approve")
    assert found.json()["state"] == "published"
    assert spent(ana) - before == Fraction(1, 2)


def test_the_form_takes_it_from_the_sql(hospital: Served) -> None:
    """The field for ε may be empty then; with another ε in it the page says what to do."""
    ana = visit(hospital, "ana")
    page = ana.get(f"/ask/visits?sql={quote(STATED)}")
    assert "Run query (spends ε = 0.5)" in page.text
    assert "leave one of them out" in ana.get(f"/ask/visits?sql={quote(STATED)}&epsilon=2").text
