"""Who may see which page: every address, for everybody, also with what belongs to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

import httpx2
import pytest

from inbounds.server.basics.problem import KINDS
from tests.helpers.page_visitor import Visit, page_routes, visit
from tests.helpers.reporting import propose, publish, share
from tests.helpers.served_hospital import COUNT, VISITS, Served

PEOPLE = ("nobody", "ana", "eve", "carla", "dora", "rita")


@dataclass(frozen=True)
class Entry:
    """A page, and its status for nobody, analysts of visits and of births, custodian, auditor and reader."""

    route: str
    statuses: tuple[int, ...]
    path: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    def sent(self, who: Visit, names: Mapping[str, str]) -> httpx2.Response:
        """Send it: a path names a published report, a proposal and a link by {pub}, {prop}, {link} and {revoked}."""
        method, _, route = self.route.partition(" ")
        path = with_names(self.path or route, names)
        return who.post(path, **self.fields) if method == "POST" else who.get(path)


def with_names(path: str, names: Mapping[str, str]) -> str:
    """Return a path with what reports and links are called."""
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    return path


ALL = (200,) * 6
ANALYSTS = (303, 200, 200, 403, 403, 403)
ANAS = (303, 200, 404, 403, 403, 403)
NOT_THERE = (303, 404, 404, 403, 403, 403)
CUSTODIANS = (303, 403, 403, 200, 403, 403)
AUDITORS = (303, 403, 403, 200, 200, 403)
READERS = (303, 200, 200, 200, 200, 200)
NEVER = (303, 404, 404, 404, 404, 404)
SHARED = (303, 200, 404, 404, 200, 200)
SOUGHT = f"sql={COUNT.replace(' ', '+')}&epsilon=0.5"

BY = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"

ASKS, BADLY = (303, 303, 404, 403, 403, 403), (303, 400, 404, 403, 403, 403)
DECIDES, UNKEPT = (303, 403, 403, 303, 403, 403), (303, 403, 403, 404, 403, 403)
NONE = "0" * 32

CONTRACT = VISITS.format(total=50, per_analyst=20)

MATRIX = [
    Entry("GET /", ALL),
    Entry("GET /plan", ALL),
    Entry("GET /plan", (400,) * 6, "/plan?bounds=nonsense"),
    Entry("GET /plan/law.svg", ALL, "/plan/law.svg?bounds=[0,100]&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/law.svg", (400,) * 6, "/plan/law.svg?bounds=nonsense&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/certificate.json", ALL, "/plan/certificate.json?bounds=[0,100]&sensitivity=2&epsilon=0.5"),
    Entry("GET /plan/certificate.json", (400,) * 6, "/plan/certificate.json?bounds=nonsense&sensitivity=2&epsilon=0.5"),
    Entry("GET /static/{name}", ALL, "/static/style.css"),
    Entry("GET /static/{name}", (404,) * 6, "/static/..%2fpage.py"),
    Entry("GET /sign-in", ALL),
    Entry("POST /sign-in", (401,) * 6, fields={"key": "inb_wrong"}),
    Entry("GET /sign-in/provider", (404,) * 6),
    Entry("GET /sign-in/provider/back", (404,) * 6),
    Entry("GET /ask", ANALYSTS),
    Entry("GET /ask/{name}", ANAS, "/ask/visits"),
    Entry("GET /ask/{name}", NOT_THERE, "/ask/nothing"),
    Entry("GET /ask/{name}/explanation", ANALYSTS, f"/ask/visits/explanation?{SOUGHT}"),
    Entry("GET /ask/{name}/noise.svg", ANAS, f"/ask/visits/noise.svg?{SOUGHT}"),
    Entry("GET /ask/{name}/noise.svg", BADLY, "/ask/visits/noise.svg?sql=DROP"),
    Entry("GET /ask/{name}/query.ipynb", ANAS, f"/ask/visits/query.ipynb?{SOUGHT}"),
    Entry("GET /ask/{name}/query.ipynb", NOT_THERE, f"/ask/nothing/query.ipynb?{SOUGHT}"),
    Entry("GET /ask/{name}/query.ipynb", BADLY, "/ask/visits/query.ipynb?sql=DROP"),
    Entry("GET /ask/{name}/owned", NOT_THERE, "/ask/visits/owned?sql=SELECT+AVG(age)+FROM+visits"),
    Entry("GET /ask/{name}/owned", ANAS, f"/ask/visits/owned?sql={BY}"),
    Entry("GET /ask/{name}/owned", BADLY, f"/ask/visits/owned?{SOUGHT.replace('COUNT', 'BAD')}"),
    Entry("POST /ask/{name}", ASKS, "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "a"}),
    Entry("POST /ask/{name}", NOT_THERE, "/ask/nothing", {"sql": COUNT, "epsilon": "0.5", "key": "b"}),
    Entry("POST /ask/{name}/practice", ANAS, "/ask/visits/practice", {"sql": COUNT, "epsilon": "0.5"}),
    Entry("POST /ask/{name}/practice", NOT_THERE, "/ask/nothing/practice", {"sql": COUNT, "epsilon": "0.5"}),
    Entry("POST /ask/{name}/requests", ASKS, "/ask/visits/requests", {"amount": "1", "reason": "a"}),
    Entry("POST /ask/{name}/saved", ASKS, "/ask/visits/saved", {"sql": COUNT, "epsilon": "0.5", "name": "a"}),
    Entry("POST /ask/{name}/saved", NOT_THERE, "/ask/nothing/saved", {"sql": COUNT, "epsilon": "0.5", "name": "a"}),
    Entry("POST /ask/{name}/saved/{question}/remove", NOT_THERE, f"/ask/visits/saved/{NONE}/remove"),
    Entry("GET /answers", ANALYSTS),
    Entry("GET /answers/{key}", ANAS, "/answers/of-ana"),
    Entry("GET /answers/{key}", NOT_THERE, "/answers/of-ben"),
    Entry("GET /answers/{key}", NOT_THERE, "/answers/of-nobody"),
    Entry("GET /answers/{key}/chart.svg", ANAS, "/answers/of-ana/chart.svg"),
    Entry("GET /answers/{key}/chart.svg", NOT_THERE, "/answers/of-ben/chart.svg"),
    Entry("GET /answers/{key}/answer.ipynb", ANAS, "/answers/of-ana/answer.ipynb"),
    Entry("GET /answers/{key}/answer.ipynb", NOT_THERE, "/answers/of-ben/answer.ipynb"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.csv"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.json"),
    Entry("GET /answers/{key}/answer.{ending}", ANAS, "/answers/of-ana/answer.parquet"),
    Entry("GET /answers/{key}/answer.{ending}", NOT_THERE, "/answers/of-ana/answer.exe"),
    Entry("GET /answers/{key}/answer.{ending}", NOT_THERE, "/answers/of-ben/answer.csv"),
    Entry("POST /answers/{key}/shares", ASKS, "/answers/of-ana/shares", {"title": "a", "people": "rita"}),
    Entry("POST /answers/{key}/shares", NOT_THERE, "/answers/of-ben/shares", {"title": "a", "people": "rita"}),
    Entry("POST /answers/{key}/shares/{share}/revoke", NOT_THERE, f"/answers/of-ana/shares/{NONE}/revoke"),
    Entry("POST /answers/{key}/shares/{share}/revoke", NOT_THERE, "/answers/of-ben/shares/{link}/revoke"),
    Entry("GET /shared/{share}", SHARED, "/shared/{link}"),
    Entry("GET /shared/{share}", NEVER, "/shared/{revoked}"),
    Entry("GET /shared/{share}", NEVER, f"/shared/{NONE}"),
    Entry("GET /shared/{share}/chart.svg", SHARED, "/shared/{link}/chart.svg"),
    Entry("GET /shared/{share}/chart.svg", NEVER, "/shared/{revoked}/chart.svg"),
    Entry("GET /shared/{share}/chart.svg", NEVER, f"/shared/{NONE}/chart.svg"),
    Entry("GET /shared/{share}/answer.{ending}", SHARED, "/shared/{link}/answer.csv"),
    Entry("GET /shared/{share}/answer.{ending}", SHARED, "/shared/{link}/answer.json"),
    Entry("GET /shared/{share}/answer.{ending}", NEVER, "/shared/{link}/answer.exe"),
    Entry("GET /shared/{share}/answer.{ending}", NEVER, "/shared/{revoked}/answer.csv"),
    Entry("GET /shared/{share}/answer.{ending}", NEVER, f"/shared/{NONE}/answer.csv"),
    Entry("GET /reports", READERS),
    Entry("POST /reports", (303, 400, 400, 403, 403, 403), fields={"dataset": "visits", "title": "a", "name": "a"}),
    Entry("GET /reports/{report}", READERS, "/reports/{pub}"),
    Entry("GET /reports/{report}", (303, 200, 404, 200, 404, 404), "/reports/{prop}"),
    Entry("GET /reports/{report}", NEVER, f"/reports/{NONE}"),
    Entry("GET /reports/{report}/report.json", READERS, "/reports/{pub}/report.json"),
    Entry("GET /reports/{report}/report.json", NEVER, "/reports/{prop}/report.json"),
    Entry("GET /reports/{report}/report.html", READERS, "/reports/{pub}/report.html"),
    Entry("GET /reports/{report}/report.html", NEVER, "/reports/{prop}/report.html"),
    Entry("GET /reports/{report}/{table}/chart.svg", READERS, "/reports/{pub}/by_clinic/chart.svg"),
    Entry("GET /reports/{report}/{table}/chart.svg", NEVER, "/reports/{pub}/nothing/chart.svg"),
    Entry("GET /reports/{report}/{table}/chart.svg", NEVER, "/reports/{prop}/by_clinic/chart.svg"),
    Entry("GET /reports/{report}/{table}/table.csv", READERS, "/reports/{pub}/by_clinic/table.csv"),
    Entry("GET /reports/{report}/{table}/table.csv", NEVER, "/reports/{prop}/by_clinic/table.csv"),
    Entry("POST /reports/{report}/approve", DECIDES, "/reports/{pub}/approve"),
    Entry("POST /reports/{report}/approve", UNKEPT, f"/reports/{NONE}/approve"),
    Entry("POST /reports/{report}/reject", (303, 403, 403, 400, 403, 403), "/reports/{pub}/reject"),
    Entry("POST /reports/{report}/reject", UNKEPT, f"/reports/{NONE}/reject"),
    Entry("GET /keep", CUSTODIANS),
    Entry("GET /keep/keys", CUSTODIANS),
    Entry("POST /keep/keys", CUSTODIANS, fields={"person": "ben", "days": "1"}),
    Entry("POST /keep/keys/{prefix}/revoke", UNKEPT, "/keep/keys/000000000000/revoke"),
    Entry("GET /keep/{name}", CUSTODIANS, "/keep/visits"),
    Entry("GET /keep/{name}", UNKEPT, "/keep/nothing"),
    Entry("GET /keep/{name}/balances.svg", CUSTODIANS, "/keep/visits/balances.svg"),
    Entry("GET /keep/{name}/check", CUSTODIANS, "/keep/visits/check"),
    Entry("GET /keep/{name}/check", UNKEPT, "/keep/nothing/check"),
    Entry("GET /keep/{name}/contract", CUSTODIANS, "/keep/visits/contract"),
    Entry("GET /keep/{name}/contract", CUSTODIANS, "/keep/visits/contract?draft=true"),
    Entry("GET /keep/{name}/contract", UNKEPT, "/keep/nothing/contract"),
    Entry(
        "POST /keep/{name}/contract",
        CUSTODIANS,
        "/keep/visits/contract",
        {"text": CONTRACT},
    ),
    Entry("POST /keep/{name}/contract", CUSTODIANS, "/keep/visits/contract", {"text": "nonsense"}),
    Entry("POST /keep/{name}/contract", UNKEPT, "/keep/nothing/contract", {"text": "a = 1"}),
    Entry("POST /keep/{name}/contract/file", CUSTODIANS, "/keep/visits/contract/file", {"text": "a = 1"}),
    Entry("POST /keep/{name}/contract/file", UNKEPT, "/keep/nothing/contract/file", {"text": "a = 1"}),
    Entry("POST /keep/{name}/grants", DECIDES, "/keep/visits/grants", {"amount": "1", "note": "a"}),
    Entry("POST /keep/requests/{number}", UNKEPT, "/keep/requests/99", {"decision": "grant"}),
    Entry("GET /verify", AUDITORS),
    Entry("GET /verify/entries", AUDITORS),
    Entry("GET /verify/entries/{number}", AUDITORS, "/verify/entries/1"),
    Entry("GET /verify/entries/{number}", (303, 403, 403, 404, 404, 403), "/verify/entries/99999"),
    Entry("GET /verify/statement", AUDITORS),
    Entry("GET /verify/statement.csv", AUDITORS),
    Entry("GET /verify/head.txt", AUDITORS),
    Entry("GET /verify/certificate", AUDITORS),
    Entry("POST /verify/certificate", AUDITORS, fields={"certificate": "{}"}),
    Entry("POST /sign-out", (303,) * 6),
]


@pytest.fixture(scope="module")
def everybody(hospital: Served) -> dict[str, Visit]:
    """Everybody's browser, after ana and ben have asked something."""
    found = {name: visit(hospital, None if name == "nobody" else name) for name in (*PEOPLE, "ben")}
    for name in ("ana", "ben"):
        assert found[name].post("/ask/visits", sql=BY, epsilon="0.5", key=f"of-{name}").status_code == 303
    return found


