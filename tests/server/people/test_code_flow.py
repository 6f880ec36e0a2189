"""Signing in with a browser at an identity provider."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.server.basics import clock
from inbounds.server.people import code_flow
from inbounds.server.people.openid import Tokens
from inbounds.server.people.sign_ins import BACK, MINUTES
from inbounds.server.run.process import check
from inbounds.server.state.custodian_file import CustodianFile, Provider
from tests.helpers.provider import AUDIENCE, KNOWN, Signer, provider_process
from tests.helpers.served_hospital import Served, build, free_port

PROVIDER = """
[identity]
issuer = "{issuer}"
audience = "{audience}"
{more}
"""


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """A real provider."""
    with provider_process() as found:
        yield found


@pytest.fixture
def served(tmp_path: Path, issuer: str) -> Iterator[Served]:
    """A server that trusts it."""
    (tmp_path / "secret").write_text("any", encoding="utf-8")
    found = build(tmp_path, more=people(issuer, more='client_secret_file = "secret"'))
    yield found
    found.close()


def people(issuer: str, audience: str = AUDIENCE, more: str = "") -> str:
    """Return what the custodian's file says of a provider and of whom it knows."""
    return PROVIDER.format(issuer=issuer, audience=audience, more=more) + KNOWN


def begun(served: Served, after: str = "") -> tuple[httpx2.URL, str]:
    """Begin to sign in; return where the browser is sent, and the cookie that it got."""
    response = served.nobody.get("/sign-in/provider", params={"next": after})
    assert response.status_code == 303
    cookie = response.cookies["inbounds-sign-in"]
    served.nobody.client.cookies.clear()
    return httpx2.URL(response.headers["location"]), cookie


def vouched(address: httpx2.URL, subject: str = "1") -> dict[str, str]:
    """Sign in there, and return what the browser is sent back with."""
    with httpx2.Client(trust_env=False) as browser:
        sent_back = urlsplit(browser.post(address, data={"sub": subject}).headers["location"])
    return {name: one for name, (one,) in parse_qs(sent_back.query).items()}


def back(served: Served, cookie: str | None, returned: dict[str, str]) -> Any:
    """Come back from the provider."""
    headers = (
        {"Accept": "text/html"} if cookie is None else {"Accept": "text/html", "Cookie": f"inbounds-sign-in={cookie}"}
    )
    found = served.nobody.get(BACK, params=returned, headers=headers)
    served.nobody.client.cookies.clear()
    return found


def is_refused(response: Any) -> bool:
    """Return whether nobody was signed in."""
    return response.status_code == 401 and "inbounds" not in response.cookies


@pytest.mark.slow
def test_a_provider_signs_in(served: Served) -> None:
    """Whoever the provider vouches for and the file names is signed in, and comes to the page that was wanted."""
    address, cookie = begun(served, "/ask/visits?sql=x")
    found = back(served, cookie, vouched(address))
    assert (found.status_code, found.headers["location"]) == (303, "/ask/visits?sql=x")
    session = found.cookies["inbounds"]
    read = served.nobody.get("/ask", headers={"Cookie": f"inbounds={session}", "Accept": "text/html"})
    assert "ana@hospital.example" in read.text
    assert "samesite=lax" in found.headers["set-cookie"].lower()
    assert "httponly" in found.headers["set-cookie"].lower()


@pytest.mark.parametrize("secret", [None, "hush"])
def test_a_code_is_worth_a_token_to_whoever_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str | None
) -> None:
    """The server shows the verifier of its challenge; with a secret also that, and without one its name alone."""
    signer = Signer()
    sent: dict[str, Any] = {}
    (tmp_path / "secret").write_text("hush", encoding="utf-8")
    more = people(signer.issuer, more="" if secret is None else 'client_secret_file = "secret"')
    served = build(tmp_path, more=more)

    def read(_: Any, method: str, where: str, **given: Any) -> Any:
        sent.update(given, method=method, where=where)
        return {"id_token": signer.token(nonce=asked["nonce"])}

    monkeypatch.setattr(code_flow, "find_endpoint", lambda _, issuer, what: f"{issuer}/{what}")
    monkeypatch.setattr(code_flow, "fetch_json", read)
    address, cookie = begun(served)
    asked = dict(address.params)
    found = back(served, cookie, {"state": asked["state"], "code": "a-code"})
    served.close()
    signer.close()
    assert found.status_code == 303
    assert sent["where"] == f"{signer.issuer}/token_endpoint"
    shown = hashlib.sha256(sent["data"]["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(shown).rstrip(b"=").decode() == asked["code_challenge"]
    assert sent.get("auth") == (None if secret is None else (AUDIENCE, secret))
    assert sent["data"].get("client_id") == (AUDIENCE if secret is None else None)


@pytest.mark.slow
def test_what_is_asked_of_the_provider(served: Served) -> None:
    """The browser is sent to the provider with a code challenge, and with secrets that are new each time."""
    first, second = (dict(begun(served)[0].params) for _ in range(2))
    assert first["code_challenge_method"] == "S256"
    assert first["redirect_uri"] == f"{served.file.url}{BACK}"  # whatever the Host header says
    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))


