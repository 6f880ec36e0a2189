"""Attacks on the server: questions, names and headers that are more than that, and tables to be told apart."""

from __future__ import annotations

import hmac
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import duckdb
import httpx2
import pytest

from inbounds.server.people import key_ring
from inbounds.server.people.key import mint
from tests.helpers.served_hospital import BY_CLINIC, COUNT, SECRETS, Running, Served, bearer, build, running

STATEMENTS = [
    "SELECT COUNT(*) FROM visits; DROP TABLE visits",
    "SELECT COUNT(*) FROM visits; COPY visits TO '/tmp/stolen.csv'",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM '/etc/passwd'",
    'SELECT COUNT(*) FROM "../visits"',
    "SELECT COUNT(*) FROM births",
    "SELECT COUNT(*) FROM visits, births",
    "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM births",
    "SELECT COUNT(*) FROM visits WHERE age > (SELECT MIN(age) FROM visits)",
    "SELECT COUNT(*) FROM visits WHERE town = 'x'",
    "SELECT patient FROM visits",
    "SELECT * FROM visits",
    "SELECT getenv('HOME') FROM visits",
    "SELECT COUNT(*) FROM visits WHERE clinic = 'north' OR error('x') = 1",
    "SELECT AVG(1 / (age - 20)) FROM visits",
    "SELECT COUNT(*) FROM information_schema.tables",
    "ATTACH '/etc/passwd' AS other",
    "INSTALL httpfs",
    "PRAGMA database_list",
    "SET enable_external_access = true",
    "WITH stolen AS (SELECT * FROM read_csv('/etc/passwd')) SELECT COUNT(*) FROM stolen",
    "'; SELECT 1 --",
    "\x00",
]
"""What is no question: other statements, files, tables, columns, rows, and what fails where a row has some value."""


@pytest.mark.slow
@pytest.mark.parametrize("sql", STATEMENTS)
@pytest.mark.parametrize("way", ["explain", "answers"])
def test_a_statement_is_no_question(hospital: Served, sql: str, way: str) -> None:
    """Whatever else SQL can do is refused before anything is charged or run, and the refusal tells nothing."""
    ana = hospital.person("ana")
    before = ana.get("/v1/datasets/visits/budget").content
    asked = {"sql": sql, "epsilon": "0.1"}
    found = ana.post(f"/v1/datasets/visits/{way}", json=asked, headers={"Idempotency-Key": "attack"})
    assert (found.status_code, found.json()["code"]) == (400, "invalid-question")
    assert not any(secret in found.text for secret in SECRETS)
    assert ana.get("/v1/datasets/visits/budget").content == before
    assert ana.get("/v1/answers/attack").status_code == 404


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("clinic = 'north'' OR 1 = 1 --'", "north' OR 1 = 1 --"),
        ('"clinic"" OR 1 = 1 --" = \'north\'', "there is no column"),
    ],
)
def test_a_quote_ends_nothing(hospital: Served, condition: str, named: str) -> None:
    """A quote inside a text is part of it, of a key that there is not; one inside a name is not read at all."""
    found = hospital.person("ana").ask("quoted", f"SELECT COUNT(*) FROM visits WHERE {condition}")
    assert found.json()["code"] == "invalid-question"
    assert named in found.json()["detail"]


