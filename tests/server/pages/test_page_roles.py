"""Who may see which page: every address, for everybody, also with what belongs to others."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import httpx2
import pytest

from inbounds.server.basics.problem import KINDS
from tests.helpers.page_visitor import Visit, page_routes, visit
from tests.helpers.served_hospital import COUNT, Served

PEOPLE = ("nobody", "ana", "eve", "carla", "dora")


@dataclass(frozen=True)
class Entry:
    """A page, and its status for nobody, an analyst of visits, one of births, the custodian and the auditor."""

    route: str
    statuses: tuple[int, int, int, int, int]
    path: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    def sent(self, who: Visit) -> httpx2.Response:
        """Send it."""
        method, _, path = self.route.partition(" ")
        return who.post(self.path or path, **self.fields) if method == "POST" else who.get(self.path or path)


ALL = (200, 200, 200, 200, 200)
ANALYSTS = (303, 200, 200, 403, 403)
ANAS = (303, 200, 404, 403, 403)
NOT_THERE = (303, 404, 404, 403, 403)
CUSTODIANS = (303, 403, 403, 200, 403)
READERS = (303, 403, 403, 200, 200)
SOUGHT = f"sql={COUNT.replace(' ', '+')}&epsilon=0.5"

BY = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"

MATRIX = [
    Entry("GET /", ALL),
    Entry("GET /plan", ALL),
    Entry("GET /plan", (400,) * 5, "/plan?bounds=nonsense"),
    Entry("GET /plan/law.svg", ALL, "/plan/law.svg?bounds=[0,100]&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/law.svg", (400,) * 5, "/plan/law.svg?bounds=nonsense&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/certificate.json", ALL, "/plan/certificate.json?bounds=[0,100]&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/certificate.json", (400,) * 5, "/plan/certificate.json?bounds=nonsense&sensitivity=2&epsilon=0.5"),
    Entry("GET /static/{name}", ALL, "/static/style.css"),
    Entry("GET /static/{name}", (404,) * 5, "/static/..%2fpage.py"),
    Entry("GET /sign-in", ALL),
    Entry("POST /sign-in", (401,) * 5, fields={"key": "inb_wrong"}),
    Entry("GET /sign-in/provider", (404,) * 5),
    Entry("GET /sign-in/provider/back", (404,) * 5),
    Entry("GET /ask", ANALYSTS),
    Entry("GET /ask/{name}", ANAS, "/ask/visits"),
    Entry("GET /ask/{name}", NOT_THERE, "/ask/nothing"),
    Entry("GET /ask/{name}/explanation", (303, 200, 200, 403, 403), f"/ask/visits/explanation?{SOUGHT}"),
    Entry("GET /ask/{name}/noise.svg", ANAS, f"/ask/visits/noise.svg?{SOUGHT}"),
    Entry("GET /ask/{name}/noise.svg", (303, 400, 404, 403, 403), "/ask/visits/noise.svg?sql=DROP"),
    Entry("GET /ask/{name}/owned", NOT_THERE, "/ask/visits/owned?sql=SELECT+AVG(age)+FROM+visits"),
    Entry("GET /ask/{name}/owned", (303, 200, 404, 403, 403), f"/ask/visits/owned?sql={BY}"),
    Entry("GET /ask/{name}/owned", (303, 400, 404, 403, 403), f"/ask/visits/owned?{SOUGHT.replace('COUNT', 'BAD')}"),
    Entry("POST /ask/{name}", (303, 303, 404, 403, 403), "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "a"}),
    Entry("POST /ask/{name}", NOT_THERE, "/ask/nothing", {"sql": COUNT, "epsilon": "0.5", "key": "b"}),
    Entry("POST /ask/{name}/practice", ANAS, "/ask/visits/practice", {"sql": COUNT, "epsilon": "0.5"}),
    Entry("POST /ask/{name}/practice", NOT_THERE, "/ask/nothing/practice", {"sql": COUNT, "epsilon": "0.5"}),
    Entry(
        "POST /ask/{name}/requests", (303, 303, 404, 403, 403), "/ask/visits/requests", {"amount": "1", "reason": "a"}
    ),
    Entry("GET /answers", ANALYSTS),
    Entry("GET /answers/{key}", ANAS, "/answers/of-ana"),
    Entry("GET /answers/{key}", NOT_THERE, "/answers/of-ben"),
    Entry("GET /answers/{key}", NOT_THERE, "/answers/of-nobody"),
    Entry("GET /answers/{key}/chart.svg", ANAS, "/answers/of-ana/chart.svg"),
    Entry("GET /answers/{key}/chart.svg", NOT_THERE, "/answers/of-ben/chart.svg"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.csv"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.json"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.parquet"),
    Entry("GET /answers/{key}/answer.{ending}", NOT_THERE, "/answers/of-ana/answer.exe"),
    Entry("GET /answers/{key}/answer.{ending}", NOT_THERE, "/answers/of-ben/answer.csv"),
    Entry("GET /keep", CUSTODIANS),
    Entry("GET /keep/keys", CUSTODIANS),
    Entry("POST /keep/keys", CUSTODIANS, fields={"person": "ben", "days": "1"}),
    Entry("POST /keep/keys/{prefix}/revoke", (303, 403, 403, 404, 403), "/keep/keys/000000000000/revoke"),
    Entry("GET /keep/{name}", CUSTODIANS, "/keep/visits"),
    Entry("GET /keep/{name}", (303, 403, 403, 404, 403), "/keep/nothing"),
    Entry("GET /keep/{name}/balances.svg", CUSTODIANS, "/keep/visits/balances.svg"),
    Entry("GET /keep/{name}/check", CUSTODIANS, "/keep/visits/check"),
    Entry("POST /keep/{name}/grants", (303, 403, 403, 303, 403), "/keep/visits/grants", {"amount": "1", "note": "a"}),
    Entry("POST /keep/requests/{number}", (303, 403, 403, 404, 403), "/keep/requests/99", {"decision": "grant"}),
    Entry("GET /verify", READERS),
    Entry("GET /verify/entries", READERS),
    Entry("GET /verify/entries/{number}", READERS, "/verify/entries/1"),
    Entry("GET /verify/entries/{number}", (303, 403, 403, 404, 404), "/verify/entries/99999"),
    Entry("GET /verify/statement", READERS),
    Entry("GET /verify/statement.csv", READERS),
    Entry("GET /verify/head.txt", READERS),
    Entry("GET /verify/certificate", READERS),
    Entry("POST /verify/certificate", READERS, fields={"certificate": "{}"}),
    Entry("POST /sign-out", (303,) * 5),
]


@pytest.fixture(scope="module")
def everybody(hospital: Served) -> dict[str, Visit]:
    """Everybody's browser, after ana and ben have asked something."""
    found = {name: visit(hospital, None if name == "nobody" else name) for name in (*PEOPLE, "ben")}
    for name in ("ana", "ben"):
        assert found[name].post("/ask/visits", sql=BY, epsilon="0.5", key=f"of-{name}").status_code == 303
    return found