@pytest.mark.slow
def test_a_sign_in_ends_once_and_where_it_began(served: Served) -> None:
    """Another browser, another state, no state, a second time: nobody is signed in."""
    address, cookie = begun(served)
    returned = vouched(address)
    other = begun(served)[1]
    assert is_refused(back(served, None, returned))
    assert is_refused(back(served, other, returned))
    assert back(served, cookie, returned).status_code == 303
    assert is_refused(back(served, cookie, returned))
    for changed in ({"state": "x"}, {"state": ""}, {"code": "x"}, {"code": ""}):
        address, cookie = begun(served)
        assert is_refused(back(served, cookie, vouched(address) | changed))


@pytest.mark.slow
def test_a_sign_in_does_not_wait_for_ever(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some minutes, what was begun is over."""
    address, cookie = begun(served)
    returned = vouched(address)
    later = clock.now() + MINUTES * (clock.now().resolution * 60_000_000) * 2
    monkeypatch.setattr(clock, "now", lambda: later)
    assert is_refused(back(served, cookie, returned))


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["2", "mallory@hospital.example"])
def test_nobody_else_is_signed_in(served: Served, subject: str) -> None:
    """Whose address is not verified, or whom the file does not name, is nobody."""
    address, cookie = begun(served)
    assert is_refused(back(served, cookie, vouched(address, subject)))


@pytest.mark.slow
@pytest.mark.parametrize("after", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x"])
def test_nobody_is_sent_elsewhere(served: Served, after: str) -> None:
    """After signing in, the browser stays on this server, whatever the link said."""
    address, cookie = begun(served, after)
    assert back(served, cookie, vouched(address)).headers["location"] == "/ask"


def test_a_provider_that_is_down_is_told(tmp_path: Path) -> None:
    """Without the provider the page says so; and without a section in the file there is no such page."""
    for more, status in ((people(f"http://127.0.0.1:{free_port()}"), 503), ("", 404)):
        found = build(tmp_path / str(status), more=more)
        assert found.nobody.get("/sign-in/provider").status_code == status
        found.close()


def test_a_token_for_another_occasion_is_nobodys() -> None:
    """A token counts only with the nonce that was asked for."""
    signer = Signer()
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    assert tokens.name(signer.token(nonce="one"), "one") == "ana@hospital.example"
    for changed in ({"nonce": "two"}, {"nonce": None}, {"nonce": ["one"]}):
        assert tokens.name(signer.token(**changed), "one") is None
    signer.close()


def test_the_secret_is_read_and_not_shown(tmp_path: Path) -> None:
    """The client's secret comes from a file of its own, and is in no text about the server."""
    (tmp_path / "secret").write_text("hush-hush\n", encoding="utf-8")
    more = people("https://login.hospital.example", more='client_secret_file = "secret"')
    found = CustodianFile.load(build(tmp_path, more=more).path)
    assert found.provider is not None
    assert found.provider.secret() == "hush-hush"
    assert "hush" not in repr(found)


@pytest.mark.parametrize("written", [None, b"", b" \n", b"\xff"])
def test_a_secret_that_is_none_is_refused(tmp_path: Path, written: bytes | None) -> None:
    """A file that is not there, is empty or is no text holds no secret: that is told before anybody listens."""
    if written is not None:
        (tmp_path / "secret").write_bytes(written)
    more = people("https://login.hospital.example", more='client_secret_file = "secret"')
    served = build(tmp_path, more=more)
    with pytest.raises(InvalidParameter, match="contains only the secret"):
        check(served.file)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('public_url = "http://inbounds.hospital.example"', "https://"),
        ('public_url = "https://hospital.example/inbounds"', "without a path"),
        ('public_url = "inbounds.hospital.example"', "https://"),
    ],
)
def test_a_public_address_is_an_address(tmp_path: Path, line: str, words: str) -> None:
    """Where browsers find the server is encrypted, and has no path."""
    served = build(tmp_path)
    text = served.path.read_text(encoding="utf-8")
    served.path.write_text(text.replace("[server]", f"[server]\n{line}"), encoding="utf-8")
    with pytest.raises(InvalidContract, match=words):
        CustodianFile.load(served.path)


@pytest.mark.slow
def test_a_public_address_is_where_browsers_come_back_to(tmp_path: Path) -> None:
    """Behind a proxy the file says where the server is, and cookies are for that host over TLS only."""
    served = build(tmp_path)
    text = served.path.read_text(encoding="utf-8")
    named = text.replace("[server]", '[server]\npublic_url = "https://inbounds.hospital.example/"')
    served.path.write_text(named, encoding="utf-8")
    assert CustodianFile.load(served.path).home == "https://inbounds.hospital.example"
    found = served.nobody.post("/sign-in", data={"key": served.keys["ana"]})
    cookie = found.headers["set-cookie"]
    assert cookie.startswith("__Host-inbounds=")
    assert "Secure" in cookie
    served.close()
