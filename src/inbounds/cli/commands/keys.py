"""`inbounds keys`: API keys for people who query a server; and a column's categories, discovered for a price."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.extras import load_custodian, open_dataset, open_key_ring
from inbounds.cli.shell.options import AsJson, Cost, DatasetFile, LedgerPlace, read_number, read_whole
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import replacing

if TYPE_CHECKING:
    from inbounds.server.people.key import Key
    from inbounds.server.people.key_ring import KeyRing

app = typer.Typer(
    cls=CommandGroup,
    help="""Manage API keys (issue, list, revoke), or discover a column's categories.

    \b
    Example:
      inbounds keys issue ana --custodian custodian.toml
    """,
    short_help="Manage API keys; discover a column's categories.",
)

ColumnName = Annotated[str, typer.Option("--column", metavar="NAME", help="A column that is not yet in the contract.")]
Delta = Annotated[
    str, typer.Option("--delta", metavar="NUMBER", help="The probability of publishing a rare category by accident.")
]
Analyst = Annotated[str, typer.Option(metavar="NAME", help="Your name; the cost is charged to it.")]
PerUnit = Annotated[
    str, typer.Option("--keys-per-unit", metavar="NUMBER", help="How many of its categories each unit counts for.")
]
RequestId = Annotated[
    str | None, typer.Option(metavar="ID", help="Repeat an id to get the same categories again, for free.")
]


@app.command("discover", cls=Command)
def discover(  # noqa: PLR0913, PLR0917  each is an option of the command
    dataset: DatasetFile,
    column: ColumnName,
    epsilon: Cost,
    delta: Delta,
    analyst: Analyst,
    keys_per_unit: PerUnit = "1",
    request_id: RequestId = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Publish the categories of a column that enough units share.

    They are added to the contract; later queries that use them need no delta. The ledger must hold a delta for such
    charges: set delta and delta_reserved under [budget], or run inbounds budget grant 0 --delta.

    \b
    Example:
      inbounds keys discover --dataset clinic.toml --column town \\
          --epsilon 0.5 --delta 1e-6 --analyst ana
    """
    cost, odds = read_number(epsilon, "--epsilon"), read_number(delta, "--delta")
    each = read_whole(keys_per_unit, "--keys-per-unit")
    with open_dataset(dataset, ledger) as table:
        discovery = table.discover_keys(column, cost, odds, analyst=analyst, keys_per_unit=each, request_id=request_id)
    if discovery.keys:
        _add_section(Path(dataset), discovery.section())
        with open_dataset(dataset, ledger) as table:
            table.record_terms(f"keys of {column} were discovered, request {discovery.request_id}")
    fate = "added to the contract" if discovery.keys else "none to add"
    lines = [
        ("column", column),
        ("categories", f"{discovery.published} published, {fate}"),
        ("cost", f"ε {epsilon}, δ {delta}"),
        ("request id", discovery.request_id),
    ]
    data = {
        "column": column,
        "keys": list(discovery.keys),
        "published": discovery.published,
        "epsilon": discovery.epsilon,
        "delta": discovery.delta,
        "request_id": discovery.request_id,
    }
    show(data, "\n".join([*map(str, discovery.keys), "", format_pairs(lines)]), as_json=as_json)


def _add_section(contract: Path, section: str) -> None:
    """Put a section at the end of a contract, whole or not at all."""
    text = contract.read_text(encoding="utf-8")
    with replacing(contract) as unfinished:
        unfinished.write_text(text.rstrip("\n") + "\n" + section, encoding="utf-8")


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
