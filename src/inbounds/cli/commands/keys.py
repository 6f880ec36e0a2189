"""`inbounds keys`: API keys for people who query a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.commands.discover import discover_keys
from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.extras import load_custodian, open_key_ring
from inbounds.cli.shell.options import AsJson, read_whole
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from inbounds.server.people.key import Key
    from inbounds.server.people.key_ring import KeyRing

app = typer.Typer(
    cls=CommandGroup,
    help="""Manage API keys: issue, list, revoke.

    \b
    Example:
      inbounds keys issue ana --custodian custodian.toml
    """,
    short_help="Manage API keys.",
)

app.command("discover", cls=Command, hidden=True)(discover_keys)  # as it was called before `inbounds discover`

CustodianPath = Annotated[str, typer.Option("--custodian", metavar="FILE", help="The server's custodian file.")]
PersonName = Annotated[str, typer.Argument(metavar="NAME", help="A person named in that file.", show_default=False)]
Days = Annotated[str, typer.Option("--days", metavar="NUMBER", help="How many days the key is valid.")]
Prefix = Annotated[
    str, typer.Argument(metavar="PREFIX", help="The key's prefix, as list shows it.", show_default=False)
]


@app.command("issue", cls=Command)
def issue(person: PersonName, custodian: CustodianPath, days: Days = "90", as_json: AsJson = False) -> None:
    """Issue an API key for a person.

    The key is shown once and is not stored.

    \b
    Example:
      inbounds keys issue ana --custodian custodian.toml --days 30
    """
    valid, file = read_whole(days, "--days"), load_custodian(custodian)
    if person not in file.people:
        known = ", ".join(map(repr, file.people)) or "nobody"
        raise InvalidParameter(f"NAME must be a person in the custodian's file, got {person!r}; it names {known}")
    text, key = open_key_ring(file).issue(person, valid)
    lines = [("API key", text), ("person", person), ("valid until", key.expires.date().isoformat())]
    show(
        {"key": text, **_describe_key(key)},
        f"{format_pairs(lines)}\n\nThe key is shown only once. Give it to nobody but {person}.",
        as_json=as_json,
    )


@app.command("list", cls=Command)
def list_keys(custodian: CustodianPath, as_json: AsJson = False) -> None:
    """List all API keys with their owners and expiry dates.

    \b
    Example:
      inbounds keys list --custodian custodian.toml
    """
    from inbounds.display.table import Column, TextTable  # noqa: PLC0415

    ring = _find_ring(custodian)
    rows = [] if ring is None else [_describe_key(key) for key in ring.issued()]
    columns = [Column(name, left=True) for name in ("prefix", "person", "issued", "expires", "state")]
    cells = [[str(row[column.name]) for column in columns] for row in rows]
    show(rows, str(TextTable(columns, cells)) if rows else "no API key has been issued yet", as_json=as_json)


@app.command("revoke", cls=Command)
def revoke(prefix: Prefix, custodian: CustodianPath, as_json: AsJson = False) -> None:
    """Revoke an API key immediately.

    A running server refuses it from now on.

    \b
    Example:
      inbounds keys revoke 87278406422d --custodian custodian.toml
    """
    ring = _find_ring(custodian)
    key = None if ring is None else ring.revoke(prefix)
    if key is None:
        raise InvalidParameter(f"there is no API key with the prefix {prefix!r}; inbounds keys list shows all of them")
    show(_describe_key(key), format_pairs([("revoked", key.prefix), ("person", key.person)]), as_json=as_json)


def _find_ring(custodian: str) -> KeyRing | None:
    """Return the keys of a server, None if it has no file yet: then looking makes none."""
    file = load_custodian(custodian)
    return open_key_ring(file) if file.state.exists() else None


def _describe_key(key: Key) -> dict[str, Any]:
    from inbounds.server.basics import clock  # noqa: PLC0415

    facts = {"prefix": key.prefix, "person": key.person, "issued": key.issued.date().isoformat()}
    return {**facts, "expires": key.expires.date().isoformat(), "state": key.state(clock.now())}
