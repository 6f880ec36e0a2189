"""Who may do what: every route, for everybody, also with what belongs to others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from inbounds.server.basics import clock
from inbounds.server.basics.problem import KINDS
from tests.helpers.page_visitor import page_routes
from tests.helpers.reporting import proposal, propose, publish, share
from tests.helpers.served_hospital import COUNT, As, Served

PEOPLE = ("nobody", "revoked", "expired", "ana", "eve", "carla", "dora", "rita")
"""Without a key, with ana's old ones, an analyst of visits, one of births, a custodian, an auditor, a reader."""

QUESTION = {"sql": COUNT, "epsilon": "0.25"}


@dataclass(frozen=True)
class Entry:
    """A request, and what becomes of it for analysts, custodian, auditor and reader: a status or a code.

    A path names what is there by its place: {pub} a published report, {prop} a proposal of ana's, {link} an answer of
    ana's that is shared with rita and dora, {revoked} a link to it that was taken back.  What else can become of links
    is in test_links.py.
    """

    route: str
    ana: str
    eve: str
    carla: str
    dora: str
    path: str = ""
    send: dict[str, Any] = field(default_factory=dict)
    nobody: str = "not-authenticated"
    rita: str = "not-allowed"

    @property
    def method(self) -> str:
        """What is done."""
        return self.route.split(" ")[0]

    def sent(self, who: As, names: Mapping[str, str]) -> httpx2.Response:
        """Send it."""
        path = self.path or self.route.split(" ")[1]
        for name, value in names.items():
            path = path.replace(f"{{{name}}}", value)
        return who.request(self.method, path, **self.send)

    def expected(self, person: str) -> tuple[int, str | None]:
        """Return the status and the code."""
        said = self.nobody if person in {"nobody", "revoked", "expired"} else getattr(self, person)
        return (int(said), None) if said.isdigit() else (KINDS[said].status, said)


NO, GONE, BAD, UNOWNED = "not-allowed", "not-found", "invalid-request", "not-owned"
EXPLAIN = {"json": QUESTION}
OWNED = {"json": {"sql": "SELECT SUM(age) FROM visits"}}
ASK = {"json": QUESTION, "headers": {"Idempotency-Key": "matrix"}}
GRANT = {"json": {"amount": "0.5", "note": "more"}}
THEIRS = {"json": {"amount": "0.5", "note": "more", "analyst": "eve"}}

NONE = "0" * 32
SHARE = {"json": {"title": "For you", "people": ["rita"]}}
STRANGER = {"json": {"title": "For you", "people": ["somebody"]}}
FILE = {"json": {"file": "-- report: year\n-- name: visits\n-- epsilon: 0.25\nSELECT COUNT(*) FROM visits"}}
REJECT: dict[str, Any] = {"json": {}}

