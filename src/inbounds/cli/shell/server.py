"""A server, for commands that are about nothing but a server: what it is asked with, and which entry is meant."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

import inbounds
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

if TYPE_CHECKING:
    from inbounds.client import Connection

ServerAddress = Annotated[str, typer.Option("--server", metavar="URL", help="The server.")]

SHOWN = 12
"""So many characters of an id are shown, which tell it from all others; the beginning of one is enough to type."""


class Named(Protocol):
    """Something that has an id."""

    @property
    def id(self) -> str:
        """What it is called."""


Entry = TypeVar("Entry", bound=Named)


@contextmanager
def connected(server: str, key_file: str | None) -> Iterator[Connection]:
    """Connect to a server with the key of the environment, or of a file."""
    with inbounds.connect(server, key=None if key_file is None else read_key(Path(key_file))) as connection:
        yield connection


def read_key(path: Path) -> str:
    """Read a key from a file that nobody else can read."""
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InvalidParameter(
            f"--key-file must be readable by you alone, but others can read {str(path)!r}; run chmod 600 {path}"
        )
    return path.read_text(encoding="utf-8").strip()


def find_entry(entries: Sequence[Entry], typed: str, what: str, remedy: str) -> Entry:
    """Return the entry whose id begins as was typed; there must be one."""
    found = [entry for entry in entries if typed and entry.id.startswith(typed.lower())]
    if not found:
        raise InvalidParameter(f"no {what} has an id that begins with {shown(typed)}; {remedy}")
    if len(found) > 1:
        raise InvalidParameter(f"more than one {what} has an id that begins with {shown(typed)}; type more of it")
    return found[0]
