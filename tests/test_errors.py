"""What a refusal says: the rule, what was received and the remedy, for whoever called and for whoever typed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import inbounds
from inbounds import errors, ledger, query

SOURCES = Path(inbounds.__file__).parent
REFUSALS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"refuse", "Failure"}

CODE = re.compile(r"\w=(?:True|False|None|session|'|\d)|\b(?:round|str|float|int)\(|\.\w+\(")
"""What a command line does not have: an argument of Python, or a call."""

ONLY_FROM_PYTHON = (
    "optimum=True needs",
    "a mean over all possible answers",
    "text of bounds must be a str",
    "an answer about dates must not have a time zone",
)
"""Messages that begin like this are about what no command can be told."""


def _messages() -> Iterator[tuple[str, str]]:
    """Yield where each refusal is raised, and its text with … for what is filled in."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or _name(node.func) not in REFUSALS:
                continue
            for argument in node.args[:2]:
                text = _text(argument)
                if len(text.split()) > 2:
                    yield f"{path.relative_to(SOURCES)}:{node.lineno}", text


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "…" if isinstance(node, ast.FormattedValue) else ""


@cache
def messages() -> dict[str, str]:
    """Return the text of every refusal, by where it is raised."""
    return dict(_messages())


@pytest.mark.slow
def test_refusals_are_found() -> None:
    """The laws below are about some two hundred messages, not about none."""
    assert len(messages()) > 150


def test_every_refusal_has_a_remedy() -> None:
    """After the rule and what was received comes what to do; a message that ends in another's text has its remedy."""
    assert {where: text for where, text in messages().items() if ";" not in text and not text.endswith("…")} == {}


def test_a_remedy_is_for_the_command_line_too() -> None:
    """No message that a command can cause asks for Python code."""
    typed = {where: text for where, text in messages().items() if not text.startswith(ONLY_FROM_PYTHON)}
    assert {where: text for where, text in typed.items() if CODE.search(text)} == {}


def test_a_refusal_is_one_line() -> None:
    """A message is a sentence without a line break and without a full stop at its end."""
    assert {where: text for where, text in messages().items() if "\n" in text or text.endswith(".")} == {}


KINDS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def test_the_tree_is_drawn_as_it_is() -> None:
    """The drawing names every exception, below the one that it is a kind of."""
    names = re.findall(r"^    ([│├└─ ]*)(\w+)(?:  |$)", errors.__doc__ or "", re.MULTILINE)
    drawn = [(len(before) // 4, name) for before, name in names]
    parents: dict[int, str] = {}
    for depth, name in drawn:
        parents[depth] = name
        assert depth == 0 or KINDS[parents[depth - 1]] in KINDS[name].__bases__
    assert {name for _, name in drawn} == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_every_exception_is_exported_where_its_users_are(name: str) -> None:
    """Errors about tables come from the package of tables, errors about ledgers from that of ledgers."""
    kind = KINDS[name]
    place = (
        ledger if issubclass(kind, errors.LedgerError) else query if issubclass(kind, errors.QueryError) else inbounds
    )
    assert name in place.__all__
    assert getattr(place, name) is kind
