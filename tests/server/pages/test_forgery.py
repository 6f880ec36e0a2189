"""Attacks by forms: another site sends them, or somebody without the right to."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from inbounds.server.people.key import prefix_of
from tests.helpers.page_visitor import Visit, page_routes, visit
from tests.helpers.reporting import propose, rename, share
from tests.helpers.served_hospital import COUNT, VISITS, Served

CHANGES_NOTHING = ("/ask/{name}/practice", "/keep/{name}/contract", "/keep/{name}/contract/file")
"""Forms whose answers cost nothing and are not kept."""
FIRST, SECOND, LINK, SAVED = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
"""What two proposals, a link and a saved question are called."""

FORMS: dict[str, tuple[str, str, dict[str, str]]] = {
    "/sign-out": ("ana", "/sign-out", {}),
    "/ask/{name}": ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "forged"}),
    "/ask/{name}/practice": ("ana", "/ask/visits/practice", {"sql": COUNT, "epsilon": "0.5"}),
    "/ask/{name}/requests": ("ana", "/ask/visits/requests", {"amount": "1", "reason": "more"}),
    "/answers/{key}/shares": ("ana", "/answers/kept/shares", {"title": "a", "people": "rita"}),
    "/answers/{key}/shares/{share}/revoke": ("ana", f"/answers/kept/shares/{LINK}/revoke", {}),
    "/reports": ("ana", "/reports", {"dataset": "visits", "title": "a", "name": "forged", f"saved-{SAVED}": "yes"}),
    "/reports/{report}/approve": ("carla", f"/reports/{FIRST}/approve", {}),
    "/reports/{report}/reject": ("carla", f"/reports/{SECOND}/reject", {"note": "no"}),
    "/ask/{name}/saved": ("ana", "/ask/visits/saved", {"sql": COUNT, "epsilon": "0.5", "name": "forged"}),
    "/ask/{name}/saved/{question}/remove": ("ana", f"/ask/visits/saved/{SAVED}/remove", {}),
    "/keep/keys": ("carla", "/keep/keys", {"person": "ana", "days": "90"}),
    "/keep/keys/{prefix}/revoke": ("carla", "/keep/keys/PREFIX/revoke", {}),
    "/keep/{name}/grants": ("carla", "/keep/visits/grants", {"amount": "1", "note": "more"}),
    "/keep/{name}/contract": ("carla", "/keep/visits/contract", {"text": VISITS.format(total=50, per_analyst=20)}),
    "/keep/{name}/contract/file": ("carla", "/keep/visits/contract/file", {"text": "a = 1"}),
    "/keep/requests/{number}": ("carla", "/keep/requests/1", {"decision": "grant", "note": "more"}),
}
"""Every form that changes something: who may send it, where to, and what is in it."""

FREE = "/verify/certificate"
"""This form is read and answered; it is refused as well if it is forged."""

LAST = {"/sign-out", "/keep/keys/{prefix}/revoke"}
"""These end the session that sends them, or ana's."""

ORDER = sorted(FORMS, key=lambda route: (route in LAST, route.count("{number}"), route.endswith("/remove")))
ELSEWHERE = ("cross-site", "same-site")


@pytest.fixture
def served(served: Served) -> Served:
    """A server whose ledger has something in it."""
    assert served.person("ben").ask("first").status_code == 200
    return prepare(served)


def prepare(served: Served) -> Served:
    """Let ana have an answer with a link, a saved question, and reports that wait for a decision."""
    ana = served.person("ana")
    assert ana.ask("kept").status_code == 200
    assert served.service.saved.keep("ana", "visits", "counted", COUNT, "0.5")
    saved = served.service.saved.find_all("ana")[0].id
    names = {share(ana, "kept", "rita"): LINK, propose(ana): FIRST, propose(ana, name="next"): SECOND, saved: SAVED}
    rename(served, names)
    return served


