"""What comes in is bounded, and what goes out has its headers; the log tells who and what became of it, no more."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from inbounds.server.basics.problem import KINDS
from inbounds.server.run.app import application
from inbounds.server.run.middleware import HEADERS
from tests.helpers.served_hospital import BY_CLINIC, SECRETS, As, Running, Served, build, running

LIMIT = 4096


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with narrow limits."""
    limits = f"body_bytes = {LIMIT}\nbody_seconds = 1\nconnections = 20"
    found = build(tmp_path_factory.mktemp("narrow"), limits=limits)
    yield found
    found.close()


@pytest.fixture(scope="module")
def process(narrow: Served) -> Iterator[Running]:
    """That server in a process of its own."""
    with running(narrow) as server:
        yield server


def is_problem(response: httpx2.Response) -> None:
    """Hold a response to be a refusal as they all are."""
    found = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert found["status"] == response.status_code == KINDS[found["code"]].status
    assert set(found) >= {"type", "title", "detail"}
    assert not [secret for secret in SECRETS if secret in response.text]


def is_guarded(response: httpx2.Response) -> None:
    """Hold a response to have every header once."""
    for name, value in HEADERS.items():
        assert response.headers.get_list(name) == [value]
    assert len(response.headers.get_list("x-request-number")) == 1
    assert "server" not in response.headers


ANYTHING: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/healthz", {}),
    ("GET", "/v1/openapi.json", {}),
    ("GET", "/v1/me", {}),
    ("GET", "/v1/answers/no", {}),
    ("GET", "/nowhere", {}),
    ("PUT", "/v1/me", {}),
    ("POST", "/v1/datasets/visits/answers", {"json": {}}),
    ("POST", "/v1/datasets/visits/answers", {"content": b"{"}),
    ("POST", "/v1/datasets/visits/answers", {"content": b"x" * (LIMIT + 1)}),
    ("GET", "/v1/datasets/", {}),
]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("method", "path", "more"), ANYTHING)
def test_every_response_is_guarded(narrow: Served, method: str, path: str, more: dict[str, Any], known: bool) -> None:
    """Answers and refusals, for anybody, have all headers of security, each once."""
    who = narrow.person("ana") if known else narrow.nobody
    found = who.request(method, path, **more)
    is_guarded(found)
    if found.status_code >= 400:
        is_problem(found)


def test_over_tls_browsers_are_told_to_stay_there(narrow: Served, tmp_path: Path) -> None:
    """With a certificate of its own, the server says that it is never to be asked in the clear."""
    served = build(tmp_path, more='[tls]\ncertificate = "c"\nkey = "k"')
    try:
        assert served.nobody.get("/healthz").headers["strict-transport-security"].startswith("max-age=")
    finally:
        served.close()
    assert "strict-transport-security" not in narrow.nobody.get("/healthz").headers


def test_a_body_has_a_size(narrow: Served) -> None:
    """What is announced as too large, or turns out to be, is refused, and what just fits is read."""
    ana = narrow.person("ana")
    question = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"}
    text = json.dumps(question)

    async def pieces(total: int) -> AsyncIterator[bytes]:
        yield text.encode()
        for _ in range(total - len(text)):
            yield b" "

    for size, status in ((LIMIT, 200), (LIMIT + 1, 413)):
        sent = {"headers": {"Content-Type": "application/json"}}
        path = "/v1/datasets/visits/explain"
        assert ana.post(path, content=text.ljust(size).encode(), **sent).status_code == status
        assert ana.post(path, content=pieces(size), **sent).status_code == status


ODD_PATHS = [
    "/v1/datasets/..%2f..%2fetc%2fpasswd",
    "/v1/datasets/%2e%2e/keys",
    "/v1/datasets/visits%00",
    "/v1/datasets/%ff%fe",
    "/v1/datasets/%",
    "/v1/datasets/%zz",
    "/v1/datasets/visits%0d%0aSet-Cookie:%20a=b",
    "/v1/datasets/" + "a" * 3000,
    "/v1/datasets/visits;x=1",
    "/v1/datasets/visits.toml",
    "/v1/datasets/..%5cvisits",
    "/v1/datasets/' OR 1=1 --".replace(" ", "%20"),
    "/v1/answers/%2e%2e",
    "/v1/answers/..%2f..%2fben",
    "/v1/answers/%0d%0a",
    "//v1/me",
    "/v1/me/",
    "/V1/ME",
    "/v1/answers?after=-1",
    "/v1/answers?after=" + "9" * 400,
    "/v1/answers?after=1e3&most=0",
    "/v1/answers?most=%00",
    "/v1/datasets/visits/budget?analyst=%ff%00",
    "/static/../../../etc/passwd",
    "/.git/config",
]


