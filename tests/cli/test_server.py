"""Serving from the command line, keys of people, and questions with --server."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from inbounds.cli.commands.serve import DEMO
from inbounds.ledger import Ledger
from tests.cli.conftest import Type, within_80
from tests.client.conftest import Clinic, serve_clinic
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import free_port, running, wait_for
from tests.helpers.sparing import sparing

INBOUNDS = (sys.executable, "-m", "inbounds.cli")
COUNT = "SELECT COUNT(*) FROM visits"
BY_CLINIC = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


@pytest.fixture(scope="module")
def open_clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of this module."""
    served = serve_clinic(tmp_path_factory.mktemp("served"))
    with running(served) as found:
        yield Clinic(served, found)


@pytest.fixture
def there(open_clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """What is typed to ask the clinic as ana, whose key is in the environment."""
    monkeypatch.setenv("INBOUNDS_KEY", open_clinic.served.keys["ana"])
    return ("--server", open_clinic.running.url, "--dataset", "visits")


def keys_of(data: Any) -> Any:
    """Return the names in a dictionary, and in those within."""
    return {name: keys_of(one) for name, one in data.items()} if isinstance(data, dict) else None


# Serving.


@pytest.mark.parametrize("words", [(), ("custodian.toml", "--demo")])
def test_serve_takes_a_file_or_the_demonstration(typed: Type, words: tuple[str, ...]) -> None:
    """Both or none of them is refused."""
    found = typed("serve", *words)
    assert (found.code, found.out) == (2, "")
    assert (
        found.err == "inbounds: serve needs either a custodian file or --demo, got both or neither; give one of them\n"
    )


def test_a_file_that_is_not_there_is_named(typed: Type, tmp_path: Path) -> None:
    """What cannot be read is one line."""
    found = typed("serve", str(tmp_path / "none.toml"))
    assert found.code in {1, 2}
    assert found.err.count("\n") == 1
    assert "none.toml" in found.err


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_is_taken_is_one_line(typed: Type, clinic: Path, workers: int) -> None:
    """Where somebody listens already, the server says so before it says that it serves."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = DEMO.format(port=port).replace("[people.ana]", f"workers = {workers}\n[people.ana]", 1)
        (clinic / "custodian.toml").write_text(text, "utf-8")
        found = typed("serve", "custodian.toml", "--new-ledger")
    assert (found.code, found.out) == (2, "")
    assert found.err == (
        f"inbounds: the server cannot listen on 127.0.0.1 port {port}: Address already in use; stop what listens "
        "there, or choose another port\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_is_a_port(typed: Type, port: str) -> None:
    """A number that is no port is bad input."""
    found = typed("serve", "--demo", "--port", port)
    assert (found.code, found.out) == (2, "")
    assert found.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", sparing([signal.SIGINT, signal.SIGTERM]))
def test_the_demonstration_can_be_clicked_through(tmp_path: Path, how: signal.Signals) -> None:
    """What it prints fits a terminal and works when it is typed; when it stops, nothing is left of it."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [*INBOUNDS, "serve", "--demo", "--port", "0"]
    pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipe) as process:
        lines: list[str] = []
        assert process.stdout is not None
        reader = threading.Thread(target=lines.extend, args=(process.stdout,))
        reader.start()
        try:
            wait_for(lambda: process.poll() is not None or len(lines) == 17)
            told = "".join(lines)
            assert within_80(told)
            assert len(re.findall(r"inb_\w{12}_[\w-]{43}$", told, re.MULTILINE)) == 6
            shell = told.partition("in another terminal:\n")[2].replace(
                "inbounds query", " ".join((*INBOUNDS, "query"))
            )
            asked = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False, timeout=PATIENCE)
            assert (asked.returncode, asked.stderr) == (0, "")
            assert asked.stdout.startswith("clinic")
        finally:
            process.send_signal(how)
            code = process.wait(PATIENCE)
            reader.join(PATIENCE)
            assert process.stderr is not None
            complaints = [line for line in process.stderr if not line.startswith("{")]
    assert (code, complaints) == (0, [])
    assert list(tmp_path.iterdir()) == []


# Keys of people.


