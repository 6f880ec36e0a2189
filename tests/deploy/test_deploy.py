"""The files for a deployment: what they name exists, and what they set is what the server needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import typer.main

from inbounds.cli.app import app
from inbounds.cli.clinic.clinic import build
from inbounds.errors import InvalidContract
from inbounds.server.basics.limits import ServerLimits
from inbounds.server.basics.person import Role
from inbounds.server.run.process import GRACE, check
from inbounds.server.state import custodian_file
from inbounds.server.state.custodian_file import CustodianFile
from tests.helpers.programs import PATIENCE, ROOT

EXAMPLE = (ROOT / "deploy" / "custodian.example.toml").read_text("utf-8")
UNIT = (ROOT / "deploy" / "inbounds.service").read_text("utf-8")
CONTAINER = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
PAGE = (ROOT / "docs" / "deployment.md").read_text("utf-8")


def uncommented(text: str) -> str:
    """Return the example with everything in force that is commented out."""
    return re.sub(r"^# (?=\[\w+\]$|\w+ = )", "", text, flags=re.MULTILINE)


def written(folder: Path, text: str) -> Path:
    """Write a custodian's file beside the clinic of the demonstration, with its folders in place of the system's."""
    build(folder)
    path = folder / "custodian.toml"
    path.write_text(text.replace("/var/lib/inbounds", str(folder)), encoding="utf-8")
    return path


def test_the_example_can_be_served(tmp_path: Path) -> None:
    """The example, with a contract beside it, opens: contracts, ledger, keys, and one person of each role at least."""
    file = CustodianFile.load(written(tmp_path, EXAMPLE))
    assert {person.role for person in file.people.values()} == set(Role)
    check(file, new_ledger=True)
    assert (tmp_path / "budget.db").exists()
    assert (tmp_path / "server.db").exists()


def test_the_example_has_every_key_there_is(tmp_path: Path) -> None:
    """With all that is commented out, the example sets every section and every key, and limits as they are anyway."""
    text = uncommented(EXAMPLE)
    found = tomllib.loads(text)
    assert set(found) == set(custodian_file.SECTIONS)
    assert set(found["server"]) == set(custodian_file.SERVER_KEYS)
    for section, kind in {
        "tls": custodian_file.Tls,
        "proxy": custodian_file.Proxy,
        "identity": custodian_file.Provider,
        "limits": ServerLimits,
    }.items():
        assert set(found[section]) == {one.name for one in fields(kind)}
    plain, whole = (CustodianFile.load(written(tmp_path, one)) for one in (EXAMPLE, text))
    assert (whole.limits, whole.workers) == (plain.limits, plain.workers)
    assert whole.limits == ServerLimits()
    assert found["identity"]["claim"] == custodian_file.Provider("", "").claim


def test_an_example_with_another_key_is_found(tmp_path: Path) -> None:
    """A key that the server does not know is refused, so that the example cannot keep one."""
    path = written(tmp_path, uncommented(EXAMPLE).replace("workers =", "wokers ="))
    with pytest.raises(InvalidContract, match="wokers"):
        CustodianFile.load(path)


def settings(unit: str) -> dict[str, list[str]]:
    """Return what a unit sets, by name."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def test_the_unit_names_what_exists() -> None:
    """The unit starts a command that there is, with the file, the user and the folders of the page and the example."""
    unit = settings(UNIT)
    program, command, path = unit["ExecStart"][0].split()
    assert command in typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert f"{Path(program).parent}/pip install" in PAGE
    assert path in PAGE
    assert f"install -d -o {unit['User'][0]} -g {unit['Group'][0]} -m 0700 {unit['ReadWritePaths'][0]} " in PAGE
    assert unit["ReadWritePaths"] == [f"/var/lib/{unit['StateDirectory'][0]}"]
    server = tomllib.loads(EXAMPLE)["server"]
    assert {str(Path(server[name]).parent) for name in ("ledger", "state")} == set(unit["ReadWritePaths"])
    assert unit["Environment"][0].partition("=")[2] in PAGE


def test_the_unit_waits_for_running_questions() -> None:
    """The time that systemd gives a server to stop is above what the server gives its questions."""
    most = ServerLimits().statement_seconds + GRACE
    assert int(settings(UNIT)["TimeoutStopSec"][0]) > most
    assert [int(given) > most for given in re.findall(r"--stop-timeout (\d+)", PAGE)] == [True]


def test_the_unit_gives_nothing_away() -> None:
    """The service can become nobody else, write nothing else, and leave no memory behind."""
    unit = settings(UNIT)
    assert unit["NoNewPrivileges"] == unit["PrivateTmp"] == unit["PrivateDevices"] == unit["ProtectHome"] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["LimitCORE"] == ["0"]
    assert unit["UMask"] == ["0077"]


def test_the_unit_leaves_room_for_others() -> None:
    """The service has an end to its memory and its processes, which is above what the most workers need."""
    unit = settings(UNIT)
    assert 0 < int(unit["MemoryMax"][0].removesuffix("%")) < 100
    assert int(unit["TasksMax"][0]) >= custodian_file.MOST_WORKERS * 64
    assert unit["OOMPolicy"] == ["continue"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("fault", ["", "ProtectSytem=strict\n"])
def test_systemd_understands_the_unit(tmp_path: Path, fault: str) -> None:
    """systemd finds no fault with the unit, except one that is put into it."""
    path = tmp_path / "inbounds.service"
    here = re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", UNIT, flags=re.MULTILINE)
    path.write_text(here.replace("[Install]", f"{fault}[Install]"), encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    told = [line for line in found.stderr.splitlines() if path.name in line]
    assert bool(told) is bool(fault), found.stderr


def test_the_container_is_made_of_what_there_is() -> None:
    """What the container copies is there, the extras that it installs exist, and it runs as nobody, on one port."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", CONTAINER, re.MULTILINE) for name in line.split()]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"pyproject.toml", "src", project["project"]["readme"], *project["project"]["license-files"]} <= set(copied)
    (extras,) = re.findall(r"pip install .*\[([\w,]+)\]", CONTAINER)
    assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])
    assert re.findall(r"^USER (\S+)$", CONTAINER, re.MULTILINE) == ["inbounds"]
    assert re.findall(r"^EXPOSE (\S+)$", CONTAINER, re.MULTILINE) == [custodian_file.LISTEN.rpartition(":")[2]]


def test_the_page_installs_extras_that_exist() -> None:
    """The extras that the page installs are some of the package's, and `serve` is one of them each time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = [set(one.split(",")) for one in re.findall(r"'\.\[([\w,]+)\]'", PAGE)]
    assert found
    assert all({"serve"} <= one <= set(project["optional-dependencies"]) for one in found)


def test_the_files_are_in_the_source_package() -> None:
    """Whoever has the source package has the files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "/deploy" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