@pytest.fixture(scope="module")
def names(hospital: Served, everybody: dict[str, Visit]) -> dict[str, str]:
    """What reports and links are called: the link is for rita and dora."""
    assert everybody
    ana = hospital.person("ana")
    link, revoked = share(ana, "of-ana", "rita", "dora"), share(ana, "of-ana", "rita", "dora", "carla")
    assert ana.delete(f"/v1/answers/of-ana/shares/{revoked}").status_code == 204
    return {"pub": publish(hospital), "prop": propose(ana, name="next"), "link": link, "revoked": revoked}


def test_every_page_is_in_the_matrix(hospital: Served) -> None:
    """A page that nobody has decided about does not exist."""
    assert {f"{method} {path}" for method, path in page_routes(hospital.app)} == {entry.route for entry in MATRIX}


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("entry", MATRIX, ids=lambda entry: f"{entry.route.split()[0]} {entry.path or entry.route}")
def test_everybody_sees_the_pages_that_are_theirs(
    hospital: Served, names: dict[str, str], entry: Entry, person: str
) -> None:
    """Each page has for each person exactly the status that the matrix says; nobody is asked to sign in."""
    found = entry.sent(visit(hospital, None if person == "nobody" else person), names)
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


@pytest.mark.parametrize(
    "ending", ["", "/chart.svg", "/answer.csv", "/answer.json", "/answer.parquet", "/answer.ipynb"]
)
def test_another_persons_answer_is_not_there(everybody: dict[str, Visit], ending: str) -> None:
    """Guessing links tells nothing: another's answer, and one that there is not, are refused by the same bytes."""
    anas = everybody["eve"].get(f"/answers/of-ana{ending}")
    none = everybody["eve"].get(f"/answers/of-abc{ending}")
    assert told(anas) == told(none)
    assert anas.status_code == 404


