"""TOML as text: what a contract says, written again without the comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown

BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
"""A key of TOML that needs no quotes."""


def write_toml(content: Mapping[str, Any]) -> str:
    """Return the text of a file that says this."""
    return "\n".join(_write_table((), content)).lstrip("\n") + "\n"


def _write_table(path: tuple[str, ...], table: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table: its own values first, then the tables in it."""
    values = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = ["", f"[{'.'.join(map(write_key, path))}]"] if path and (values or not table) else []
    lines += [f"{write_key(key)} = {write_value(value)}" for key, value in values.items()]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _write_table((*path, key), value)
    return lines


def write_key(key: str) -> str:
    """Return a name as a key."""
    return key if BARE.fullmatch(key) else _write_text(key)


def _write_text(text: str) -> str:
    """Return a text in quotes; JSON escapes what TOML does, and one character more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def write_value(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{write_key(key)} = {write_value(part)}" for key, part in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise InvalidContract(f"a contract holds texts, numbers, dates and lists, got {shown(value)}; write one of these")