def test_keys_are_issued_listed_and_revoked(typed: Type, clinic: Path) -> None:
    """A key is shown once; afterwards its prefix, whose it is, and what has become of it."""
    (clinic / "custodian.toml").write_text(DEMO.format(port=free_port()), "utf-8")
    at = ("--custodian", "custodian.toml")
    assert typed("keys", "list", *at).out == "no API key has been issued yet\n"
    made = typed("keys", "issue", "ana", *at, "--days", "30", "--json").data
    assert re.fullmatch(r"inb_\w{12}_[\w-]{43}", made["key"])
    (listed,) = typed("keys", "list", *at, "--json").data
    assert listed == {name: one for name, one in made.items() if name != "key"}
    assert (listed["person"], listed["state"]) == ("ana", "valid")
    shown = typed("keys", "list", *at)
    assert within_80(shown.out)
    assert made["key"] not in shown.out
    assert typed("keys", "revoke", listed["prefix"], *at).code == 0
    assert typed("keys", "list", *at, "--json").data[0]["state"] == "revoked"
    for path in clinic.iterdir():
        assert made["key"].encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("issue", "mallory"), "it names 'ana', 'ben', 'carla', 'dora'"),
        (("issue", "ana", "--days", "0"), "an API key is valid for 1 to 3660 days, got 0"),
        (("revoke", "0123456789ab"), "there is no API key with the prefix '0123456789ab'"),
    ],
)
def test_keys_for_nobody_are_refused(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """Whom the custodian's file does not name gets no key, and what is not there is not revoked."""
    (clinic / "custodian.toml").write_text(DEMO.format(port=free_port()), "utf-8")
    found = typed("keys", *words, "--custodian", "custodian.toml")
    assert (found.code, found.out) == (2, "")
    assert said in found.err


# Asking a server.


@pytest.mark.slow
def test_a_server_is_asked_as_a_contract_is(
    typed: Type, there: tuple[str, ...], open_clinic: Clinic, clinic: Path
) -> None:
    """With --server the commands print what they print of a contract at hand, for people and for programs."""
    here = ("--dataset", str(clinic / "clinic.toml"), "--analyst", "ana")
    question = ("--epsilon", "0.5", BY_CLINIC)
    far, near = (typed("query", *one, *question, "--json").data for one in (there, here))
    assert {**keys_of(far), "ledger_created": None} == keys_of(near)
    shown = typed("query", *there, *question, "--request-id", "q1")
    assert (shown.code, shown.err) == (0, "")
    assert within_80(shown.out)
    assert re.search(r"^request id\s+q1$", shown.out, re.MULTILINE)
    local = typed("query", *here, *question)
    names = [re.findall(r"^(.*?)  +", one.out.rpartition("\n\n")[2], re.MULTILINE) for one in (shown, local)]
    assert names == [["cost (ε)", "ana's budget", "total budget", "request id"]] * 2
    assert (
        typed("query", *there, *question, "--request-id", "q1").out.partition("budget")[0]
        == (shown.out.partition("budget")[0])
    )
    far, near = (typed("budget", "show", *one, "--json").data for one in (there, here))
    assert keys_of(far) == {**keys_of(near), "asked": None}
    assert "ana's budget" in typed("budget", "show", *there).out
    told = typed("explain", *there, *question)
    assert (told.code, told.err) == (0, "")
    assert "0.5" in told.out
    far, near = (typed("explain", *one, *question, "--json").data for one in (there, here[:2]))
    assert {"question", "epsilon", "row_limit", "parts", "warnings"} <= set(far) & set(near)


@pytest.mark.slow
def test_a_custodian_sees_whose_budget_it_is(
    typed: Type, there: tuple[str, ...], open_clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A custodian may name an analyst; an analyst may not name another."""
    assert typed("budget", "show", *there, "--analyst", "ben").code == 2
    monkeypatch.setenv("INBOUNDS_KEY", open_clinic.served.keys["carla"])
    assert typed("budget", "show", *there, "--analyst", "ben", "--json").data["analyst"]["name"] == "ben"
    assert "analyst" not in typed("budget", "show", *there, "--json").data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--epsilon", "1", "SELEC"), 2, "SELEC"),
        (("--epsilon", "0", COUNT), 2, "epsilon must be above 0"),
        (("--epsilon", "1000", COUNT), 3, "left"),
        (("--epsilon", "1", COUNT, "--analyst", "ana"), 2, "--analyst cannot be combined with --server"),
        (("--epsilon", "1", COUNT, "--ledger", "x.db"), 2, "--ledger cannot be combined with --server"),
        (("--epsilon", "1", COUNT, "--request-id", "a/b"), 2, "Idempotency-Key"),
        (("--epsilon", "1", COUNT, "--dataset", "none"), 2, "no dataset has this name"),
    ],
)
def test_what_a_server_refuses_has_the_exit_code(
    typed: Type, there: tuple[str, ...], words: tuple[str, ...], code: int, said: str
) -> None:
    """Exit codes are those of a contract at hand, and there is never a traceback."""
    found = typed("query", *there, *words)
    assert (found.code, found.out) == (code, "")
    assert said in found.err
    assert "Traceback" not in found.err


def test_nobody_there(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that cannot be reached is a failure, told at once and in one line."""
    monkeypatch.setenv("INBOUNDS_KEY", "inb_x")
    url = f"http://127.0.0.1:{free_port()}"
    found = typed("query", "--server", url, "--dataset", "visits", "--epsilon", "1", COUNT)
    assert (found.code, found.out, found.err.count("\n")) == (1, "", 1)
    assert "the server cannot be reached (ConnectError)" in found.err
    assert "inb_x" not in found.err


def test_without_a_key_nothing_is_asked(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no key is, the message says where to put it; there is no option that takes one."""
    monkeypatch.delenv("INBOUNDS_KEY", raising=False)
    found = typed("query", "--server", "http://127.0.0.1:1", "--dataset", "visits", "--epsilon", "1", COUNT)
    assert found.code == 2
    assert "INBOUNDS_KEY" in found.err
    refused = typed("query", "--key", "inb_secret", "--dataset", "visits", "--epsilon", "1", COUNT)
    assert (refused.code, refused.out) == (2, "")
    assert "inb_secret" not in refused.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions")
def test_a_key_file_is_for_its_owner_only(
    typed: Type, there: tuple[str, ...], open_clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key may be in a file, if nobody else can read it; it comes before that of the environment."""
    monkeypatch.setenv("INBOUNDS_KEY", "inb_wrong")
    path = tmp_path / "key"
    path.write_text(f"{open_clinic.served.keys['ana']}\n", "utf-8")
    words = ("budget", "show", *there, "--key-file", str(path))
    for mode in (0o644, 0o640, 0o604, 0o660):
        path.chmod(mode)
        found = typed(*words)
        assert (found.code, found.out) == (2, "")
        assert f"chmod 600 {path}" in found.err
    path.chmod(0o600)
    assert typed(*words).code == 0
    wrong = typed("budget", "show", *there)
    assert wrong.code == 2
    assert "inb_wrong" not in wrong.err
    missing = typed("budget", "show", *there, "--key-file", str(tmp_path / "none"))
    assert missing.code == 1
    assert missing.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
def test_ctrl_c_tells_the_request_id(open_clinic: Clinic) -> None:
    """Whoever gives up while a server is asked is told how to ask again for free."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = threading.Event()

        def serve() -> None:
            first, _ = silent.accept()
            with first:
                first.recv(65536)
                body = httpx2.get(
                    f"{open_clinic.running.url}/v1/datasets/visits",
                    headers={"Authorization": f"Bearer {open_clinic.served.keys['ana']}"},
                    trust_env=False,
                    timeout=PATIENCE,
                ).content
                first.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                if b"POST" in first.recv(65536):
                    asked.set()
                first.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        words = (
            "--server",
            f"http://127.0.0.1:{silent.getsockname()[1]}",
            "--dataset",
            "visits",
            "--epsilon",
            "1",
            COUNT,
        )
        environment = {**os.environ, "INBOUNDS_KEY": open_clinic.served.keys["ana"]}
        with subprocess.Popen(
            [*INBOUNDS, "query", *words], env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        thread.join(PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(r"inbounds: if this was charged, repeat it for free with --request-id [0-9a-f]{32}\n", err)


@pytest.mark.slow
def test_an_answer_is_shown_though_the_budget_cannot_be(
    typed: Type, there: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid for is printed, also if the server is gone in the moment after."""
    from inbounds.client import RemoteDataset  # noqa: PLC0415
    from inbounds.errors import ServerUnreachable  # noqa: PLC0415

    def gone(*_: Any) -> Any:
        raise ServerUnreachable("ConnectError")

    monkeypatch.setattr(RemoteDataset, "budget", gone)
    found = typed("query", *there, "--epsilon", "1", COUNT)
    assert (found.code, found.err) == (0, "")
    assert "cannot be read" in found.out
    assert typed("query", *there, "--epsilon", "1", COUNT, "--json").data["budget"] == {}


@pytest.mark.slow
def test_the_ledger_knows_who_asked(typed: Type, there: tuple[str, ...], open_clinic: Clinic) -> None:
    """The name in the ledger is that of the key, under a request id of that person's own."""
    assert typed("query", *there, "--epsilon", "0.25", "--request-id", "hers", COUNT).code == 0
    with Ledger.open(open_clinic.ledger) as ledger:
        found = ledger.request("ana/hers")
    assert found is not None
    assert found[0].analyst == "ana"
