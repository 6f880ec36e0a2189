"""The page about attacks names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers.programs import ROOT

PAGE = (ROOT / "docs" / "attacks.md").read_text("utf-8")


def named(page: str) -> set[tuple[str, str]]:
    """Return the tests that a page names, with their modules."""
    found, module = set(), ""
    for name in re.findall(r"`(test_\w+(?:\.py)?)`", page):
        if name.endswith(".py"):
            module = name
        else:
            found.add((module, name))
    return found


def _file(module: str) -> Path:
    (path,) = (path for room in ("server", "gateways") for path in (ROOT / "tests" / room).rglob(module))
    return path


def test_every_test_that_is_named_exists() -> None:
    """An attack that is said to be tried is tried by the test that is named."""
    assert len(named(PAGE)) > 30
    texts = {module: _file(module).read_text("utf-8") for module, _ in named(PAGE)}
    assert [(module, name) for module, name in sorted(named(PAGE)) if f"def {name}(" not in texts[module]] == []


def test_every_row_names_a_test() -> None:
    """No attack is listed without a test."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| tried |")]
    assert rows
    assert [row for row in rows if not named(row)] == []
