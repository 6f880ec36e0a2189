"""`inbounds budget`: what was spent, by whom and on what; grants of more; and whether the record was altered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.cli.commands import ledger_copies
from inbounds.cli.shell.access import TOTAL, open_access, own_budget
from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.exit_codes import FAILED
from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.options import AsJson, DatasetFile, KeyFile, LedgerPlace, Server, read_number
from inbounds.cli.shell.output import format_pairs, show, tell_of_new

if TYPE_CHECKING:
    from inbounds.ledger.values.receipt import Balance

app = typer.Typer(
    cls=CommandGroup,
    help="""See what was spent, grant more, verify and back up the ledger, and record contract changes.

    \b
    Example:
      inbounds budget show --dataset clinic.toml
    """,
    short_help="See what was spent, grant more, and verify the ledger.",
)

Who = Annotated[
    str | None, typer.Option("--analyst", metavar="NAME", help="One analyst only.  [default: all analysts together]")
]
OfLifetime = Annotated[
    bool, typer.Option("--lifetime", help="Of a budget that refreshes: raise what all periods together may spend.")
]
More = Annotated[str, typer.Argument(metavar="EPSILON", help="How much to add; a negative number takes some back.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.", show_default=False)]
MoreDelta = Annotated[
    str | None, typer.Option("--delta", metavar="DELTA", help="How much delta to add for charges that need one.")
]
Reason = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Record the contract's current terms, for this reason.")
]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.", show_default=False)]
Head = Annotated[
    str | None,
    typer.Option(metavar="HEAD", help="An earlier checkpoint from verify, to see whether entries were removed."),
]


@app.command("show", cls=Command)
def show_balance(
    dataset: DatasetFile,
    analyst: Who = None,
    ledger: LedgerPlace = None,
    server: Server = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what is spent and what is left.

    It also shows how many more queries like the last one the budget allows. With a delta, rho is shown beside epsilon.

    \b
    Example:
      inbounds budget show --dataset clinic.toml --analyst ana
    """
    with open_access(dataset, server, key_file, ledger=ledger, create_ledger=False) as access:
        budget = access.budget(analyst)
    name = access.dataset.name
    data, lines = {"dataset": name, **budget.data()}, [("dataset", name), *budget.lines()]
    if budget.adding_up is not None:
        data["adding_up"] = budget.adding_up
        lines.append(("over time", budget.adding_up))
    if budget.own is not None:
        data["analyst"] = {"name": budget.analyst, **data["analyst"]}
    if budget.asked is not None:
        data["asked"] = budget.asked
        lines.append(("queries asked", str(budget.asked)))
    if budget.more is not None:
        data["like_the_last"], words = budget.more
        lines.append(("remaining", words))
    show(data, format_pairs(lines), as_json=as_json)


