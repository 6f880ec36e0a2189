"""Numbers are read in one way everywhere: as decimals in the digits 0 to 9."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import COUNT, Served

ODD = [
    "1_0",
    "1__0",
    "١",
    "１",
    "\xa01",
    "\u20031",
    "1\n",
    "\x0b1",
    "0x1",
    "1e1_0",
    "1,5",
    "½",
    "1/2",
    "NaN",
    "Infinity",
]
"""What Python or pydantic reads as a number, and people read otherwise or not at all."""

BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "epsilon": ("ana", "/v1/datasets/visits/answers", {"sql": COUNT}),
    "pooling": ("ana", "/v1/datasets/visits/answers", {"sql": COUNT, "epsilon": "0.5"}),
    "weights": ("ana", "/v1/datasets/visits/answers", {"sql": COUNT, "epsilon": "0.5"}),
    "confidence": ("ana", "/v1/datasets/visits/answers", {"sql": COUNT, "epsilon": "0.5"}),
    "amount": ("carla", "/v1/datasets/visits/grants", {"note": "more"}),
    "days": ("carla", "/v1/keys", {"person": "ana"}),
}


def charged(served: Served) -> tuple[int, int]:
    """Return how much the ledger and the key ring hold."""
    with served.service.holdings.reading() as ledger:
        return ledger.head().seq, len(served.ring.issued())


@pytest.mark.slow
@pytest.mark.parametrize("number", [*ODD, True])
@pytest.mark.parametrize("name", BODIES)
def test_a_program_is_told_how_numbers_are_written(hospital: Served, name: str, number: str | bool) -> None:
    """Anything else in a body is refused by the field's name, and nothing is charged, granted or issued."""
    person, path, body = BODIES[name]
    assert hospital.person("ana").ask("first").status_code == 200
    before = charged(hospital)
    sent = {**body, name: [number] if name == "weights" else number}
    found = hospital.person(person).post(path, json=sent, headers={"Idempotency-Key": "odd"})
    assert (found.status_code, found.json()["code"]) == (400, "invalid-request")
    assert f"body.{name}" in found.json()["detail"]
    assert "digits 0 to 9" in found.json()["detail"]
    assert charged(hospital) == before


def test_a_number_that_no_json_reader_takes_is_told(hospital: Served) -> None:
    """Whoever is known is told that the body cannot be read, and nobody else anything: the address is right."""
    more: dict[str, Any] = {
        "content": f'{{"person": "ana", "days": {"9" * 5000}}}',
        "headers": {"Content-Type": "application/json"},
    }
    found = hospital.person("carla").post("/v1/keys", **more).json()
    assert (found["status"], found["code"]) == (400, "invalid-request")
    assert found["detail"].startswith("the request body cannot be read; ")
    assert hospital.nobody.post("/v1/keys", **more).status_code == 401


ADDRESSES = [
    ("ana", "/v1/answers?after={}"),
    ("ana", "/v1/answers?most={}"),
    ("dora", "/v1/ledger/entries?after={}"),
    ("dora", "/v1/ledger/entries?most={}"),
]


@pytest.mark.slow
@pytest.mark.parametrize("number", [*ODD, "1.0", " 1", "1e1"])
@pytest.mark.parametrize(("person", "path"), ADDRESSES)
def test_a_place_in_a_list_is_a_whole_number(hospital: Served, person: str, path: str, number: str) -> None:
    """In an address, too, digits are ASCII."""
    assert hospital.person("ana").ask("first").status_code == 200
    assert hospital.person(person).get(path.format("1")).status_code == 200
    assert hospital.person(person).get(path.format(quote(number))).status_code == 400


FORMS: dict[str, tuple[str, str, dict[str, str]]] = {
    "epsilon": ("ana", "/ask/visits", {"sql": COUNT}),
    "amount": ("ana", "/ask/visits/requests", {"reason": "more"}),
    "amount ": ("carla", "/keep/visits/grants", {"note": "more"}),
    "days": ("carla", "/keep/keys", {"person": "ana"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_takes_the_same_numbers(hospital: Served, name: str, number: str) -> None:
    """What programs may not send, people may not type; and nothing is charged, granted, requested or issued."""
    person, path, fields = FORMS[name]
    assert hospital.person("ana").ask("first").status_code == 200
    before = charged(hospital)
    found = visit(hospital, person).post(path, **{**fields, name.strip(): number})
    assert found.status_code == 400
    assert charged(hospital) == before
    assert hospital.service.budget_requests.find_all() == []


@pytest.mark.parametrize("number", ODD)
def test_a_page_takes_the_same_numbers(hospital: Served, number: str) -> None:
    """Neither a plan nor an explanation is made of anything else; for either nobody pays."""
    looking = visit(hospital, "ana")
    plan = looking.get("/plan", params={"bounds": "[0, 1]", "sensitivity": "1", "epsilon": number})
    assert plan.status_code == 400
    explained = looking.get("/ask/visits/explanation", params={"sql": COUNT, "epsilon": number})
    assert "a number such as 0.5" in explained.text
    assert looking.get(f"/verify/entries/{quote(number, safe='')}").status_code in {400, 403, 404}


@pytest.mark.parametrize(("typed", "read"), [("0.5", "0.5"), (" 0.25\t", "0.25"), ("1e-1", "0.1"), ("+.5", "0.5")])
def test_what_people_write_is_read(hospital: Served, typed: str, read: str) -> None:
    """A sign, a point, an exponent and blanks around a number are fine."""
    found = hospital.person("ana").post("/v1/datasets/visits/explain", json={"sql": COUNT, "epsilon": typed})
    assert found.json()["epsilon"] == read