@pytest.mark.parametrize("path", ODD_PATHS)
@pytest.mark.parametrize("person", ["ana", "carla", "dora"])
def test_odd_addresses_are_refused(narrow: Served, person: str, path: str) -> None:
    """Whatever stands in an address, it finds no file, no header is made of it, and nothing breaks."""
    found = narrow.person(person).request("GET", path)
    is_guarded(found)
    assert "set-cookie" not in found.headers
    assert 400 <= found.status_code < 500
    is_problem(found)


ODD_QUERIES = [
    "dataset=%00",
    "analyst=%00",
    "analyst=%ff",
    "analyst=",
    "dataset=' OR 1=1 --",
    "head=%00",
    "head=zz",
    "head=" + "0" * 64,
]


@pytest.mark.parametrize("query", ODD_QUERIES)
@pytest.mark.parametrize("path", ["/v1/ledger/entries", "/v1/ledger/verification", "/v1/datasets/visits/budget"])
def test_odd_filters_break_nothing(narrow: Served, path: str, query: str) -> None:
    """Texts that no name is find nothing or are refused."""
    found = narrow.person("carla").get(f"{path}?{query}")
    is_guarded(found)
    assert found.status_code in {200, 400}
    if found.status_code == 400:
        is_problem(found)


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "OPTIONS", "PATCH", "PROPFIND", "G" * 300])
def test_odd_methods_are_refused(narrow: Served, method: str) -> None:
    """What is not offered is not done, and says so."""
    found = narrow.person("ana").request(method, "/v1/me")
    is_guarded(found)
    is_problem(found)
    assert found.status_code == 405


def test_the_log_has_no_question_no_answer_and_no_key(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    """A line for each request says who, which route, what status and which number: nothing that was asked or told."""
    ana = served.person("ana")
    found = ana.ask("my-secret-name", BY_CLINIC)
    ana.get("/v1/answers/my-secret-name")
    ana.ask("my-secret-name", "SELECT nonsense")
    served.bearing(served.keys["ana"][:-1] + "!").get("/v1/me")
    ana.get("/v1/Zorbleville?analyst=Zorbleville")
    said = capfd.readouterr().err
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(one["route"], one["status"], one["person"]) for one in lines] == [
        ("/v1/datasets/{name}/answers", 200, "ana"),
        ("/v1/answers/{key}", 200, "ana"),
        ("/v1/datasets/{name}/answers", 400, "ana"),
        ("/v1/me", 401, None),
        ("elsewhere", 404, None),
    ]
    assert lines[0]["number"] == found.headers["x-request-number"]
    assert set(lines[0]) == {"time", "event", "method", "route", "status", "seconds", "person", "number"}
    told = [*SECRETS, "my-secret-name", "nonsense", "SELECT", "clinic", served.keys["ana"][:20], "127.0.0.1"]
    assert not [one for one in told if one in said]
    metrics = served.person("carla").get("/metrics").text
    assert not [one for one in told if one in metrics]


PROXIED = '[proxy]\naddresses = ["10.0.0.7"]\nheader = "X-Remote-User"'


def asking_from(served: Served, address: str) -> As:
    """Return somebody who comes from an address."""
    transport = httpx2.ASGITransport(application(served.service), client=(address, 1234))
    return As(served.nobody.portal, httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1"), {})


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Served]:
    """A server that others reach through a proxy."""
    found = build(tmp_path, more=PROXIED)
    found.path.write_text(found.path.read_text("utf-8").replace('"127.0.0.1:', '"0.0.0.0:'), encoding="utf-8")
    yield found
    found.close()


def test_behind_a_proxy_nobody_else_is_answered(proxied: Served) -> None:
    """Requests that do not come from the proxy are refused before anybody looks at them, with a right key too."""
    other = asking_from(proxied, "10.0.0.8")
    for headers in ({}, {"X-Remote-User": "carla"}, proxied.person("ana").headers, {"X-Forwarded-For": "10.0.0.7"}):
        found = other.get("/v1/me", headers=dict(headers))
        is_guarded(found)
        is_problem(found)
        assert found.json()["code"] == "wrong-address"


