"""A proxy that authenticates: its header is believed, and nobody else's."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from tests.helpers.served_hospital import As, Running, Served, bearer, build, running

PROXY = """
[proxy]
addresses = ["10.0.0.7", "10.1.0.0/16", "fd00::7"]
header = "X-Remote-User"
"""


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Served]:
    """A server behind a proxy."""
    found = build(tmp_path / "hospital", more=PROXY)
    yield found
    found.close()


def coming_from(served: Served, address: str) -> As:
    """Return somebody at another address."""
    transport = httpx2.ASGITransport(served.app, raise_app_exceptions=False, client=(address, 1))
    return replace(served.nobody, client=httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1"))


def who(sender: As, *headers: tuple[str, str]) -> str | None:
    """Return who a sender is with some headers."""
    sending = sender.client.build_request("GET", "/v1/me", headers=list(headers))
    said = sender.portal.call(sender.client.send, sending)
    assert said.status_code in {200, 401}
    return said.json()["name"] if said.status_code == 200 else None


ANA = ("X-Remote-User", "ana")


@pytest.mark.parametrize("address", ["10.0.0.7", "10.1.255.3", "fd00::7"])
def test_the_header_of_a_named_address_tells_who_asks(behind: Served, address: str) -> None:
    """Whom the proxy has authenticated is who asks, however the name of the header is written."""
    proxy = coming_from(behind, address)
    assert who(proxy, ANA) == "ana"
    assert who(proxy, ("x-REMOTE-user", "carla")) == "carla"


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.8", "10.2.0.1", "fd00::8", "::ffff:10.0.0.8", "testclient", ""]
)
def test_the_header_of_anybody_else_is_nothing(behind: Served, address: str) -> None:
    """From any other address the header is as if it were not there."""
    assert who(coming_from(behind, address), ANA) is None
    assert (
        who(coming_from(behind, address), ANA, ("X-Forwarded-For", "10.0.0.7"), ("Forwarded", "for=10.0.0.7")) is None
    )


@pytest.mark.parametrize("name", ["ANA", "an", "ana,ben", "ana, ana", "ana;", "mallory", "", '"ana"'])
def test_only_a_name_is_a_name(behind: Served, name: str) -> None:
    """What the custodian's file does not name, to the letter, is nobody."""
    assert who(coming_from(behind, "10.0.0.7"), ("X-Remote-User", name)) is None


def test_two_names_are_nobody(behind: Served) -> None:
    """A header that is there twice may be the sender's own once: nobody is believed, though both say the same."""
    proxy = coming_from(behind, "10.0.0.7")
    assert who(proxy, ANA, ("X-Remote-User", "carla")) is None
    assert who(proxy, ANA, ("x-remote-user", "ana")) is None


def test_a_key_comes_before_the_header(behind: Served) -> None:
    """Who shows a key is asking by it, whatever the header says; and a wrong key is not helped by the header."""
    proxy = coming_from(behind, "10.0.0.7")
    key = bearer(behind.keys["ben"])["Authorization"]
    assert who(proxy, ("Authorization", key), ("X-Remote-User", "carla")) == "ben"
    assert who(proxy, ("Authorization", key[:-1]), ANA) is None
    assert who(proxy, ("Authorization", "Basic YW5hOng="), ANA) is None
    assert who(proxy, ("Authorization", key), ("Authorization", key)) is None


def test_other_headers_are_nothing(behind: Served) -> None:
    """Only the header that the custodian's file names tells anything."""
    proxy = coming_from(behind, "10.0.0.7")
    for name in ("X-Remote_User", "X_Remote_User", "Remote-User", "X-Forwarded-User", "X-Remote-User-"):
        assert who(proxy, (name, "ana")) is None


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own process behind a proxy on this machine."""
    with running(build(tmp_path_factory.mktemp("wire"), more=PROXY.replace("10.0.0.7", "127.0.0.1"))) as found:
        yield found


@pytest.mark.slow
def test_a_header_on_the_wire(wire: Running) -> None:
    """Blanks around a name are none of it; lines that are folded, doubled or malformed let nobody in."""

    def status(*lines: str) -> str:
        with socket.create_connection(wire.address, 30) as connection:
            head = "\r\n".join(["GET /v1/me HTTP/1.1", "Host: x", "Connection: close", *lines, "", ""])
            connection.sendall(head.encode())
            with connection.makefile("rb") as reply:
                return reply.read().split(b"\r\n")[0].split(b" ")[1].decode()

    assert status("X-Remote-User: \t ana \t") == "200"
    assert status("X-Remote-User: ana") == "200"
    assert status("X-Remote-User: ana", "X-Remote-User: ben") == "401"
    assert status("X-Remote-User:", "X-Remote-User: ben") == "401"
    assert status("X-Remote-User : ana") == "400"
    assert status("X-Remote-User: mallory", "  ana") in {"400", "401"}
    assert status("X-Remote-User: ana\x0bben") in {"400", "401"}


@pytest.mark.slow
def test_a_request_in_a_request_is_none(wire: Running) -> None:
    """A request with two lengths, of which a proxy may believe either, is refused, and what follows is not read."""
    inner = b"0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\nX-Remote-User: carla\r\n\r\n"
    head = (
        "POST /v1/datasets/visits/explain HTTP/1.1",
        "Host: x",
        "X-Remote-User: ana",
        f"Content-Length: {len(inner)}",
    )
    with socket.create_connection(wire.address, 30) as connection:
        connection.sendall("\r\n".join([*head, "Transfer-Encoding: chunked", "", ""]).encode() + inner)
        with connection.makefile("rb") as reply:
            said = reply.read()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert (said.count(b"HTTP/1.1 4"), b"carla" in said) == (1, False)
