"""`inbounds discover`: what a contract should say and nobody knows, found out for a price and written into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar
from uuid import uuid4

import typer

from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.options import AsJson, Cost, DatasetFile, LedgerPlace, read_number, read_whole
from inbounds.cli.shell.output import format_pairs, show, tell_of_new
from inbounds.cli.shell.request import remembering, tell_request
from inbounds.errors import InvalidContract
from inbounds.files.whole_file import replacing

if TYPE_CHECKING:
    from inbounds.query import Dataset

app = typer.Typer(
    cls=CommandGroup,
    help="""Choose what a contract should say, privately: keys, limit, bounds.

    Each is paid for once, from the budget, and written into the contract. What inbounds check shows the custodian is
    free, but not for publication; a contract is public.

    \b
    Example:
      inbounds discover limit --dataset clinic.toml --epsilon 0.5 --analyst ana
    """,
    short_help="Choose categories, a row limit or bounds privately.",
)

Analyst = Annotated[str, typer.Option(metavar="NAME", help="Your name; the cost is charged to it.")]
RequestId = Annotated[str | None, typer.Option(metavar="ID", help="Repeat an id to get the same again, for free.")]
ColumnName = Annotated[str, typer.Option("--column", metavar="NAME", help="A column that is not yet in the contract.")]
TableName = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Another private table of the contract.")
]
Delta = Annotated[
    str, typer.Option("--delta", metavar="NUMBER", help="The probability of publishing a rare category by accident.")
]
PerUnit = Annotated[
    str, typer.Option("--keys-per-unit", metavar="NUMBER", help="How many of its categories each unit counts for.")
]
Level = Annotated[
    str | None,
    typer.Option("--level", metavar="NUMBER", help="The share of units that should stay within the limit; 0.95."),
]
LeastError = Annotated[
    bool, typer.Option("--least-error", help="Choose the power of two with the least error of a count instead.")
]
Next = Annotated[
    str | None,
    typer.Option("--next-epsilon", metavar="NUMBER", help="What that count will cost; four times --epsilon."),
]
Most = Annotated[str, typer.Option("--most", metavar="NUMBER", help="The largest limit to consider.")]
Force = Annotated[bool, typer.Option("--force", help="Pay even for an answer that would tell you nothing.")]
Within = Annotated[
    str,
    typer.Option("--within", metavar="BOUNDS", help='Wide bounds that are public, such as "[0, 1000000] step 1".'),
]
Outside = Annotated[
    str, typer.Option("--outside", metavar="NUMBER", help="The share of rows to be clamped, on each side.")
]


class Found(Protocol):
    """What was discovered."""

    @property
    def request_id(self) -> str:
        """What to repeat it with."""

    @property
    def reason(self) -> str:
        """Why the terms of the contract have changed."""

    def write_into(self, text: str) -> str:
        """Return the text of the contract with it."""


FoundT = TypeVar("FoundT", bound=Found)


@app.command("keys", cls=Command)
def discover_keys(  # noqa: PLR0913, PLR0917  each is an option of the command
    dataset: DatasetFile,
    column: ColumnName,
    epsilon: Cost,
    delta: Delta,
    analyst: Analyst,
    table: TableName = None,
    keys_per_unit: PerUnit = "1",
    request_id: RequestId = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Publish the categories of a column that enough units share.

    They are added to the contract; later queries that use them need no delta. The ledger must hold a delta for such
    charges: set delta and delta_reserved under [budget], or run inbounds budget grant 0 --delta. For the custodian's
    own eyes, and free, inbounds check shows the values that a category list lacks.

    \b
    Example:
      inbounds discover keys --dataset clinic.toml --column town \\
          --epsilon 0.5 --delta 1e-6 --analyst ana
    """
    cost, odds = read_number(epsilon, "--epsilon"), read_number(delta, "--delta")
    each, request = read_whole(keys_per_unit, "--keys-per-unit"), _name(request_id)
    found, created = _discover(
        dataset,
        ledger,
        request,
        lambda whole: _rows_of(whole, table).discover_keys(
            column, cost, odds, analyst=analyst, keys_per_unit=each, request_id=request
        ),
        as_json=as_json,
    )
    fate = "added to the contract" if found.keys else "none to add"
    lines = [
        ("column", column),
        ("categories", f"{found.published} published, {fate}"),
        ("cost", f"ε {epsilon}, δ {delta}"),
        ("request id", found.request_id),
    ]
    data = {
        "table": table,
        "column": column,
        "keys": list(found.keys),
        "published": found.published,
        "epsilon": found.epsilon,
        "delta": found.delta,
        "request_id": found.request_id,
        "ledger_created": created,
    }
    show(data, "\n".join([*map(str, found.keys), "", format_pairs(lines)]), as_json=as_json)