def state(served: Served) -> tuple[object, ...]:
    """Return all that forms can change."""
    service = served.service
    with service.holdings.reading() as ledger:
        entries = ledger.head().seq
    sessions = len(served.service.sessions._database.rows("SELECT digest FROM sessions", ()))
    links = service.shares.of_answer("ana", "kept"), service.saved.find_all("ana"), service.reports.find_all()
    return entries, [*service.keys.issued()], [*service.budget_requests.find_all()], sessions, links


def sent(who: Visit, served: Served, route: str, headers: dict[str, str] | None = None, **instead: str) -> int:
    """Send a form, and return the status."""
    _, path, fields = FORMS[route]
    path = path.replace("PREFIX", prefix_of(served.keys["ana"]) or "")
    return who.post(path, headers, **{**fields, **instead}).status_code


@pytest.fixture(scope="module")
def unchanged(hospital: Served) -> Served:
    """A server for all tests that change nothing: its ledger has something in it, and ana has asked for more."""
    assert hospital.person("ben").ask("first").status_code == 200
    prepare(hospital)
    assert sent(visit(hospital, "ana"), hospital, "/ask/{name}/requests") == 303
    return hospital


def test_every_form_is_in_the_list(hospital: Served) -> None:
    """A form that is not attacked here does not exist."""
    assert {path for method, path in page_routes(hospital.app) if method == "POST"} == {
        *FORMS,
        FREE,
        "/sign-in",
    }


@pytest.mark.slow
@pytest.mark.parametrize("route", FORMS)
def test_a_form_from_elsewhere_does_nothing(unchanged: Served, route: str) -> None:
    """Without the session's token, with another's, or from another site, a form is refused and changes nothing."""
    people = {name: visit(unchanged, name) for name in ("ana", "ben", "carla")}
    who = people[FORMS[route][0]]
    before = state(unchanged)
    for token in ("", "wrong", people["ben"].token, who.token[:-1], f"{who.token} "):
        assert sent(who, unchanged, route, token=token) == 403, token
    for site in ELSEWHERE:
        assert sent(who, unchanged, route, headers={"Sec-Fetch-Site": site}) == 403
    assert state(unchanged) == before


def test_a_certificate_from_elsewhere_is_not_checked(unchanged: Served) -> None:
    """The form that changes nothing is refused without the token, or from another site."""
    dora = visit(unchanged, "dora")
    assert dora.post(FREE, certificate="{}").status_code == 200
    assert dora.post(FREE, certificate="{}", token="wrong").status_code == 403
    for site in ELSEWHERE:
        assert dora.post(FREE, {"Sec-Fetch-Site": site}, certificate="{}").status_code == 403


def test_the_same_forms_from_here_do_something(served: Served) -> None:
    """The forms of these attacks are right but for what is forged: sent from here, each changes something."""
    people = {name: visit(served, name) for name in ("ana", "carla")}
    for route in [*ORDER[: -len(LAST)], "/sign-out", "/keep/keys/{prefix}/revoke"]:
        before = state(served)
        site = {"Sec-Fetch-Site": "same-origin"}
        assert sent(people[FORMS[route][0]], served, route, headers=site) in (200, 303), route
        assert (state(served) != before) == (route not in CHANGES_NOTHING), route


@pytest.mark.parametrize("site", ELSEWHERE)
def test_nobody_is_signed_in_from_elsewhere(unchanged: Served, site: str) -> None:
    """Another site cannot sign somebody in with a key of its own choice."""
    nobody = visit(unchanged)
    found = nobody.post("/sign-in", {"Sec-Fetch-Site": site}, key=unchanged.keys["ana"])
    assert found.status_code == 403
    assert "set-cookie" not in found.headers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("origin", "status"), [("https://elsewhere.example", 403), ("null", 403), ("http://server", 303), (None, 303)]
)
def test_a_browser_of_before_says_where_a_form_is_from(unchanged: Served, origin: str | None, status: int) -> None:
    """Where a browser does not say which site sent a form, it says the origin: another one is refused."""
    headers = {"Host": "server"} | ({} if origin is None else {"Origin": origin})
    assert visit(unchanged).post("/sign-in", headers, key=unchanged.keys["ana"]).status_code == status