def test_the_proxy_says_who_asks(proxied: Served) -> None:
    """From its address one header counts; none, an unknown name or two of them are nobody, and a key goes first."""
    proxy = asking_from(proxied, "10.0.0.7")
    assert proxy.get("/v1/me", headers={"X-Remote-User": "ana"}).json()["name"] == "ana"
    for headers in (
        {},
        {"X-Remote-User": ""},
        {"X-Remote-User": "fay"},
        {"X-Remote-User": "ana, carla"},
        {"X_Remote_User": "ana"},
    ):
        assert proxy.get("/v1/me", headers=headers).status_code == 401
    twice = [("X-Remote-User", "carla"), ("x-remote-user", "ana")]
    assert proxy.portal.call(lambda: proxy.client.get("/v1/me", headers=twice)).status_code == 401
    wrong = {"X-Remote-User": "carla", "Authorization": "Bearer inb_nothing"}
    assert proxy.get("/v1/me", headers=wrong).status_code == 401


def talk(server: Running, *pieces: bytes | Callable[[], None]) -> bytes:
    """Send bytes over a connection of its own, and return all that comes back before it ends."""
    with socket.create_connection(server.address, timeout=60) as connection:
        for piece in pieces:
            connection.sendall(piece) if isinstance(piece, bytes) else piece()
        found = b""
        while more := connection.recv(65536):
            found += more
        return found


def parsed(raw: bytes) -> httpx2.Response:
    """Return a response that came over the wire."""
    head, _, body = raw.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    return httpx2.Response(int(status.split(" ")[1]), headers=headers, content=body)


SLOW = pytest.mark.slow

ASK = b"POST /v1/datasets/visits/explain HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"

UNREADABLE = {
    "no HTTP": b"hello\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a space before the colon": b"GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
    "a folded header": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\nX\r\n\r\n",
    "a NUL": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "two lengths": ASK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "a negative length": ASK + b"Content-Length: -1\r\n\r\n",
    "a control character in the address": b"GET /healthz\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
}


@SLOW
@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_request_is_a_problem_too(process: Running, what: str) -> None:
    """Bytes that are no HTTP are refused as everything else, with all headers, and the connection ends."""
    found = parsed(talk(process, UNREADABLE[what]))
    assert found.status_code == 400
    is_problem(found)
    is_guarded(found)


FOLDED = {
    "by a space": "Authorization: Bearer\r\n {key}\r\n",
    "by a tab": "Authorization:\r\n\tBearer {key}\r\n",
    "after bare line feeds": "Authorization: Bearer\n {key}\n",
    "by a blank line that is not empty": "Authorization: Bearer {key}\r\n \r\n",
    "in another header": "Authorization: Bearer {key}\r\nX-Other: a\r\n\tb\r\n",
}


@SLOW
@pytest.mark.parametrize("how", FOLDED)
def test_a_folded_header_is_refused(narrow: Served, process: Running, how: str) -> None:
    """A header that goes on in the next line lets nobody in, though its key is right, at once or in pieces."""
    sent = f"GET /v1/me HTTP/1.1\r\nHost: a\r\n{FOLDED[how].format(key=narrow.keys['ana'])}Connection: close\r\n\r\n"
    lines = [one.encode() for one in sent.splitlines(keepends=True)]
    pieces = lines[: 1 + next(place for place, line in enumerate(lines) if line[:1] in b" \t")]
    after = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + sent.encode()
    for found in (parsed(talk(process, sent.encode())), parsed(talk(process, *pieces))):
        assert (found.status_code, found.json()["code"]) == (400, "invalid-request")
        is_problem(found)
        is_guarded(found)
    first, second = talk(process, after).split(b'{"status":"ok"}')
    assert (parsed(first).status_code, parsed(second).status_code) == (200, 400)


HEAVY = {
    "many": "".join(f"X-{number}: {'y' * 1000}\r\n" for number in range(70)),
    "one": f"X: {'y' * 70_000}\r\n",
    "without end": f"X: {'y' * 80_000}",
}


