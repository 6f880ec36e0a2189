"""Links to answers: every address, for every role: a link for them, for others, taken back, or of somebody who left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest

from inbounds.server.basics.person import Role
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.reporting import BY, propose, share
from tests.helpers.served_hospital import As, Served, build
from tests.server.people.test_authorisation import routes

ROLES = {"ben": Role.ANALYST, "carla": Role.CUSTODIAN, "dora": Role.AUDITOR, "rita": Role.READER}
"""Somebody of each role, for whom a link may be."""

PEOPLE = ("nobody", "ana", *ROLES)
"""Whoever comes: ana, whose answers are shared, somebody of each role, and somebody without a key."""

MORE = '[people.fay]\nrole = "reader"\n' + "".join(
    f'[people.{name}]\nrole = "analyst"\ndatasets = ["visits"]\n' for name in ("zoe", "max")
)

STATES = ("shared", "others", "revoked", "left", "demoted", "never")
"""For one of each role; for fay alone; taken back; of zoe, who left the file; of max, now a reader; never there."""

OPENED = (
    "GET /v1/shared/{share}",
    "GET /shared/{share}",
    "GET /shared/{share}/chart.svg",
    "GET /shared/{share}/answer.csv",
    "GET /shared/{share}/answer.json",
    "GET /shared/{share}/answer.parquet",
)
"""What shows an answer to whom it is shared with."""

CHANGED = ("DELETE /v1/answers/{key}/shares/{share}", "POST /answers/{key}/shares/{share}/revoke")
"""What takes a link back."""

OWNERS = ("GET /v1/answers/{key}/shares", "POST /v1/answers/{key}/shares", "POST /answers/{key}/shares")
LISTED = ("GET /v1/shared",)


@dataclass(frozen=True)
class Links:
    """A hospital, and what its links are called, by what became of them."""

    served: Served
    names: dict[str, str]
    reports: dict[str, str]
    browsers: dict[str, Visit]

    def send(self, route: str, person: str, state: str, key: str = "mine") -> httpx2.Response:
        """Send a request as somebody: with a key to what is for programs, in a browser to a page."""
        method, _, path = route.partition(" ")
        path = path.replace("{share}", self.names[state]).replace("{key}", key)
        if path.startswith("/v1"):
            who: As = self.served.nobody if person == "nobody" else self.served.person(person)
            return who.request(method, path)
        browser = self.browsers[person]
        return browser.post(path) if method == "POST" else browser.get(path)


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Links]:
    """A hospital in which answers were shared, and some links lead nowhere any more."""
    served = build(tmp_path_factory.mktemp("links"), more=MORE)
    names, keys = {"never": "0" * 32}, {"left": "zoe", "demoted": "max"}
    for name in ("ana", "zoe", "max"):
        assert served.person(name).ask("mine", BY).status_code == 200
    for state in STATES[:-1]:
        people = ("fay",) if state == "others" else tuple(ROLES)
        names[state] = share(served.person(keys.get(state, "ana")), "mine", *people, title=f"It is {state}")
    revoked = served.person("ana").delete(f"/v1/answers/mine/shares/{names['revoked']}")
    assert revoked.status_code == 204
    reports = {state: propose(served.person("zoe"), edition=state) for state in ("published", "proposed")}
    assert served.person("carla").post(f"/v1/reports/{reports['published']}/approve").status_code == 200
    known = dict(served.service.file.people)
    known["max"] = replace(known["max"], role=Role.READER, datasets=())
    del known["zoe"]
    object.__setattr__(served.service.file, "people", known)
    browsers = {name: visit(served, None if name == "nobody" else name) for name in PEOPLE}
    yield Links(served, names, reports, browsers)
    served.close()


def told(found: httpx2.Response) -> tuple[int, bytes, list[str]]:
    """Return all of a response but its number."""
    return found.status_code, found.content, [name for name in found.headers if name != "x-request-number"]


def test_every_address_of_a_link_is_tried(links: Links) -> None:
    """What leads to a shared answer, or changes who may read it, is tried here: another address would be missed."""
    of_links = {route for route in routes(links.served.app) if "share" in route}
    tried = {re.sub(r"answer\.\w+$", "answer.{ending}", route) for route in OPENED}
    assert of_links == tried | {*CHANGED, *OWNERS, *LISTED}
    assert set(ROLES.values()) == set(Role)


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", OPENED)
def test_a_link_opens_for_whom_it_is(links: Links, route: str, state: str) -> None:
    """It opens for its owner and for those it is for, while it is there; for all others nothing is there."""
    allowed = {"shared": {"ana", *ROLES}, "others": {"ana"}}.get(state, set())
    for person in PEOPLE:
        found = links.send(route, person, state)
        if person == "nobody":
            assert found.status_code == (401 if "/v1" in route else 303)
        elif person in allowed:
            assert found.status_code == 200, (person, found.text)
        else:
            assert found.status_code == 404, person
            assert told(found) == told(links.send(route, person, "never"))


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", CHANGED)
def test_only_its_owner_takes_a_link_back(links: Links, route: str, state: str) -> None:
    """Whoever it is for cannot revoke a link, nor find out whether there is one; it opens as before."""
    for person in PEOPLE:
        if person == "ana" and state in ("shared", "others"):
            continue
        found = links.send(route, person, state)
        nobody, other_role = (401 if "/v1" in route else 303), person not in ("nobody", "ana", "ben")
        assert found.status_code == (nobody if person == "nobody" else 403 if other_role else 404), person
        assert told(found) == told(links.send(route, person, "never"))
    assert links.send(OPENED[0], "rita", "shared").status_code == 200


@pytest.mark.parametrize("person", ROLES)
def test_lists_have_what_opens(links: Links, person: str) -> None:
    """The lists of somebody have the links that open for them, and no other."""
    listed = links.send("GET /v1/shared", person, "never").json()
    assert [(one["id"], one["people"]) for one in listed] == [(links.names["shared"], [person])]
    page = links.send("GET /reports", person, "never").text
    assert [state for state in STATES if f"It is {state}" in page] == ["shared"]


def test_an_owner_sees_their_own_links_only(links: Links) -> None:
    """Whose answer it is sees its links; an answer of somebody else of the same name has none for them."""
    assert {one["title"] for one in links.send(OWNERS[0], "ana", "never").json()} == {"It is shared", "It is others"}
    assert links.send(OWNERS[0], "ben", "never").json() == []


def test_whoever_left_opens_nothing(links: Links) -> None:
    """A key of somebody who left the file opens nothing, and one whose role changed opens what is theirs now."""
    assert links.send(OPENED[0], "zoe", "left").status_code == 401
    assert links.send(OPENED[0], "max", "demoted").status_code == 404
    assert links.send(OWNERS[0], "max", "demoted").status_code == 403


REPORT = ("/v1/reports/{}", "/reports/{}", "/reports/{}/report.json", "/reports/{}/report.html")
TABLE = ("/reports/{}/by_clinic/chart.svg", "/reports/{}/by_clinic/table.csv")


@pytest.mark.slow
@pytest.mark.parametrize("path", [*REPORT, *TABLE])
def test_a_report_outlives_its_analyst(links: Links, path: str) -> None:
    """What is published stays there for every role when its analyst leaves; a proposal is the custodians' to reject."""
    for person in ("ana", *ROLES):
        statuses: list[Any] = [
            links.send(f"GET {path.format(links.reports[state])}", person, "never").status_code
            for state in ("published", "proposed")
        ]
        page = path == "/reports/{}" and person == "carla"
        assert statuses == [200, 200 if page else 404], person
    carla = links.served.person("carla")
    assert carla.post(f"/v1/reports/{links.reports['proposed']}/approve").json()["code"] == "invalid-parameter"
