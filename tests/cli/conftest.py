"""What the tests of the command line share: commands as they are typed, and a clinic to ask."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.cli.clinic.clinic import build
from inbounds.cli.main import main


@dataclass(frozen=True)
class Typed:
    """What became of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it said to machines."""
        assert (self.code, self.err) == (0, "")
        return json.loads(self.out, parse_constant=pytest.fail)


Type = Callable[..., Typed]


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Type:
    """Return what runs a command in this process."""

    def run(*words: str, stdin: str | bytes = "") -> Typed:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        capsys.readouterr()
        code = main(list(words))
        return Typed(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the clinic of the demonstration."""
    return build(tmp_path_factory.mktemp("clinic")).parent


@pytest.fixture
def clinic(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the clinic, whose ledger is empty."""
    folder = tmp_path / "work"
    shutil.copytree(built, folder)
    monkeypatch.chdir(folder)
    return folder


def sql(statement: str) -> list[tuple[Any, ...]]:
    """Run a statement in a database of its own, and return its rows."""
    with duckdb.connect() as connection:
        return connection.execute(statement).fetchall()


def within_80(text: str) -> bool:
    """Return whether no line of a text is wider than a terminal."""
    return max(map(len, text.splitlines()), default=0) <= 80
