"""`inbounds keys`: find out the keys of a column that are not known beforehand, for a price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inbounds.cli.arguments import Command, Group
from inbounds.cli.atomic_file import replacing
from inbounds.cli.extras import open_dataset
from inbounds.cli.options import AsJson, Cost, DatasetFile, LedgerPlace, number
from inbounds.cli.output import pairs, show

app = typer.Typer(
    cls=Group,
    help="""Find out the keys of a column, for a price that is paid once.

    \b
    Example:
      inbounds keys discover --dataset clinic.toml --column town \\
          --epsilon 0.5 --delta 1e-6 --analyst ana
    """,
    short_help="Find out the keys of a column, once.",
)

ColumnName = Annotated[str, typer.Option("--column", metavar="NAME", help="A column that the contract lacks.")]
Delta = Annotated[str, typer.Option("--delta", metavar="NUMBER", help="The odds that a rare key slips out.")]
Analyst = Annotated[str, typer.Option(metavar="NAME", help="Who pays; the cost is charged to this name.")]
PerUnit = Annotated[
    int, typer.Option("--keys-per-unit", metavar="NUMBER", help="For how many of its keys a unit counts.")
]
RequestId = Annotated[
    str | None, typer.Option(metavar="ID", help="Ask again with the same id to get the same keys, free.")
]


@app.command("discover", cls=Command)
def discover(  # noqa: PLR0913, PLR0917  each is an option of the command
    dataset: DatasetFile,
    column: ColumnName,
    epsilon: Cost,
    delta: Delta,
    analyst: Analyst,
    keys_per_unit: PerUnit = 1,
    request_id: RequestId = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Publish the keys that enough units have, and add them to the contract.

    Later questions with these keys need no delta. The ledger must have a delta for such charges: delta and
    delta_reserved under [budget], or inbounds budget grant 0 --delta.

    \b
    Example:
      inbounds keys discover --dataset clinic.toml --column town \\
          --epsilon 0.5 --delta 1e-6 --analyst ana
    """
    cost, odds = number(epsilon, "--epsilon"), number(delta, "--delta")
    with open_dataset(dataset, ledger) as table:
        found = table.discover_keys(
            column, cost, odds, analyst=analyst, keys_per_unit=keys_per_unit, request_id=request_id
        )
    if found.keys:
        _add(Path(dataset), found.section())
        with open_dataset(dataset, ledger) as table:
            table.record_terms(f"keys of {column} were discovered, request {found.request_id}")
    told = [
        ("column", column),
        ("keys", f"{len(found.keys)} published, {'added to the contract' if found.keys else 'none to add'}"),
        ("cost", f"epsilon {epsilon}, delta {delta}"),
        ("request id", found.request_id),
    ]
    data = {
        "column": column,
        "keys": list(found.keys),
        "epsilon": found.epsilon,
        "delta": found.delta,
        "request_id": found.request_id,
    }
    show(data, "\n".join([*map(str, found.keys), "", pairs(told)]), as_json=as_json)


def _add(contract: Path, section: str) -> None:
    """Put a section at the end of a contract, whole or not at all."""
    text = contract.read_text(encoding="utf-8")
    with replacing(contract) as unfinished:
        unfinished.write_text(text.rstrip("\n") + "\n" + section, encoding="utf-8")
