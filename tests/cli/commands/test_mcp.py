"""`inbounds mcp`: what is wrong is told before an assistant is served, and a signal ends it at once."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.conftest import Type
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import free_port

SERVER = ("--server", "http://127.0.0.1:8750")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--server is missing"),
        (("--server", "http://hospital.example"), "an API key must not be sent unencrypted"),
        (("--server", "hospital"), "a server address must be a URL"),
        (SERVER, "a server needs an API key"),
        ((*SERVER, "--max-epsilon", "0"), "--max-epsilon must not be 0"),
        ((*SERVER, "--max-epsilon", "-1"), "--max-epsilon must be above 0"),
        ((*SERVER, "--max-epsilon", "1_0"), "--max-epsilon must be a number"),
        ((*SERVER, "--max-session-epsilon", "lots"), "--max-session-epsilon must be a number"),
        ((*SERVER, "--listen", "0.0.0.0:8751"), "--listen must be an address of this machine alone, got 0.0.0.0"),
        ((*SERVER, "--listen", "192.168.0.1:8751"), "--listen must be an address of this machine alone"),
        ((*SERVER, "--listen", "[::]:8751"), "--listen must be an address of this machine alone, got ::"),
        ((*SERVER, "--listen", "8751"), "--listen must be a numeric address and a port"),
        ((*SERVER, "--listen", "127.0.0.1:99999"), "--listen must be a numeric address and a port"),
        ((*SERVER, "--listen", "evil.example:1"), "--listen must be a numeric address and a port"),
        ((*SERVER, "--listen", "127.0.0.1:8751", "--key-file", "key"), "--key-file cannot be combined with --listen"),
        (("--server", "http://hospital.example", "--listen", "127.0.0.1:0"), "must not be sent unencrypted"),
    ],
)
def test_what_is_wrong_is_told(typed: Type, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str) -> None:
    """Bad options are refused as bad input, before anything is served."""
    monkeypatch.delenv("INBOUNDS_KEY", raising=False)
    found = typed("mcp", *words)
    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(typed: Type) -> None:
    """Where somebody listens already, the command ends and says so."""
    with subprocess.Popen(
        [sys.executable, "-c", "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); "
         "print(s.getsockname()[1], flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        found = typed("mcp", *SERVER, "--listen", f"127.0.0.1:{other.stdout.readline().strip()}")
        other.communicate()
    assert found.code == 2
    assert "choose another port" in found.err


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
@pytest.mark.parametrize("listen", [(), ("--listen", "127.0.0.1:0")], ids=["stdio", "http"])
def test_a_signal_ends_it(how: signal.Signals, listen: tuple[str, ...]) -> None:
    """Ctrl-C ends a gateway, although standard input is open and nothing comes."""
    command = [sys.executable, "-m", "inbounds.cli", "mcp", "--server", f"http://127.0.0.1:{free_port()}", *listen]
    environment = {"INBOUNDS_KEY": "inb_x", "PATH": ""}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stderr is not None
        assert "Ctrl-C stops it" in process.stderr.readline()
        process.send_signal(how)
        assert process.wait(PATIENCE) in (0, 130, -how)
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_the_end_of_input_ends_it() -> None:
    """When the assistant closes standard input, the gateway ends well."""
    command = [sys.executable, "-m", "inbounds.cli", "mcp", *SERVER]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=PATIENCE, check=False, env={"INBOUNDS_KEY": "inb_x"}
    )
    assert (done.returncode, done.stdout) == (0, "")