@SLOW
@pytest.mark.parametrize("what", HEAVY)
def test_headers_have_a_size(process: Running, what: str) -> None:
    """Headers that are too large together are refused, also if they arrive in one piece, and the connection ends."""
    sent = b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + HEAVY[what].encode()
    found = parsed(talk(process, sent if what == "without end" else sent + b"\r\n"))
    assert (found.status_code, found.json()["code"]) == (431, "headers-too-large")
    is_problem(found)
    is_guarded(found)


@SLOW
def test_headers_of_the_usual_size_are_read(process: Running) -> None:
    """What a proxy with usual limits lets through is answered."""
    sent = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + b"X: " + b"y" * 30_000 + b"\r\n\r\n"
    assert parsed(talk(process, sent)).status_code == 200


ONCE = ("Idempotency-Key", "Content-Type", "Content-Length", "Host", "Origin", "Sec-Fetch-Site")


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("header", ONCE)
def test_a_header_that_says_one_thing_is_there_once(served: Served, header: str, same: bool) -> None:
    """Of two headers of one kind neither counts, though they say the same; nothing is asked or charged."""
    ana, path = served.person("ana"), "/v1/datasets/visits/answers"
    ana.ask("first")
    body = json.dumps({"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"}).encode()
    given = {
        "Content-Type": "application/json",
        "Idempotency-Key": "one",
        "Content-Length": str(len(body)),
        "Host": "a",
    }
    given |= {"Origin": "http://a", "Sec-Fetch-Site": "none", **ana.headers}
    lines = [*given.items(), (header.lower(), given[header] if same else "1")]
    found = ana.portal.call(lambda: ana.client.post(path, headers=lines, content=body))
    assert (found.status_code, found.json()["code"]) == (400, "invalid-request")
    assert header in found.json()["detail"]
    assert [one["id"] for one in ana.get("/v1/answers").json()] == ["first"]


BODIES = {
    "the same": '{"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1", "epsilon": "0.1"}',
    "another": '{"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1", "epsilon": "5"}',
    "escaped": '{"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1", "\\u0065psilon": "5"}',
}


@pytest.mark.parametrize("what", BODIES)
def test_a_name_in_a_body_is_there_once(served: Served, what: str) -> None:
    """Of two values of one name neither counts, though they are the same; nothing is asked or charged."""
    ana = served.person("ana")
    headers = {"Content-Type": "application/json", "Idempotency-Key": "one"}
    found = ana.post("/v1/datasets/visits/answers", content=BODIES[what].encode(), headers=headers)
    assert (found.status_code, found.json()["code"]) == (400, "invalid-request")
    assert found.json()["detail"] == "'epsilon' must be there once, got it twice; leave one out"
    is_problem(found)
    is_guarded(found)
    assert ana.get("/v1/answers").json() == []


@pytest.mark.parametrize("query", ["most=1&most=5", "most=1&most=1", "after=0&most=1&m%6Fst=5"])
def test_a_name_in_an_address_is_there_once(narrow: Served, query: str) -> None:
    """Of two values of one name neither counts, however it is written."""
    found = narrow.person("ana").get(f"/v1/answers?{query}")
    assert (found.status_code, found.json()["code"]) == (400, "invalid-request")
    assert found.json()["detail"] == "'most' must be there once, got it twice; leave one out"


def test_two_authorizations_are_nobody(narrow: Served) -> None:
    """With two keys, both of them right, nobody is known."""
    ana = narrow.person("ana")
    twice = [("Authorization", ana.headers["Authorization"])] * 2
    assert ana.portal.call(lambda: ana.client.get("/v1/me", headers=twice)).status_code == 401


ALLOWED = {
    "/v1/datasets/visits/answers": "POST",
    "/v1/keys": "GET, HEAD, POST",
    "/v1/keys/inb_000000000000": "DELETE",
    "/v1/answers": "GET, HEAD",
    "/sign-in": "GET, HEAD, POST",
    "/ask/visits": "GET, HEAD, POST",
}


@pytest.mark.parametrize("path", ALLOWED)
def test_a_refused_method_names_the_others(narrow: Served, path: str) -> None:
    """Allow lists every method that some route has for the address."""
    found = narrow.person("carla").request("PUT", path)
    assert (found.status_code, found.headers.get_list("allow")) == (405, [ALLOWED[path]])


