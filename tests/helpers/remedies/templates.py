"""Where questions are refused: the messages in the source, and which of them an error came from."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import TracebackType

import inbounds.query

ROOT = Path(inbounds.query.__file__).parent

ROOMS = ("sql", "sql/several", "several", "grammar", "question", "columns", "tables", "expressions")

OF_CONTRACTS = ("contract", "part")
"""What refuses a contract, and not a question."""

Place = tuple[str, int]
"""A file, and the line where a message begins."""


@cache
def templates() -> dict[Place, str]:
    """Return every message that is written where a question is refused, with … for what is filled in."""
    return {place: text for path in _files() for place, _, text in _messages(path)}


def raised_at(error: BaseException) -> set[Place]:
    """Return the places of the messages that an error came from, those that it was made of among them."""
    places: set[Place] = set()
    problem: BaseException | None = error
    while problem is not None:
        places |= _places_of(problem.__traceback__)
        problem = problem.__cause__ or problem.__context__
    return places


def _places_of(trace: TracebackType | None) -> set[Place]:
    places = set()
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path in _files():
            lines = ((place, last) for place, last, _ in _messages(path) if place[1] <= trace.tb_lineno <= last)
            places |= {place for place, _ in lines}
        trace = trace.tb_next
    return places


@cache
def _files() -> tuple[Path, ...]:
    return (*(path for room in ROOMS for path in sorted((ROOT / room).glob("*.py"))), ROOT / "ask/privacy_options.py")


@cache
def _messages(path: Path) -> list[tuple[Place, int, str]]:
    """Return where the messages of a file begin and end, and their texts."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    name = str(path.relative_to(ROOT))
    texts = [(node, _text(node)) for node in calls if _refuses(node)]
    return [((name, node.lineno), node.end_lineno or node.lineno, text) for node, text in texts if text.strip("… ;")]


def _refuses(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "InvalidQuestion"
    if not isinstance(function, ast.Attribute) or function.attr != "refuse":
        return False
    receiver = function.value
    return (receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")) not in OF_CONTRACTS


def _text(call: ast.Call) -> str:
    """Return the message of a call: the last argument that is a text."""
    texts = [_write(argument) for argument in call.args]
    return next((text for text in reversed(texts) if text), "")


def _write(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_write(part) for part in node.values)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "…" if isinstance(node, ast.FormattedValue) else ""