NAMES = [
    "..%2F..%2Fetc%2Fpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5C..%5Cwindows",
    "%2Fetc%2Fpasswd",
    "visits%00",
    "visits%2F..%2Fbirths",
    "visits.toml",
    "ward-records.parquet",
    "budget.db",
    "VISITS",
    "visits%20",
    "' OR 1=1 --",
    "*",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("path", ["", "/budget"])
def test_a_name_is_no_path(hospital: Served, name: str, path: str) -> None:
    """The name of a dataset is looked up among those of the contracts, and never as a file."""
    ana = hospital.person("ana")
    found = ana.get(f"/v1/datasets/{name}{path}")
    assert (found.status_code, found.json()["code"]) == (404, "not-found")
    assert not any(secret in found.text for secret in SECRETS)


@pytest.fixture(scope="module")
def listening(hospital: Served) -> Iterator[Running]:
    """The same server, in a process of its own."""
    with running(hospital) as found:
        yield found


def test_the_longest_question_fits_into_an_address(listening: Running) -> None:
    """However it is cut into pieces on its way, it is read whole; what is far longer is refused."""
    for length, status in ((20_000, b"303"), (200_000, b"4")):
        sent = f"GET /ask/visits?sql={'%27' * length} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n".encode()
        sent += b"Connection: close\r\n\r\n"
        with socket.create_connection(listening.address, timeout=30) as connection:
            with suppress(ConnectionError):  # it is not read to its end
                for at in range(0, len(sent), 1400):
                    connection.sendall(sent[at : at + 1400])
                    time.sleep(0.001)
            found = connection.recv(65536)
        assert found.startswith(b"HTTP/1.1 " + status), found[:200]


LINES = ["a\r\nX-Injected: yes", "a\nX-Injected: yes", "a\x00b", "a\tb", "ä", "a" * 20_000]


@pytest.mark.parametrize("text", LINES)
@pytest.mark.parametrize("header", ["Idempotency-Key", "Authorization", "X-Forwarded-For", "Host"])
def test_a_header_is_one_header(hospital: Served, listening: Running, header: str, text: str) -> None:
    """A line break or a byte that is none of a header's never becomes a header of the response, or another request."""
    key = hospital.keys["ana"]
    lines = {"Host": "127.0.0.1", **bearer(key), "Idempotency-Key": "a", "Content-Length": "0", "Connection": "close"}
    sent = "".join(f"{name}: {value}\r\n" for name, value in {**lines, header: text}.items())
    with socket.create_connection(listening.address, timeout=30) as connection:
        connection.sendall(f"POST /v1/datasets/visits/answers HTTP/1.1\r\n{sent}\r\n".encode())
        found = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 4"), head
    assert b"injected" not in head.lower()
    assert b"HTTP/1.1 " not in body


def test_digests_are_compared_in_one_way(hospital: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A right key, a wrong one with a known prefix, an unknown one and no key at all are each compared once, whole."""
    compared: list[tuple[int, int]] = []

    def spy(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return hmac.compare_digest(one, other)

    right = hospital.keys["ana"]
    guesses = [right, right[:-43] + mint()[-43:], mint(), "nonsense", ""]
    ring = hospital.ring
    monkeypatch.setattr(key_ring, "hmac", type("Spied", (), {"compare_digest": staticmethod(spy)}))
    assert [ring.holder(guess) for guess in guesses] == ["ana", None, None, None, None]
    assert compared == [(64, 64)] * len(guesses)


# Two tables that differ in one person, or altogether.


def replaced(served: Served, rows: str) -> Served:
    """Put other rows into the table of a server that nobody has asked yet."""
    with duckdb.connect() as connection:
        target = served.folder / "ward-records.parquet"
        connection.execute(f"COPY ({rows}) TO '{target}' (FORMAT parquet)")
    return served


NORTH = "'north'"
ROW = "SELECT 'Quillfeather' AS patient, CAST({age} AS BIGINT) AS age, 'Zorbleville' AS town, {clinic} AS clinic"
TABLES = {
    "nobody": f"{ROW.format(age=20, clinic=NORTH)} WHERE 1 = 0",
    "one person": ROW.format(age=20, clinic=NORTH),
    "somebody beyond all bounds": ROW.format(age="-9223372036854775807", clinic="'nowhere'"),
    "somebody of whom nothing is known": ROW.format(age="NULL", clinic="NULL"),
    "somebody with many rows": f"{ROW.format(age=20, clinic=NORTH)} FROM range(20000)",
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Servers that differ in their table alone."""
    folder = tmp_path_factory.mktemp("worlds")
    found = [replaced(build(folder / f"world{number}"), rows) for number, rows in enumerate(TABLES.values())]
    yield found
    for one in found:
        one.close()


def told(response: httpx2.Response, numbers: bool = True) -> Any:
    """Return all that a response tells but its number, and the release if it is to be left out."""
    headers = {
        name: value
        for name, value in response.headers.items()
        if name != "x-request-number" and (numbers or name != "content-length")
    }
    return response.status_code, headers, response.content if numbers else None


REFUSED = [
    ("a", "SELECT COUNT(*) FROM elsewhere", "0.5"),
    ("b", "SELECT COUNT(*) FROM visits WHERE age / 0 > 1", "0.5"),
    ("c", "SELECT AVG(town) FROM visits", "0.5"),
    ("d", COUNT, "0"),
    ("e", COUNT, "1000"),
    ("f", COUNT, "1e-13"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "sql", "epsilon"), REFUSED)
def test_refusals_are_the_same_for_every_table(worlds: list[Served], key: str, sql: str, epsilon: str) -> None:
    """A question that is refused is refused by the same bytes and headers, whoever is in the table."""
    found = [told(world.person("ana").ask(key, sql, epsilon)) for world in worlds]
    assert found[0][0] >= 400
    assert all(one == found[0] for one in found)


QUESTIONS = [
    COUNT,
    BY_CLINIC,
    "SELECT MEDIAN(age) FROM visits",
    "SELECT SUM(age) FROM visits WHERE clinic = 'north'",
    "SELECT COUNT(DISTINCT patient) FROM visits",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUESTIONS)
def test_answers_have_one_shape_for_every_table(worlds: list[Served], sql: str) -> None:
    """Status, headers, columns and their kinds, the number of rows, warnings and cost are the same in every table.

    Remarks are about the numbers beside them, and made of those that were released and nothing else.
    """
    responses = [world.person("ana").ask("shape-" + str(len(sql)), sql, "0.5") for world in worlds]
    assert {told(one, numbers=False)[0] for one in responses} == {200}
    assert all(told(one, numbers=False) == told(responses[0], numbers=False) for one in responses)
    released = ("rows", "expected_noise", "intervals", "learnt")
    shapes = []
    for response in responses:
        found = response.json()
        sizes = [[len(row) for row in found[name]] for name in released]
        shapes.append((sizes, {name: one for name, one in found.items() if name not in (*released, "remarks")}))
    assert all(one == shapes[0] for one in shapes)


@pytest.mark.parametrize("path", ["/v1/datasets", "/v1/datasets/visits", "/readyz", "/v1/me"])
def test_what_is_public_is_the_same_for_every_table(worlds: list[Served], path: str) -> None:
    """What is told of a dataset without a charge is the same, to the byte, whoever is in it."""
    found = [told(world.person("ana").get(path)) for world in worlds]
    assert found[0][0] == 200
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("sql", QUESTIONS)
def test_explanations_are_the_same_for_every_table(worlds: list[Served], sql: str) -> None:
    """What a question would do is told without a look at any row."""
    asked = {"sql": sql, "epsilon": "0.5"}
    found = [world.person("ben").post("/v1/datasets/visits/explain", json=asked).json() for world in worlds]
    assert found[0]["parts"]
    assert all({**one, "left_afterwards": ""} == {**found[0], "left_afterwards": ""} for one in found)


@pytest.mark.slow
def test_a_difference_would_be_seen(worlds: list[Served]) -> None:
    """The tables do differ, and what is compared above is the whole of a response: two that differ in a name differ."""
    with duckdb.connect() as connection:
        tables = [connection.execute(f"FROM '{world.folder / 'ward-records.parquet'}'").fetchall() for world in worlds]
    assert len({str(table) for table in tables}) == len(TABLES)
    ben = worlds[0].person("ben")
    assert told(ben.ask("one", "SELECT town FROM visits")) != told(ben.ask("one", "SELECT patient FROM visits"))
    assert told(ben.get("/v1/datasets")) != told(worlds[0].person("eve").get("/v1/datasets"))