CHANGING = (b"date", b"x-request-number", b"transfer-encoding")
"""Headers that differ from one answer to the next; without a body there is nothing to be sent in pieces."""


@SLOW
@pytest.mark.parametrize("path", ["/", "/plan", "/sign-in", "/static/style.css", "/healthz", "/v1/me", "/nowhere"])
def test_a_head_is_a_get_without_its_body(narrow: Served, process: Running, path: str) -> None:
    """HEAD is answered with the status and headers of GET, and with nothing after them, on the wire too."""

    def answer(method: str) -> tuple[list[bytes], bytes]:
        head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n"
        said = talk(process, f"{head}Authorization: Bearer {narrow.keys['ana']}\r\n\r\n".encode())
        head_said, _, body = said.partition(b"\r\n\r\n")
        return [line for line in head_said.split(b"\r\n") if line.partition(b":")[0] not in CHANGING], body

    (head, nothing), (get, something) = answer("HEAD"), answer("GET")
    assert head == get
    assert (nothing, something != b"") == (b"", True)
    assert narrow.person("ana").request("HEAD", path).content == b""


def test_a_head_asks_nothing(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    """What only a POST does is not done by HEAD, and the log says HEAD."""
    ana = served.person("ana")
    ana.ask("first")
    capfd.readouterr()
    found = ana.request("HEAD", "/v1/datasets/visits/answers", headers={"Idempotency-Key": "one"})
    assert (found.status_code, found.headers["allow"], found.content) == (405, "POST", b"")
    assert json.loads(capfd.readouterr().err)["method"] == "HEAD"
    assert [one["id"] for one in ana.get("/v1/answers").json()] == ["first"]


@SLOW
def test_a_slow_body_is_refused(process: Running) -> None:
    """Whoever announces a body and does not send it is told, and the connection ends."""
    for sent in (b"Content-Length: 20\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        found = parsed(talk(process, ASK + sent))
        assert (found.status_code, found.json()["code"]) == (408, "too-slow")
        is_guarded(found)


@SLOW
def test_a_large_body_is_not_read_to_its_end(process: Running) -> None:
    """A body that is too large is refused by what it announces, or as soon as it is, and the connection ends."""
    found = parsed(talk(process, ASK + f"Content-Length: {10**12}\r\n\r\n".encode()))
    assert (found.status_code, found.json()["code"]) == (413, "too-large")
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    found = parsed(talk(process, ASK + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"1\r\n{\r\n"))
    assert (found.status_code, found.json()["code"]) == (413, "too-large")


@SLOW
def test_too_many_connections_are_refused(process: Running) -> None:
    """Beyond so many connections, one more is told that it is one too many; when some have ended, all is well."""
    held = [socket.create_connection(process.address, timeout=60) for _ in range(20)]
    try:
        found = parsed(talk(process, b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
    finally:
        for one in held:
            one.close()
    assert (found.status_code, found.json()["code"]) == (503, "server-unavailable")
    is_problem(found)
    is_guarded(found)


@SLOW
@pytest.mark.parametrize("path", [b"/v1/datasets/../keys", b"/../../etc/passwd", b"http://elsewhere/v1/me", b"*", b"x"])
def test_an_address_is_taken_as_it_is(process: Running, path: bytes) -> None:
    """Dots lead nowhere, and an address of somewhere else is not gone to."""
    found = parsed(talk(process, b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
    assert found.status_code in {400, 404}
    is_problem(found)
    is_guarded(found)


@SLOW
def test_an_upgrade_is_passed_over(process: Running) -> None:
    """There is nothing here but HTTP."""
    wanted = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    assert parsed(talk(process, wanted)).json() == {"status": "ok"}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/answers/one", "/v1/datasets", "/v1/datasets/visits/budget"])
def test_a_ledger_that_is_away_is_told_in_our_words(tmp_path: Path, path: str) -> None:
    """Where the ledger is, nobody is told, also not by a refusal because it cannot be opened."""
    served = build(tmp_path / "hospital")
    (tmp_path / "hospital" / "budget.db").unlink()
    (tmp_path / "hospital" / "budget.db").mkdir()
    found = served.person("ana").get(path)
    is_problem(found)
    assert found.json()["code"] == "ledger-unavailable"
    served.close()
