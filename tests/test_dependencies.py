"""What the package imports is what its metadata name, and nothing that they name is left unused."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator

import pytest

import inbounds
from tests.helpers.programs import ROOT

SOURCES = ROOT / "src" / "inbounds"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
TOOLS = {"dev", "docs", "engines"}
"""Extras for working on the package, which does not import them."""

CALLED = {"flint": "python-flint"}
"""Modules that are called otherwise than what is installed for them."""

INSTEAD = {"pyspark-client": "pyspark"}
"""What may be installed instead of something else, and has modules of the same name."""

BROUGHT = {"polars": "src/inbounds/query/engines/frames.py", "pyarrow": "src/inbounds/query/engines/frames.py"}
"""What is imported only to read a frame of that library, which whoever hands one over has."""

OF_A_PART = {"server": "serve", "client": "client"}
"""Parts of the package that need one extra, whole; others say which extra to install if something is missing."""


def named(extra: str) -> set[str]:
    """Return what an extra installs by name, its own extras too."""
    found: set[str] = set()
    for requirement in EXTRAS[extra]:
        name, more = re.split(r"[<>=\[]", requirement)[0], re.findall(r"\[(.*)\]", requirement)
        if name == "inbounds":
            found |= set().union(*(named(one) for one in more[0].split(",")))
        else:
            found.add(name.lower().replace("_", "-"))
    return found


def imported(part: str = "") -> dict[str, str]:
    """Return what is imported from elsewhere by the modules of a part, as it is installed, and one place of each."""
    found: dict[str, str] = {}
    for path in sorted((SOURCES / part).rglob("*.py")):
        for module in _modules(ast.parse(path.read_text("utf-8"))):
            top = module.partition(".")[0]
            if top not in sys.stdlib_module_names and top != "inbounds":
                found[CALLED.get(top, top.replace("_", "-"))] = str(path.relative_to(ROOT))
    return found


def _modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@pytest.mark.slow
def test_everything_imported_is_declared() -> None:
    """Whatever a module imports from elsewhere, `pyproject.toml` names, and not only what brings it along."""
    declared = set().union(*(named(extra) for extra in EXTRAS.keys() - TOOLS))
    assert {name: place for name, place in imported().items() if name not in declared} == BROUGHT


@pytest.mark.parametrize("part", OF_A_PART)
def test_an_extra_brings_all_that_its_part_imports(part: str) -> None:
    """Who installs the extra of a part has everything that its modules import."""
    declared = named("") | named(OF_A_PART[part])
    assert {name: place for name, place in imported(part).items() if name not in declared} == {}


@pytest.mark.parametrize(("extra", "place"), [("client", "client/connection.py"), ("rich", "display/table.py")])
def test_a_remedy_installs_what_is_declared(extra: str, place: str) -> None:
    """What is said to whoever lacks it, also in the client by itself, is the requirement of the extra."""
    (requirement,) = EXTRAS[extra]
    assert f"pip install '{requirement}'" in (SOURCES / place).read_text("utf-8")


@pytest.mark.slow
def test_everything_declared_is_imported() -> None:
    """Nobody installs what no module imports."""
    declared = set().union(*(named(extra) for extra in EXTRAS.keys() - TOOLS))
    assert {INSTEAD.get(name, name) for name in declared} - imported().keys() == set()


def test_a_citation_names_this_version() -> None:
    """Whoever cites the package cites the version that it says it is."""
    assert f"version: {inbounds.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - TOOLS))
def test_every_range_has_two_ends(extra: str) -> None:
    """A dependency is named with the oldest version that is tested and one that is not tried any more."""
    for requirement in EXTRAS[extra]:
        assert requirement.startswith("inbounds[") or re.search(r">=[0-9.]+,<[0-9.]+$", requirement)