MATRIX = [
    Entry("GET /healthz", "200", "200", "200", "200", nobody="200", rita="200"),
    Entry("GET /readyz", "200", "200", "200", "200", nobody="200", rita="200"),
    Entry("GET /v1/openapi.json", "200", "200", "200", "200", nobody="200", rita="200"),
    Entry("HEAD /v1/openapi.json", "200", "200", "200", "200", nobody="200", rita="200"),
    Entry("GET /metrics", NO, NO, "200", NO),
    Entry("GET /v1/me", "200", "200", "200", "200", rita="200"),
    Entry("GET /v1/datasets", "200", "200", "200", NO),
    Entry("GET /v1/datasets/{name}", "200", GONE, "200", NO, "/v1/datasets/visits"),
    Entry("GET /v1/datasets/{name}", GONE, "200", "200", NO, "/v1/datasets/births"),
    Entry("GET /v1/datasets/{name}", GONE, GONE, GONE, NO, "/v1/datasets/nothing"),
    Entry("GET /v1/datasets/{name}/budget", "200", GONE, "200", NO, "/v1/datasets/visits/budget"),
    Entry("GET /v1/datasets/{name}/budget", NO, NO, "200", NO, "/v1/datasets/visits/budget?analyst=ben"),
    Entry("GET /v1/datasets/{name}/budget", NO, NO, GONE, NO, "/v1/datasets/nothing/budget?analyst=ben"),
    Entry("GET /v1/datasets/{name}/budget", "200", NO, "200", NO, "/v1/datasets/visits/budget?analyst=ana"),
    Entry("POST /v1/datasets/{name}/explain", "200", GONE, "200", NO, "/v1/datasets/visits/explain", EXPLAIN),
    Entry("GET /v1/datasets/{name}/practice", "200", GONE, "200", NO, "/v1/datasets/visits/practice?rows=5"),
    Entry("GET /v1/datasets/{name}/practice", GONE, GONE, GONE, NO, "/v1/datasets/no/practice"),
    Entry("POST /v1/datasets/{name}/explain", GONE, GONE, GONE, NO, "/v1/datasets/no/explain", EXPLAIN),
    Entry("POST /v1/datasets/{name}/answers", "200", GONE, NO, NO, "/v1/datasets/visits/answers", ASK),
    Entry("POST /v1/datasets/{name}/answers", GONE, GONE, NO, NO, "/v1/datasets/nothing/answers", ASK),
    Entry("POST /v1/datasets/{name}/owned", UNOWNED, GONE, NO, NO, "/v1/datasets/visits/owned", OWNED),
    Entry("POST /v1/datasets/{name}/owned", GONE, GONE, NO, NO, "/v1/datasets/nothing/owned", OWNED),
    Entry("GET /v1/answers", "200", "200", NO, NO),
    Entry("GET /v1/answers/{key}", "200", GONE, NO, NO, "/v1/answers/of-ana"),
    Entry("GET /v1/answers/{key}", GONE, GONE, NO, NO, "/v1/answers/of-ben"),
    Entry("GET /v1/answers/{key}", GONE, GONE, NO, NO, "/v1/answers/of-nobody"),
    Entry("GET /v1/answers/{key}", BAD, BAD, NO, NO, "/v1/answers/of%20ana"),
    Entry("GET /v1/answers/{key}", GONE, GONE, GONE, GONE, "/v1/answers/ben%2Fof-ben", nobody=GONE, rita=GONE),
    Entry("POST /v1/answers/{key}/shares", "201", GONE, NO, NO, "/v1/answers/of-ana/shares", SHARE),
    Entry("POST /v1/answers/{key}/shares", GONE, GONE, NO, NO, "/v1/answers/of-ben/shares", SHARE),
    Entry("POST /v1/answers/{key}/shares", "invalid-parameter", GONE, NO, NO, "/v1/answers/of-ana/shares", STRANGER),
    Entry("GET /v1/answers/{key}/shares", "200", "200", NO, NO, "/v1/answers/of-ana/shares"),
    Entry("DELETE /v1/answers/{key}/shares/{share}", GONE, GONE, NO, NO, f"/v1/answers/of-ana/shares/{NONE}"),
    Entry("DELETE /v1/answers/{key}/shares/{share}", GONE, GONE, NO, NO, "/v1/answers/of-ben/shares/{link}"),
    Entry("DELETE /v1/answers/{key}/shares/{share}", GONE, GONE, NO, NO, "/v1/answers/of-ana/shares/{revoked}"),
    Entry("GET /v1/shared", "200", "200", "200", "200", rita="200"),
    Entry("GET /v1/shared/{share}", "200", GONE, GONE, "200", "/v1/shared/{link}", rita="200"),
    Entry("GET /v1/shared/{share}", GONE, GONE, GONE, GONE, "/v1/shared/{revoked}", rita=GONE),
    Entry("GET /v1/shared/{share}", GONE, GONE, GONE, GONE, f"/v1/shared/{NONE}", rita=GONE),
    Entry("GET /v1/shared/{share}", BAD, BAD, BAD, BAD, "/v1/shared/of-ana", rita=BAD),
    Entry("GET /v1/reports", "200", "200", "200", "200", rita="200"),
    Entry("GET /v1/reports/{report}", "200", "200", "200", "200", "/v1/reports/{pub}", rita="200"),
    Entry("GET /v1/reports/{report}", GONE, GONE, GONE, GONE, "/v1/reports/{prop}", rita=GONE),
    Entry("GET /v1/reports/{report}", GONE, GONE, GONE, GONE, f"/v1/reports/{NONE}", rita=GONE),
    Entry("POST /v1/reports", "invalid-parameter", GONE, NO, NO, send={"json": proposal()}),
    Entry("POST /v1/reports", GONE, GONE, NO, NO, send={"json": proposal(dataset="nothing", name="no")}),
    Entry("POST /v1/datasets/{name}/reports", "invalid-parameter", GONE, NO, NO, "/v1/datasets/visits/reports", FILE),
    Entry("POST /v1/datasets/{name}/reports", GONE, GONE, NO, NO, "/v1/datasets/nothing/reports", FILE),
    Entry("POST /v1/reports/{report}/approve", NO, NO, "200", NO, "/v1/reports/{pub}/approve"),
    Entry("POST /v1/reports/{report}/approve", NO, NO, GONE, NO, f"/v1/reports/{NONE}/approve"),
    Entry("POST /v1/reports/{report}/reject", NO, NO, "invalid-parameter", NO, "/v1/reports/{pub}/reject", REJECT),
    Entry("POST /v1/reports/{report}/reject", NO, NO, GONE, NO, f"/v1/reports/{NONE}/reject", REJECT),
    Entry("GET /v1/ledger/head", NO, NO, "200", "200"),
    Entry("GET /v1/ledger/entries", NO, NO, "200", "200"),
    Entry("GET /v1/ledger/entries", NO, NO, "200", "200", "/v1/ledger/entries?analyst=ana&dataset=visits"),
    Entry("GET /v1/ledger/verification", NO, NO, "200", "200"),
    Entry("POST /v1/datasets/{name}/grants", NO, NO, "201", NO, "/v1/datasets/visits/grants", GRANT),
    Entry("POST /v1/datasets/{name}/grants", NO, NO, GONE, NO, "/v1/datasets/nothing/grants", GRANT),
    Entry("POST /v1/datasets/{name}/grants", NO, NO, "invalid-parameter", NO, "/v1/datasets/visits/grants", THEIRS),
    Entry("GET /v1/keys", NO, NO, "200", NO),
    Entry("POST /v1/keys", NO, NO, "201", NO, send={"json": {"person": "ben"}}),
    Entry("DELETE /v1/keys/{prefix}", NO, NO, GONE, NO, "/v1/keys/000000000000"),
]  # fmt: skip