WANTED = {
    "/ask/{name}": "/ask/visits?sql=SELECT+COUNT%28%2A%29+FROM+visits&epsilon=0.5",
    "/ask/{name}/practice": "/ask/visits?sql=SELECT+COUNT%28%2A%29+FROM+visits&epsilon=0.5",
    "/ask/{name}/requests": "/ask/visits",
    "/ask/{name}/saved": "/ask/visits?sql=SELECT+COUNT%28%2A%29+FROM+visits&epsilon=0.5",
    "/ask/{name}/saved/{question}/remove": "/ask/visits",
    "/answers/{key}/shares": "/answers/kept",
    "/answers/{key}/shares/{share}/revoke": "/answers/kept",
    "/reports": "/reports",
    "/reports/{report}/approve": f"/reports/{FIRST}",
    "/reports/{report}/reject": f"/reports/{SECOND}",
    "/keep/keys": "/keep/keys",
    "/keep/keys/{prefix}/revoke": "/keep/keys",
    "/keep/{name}/grants": "/keep/visits",
    "/keep/{name}/contract": "/keep/visits/contract",
    "/keep/{name}/contract/file": "/keep/visits/contract",
    "/keep/requests/{number}": "/keep",
}


@pytest.mark.slow
@pytest.mark.parametrize("route", WANTED)
def test_a_form_whose_session_is_over_leads_back_to_its_page(unchanged: Served, route: str) -> None:
    """Whoever signs in again comes to the page that the form stood on, with the question that was written."""
    nobody = visit(unchanged)
    _, path, fields = FORMS[route]
    found, wanted = nobody.post(path, **fields), WANTED[route]
    assert found.headers["location"] == f"/sign-in?next={quote(wanted, safe='')}"
    signed = nobody.sign_in(unchanged.keys[FORMS[route][0]], wanted)
    assert signed.headers["location"] == wanted
    assert nobody.get(wanted).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("amount", ["-5", "0", "1e400", "1e-30", "abc", "", "99999999999"])
def test_a_request_is_for_an_amount_that_can_be_granted(unchanged: Served, amount: str) -> None:
    """Anything else is refused in words about the amount, and the custodian never sees it."""
    before = unchanged.service.budget_requests.find_all()
    found = visit(unchanged, "ana").post("/ask/visits/requests", amount=amount, reason="more")
    assert found.status_code == 400
    assert "The amount must" in found.text
    assert unchanged.service.budget_requests.find_all() == before