def test_every_page_is_in_the_matrix(hospital: Served) -> None:
    """A page that nobody has decided about does not exist."""
    assert {f"{method} {path}" for method, path in page_routes(hospital.app)} == {entry.route for entry in MATRIX}


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("entry", MATRIX, ids=lambda entry: f"{entry.route.split()[0]} {entry.path or entry.route}")
def test_everybody_sees_the_pages_that_are_theirs(
    hospital: Served, everybody: dict[str, Visit], entry: Entry, person: str
) -> None:
    """Each page has for each person exactly the status that the matrix says; nobody is asked to sign in."""
    assert everybody
    found = entry.sent(visit(hospital, None if person == "nobody" else person))
    assert found.status_code == entry.statuses[PEOPLE.index(person)], found.text


@pytest.mark.slow
@pytest.mark.parametrize("entry", MATRIX, ids=lambda entry: f"{entry.route.split()[0]} {entry.path or entry.route}")
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_no_other_method_does_anything(hospital: Served, entry: Entry, method: str) -> None:
    """An address has the methods of the matrix, and no other."""
    found = visit(hospital).request(method, entry.path or entry.route.split()[1])
    assert found.status_code == (404 if "%2f" in entry.path else 405)


def told(found: httpx2.Response) -> tuple[int, str, list[str]]:
    """Return all of a response but its number and the address that was asked for."""
    return found.status_code, found.text, [name for name in found.headers if name != "x-request-number"]


@pytest.mark.parametrize("ending", ["", "/chart.svg", "/answer.csv", "/answer.json", "/answer.parquet"])
def test_another_persons_answer_is_not_there(everybody: dict[str, Visit], ending: str) -> None:
    """Guessing links tells nothing: another's answer, and one that there is not, are refused by the same bytes."""
    anas = everybody["eve"].get(f"/answers/of-ana{ending}")
    none = everybody["eve"].get(f"/answers/of-abc{ending}")
    assert told(anas) == told(none)
    assert anas.status_code == 404


def test_another_dataset_is_not_there(everybody: dict[str, Visit]) -> None:
    """An analyst who guesses the name of a dataset is told the same as of a name that nothing has."""
    for path in ("/ask/{}", f"/ask/{{}}/noise.svg?{SOUGHT}", f"/ask/{{}}/explanation?{SOUGHT}"):
        theirs, none = (everybody["eve"].get(path.format(name)) for name in ("visits", "vanish"))
        tokens = [one.text.replace("visits", "").replace("vanish", "") for one in (theirs, none)]
        assert (theirs.status_code, tokens[0]) == (none.status_code, tokens[1])
        assert escape(KINDS["not-found"].title) in theirs.text or "dataset" in theirs.text


def test_a_role_that_may_not_is_told_nothing(everybody: dict[str, Visit]) -> None:
    """What a page of another role says to whoever may not see it does not depend on what is there."""
    for person, paths in {
        "ana": ("/keep/visits/check", "/keep/nothing/check"),
        "carla": ("/answers/a", "/answers/b"),
    }.items():
        first, second = (everybody[person].get(path) for path in paths)
        assert told(first) == told(second)
        assert first.status_code == 403


def test_an_auditor_may_come_first(served: Served) -> None:
    """Before anybody has asked anything there is nothing to read, and nobody is told where it would be."""
    dora, paths = visit(served, "dora"), ("/verify", "/verify/entries", "/verify/statement.csv", "/verify/statement")
    assert all("budget.db" not in dora.get(path).text for path in paths)
    assert served.service.holdings.is_ready()  # which a server looks for before it begins
    assert [dora.get(path).status_code for path in paths] == [200] * len(paths)


@pytest.mark.parametrize("person", ["ana", "carla", "dora"])
def test_menus_lead_where_one_may_go(everybody: dict[str, Visit], person: str) -> None:
    """No link in somebody's menu is refused."""
    text = everybody[person].get("/plan?bounds=x").text
    menu = text[text.index("<nav") : text.index("</nav>")]
    links = [part.split('"')[0] for part in menu.split('href="')[1:]]
    assert len(links) > 1
    assert [everybody[person].get(link).status_code for link in links] == [200] * len(links)