@app.command(cls=Command)
def grant(  # noqa: PLR0913, PLR0917  each is an option of the command
    amount: More,
    dataset: DatasetFile,
    analyst: Who = None,
    note: Note = "",
    delta: MoreDelta = None,
    lifetime: OfLifetime = False,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Give a dataset, or one of its analysts, more to spend.

    A negative amount takes unspent budget back. With --delta the amount may be 0. If the budget refreshes, a grant is
    for the current period, or with --lifetime for all periods together.

    \b
    Example:
      inbounds budget grant 0.5 --dataset clinic.toml --note "second survey"
    """
    with open_dataset(dataset, ledger) as table:
        more = None if delta is None else read_number(delta, "--delta")
        table.ledger.grant(
            table.name, read_number(amount, "EPSILON"), analyst, note=note, delta=more, lifetime=lifetime
        )
        balance = table.ledger.balance(table.name, analyst)
        created = tell_of_new(table.ledger, as_json=as_json)
    data = {"dataset": table.name, "analyst": analyst, **balance.data(), "ledger_created": created}
    lines = [
        ("dataset", table.name),
        ("granted", _describe_grant(amount, delta, balance, lifetime=lifetime)),
        (TOTAL if analyst is None else own_budget(analyst), str(balance)),
    ]
    show(data, format_pairs(lines), as_json=as_json)


def _describe_grant(amount: str, delta: str | None, balance: Balance, *, lifetime: bool) -> str:
    """Say what was granted, and for how long."""
    if delta is not None:
        return f"{amount}, and delta {delta} for charges"
    if balance.period is None:
        return amount
    return f"{amount}, {'for all periods together' if lifetime else f'for {balance.period} alone'}"


@app.command(cls=Command)
def contract(dataset: DatasetFile, reason: Reason = None, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """Show the recorded terms, or record changes to them.

    The guarantee depends on the contract's unit, row limit, source and columns. The ledger stores these terms, and
    refuses a contract with different ones until the custodian records the change, with a reason. So it does with a
    budget that refreshes; what was spent before counts in the period in which the change is recorded.

    \b
    Example:
      inbounds budget contract --dataset clinic.toml
    """
    with open_dataset(dataset, ledger) as table:
        before, budget = table.recorded_terms(), table.recorded_allowance()
        if reason is not None:
            table.record_terms(reason)
        now = table.terms if reason is not None else before
        changes = "" if before is None else before.changes(table.terms)
        # Caps of a budget that never refreshes are changed by grants, and no difference is recorded here.
        if budget != table.allowance and {budget.refresh, table.allowance.refresh} != {None}:
            changes = "; ".join([*([changes] if changes else []), f"budget: {budget}, now {table.allowance}"])
        adding_up = table.allowance.adding_up if reason is not None else budget.adding_up
    recorded = reason is not None and (before != now or "budget: " in changes)
    data = {
        "dataset": table.name,
        "terms": None if now is None else dict(now),
        "digest": None if now is None else now.digest,
        "changes": changes,
        "recorded": recorded,
    }
    lines = [("dataset", table.name), *([] if now is None else [*now.items(), ("digest", f"{now.digest[:16]}…")])]
    if adding_up is not None:
        lines.append(("budget", adding_up))
    if now is None:
        lines.append(("terms", "none recorded yet; the next query records those of the contract"))
    if changes:
        lines.append(("recorded" if recorded else "not recorded", changes))
    elif reason is not None:
        lines.append(("recorded", "all of these" if recorded else "nothing; the contract has not changed"))
    show(data, format_pairs(lines), as_json=as_json)


@app.command(cls=Command)
def delta(dataset: DatasetFile, reason: Why, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """Add the contract's delta to a budget that had none.

    From then on charges are counted in rho as well, including earlier ones. This weakens the guarantee from pure
    epsilon to (epsilon, delta) and cannot be undone, so the ledger records your reason.

    \b
    Example:
      inbounds budget delta --dataset clinic.toml --reason "many small questions"
    """
    with open_dataset(dataset, ledger, create_ledger=False) as table:
        table.record_delta(reason)
        balance = table.ledger.balance(table.name)
    data = {"dataset": table.name, **balance.data()}
    show(data, format_pairs([("dataset", table.name), (TOTAL, str(balance))]), as_json=as_json)


@app.command(cls=Command)
def verify(dataset: DatasetFile, head: Head = None, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """Check every entry of the ledger.

    The exit code is 1 if the ledger was altered. Store the printed checkpoint (head) elsewhere: given later as --head,
    it reveals removed entries. Accepted restores are listed.

    \b
    Example:
      inbounds budget verify --dataset clinic.toml
    """
    with open_dataset(dataset, ledger) as table, table.unchecked_ledger() as record:
        check = record.verify(head)
    problems = [str(problem) for problem in check.problems]
    contracts = {name: terms.digest for name, terms in check.terms.items()}
    data = {
        "ok": check.ok,
        "entries": check.entries,
        "head": str(check.head),
        "problems": problems,
        "contracts": contracts,
        "restores": [
            {"entry": entry.seq, "time": entry.time, "dataset": entry.dataset, **record.data()}
            for entry, record in check.restores
        ],
    }
    entries = "1 entry" if check.entries == 1 else f"{check.entries} entries"
    lines = [("ledger", f"{'intact' if check.ok else 'ALTERED'}, {entries}"), ("head", str(check.head))]
    lines += [("contract", f"{digest[:16]}… of {name}") for name, digest in contracts.items()]
    lines += [("restored", f"{entry.dataset}, in entry {entry.seq}: {record}") for entry, record in check.restores]
    show(data, format_pairs([*lines, *(("problem", problem) for problem in problems)]), as_json=as_json)
    if not check.ok:
        raise typer.Exit(FAILED)


@app.command(cls=Command)
def statement(dataset: DatasetFile, analyst: Who = None, ledger: LedgerPlace = None, as_json: AsJson = False) -> None:
    """List all entries, oldest first.

    Kinds of entries: open, contract, refresh, grant, delta, charge, answer, restore.

    \b
    Example:
      inbounds budget statement --dataset clinic.toml
    """
    with open_dataset(dataset, ledger) as table, table.unchecked_ledger() as record:
        listing = record.statement(table.name, analyst)
    show(listing.data(), str(listing), as_json=as_json)


app.command("backup", cls=Command)(ledger_copies.backup)
app.command("restore", cls=Command)(ledger_copies.restore)
app.command("accept-restore", cls=Command)(ledger_copies.accept_restore)
