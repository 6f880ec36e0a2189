"""Attacks on sessions: cookies set beforehand, kept afterwards, or sent elsewhere; and where one is sent to."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from inbounds.server.basics import clock
from inbounds.server.pages.sign_in import UNKNOWN_KEY
from inbounds.server.people.key import prefix_of
from inbounds.server.people.sessions import HOURS
from tests.helpers.page_visitor import COOKIE, visit
from tests.helpers.served_hospital import Served, build

ELSEWHERE = [
    "//evil.example", "///evil.example", "/\\evil.example", "/\\/evil.example", "\\\\evil.example", "https://evil.example",
    "https:evil.example", "http:/evil.example", "javascript:alert(7)", "evil.example", "@evil.example", ".evil.example",
    " //evil.example", "\t//evil.example", "/\t/evil.example", "/\n/evil.example", "/ask\r\nSet-Cookie: a=b",
    "/ask\r\nLocation: //evil.example", "/ask\x00", "/\u2215evil.example", "/\u3000/evil.example", "/a\\..\\b", "",
    "?", "#",
]  # fmt: skip
HERE = ["/ask", "/ask/visits?sql=SELECT%20COUNT(*)%20FROM%20visits", "/answers/a#b", "/%2f%2fevil.example", "/..//evil"]


@pytest.mark.parametrize("after", ELSEWHERE)
def test_nobody_is_sent_elsewhere(hospital: Served, after: str) -> None:
    """After signing in, an address of another host, or of none, leads to one's own first page, and adds no header."""
    found = visit(hospital).sign_in(hospital.keys["ana"], after)
    assert (found.status_code, found.headers["location"]) == (303, "/ask")
    assert [value.partition("=")[0] for value in found.headers.get_list("set-cookie")] == [COOKIE]


@pytest.mark.parametrize("after", HERE)
def test_one_comes_back_to_the_page_that_was_wanted(hospital: Served, after: str) -> None:
    """An address of this server is where one goes after signing in: one slash, and whatever is encoded stays so."""
    assert visit(hospital).sign_in(hospital.keys["ana"], after).headers["location"] == after


@pytest.mark.parametrize("path", ["/ask", "/answers/a?b=c&d=%2F%2Fe", "/keep/visits", "/ask/a%20b%C3%A9?sql=c%20d"])
def test_whoever_is_not_signed_in_is_asked_to(hospital: Served, path: str) -> None:
    """A link that somebody shares shows nothing but where to sign in, and leads back to itself."""
    nobody = visit(hospital)
    found = nobody.get(path)
    after = unquote(found.headers["location"].partition("next=")[2])
    assert visit(hospital).sign_in(hospital.keys["ana"], after).headers["location"] == path
    assert found.status_code == 303
    assert found.headers["location"].startswith("/sign-in?next=%2F")
    assert found.text == ""
    assert nobody.get(found.headers["location"]).status_code == 200


def test_everybody_has_a_first_page(hospital: Served) -> None:
    """Each role begins where its work is."""
    for name, home in {"ana": "/ask", "carla": "/keep", "dora": "/verify"}.items():
        first = visit(hospital).sign_in(hospital.keys[name]).headers["location"]
        assert first == home
        assert visit(hospital, name).get(first).status_code == 200


def test_the_cookie_is_for_this_server_alone(hospital: Served) -> None:
    """Scripts do not see the cookie, and no other site has it sent."""
    (cookie,) = visit(hospital).sign_in(hospital.keys["ana"]).headers.get_list("set-cookie")
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert flags == {"httponly", "samesite=lax", "path=/", f"max-age={HOURS * 3600}"}


def test_behind_a_proxy_the_cookie_needs_tls(tmp_path: Path) -> None:
    """Where TLS ends at a proxy, the cookie is not sent in the clear."""
    served = build(tmp_path / "hospital", more='[proxy]\naddresses = ["127.0.0.1"]\n')
    ana = visit(served)
    (cookie,) = ana.sign_in(served.keys["ana"]).headers.get_list("set-cookie")
    (gone,) = ana.post("/sign-out").headers.get_list("set-cookie")
    served.close()
    assert "; Secure" in cookie
    assert "Max-Age=0" in gone
    assert "; Secure" in gone  # or browsers keep it