def routes(app: FastAPI) -> Iterator[str]:
    """Yield every method and path that the application has, documented or not."""
    for one in app.routes:
        for route in getattr(getattr(one, "original_router", None), "routes", [one]):
            yield from (f"{method} {route.path}" for method in route.methods)


@pytest.fixture(scope="module")
def everybody(hospital: Served) -> dict[str, As]:
    """Return everybody who may come, after ana and ben have asked something."""
    found = {name: hospital.person(name) for name in ("ana", "ben", "eve", "carla", "dora", "rita")}
    for name in ("ana", "ben"):
        assert found[name].ask(f"of-{name}").status_code == 200
    revoked, kept = hospital.ring.issue("ana")
    hospital.ring.revoke(kept.prefix)
    with pytest.MonkeyPatch.context() as patch:
        before = clock.now() - timedelta(days=3)
        patch.setattr(clock, "now", lambda: before)
        expired, _ = hospital.ring.issue("ana", 1)
    return {
        **found,
        "nobody": hospital.nobody,
        "revoked": hospital.bearing(revoked),
        "expired": hospital.bearing(expired),
    }


@pytest.fixture(scope="module")
def names(hospital: Served, everybody: dict[str, As]) -> dict[str, str]:
    """What reports and links are called."""
    published, revoked = publish(hospital), share(everybody["ana"], "of-ana", "rita", "dora", "carla")
    assert everybody["ana"].delete(f"/v1/answers/of-ana/shares/{revoked}").status_code == 204
    return {
        "pub": published,
        "revoked": revoked,
        "prop": propose(everybody["ana"], name="next"),
        "link": share(everybody["ana"], "of-ana", "rita", "dora"),
    }


def test_every_route_is_in_the_matrix(hospital: Served) -> None:
    """A route that nobody has decided about does not exist, and the document tells of each; pages have their own."""
    pages = {f"{method} {path}" for method, path in page_routes(hospital.app)}
    assert set(routes(hospital.app)) - pages == {entry.route for entry in MATRIX}
    told = {f"{method.upper()} {path}" for path, ways in hospital.app.openapi()["paths"].items() for method in ways}
    assert told == {entry.route for entry in MATRIX if "openapi" not in entry.route}


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("entry", MATRIX, ids=lambda entry: f"{entry.method} {entry.path or entry.route}")
def test_everybody_gets_what_is_theirs(
    everybody: dict[str, As], names: dict[str, str], entry: Entry, person: str
) -> None:
    """Each request of each person has exactly the status and the code that the matrix says."""
    found = entry.sent(everybody[person], names)
    status, code = entry.expected(person)
    assert (found.status_code, found.json()["code"] if code else None) == (status, code), found.text


def told(response: httpx2.Response) -> tuple[int, bytes, dict[str, str]]:
    """Return everything of a response but its number."""
    headers = {name: value for name, value in response.headers.items() if name != "x-request-number"}
    return response.status_code, response.content, headers


