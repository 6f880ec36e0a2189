"""Changes to a contract: to what it says, and to its text, in which everything else stays as the custodian wrote it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.query.contract.contract import HEADER, KEY, Contract, dotted

OURS = ("# discovered for ", "# expected loss: ")
"""How the comments begin that stand above what was discovered; they go when it is discovered again."""


def with_value(contract: Contract, value: Any, *path: str) -> Contract:
    """Return a contract that says something else of one key."""
    return replace(contract, content=_set(contract.content, value, path))


def apart_from(contract: Contract, *path: str, asked: Sequence[str]) -> Contract:
    """Return a contract without a key, told from others by all else that it says and by what is asked of it.

    So a question about what the key should be is the same question once the answer stands there.
    """
    content = _without(contract.content, path)
    written = _without(tomllib.loads(contract.text), path)  # and not what was put in for limits that are open
    said = json.dumps(written, sort_keys=True, default=str)
    return replace(contract, content=content, text="\0".join((said, *path, *asked)))


def write_number(text: str, number: int, *path: str, remarks: Sequence[str] = ()) -> str:
    """Return the text of a contract with a number for a key, which may be there or not, and comments above it."""
    *table, key = path
    lines = text.split("\n")
    headers = {at: dotted(found[1]) for at, line in enumerate(lines) if (found := HEADER.match(line))}
    own = next((at for at, names in headers.items() if names == tuple(table)), None)
    if own is not None:
        end = next((at for at in headers if at > own), len(lines))
        keys = {dotted(found[1]): at for at in range(own + 1, end) if (found := KEY.match(lines[at]))}
        first = last = keys.get(("unit",), own) + 1  # a new one stands below the unit
        if (key,) in keys:
            first, last = keys[key,], keys[key,] + 1
            while lines[first - 1].startswith(OURS):
                first -= 1
        lines[first:last] = [*remarks, f"{key} = {number}"]
    return _check(text, "\n".join(lines), number, path)


def write_section(text: str, section: str, value: Any, *path: str) -> str:
    """Return the text of a contract with a section at its end, which says this value at this path.

    A contract that has such a section is returned as it is: what the custodian wrote there stays.
    """
    around: Any = tomllib.loads(text)
    for name in path[:-1]:
        around = around.get(name) if isinstance(around, dict) else None
    if around is not None:
        return text
    return _check(text, text.rstrip("\n") + "\n" + section, value, path)


def header_of(*path: str) -> str:
    """Return the line that begins a section, with quotes around all names but the usual ones."""
    names = [name if name in ("columns", "tables") else json.dumps(name, ensure_ascii=False) for name in path]
    return f"[{'.'.join(names)}]"


def _check(before: str, after: str, value: Any, path: Sequence[str]) -> str:
    """Return a changed text if it says what it said before, and this; headers and keys were found without a parser."""
    try:
        if tomllib.loads(after) == _set(tomllib.loads(before), value, path):
            return after
    except tomllib.TOMLDecodeError:
        pass
    table = ".".join(path[:-1])
    raise InvalidContract(
        f"cannot write {path[-1]} into the contract: [{table}] is not a section with a line for each key; write it "
        "like that, or add the key yourself"
    )


def _without(content: Any, path: Sequence[str]) -> dict[str, Any]:
    changed: dict[str, Any] = deepcopy(dict(content))
    around = changed
    for name in path[:-1]:
        around = around.get(name, {})
    around.pop(path[-1], None)
    return changed


def _set(content: Any, value: Any, path: Sequence[str]) -> dict[str, Any]:
    changed: dict[str, Any] = deepcopy(dict(content))
    around = changed
    for name in path[:-1]:
        around = around.setdefault(name, {})
    around[path[-1]] = value
    return changed
