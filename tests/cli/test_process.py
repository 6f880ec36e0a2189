"""Commands as processes of their own: pipes, Ctrl-C, completion."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Type, sql
from tests.helpers.programs import PATIENCE
from tests.helpers.sparing import sparing

INBOUNDS = (sys.executable, "-m", "inbounds.cli")
PERCENT = ("--bounds", "[0, 100]", "--sensitivity", "2", "--epsilon", "0.5")


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell would."""
    return subprocess.run(
        [*INBOUNDS, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_a_process_has_the_exit_code() -> None:
    """What main returns is what a shell sees, also where the terminal has no Greek."""
    assert run("release", "97", *PERCENT).returncode == 0
    bad = run("release", "97", *PERCENT, "--jsn", PYTHONIOENCODING="ascii")
    assert (bad.returncode, bad.stdout) == (2, "")
    plain = run("plan", "--bounds", "[0, 5] step 1", "--sensitivity", "1", "--epsilon", "1", PYTHONIOENCODING="ascii")
    assert (plain.returncode, plain.stderr) == (0, "")


RELEASE_97 = ("release", "97", *PERCENT)
REFUTED = ("certify", "--bounds", "[0, inf)", "--sensitivity", "1", "--epsilon", "1", "--scale", "1")


@pytest.mark.slow
@pytest.mark.parametrize("words", [RELEASE_97, REFUTED, ("--help",), ("release", "97", "--jsn")])
def test_a_closed_pipe_is_quiet(words: tuple[str, ...]) -> None:
    """Whoever stops reading is not told about it."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen([*INBOUNDS, *words], stdout=writing, stderr=subprocess.PIPE, text=True) as process:
        os.close(writing)
        _, told = process.communicate(timeout=PATIENCE)
    assert told.count("\n") == ("--jsn" in words)
    codes = {RELEASE_97: 0, REFUTED: 4, ("release", "97", "--jsn"): 2}
    assert process.returncode == codes.get(words, process.returncode)


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell."""
    command = line.replace("inbounds", f"{sys.executable} -m inbounds.cli")
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=PATIENCE)


RELEASE = 'release 1 --bounds "[0, 2]" --sensitivity 1 --epsilon 1'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code"),
    sparing(
        [
            (f"inbounds {RELEASE} >&-", 1),
            (f"inbounds {RELEASE} --json >/dev/full", 1),
            (f"inbounds {RELEASE} 2>&-", 0),
            (f"inbounds {RELEASE} --bad 2>/dev/full", 2),
            (f"inbounds {RELEASE} >/dev/full", 1),
            (f"inbounds {RELEASE} --bad 2>&-", 2),
            (f"inbounds {RELEASE.replace('1', '-', 1)} <&-", 2),
        ],
        4,
    ),
)
def test_closed_and_full_streams_are_foreseen(line: str, code: int) -> None:
    """What could not be printed is a failure, a closed standard error is none, and nothing is unexpected."""
    found = shell(line)
    assert found.returncode == code
    assert "unexpectedly" not in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/dev/full", "&-"])
def test_an_answer_that_could_not_be_printed_is_not_lost(typed: Type, clinic: Path, place: str) -> None:
    """It was charged, so standard error tells the request id with which it is free."""
    asked = ("query", "--dataset", "clinic.toml", "--epsilon", "3", "--analyst", "ana", "SELECT COUNT(*) FROM visits")
    failed = shell(f"inbounds {shlex.join(asked)} >{place}")
    assert failed.returncode == 1
    (request,) = re.findall(r"--request-id (\w+)$", failed.stderr, re.MULTILINE)
    assert typed(*asked).code == 3
    again = typed(*asked, "--request-id", request)
    assert (again.code, again.err) == (0, "")
    assert request in again.out


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes a while to release."""
    path = tmp_path_factory.mktemp("long") / "source.parquet"
    sql(f"COPY (SELECT i % 100 AS score FROM range(12000000) t(i)) TO '{path}'")
    return path


def interrupted(words: tuple[str, ...], folder: Path, sent: tuple[signal.Signals, ...]) -> tuple[int, str, str]:
    """Run a command, send it signals once there is a third file in the folder, and return what became of it."""
    with subprocess.Popen([*INBOUNDS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        started = time.monotonic()
        while len(list(folder.iterdir())) == 2 and process.poll() is None and time.monotonic() - started < PATIENCE:
            time.sleep(0.02)
        time.sleep(0.2)
        for one in sent:
            process.send_signal(one)
            time.sleep(0.001)
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        (signal.SIGINT,),
        (signal.SIGINT, signal.SIGINT, signal.SIGTERM),
        *(pytest.param((one,), marks=pytest.mark.thorough) for one in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_ctrl_c_leaves_nothing_behind(long: Path, tmp_path: Path, sent: tuple[signal.Signals, ...]) -> None:
    """A long release that is interrupted, even again and again, ends quietly, and the folder is as it was."""
    source, target = tmp_path / "source.parquet", tmp_path / "target.parquet"
    source.hardlink_to(long)
    words = ("release", "--file", str(source), "--column", "score", "--to", str(target), *PERCENT)
    for _ in range(5):  # where the machine is busy, a release may be done before it is interrupted
        target.write_text("old", encoding="utf-8")
        code, *said = interrupted(words, tmp_path, sent)
        if code != 0:
            break
    assert (code, *said) == (130, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.parquet", "target.parquet"]
    assert target.read_text("utf-8") == "old"


def test_whatever_takes_long_to_import_can_be_interrupted() -> None:
    """Before it answers to Ctrl-C, the command imports nothing that takes time."""
    code = "import sys, inbounds.cli.main; print(*{'numpy', 'flint', 'typer'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert found.stdout == "\n"


@pytest.mark.slow
@pytest.mark.parametrize("shell", sparing(["bash", "zsh", "fish"]))
def test_completion_is_produced(shell: str) -> None:
    """There is a completion script for each shell, and it names the command."""
    found = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (found.returncode, found.stderr) == (0, "")
    assert "inbounds" in found.stdout
    assert f"complete_{shell}" in found.stdout


@pytest.mark.slow
def test_completion_completes() -> None:
    """Commands and options are completed."""
    words = {"_INBOUNDS_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert run(COMP_WORDS="inbounds re", **words).stdout.split() == ["release", "reports"]
    words["COMP_CWORD"] = "2"
    assert "--target-error" in run(COMP_WORDS="inbounds plan --ta", **words).stdout


def test_without_typer_the_extra_is_named() -> None:
    """Whoever installed the library only is told what the command needs."""
    code = "import sys; sys.modules['typer'] = None; from inbounds.cli.main import run; run()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert found.returncode == 1
    assert found.stderr == (
        "inbounds: the command line needs typer, which is not installed: pip install 'inbounds[cli]'\n"
    )


@pytest.mark.slow
def test_without_sqlglot_only_tables_are_not_asked() -> None:
    """A package that only questions need is named by them, and the other commands do without it."""
    code = "import sys; sys.modules['sqlglot'] = None; from inbounds.cli.main import run; run()"
    table = ("explain", "--dataset", "clinic.toml", "--epsilon", "1", "SELECT COUNT(*) FROM visits")
    for words, told in ((("release", "97", *PERCENT), ""), (table, "pip install 'inbounds[query]'")):
        found = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert found.returncode == (1 if told else 0)
        assert told in found.stderr