@pytest.mark.slow
@pytest.mark.parametrize("route", FORMS)
def test_a_key_without_a_cookie_sends_no_form(unchanged: Served, route: str) -> None:
    """Pages are for sessions: a key in a header, which a page never sends, opens none of them."""
    _, path, fields = FORMS[route]
    found = unchanged.person(FORMS[route][0]).post(path, data=fields, headers={"Accept": "text/html"})
    assert found.status_code == 303
    assert found.headers["location"] == "/" if route == "/sign-out" else "/sign-in?next=" in found.headers["location"]


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"\xff\xfe=1", b"&".join(b"a=1" for _ in range(200)), b"\x00", b"{}", b"%ff=%00"])
def test_a_form_that_cannot_be_read_is_refused(unchanged: Served, body: bytes) -> None:
    """Nonsense in place of a form is refused, without a fault of the server."""
    ana = visit(unchanged, "ana")
    found = ana.request("POST", "/ask/visits", content=body)
    assert found.status_code in (400, 403)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("person", "path", "fields"),
    [
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "a/b"}),
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "."}),
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": ".."}),
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "0.5", "key": "a" * 81}),
        ("ana", "/ask/visits", {"sql": "", "epsilon": "0.5"}),
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "nan"}),
        ("ana", "/ask/visits", {"sql": COUNT, "epsilon": "-1"}),
        ("ana", "/ask/visits/requests", {"amount": "nan", "reason": "more"}),
        ("ana", "/ask/visits/requests", {"amount": "1", "reason": " "}),
        ("ana", "/ask/visits/requests", {"amount": "1", "reason": "a" * 1001}),
        ("ana", "/answers/kept/shares", {"title": "a", "people": "somebody"}),
        ("ana", "/answers/kept/shares", {"title": "a", "people": " "}),
        ("ana", "/answers/kept/shares", {"title": "", "people": "rita"}),
        ("ana", "/answers/kept/shares", {"title": "a" * 201, "people": "rita"}),
        ("ana", "/answers/kept/shares", {"title": "a", "people": "rita", "description": "a" * 2001}),
        ("ana", "/answers/never/shares", {"title": "a", "people": "rita"}),
        ("ana", "/ask/visits/saved", {"sql": COUNT, "epsilon": "0.5", "name": " "}),
        ("ana", "/ask/visits/saved", {"sql": COUNT, "epsilon": "0.5", "name": "a" * 101}),
        ("ana", "/ask/visits/saved", {"sql": COUNT, "epsilon": "nan", "name": "a"}),
        ("ana", "/ask/visits/saved", {"sql": "", "epsilon": "0.5", "name": "a"}),
        ("ana", "/reports", {"dataset": "visits", "title": "a", "name": "a"}),
        ("ana", "/reports", {"dataset": "visits", "title": "a", "name": "../a", f"saved-{SAVED}": "yes"}),
        ("carla", f"/reports/{SECOND}/reject", {"note": "a" * 901}),
        ("carla", "/reports/0/approve", {}),
        ("carla", "/keep/keys", {"person": "nobody", "days": "90"}),
        ("carla", "/keep/keys", {"person": "ana", "days": "0"}),
        ("carla", "/keep/keys", {"person": "ana", "days": "-1"}),
        ("carla", "/keep/keys", {"person": "ana", "days": "9" * 5000}),
        ("carla", "/keep/keys", {"person": "ana", "days": "²"}),
        ("carla", "/keep/keys/000000000000/revoke", {}),
        ("carla", "/keep/visits/grants", {"amount": "1", "note": ""}),
        ("carla", "/keep/visits/grants", {"amount": "inf", "note": "more"}),
        ("carla", "/keep/visits/grants", {"amount": "1", "note": "more", "analyst": "nobody"}),
        ("carla", "/keep/visits/grants", {"amount": "1", "note": "a" * 1001}),
        ("carla", "/keep/requests/1", {"decision": "grant", "note": "a" * 1001}),
        ("carla", "/keep/requests/1", {"decision": "", "note": "more"}),
        ("carla", "/keep/requests/2", {"decision": "grant"}),
        ("carla", "/keep/requests/0", {"decision": "grant"}),
        ("carla", "/keep/requests/-1", {"decision": "grant"}),
        ("carla", f"/keep/requests/{2**63}", {"decision": "grant"}),
        ("carla", f"/keep/requests/{'9' * 4400}", {"decision": "grant"}),
    ],
)
def test_what_a_form_may_not_say_is_refused(unchanged: Served, person: str, path: str, fields: dict[str, str]) -> None:
    """A value outside its range is a refusal, never a fault of the server, and changes nothing."""
    people = {name: visit(unchanged, name) for name in ("ana", "carla")}
    before = state(unchanged)
    found = people[person].post(path, **fields)
    assert 400 <= found.status_code < 500, found.text
    assert state(unchanged) == before


@pytest.mark.slow
def test_a_request_is_granted_once(served: Served) -> None:
    """A decision stands: sent again, it is refused, and nothing more is granted."""
    people = {name: visit(served, name) for name in ("ana", "carla")}
    assert sent(people["ana"], served, "/ask/{name}/requests") == 303
    assert sent(people["carla"], served, "/keep/requests/{number}") == 303
    before = state(served)
    for decision in ("grant", "decline"):
        assert sent(people["carla"], served, "/keep/requests/{number}", decision=decision) == 404
    assert state(served) == before


def test_a_form_sent_twice_pays_once(served: Served) -> None:
    """A question that is sent again, as by a second click, costs nothing more."""
    ana = visit(served, "ana")
    assert sent(ana, served, "/ask/{name}") == 303
    before = state(served)
    assert sent(ana, served, "/ask/{name}") == 303
    assert state(served) == before