def test_a_cookie_that_was_set_before_is_not_kept(served: Served) -> None:
    """Signing in makes a new session, whatever cookie the browser had: one that was planted opens nothing."""
    nobody = visit(served)
    nobody.cookie = planted = "planted-by-somebody-else"
    nobody.sign_in(served.keys["ana"])
    assert nobody.cookie != planted
    other = visit(served)
    other.cookie = planted
    assert other.get("/ask").status_code == 303


def test_signing_in_again_ends_the_session_before(served: Served) -> None:
    """A browser has one session: who signs in anew leaves none behind, whoever that was."""
    first = visit(served, "ben")
    again = visit(served)
    again.cookie = first.cookie
    again.sign_in(served.keys["ana"])
    assert again.get("/ask").status_code == 200
    assert first.get("/ask").status_code == 303


def test_signing_out_ends_the_session_on_the_server(served: Served) -> None:
    """After signing out the cookie opens nothing, also for whoever kept a copy; another session goes on."""
    ana, elsewhere = visit(served, "ana"), visit(served, "ana")
    found = ana.post("/sign-out")
    assert found.status_code == 303
    assert "Max-Age=0" in found.headers["set-cookie"]
    assert ana.get("/ask").status_code == 303
    assert (
        ana.post("/ask/visits", sql="SELECT COUNT(*) FROM visits", epsilon="1").headers["location"].startswith("/sign")
    )
    assert elsewhere.get("/ask").status_code == 200


def test_a_session_ends_with_its_key(served: Served) -> None:
    """Whoever signed in with a key that is revoked is out by the next request; other keys' sessions go on."""
    ana, text = visit(served, "ana"), served.ring.issue("ana")[0]
    other = visit(served)
    other.sign_in(text)
    served.ring.revoke(prefix_of(served.keys["ana"]) or "")
    assert (ana.get("/ask").status_code, other.get("/ask").status_code) == (303, 200)


def test_a_session_ends_by_itself(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """After twelve hours one signs in again, and what was stored of the session is forgotten when somebody does."""
    ana = visit(served, "ana")
    later = clock.now() + timedelta(hours=HOURS, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert ana.get("/ask").status_code == 303
    visit(served, "ben")
    assert served.service.sessions._database.rows("SELECT person FROM sessions", ()) == [("ben",)]


def test_a_session_ends_with_the_person(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody whom the custodian's file no longer names is nobody, with whatever cookie."""
    ana = visit(served, "ana")
    monkeypatch.delitem(served.service.file.people, "ana")
    assert ana.get("/ask").status_code == 303


@pytest.mark.parametrize("key", ["", "inb_", "inb_000000000000_wrong", "\x00", "é", "a" * 10_000])
def test_a_wrong_key_signs_nobody_in(hospital: Served, key: str) -> None:
    """Whatever is no key is refused alike, with a page that says what to do, and without a cookie."""
    found = visit(hospital).post("/sign-in", key=key)
    assert found.status_code == 401
    assert "set-cookie" not in found.headers
    assert found.text == visit(hospital).post("/sign-in", key="inb_wrong").text
    assert UNKNOWN_KEY in unescape(found.text)


def test_wrong_keys_are_limited(tmp_path: Path) -> None:
    """Guessing at the page is stopped as it is elsewhere; a right key still opens."""
    served = build(tmp_path / "hospital")
    text = served.path.read_text("utf-8").replace("requests_per_minute = 1000000", "requests_per_minute = 3")
    served.path.write_text(text, "utf-8")
    nobody = visit(served)
    statuses = [nobody.post("/sign-in", key="inb_wrong").status_code for _ in range(8)]
    opened = nobody.post("/sign-in", key=served.keys["ana"]).status_code
    served.close()
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert opened == 303


@pytest.mark.parametrize("cookie", ["", "a", "é".encode().decode("latin-1"), "a" * 5000, "'; DROP TABLE sessions; --"])
def test_a_made_up_cookie_is_nobodys(hospital: Served, cookie: str) -> None:
    """A cookie that no session has is as none at all."""
    nobody = visit(hospital)
    found = nobody.get("/ask", headers={"Cookie": f"{COOKIE}={cookie}".encode("latin-1")})
    assert found.status_code == 303
    assert visit(hospital, "ana").get("/ask").status_code == 200