@app.command("limit", cls=Command)
def discover_limit(  # noqa: PLR0913, PLR0917  each is an option of the command
    dataset: DatasetFile,
    epsilon: Cost,
    analyst: Analyst,
    table: TableName = None,
    level: Level = None,
    most: Most = "1024",
    least_error: LeastError = False,
    next_epsilon: Next = None,
    request_id: RequestId = None,
    force: Force = False,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Choose max_rows_per_unit: a limit that most units stay within.

    It is a private quantile of the units' numbers of rows or, with --least-error, the limit at which cutting and noise
    together are least for a count. The contract need not have a limit yet; one that it has is replaced. For the
    custodian's own eyes, and free, inbounds check shows what every limit would cut off.

    \b
    Example:
      inbounds discover limit --dataset clinic.toml --epsilon 0.5 --analyst ana
    """
    cost, share = read_number(epsilon, "--epsilon"), _read_given(level, "--level")
    following = _read_given(next_epsilon, "--next-epsilon")
    largest, request = read_whole(most, "--most"), _name(request_id)
    found, created = _discover(
        dataset,
        ledger,
        request,
        lambda whole: _rows_of(whole, table).discover_limit(
            cost,
            analyst=analyst,
            level=share,
            most=largest,
            least_error=least_error,
            next_epsilon=following,
            request_id=request,
            force=force,
        ),
        as_json=as_json,
        without_limit=True,
    )
    lines = [
        ("limit", f"max_rows_per_unit = {found.limit}, written into the contract"),
        ("expected loss", found.expected_loss),
        ("cost (ε)", epsilon),
        ("request id", found.request_id),
    ]
    data = {"table": table, "max_rows_per_unit": found.limit, **found.aim.data()}
    show({**data, **_describe(found, created)}, format_pairs(lines), as_json=as_json)


@app.command("bounds", cls=Command)
def discover_bounds(  # noqa: PLR0913, PLR0917  each is an option of the command
    dataset: DatasetFile,
    column: ColumnName,
    within: Within,
    epsilon: Cost,
    analyst: Analyst,
    table: TableName = None,
    outside: Outside = "0.01",
    request_id: RequestId = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Choose the bounds of a column that the contract lacks.

    They are two private quantiles of the column within wide bounds that are public, rounded outwards. The wider those
    are, the more rows it takes. For the custodian's own eyes, and free, inbounds check shows what bounds cut off.

    \b
    Example:
      inbounds discover bounds --dataset clinic.toml --column cost \\
          --within "[0, 10000] step 1" --epsilon 0.5 --analyst ana
    """
    cost, share = read_number(epsilon, "--epsilon"), read_number(outside, "--outside")
    request = _name(request_id)
    found, created = _discover(
        dataset,
        ledger,
        request,
        lambda whole: _rows_of(whole, table).discover_bounds(
            column, cost, analyst=analyst, within=within, outside=share, request_id=request
        ),
        as_json=as_json,
    )
    lines = [
        ("column", column),
        ("bounds", f"{found.bounds}, written into the contract"),
        ("expected loss", found.expected_loss),
        ("cost (ε)", epsilon),
        ("request id", found.request_id),
    ]
    data = {"table": table, "column": column, "bounds": str(found.bounds), "outside": found.outside}
    show({**data, **_describe(found, created)}, format_pairs(lines), as_json=as_json)


def _name(request_id: str | None) -> str:
    """Return the id of a request, a new one if none was given: so that it can be told whatever happens."""
    return uuid4().hex if request_id is None else request_id


def _read_given(text: str | None, option: str) -> Any:
    """Read a number if one was given."""
    return None if text is None else read_number(text, option)


def _describe(found: Any, created: bool) -> dict[str, Any]:
    """Return what is told to programs of every discovery that costs epsilon alone."""
    facts = {name: getattr(found, name) for name in ("expected_loss", "epsilon", "request_id")}
    return {**facts, "ledger_created": created}


def _rows_of(dataset: Dataset, table: str | None) -> Dataset:
    return dataset if table is None else dataset.rows_of(table)


def _discover(
    contract: str,
    ledger: str | None,
    request: str,
    discover: Callable[[Dataset], FoundT],
    *,
    as_json: bool,
    without_limit: bool = False,
) -> tuple[FoundT, bool]:
    """Discover something, write it into the contract, whole or not at all, and record the change of its terms.

    Return it, and whether a ledger was created for it.
    """
    path = Path(contract)
    with (
        open_dataset(path, ledger, without_limit=without_limit) as dataset,
        remembering(request),
        replacing(path) as unfinished,  # which refuses a place that cannot be written to, before the charge
    ):
        found = discover(dataset)
        created = tell_of_new(dataset.ledger, as_json=as_json)
        try:
            text = found.write_into(path.read_text(encoding="utf-8"))
        except InvalidContract:  # somebody has changed it meanwhile
            tell_request(request)
            raise
        unfinished.write_text(text, encoding="utf-8")
    with open_dataset(path, ledger, without_limit=without_limit) as dataset:  # another table may lack one, too
        dataset.record_terms(found.reason)
    return found, created
