"""Assistants over HTTP: on this machine alone, each with a key of its own."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.client.conftest import Clinic
from tests.helpers.assistants import HttpGateway, over_http
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import bearer, free_port

pytestmark = pytest.mark.slow

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def gateway(clinic: Clinic) -> Iterator[HttpGateway]:
    """A gateway for everybody of the clinic."""
    with over_http(clinic.running.url, "--max-session-epsilon", "0.5") as found:
        yield found


def post(
    gateway: HttpGateway, headers: Any, content: bytes | None = None, *, url: str | None = None
) -> httpx2.Response:
    """Send a request."""
    body = json.dumps(LIST).encode() if content is None else content
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        return client.post(url or gateway.url, content=body, headers=headers)


def refused(response: httpx2.Response, status: int) -> str:
    """Return the words of a refusal of the gateway, before the protocol begins."""
    assert response.status_code == status, response.text
    return str(response.json()["error"]["message"])


def test_everybody_spends_their_own(clinic: Clinic, gateway: HttpGateway) -> None:
    """Two people at one gateway ask in their own names, have a cap each, and pay for what the other one has."""
    with gateway.connect(clinic.served.keys["ana"]) as ana, gateway.connect(clinic.served.keys["ben"]) as ben:
        first, second = (one.ask("SELECT COUNT(*) FROM visits", 0.5) for one in (ana, ben))
        assert (first.fields["charged_now"], second.fields["charged_now"]) == ("0.5", "0.5")
        assert first.fields["request_id"] == second.fields["request_id"]
        assert "all of it is spent" in ana.ask("SELECT AVG(age) FROM visits", 0.5).text
    for name in ("ana", "ben"):
        with clinic.connect(name) as connection:
            assert connection.dataset("visits").budget()["own"]["spent"] == "0.5"


def test_without_a_key_there_is_nothing(clinic: Clinic, gateway: HttpGateway) -> None:
    """No tool is listed to nobody: not without a key, with a wrong one, with two, or with one of another kind."""
    assert "needs your API key" in refused(post(gateway, ACCEPT), 401)
    key = clinic.served.keys["ana"]
    twice = [*ACCEPT.items(), ("Authorization", f"Bearer {key}"), ("Authorization", f"Bearer {key}")]
    assert "send it once" in refused(post(gateway, twice), 401)
    assert "needs your API key" in refused(post(gateway, ACCEPT | {"Authorization": f"Basic {key}"}), 401)
    wrong = post(gateway, ACCEPT | bearer("inb_0123456789ab_wrong"))
    assert "valid API key" in refused(wrong, 401)
    assert wrong.headers["www-authenticate"] == "Bearer"
    assert post(gateway, ACCEPT | bearer(key)).status_code == 200


def test_a_key_that_is_revoked_is_refused_at_once(clinic: Clinic, gateway: HttpGateway) -> None:
    """The gateway keeps no key and no session: what the server takes back is refused by the next request."""
    key, _ = clinic.served.ring.issue("ana")
    assert post(gateway, ACCEPT | bearer(key)).status_code == 200
    clinic.served.ring.revoke(key.split("_")[1])
    assert "valid API key" in refused(post(gateway, ACCEPT | bearer(key)), 401)


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "evil.example:8751", 421),
        ("Host", "127.0.0.1.evil.example", 421),
        ("Host", "127.0.0.1:80@evil.example", 421),
        ("Host", "", 421),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1:1", 403),
        ("Origin", "https://127.0.0.1", 403),
    ],
)
def test_pages_of_browsers_are_refused(
    clinic: Clinic, gateway: HttpGateway, name: str, value: str, status: int
) -> None:
    """A name that was made to lead to this machine, or a page of another site, gets nowhere, even with a key."""
    headers = ACCEPT | bearer(clinic.served.keys["ana"]) | {name: value}
    assert "this gateway" in refused(post(gateway, headers), status)


def test_the_machine_has_several_names(clinic: Clinic, gateway: HttpGateway) -> None:
    """Its numbers and localhost are names of this machine, and a page of this very address is not refused for it."""
    port = httpx2.URL(gateway.url).port
    headers = ACCEPT | bearer(clinic.served.keys["ana"])
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert post(gateway, headers | {"Host": host, "Origin": f"http://{host}"}).status_code == 200


def test_a_request_has_a_size(clinic: Clinic, gateway: HttpGateway) -> None:
    """More than a question needs is refused, whether or not its length is declared."""
    headers = ACCEPT | bearer(clinic.served.keys["ana"])
    assert "at most 131,072 bytes" in refused(post(gateway, headers, b" " * 200_000), 413)
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        found = client.post(gateway.url, content=iter([b" " * 70_000] * 3), headers=headers)
    assert "at most 131,072 bytes" in refused(found, 413)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1}', b"[" * 5000])
def test_what_is_no_message_is_refused(clinic: Clinic, gateway: HttpGateway, body: bytes) -> None:
    """Whatever is sent with a key, the gateway refuses what is no message, and goes on."""
    headers = ACCEPT | bearer(clinic.served.keys["ana"])
    assert 400 <= post(gateway, headers, body).status_code < 500
    assert post(gateway, headers).status_code == 200


def test_nothing_else_is_there(clinic: Clinic, gateway: HttpGateway) -> None:
    """There is one path, and what is not HTTP is refused."""
    headers = ACCEPT | bearer(clinic.served.keys["ana"])
    assert post(gateway, headers, url=gateway.url.replace("/mcp", "/sse")).status_code == 404
    url = httpx2.URL(gateway.url)
    with socket.create_connection((url.host, url.port or 0), PATIENCE) as connection:
        connection.sendall(b"\x16\x03\x01nonsense\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")


def test_a_server_that_is_away_is_told(clinic: Clinic) -> None:
    """Whose key it is cannot be found out without the server, so nobody is let in, in words."""
    with over_http(f"http://127.0.0.1:{free_port()}") as gateway:
        words = refused(post(gateway, ACCEPT | bearer(clinic.served.keys["ana"])), 503)
    assert "the server cannot be reached" in words


def test_nothing_is_logged(clinic: Clinic, gateway: HttpGateway) -> None:
    """Neither a key nor a question nor a number is written anywhere by the gateway."""
    with gateway.connect(clinic.served.keys["ana"]) as ana:
        ana.ask("SELECT COUNT(*) FROM nowhere", 0.1)
        ana.call("nothing")
    post(gateway, ACCEPT | bearer("inb_0123456789ab_wrong"))
    assert gateway.lines == []