@pytest.mark.parametrize(
    ("person", "method", "paths", "send"),
    [
        ("eve", "GET", ("/v1/datasets/visits", "/v1/datasets/nothing"), {}),
        ("eve", "GET", ("/v1/datasets/visits/budget", "/v1/datasets/nothing/budget"), {}),
        ("eve", "GET", ("/v1/datasets/visits/budget?analyst=ana", "/v1/datasets/nothing/budget?analyst=ana"), {}),
        ("eve", "POST", ("/v1/datasets/visits/explain", "/v1/datasets/nothing/explain"), EXPLAIN),
        ("eve", "POST", ("/v1/datasets/visits/answers", "/v1/datasets/nothing/answers"), ASK),
        ("ana", "GET", ("/v1/answers/of-ben", "/v1/answers/of-nobody"), {}),
        ("ana", "GET", ("/v1/answers/of-ben", "/v1/answers/ana"), {}),
        ("ana", "GET", ("/v1/datasets/visits/budget?analyst=ben", "/v1/datasets/visits/budget?analyst=who"), {}),
        ("ana", "DELETE", ("/v1/keys/{ben}", "/v1/keys/000000000000"), {}),
        ("ben", "GET", ("/v1/shared/{link}", f"/v1/shared/{NONE}"), {}),
        ("carla", "GET", ("/v1/shared/{link}", f"/v1/shared/{NONE}"), {}),
        ("ben", "DELETE", ("/v1/answers/of-ben/shares/{link}", f"/v1/answers/of-ben/shares/{NONE}"), {}),
        ("rita", "GET", ("/v1/reports/{prop}", f"/v1/reports/{NONE}"), {}),
        ("ben", "GET", ("/v1/reports/{prop}", f"/v1/reports/{NONE}"), {}),
        ("nobody", "GET", ("/v1/shared/{link}", f"/v1/shared/{NONE}"), {}),
        ("nobody", "GET", ("/v1/datasets/visits", "/v1/datasets/nothing"), {}),
        ("nobody", "GET", ("/v1/answers/of-ben", "/v1/answers/of-nobody"), {}),
    ],
)
def test_what_is_not_yours_is_not_there(
    hospital: Served,
    everybody: dict[str, As],
    names: dict[str, str],
    person: str,
    method: str,
    paths: tuple[str, str],
    send: dict[str, Any],
) -> None:
    """What belongs to somebody else and what does not exist are refused by the same bytes."""
    who, (theirs, nobodys) = everybody[person], paths
    for name, value in {"ben": hospital.keys["ben"][4:16], **names}.items():
        theirs = theirs.replace(f"{{{name}}}", value)
    assert told(who.request(method, theirs, **send)) == told(who.request(method, nobodys, **send))


def test_wrong_keys_are_refused_alike(hospital: Served, everybody: dict[str, As]) -> None:
    """No key, one that was never issued, a guessed secret, an expired and a revoked one get the same bytes."""
    guessed = hospital.keys["ana"][:17] + "A" * 43
    others = [
        everybody["revoked"],
        everybody["expired"],
        hospital.bearing(guessed),
        hospital.bearing("inb_"),
        hospital.bearing(""),
    ]
    others += [
        As(others[0].portal, others[0].client, {"Authorization": one})
        for one in ("Basic YTpi", "Bearer", "inb", "Bearer é".encode("latin-1"))
    ]
    assert {told(one.get("/v1/me"))[1] for one in others} == {told(everybody["nobody"].get("/v1/me"))[1]}


def test_everybody_sees_only_their_own_in_lists(everybody: dict[str, As]) -> None:
    """Lists of datasets and of answers hold what is one's own."""
    assert [one["name"] for one in everybody["eve"].get("/v1/datasets").json()] == ["births"]
    assert [one["name"] for one in everybody["carla"].get("/v1/datasets").json()] == ["visits", "births"]
    assert everybody["eve"].get("/v1/answers").json() == []
    assert {one["id"] for one in everybody["ben"].get("/v1/answers").json()} == {"of-ben"}
    ben = {"name": "ben", "role": "analyst", "datasets": ["visits"], "max_epsilon_per_question": None}
    assert everybody["ben"].get("/v1/me").json() == ben


def test_a_header_that_names_somebody_names_nobody(hospital: Served, everybody: dict[str, As]) -> None:
    """Without a proxy that the custodian named, who asks is what the key says, whatever else a request claims."""
    for name in ("X-Remote-User", "X-Forwarded-User", "Remote-User", "X-User", "Forwarded"):
        claim = {name: "carla"}
        assert everybody["nobody"].get("/v1/me", headers=claim).status_code == 401
        assert everybody["ana"].get("/v1/me", headers=claim).json()["name"] == "ana"
    twice = [("Authorization", f"Bearer {hospital.keys[name]}") for name in ("ana", "carla")]
    who = everybody["nobody"]
    response = who.portal.call(lambda: who.client.get("/v1/me", headers=twice))
    assert response.status_code == 401
