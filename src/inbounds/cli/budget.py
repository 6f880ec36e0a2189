"""`inbounds budget`: what was spent, by whom and on what; grants of more; and whether the record was altered."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from inbounds.cli.arguments import Command, Group
from inbounds.cli.exit_codes import FAILED
from inbounds.cli.extras import open_dataset
from inbounds.cli.options import AsJson, DatasetFile, LedgerPlace, number
from inbounds.cli.output import pairs, show

app = typer.Typer(
    cls=Group,
    help="""See what was spent, grant more, and check the record.

    \b
    Example:
      inbounds budget show --dataset clinic.toml
    """,
    short_help="See what was spent, grant more, and check the record.",
)

Who = Annotated[
    str | None, typer.Option("--analyst", metavar="NAME", help="Only this analyst; everyone together if not given.")
]
More = Annotated[str, typer.Argument(metavar="EPSILON", help="How much more; a negative number takes some away.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.", show_default=False)]
Head = Annotated[
    str | None,
    typer.Option(metavar="HEAD", help="What verify printed earlier, to see if entries were removed since."),
]


@app.command("show", cls=Command)
def show_balance(
    dataset: DatasetFile, analyst: Who = None, ledger: LedgerPlace = None, as_json: AsJson = False
) -> None:
    """Show what is spent and what is left.

    \b
    Example:
      inbounds budget show --dataset clinic.toml --analyst ana
    """
    with open_dataset(dataset, ledger, create_ledger=False) as table:
        total = table.ledger.balance(table.name)
        own = None if analyst is None else table.ledger.balance(table.name, analyst)
    found: dict[str, Any] = {"dataset": table.name, "total": total.data()}
    lines = [("dataset", table.name), ("in total", str(total))]
    if analyst is not None and own is not None:
        found["analyst"] = {"name": analyst, **own.data()}
        lines.append((f"of {analyst}", str(own)))
    show(found, pairs(lines), as_json=as_json)


@app.command(cls=Command)
def grant(
    amount: More,
    dataset: DatasetFile,
    analyst: Who = None,
    note: Note = "",
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Give a dataset, or one analyst of it, more to spend.

    A negative amount takes some away, as far as it is not spent.

    \b
    Example:
      inbounds budget grant 0.5 --dataset clinic.toml --note "second survey"
    """
    with open_dataset(dataset, ledger) as table:
        table.ledger.grant(table.name, number(amount, "EPSILON"), analyst, note=note)
        balance = table.ledger.balance(table.name, analyst)
    found = {"dataset": table.name, "analyst": analyst, **balance.data()}
    lines = [
        ("dataset", table.name),
        ("granted", amount),
        ("in total" if analyst is None else f"of {analyst}", str(balance)),
    ]
    show(found, pairs(lines), as_json=as_json)


@app.command(cls=Command)
def verify(dataset: DatasetFile, head: Head = None, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """Check every entry of the ledger.

    The exit code is 1 if it was altered. Keep the head that is printed in another place: given later as --head, it
    shows whether entries were removed.

    \b
    Example:
      inbounds budget verify --dataset clinic.toml
    """
    with open_dataset(dataset, ledger, create_ledger=False) as table:
        found = table.ledger.verify(head)
    problems = [str(problem) for problem in found.problems]
    data = {"ok": found.ok, "entries": found.entries, "head": str(found.head), "problems": problems}
    entries = "1 entry" if found.entries == 1 else f"{found.entries} entries"
    lines = [("ledger", f"{'intact' if found.ok else 'ALTERED'}, {entries}"), ("head", data["head"])]
    show(data, pairs([*lines, *(("problem", problem) for problem in problems)]), as_json=as_json)
    if not found.ok:
        raise typer.Exit(FAILED)


@app.command(cls=Command)
def statement(dataset: DatasetFile, analyst: Who = None, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """List every entry: opened, granted, charged, answered.

    \b
    Example:
      inbounds budget statement --dataset clinic.toml
    """
    with open_dataset(dataset, ledger, create_ledger=False) as table:
        found = table.ledger.statement(table.name, analyst)
    show(found.data(), str(found), as_json=as_json)