@pytest.mark.parametrize("ending", ["", "/chart.svg", "/answer.csv", "/answer.json", "/answer.parquet"])
def test_a_link_for_others_is_not_there(everybody: dict[str, Visit], names: dict[str, str], ending: str) -> None:
    """A link that is for others, and one that there is not, are refused by the same bytes, whatever one's role is."""
    for person in ("ben", "eve", "carla"):
        theirs, none = (everybody[person].get(f"/shared/{one}{ending}") for one in (names["link"], NONE))
        assert told(theirs) == told(none)
        assert theirs.status_code == 404


@pytest.mark.parametrize("ending", ["", "/report.json", "/report.html", "/by_clinic/chart.svg", "/by_clinic/table.csv"])
def test_a_proposal_of_others_is_not_there(everybody: dict[str, Visit], names: dict[str, str], ending: str) -> None:
    """A report that is not published, and one that there is not, are refused by the same bytes."""
    for person in ("ben", "eve", "dora", "rita"):
        theirs, none = (everybody[person].get(f"/reports/{one}{ending}") for one in (names["prop"], NONE))
        assert told(theirs) == told(none)
        assert theirs.status_code == 404


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
        "dora": ("/keep/visits/contract", "/keep/nothing/contract"),
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


@pytest.mark.parametrize("person", ["ana", "carla", "dora", "rita"])
def test_menus_lead_where_one_may_go(everybody: dict[str, Visit], person: str) -> None:
    """No link in somebody's menu is refused."""
    text = everybody[person].get("/plan?bounds=x").text
    menu = text[text.index("<nav") : text.index("</nav>")]
    links = [part.split('"')[0] for part in menu.split('href="')[1:]]
    assert len(links) > 1
    assert [everybody[person].get(link).status_code for link in links] == [200] * len(links)
