"""The tree itself: rooms that are described, of a size that one can take in, and names that hide nothing."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

import inbounds
from tests.helpers.programs import ROOT

PACKAGE = Path(inbounds.__file__).parent
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
MOST_FILES = 15
"""A folder with more than so many modules has rooms in it that nobody has named."""

ROOMS = ("query", "ledger", "joint", "server", "limit", "cli", "gateways")


def modules(folder: Path) -> set[str]:
    """Return the names of the modules and packages in a folder."""
    return {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    """No folder has more than fifteen modules."""
    assert len(list(folder.glob("*.py"))) - 1 <= MOST_FILES


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_no_exported_name_hides_a_module(folder: Path) -> None:
    """What a package exports is never called like one of its own modules: one of the two could not be imported."""
    tree = ast.parse((folder / "__init__.py").read_text("utf-8"))
    exported: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            exported = set(ast.literal_eval(node.value))
    assert exported & modules(folder) == set()


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_is_described(package: str) -> None:
    """The page about the architecture has a word about each room of the packages that have rooms."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = [path.parent.name for path in (PACKAGE / package).glob("*/__init__.py")]
    assert rooms
    assert [room for room in rooms if f"`{package}/{room}/`" not in page] == []


def test_every_package_has_an_exhaustive_contract() -> None:
    """Imports of every package go one way, and no module is left out of that."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    covered = {box for contract in settings if contract.get("exhaustive") for box in contract["containers"]}
    packages = {f"inbounds.{path.parent.name}" for path in PACKAGE.glob("*/__init__.py")}
    assert packages - covered == set()
