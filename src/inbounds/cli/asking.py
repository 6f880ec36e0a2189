"""`inbounds query` and `inbounds explain`: a question to a table, asked or only planned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from inbounds.cli.options import AsJson, DatasetFile, Epsilon, LedgerPlace, Pooling, Sql, chosen_part, number
from inbounds.cli.output import pairs, show
from inbounds.cli.tables import opened
from inbounds.errors import InboundsError, LedgerUnavailable

if TYPE_CHECKING:
    from inbounds.ledger.receipt import Balance
    from inbounds.query import Answer

Analyst = Annotated[str, typer.Option(metavar="NAME", help="Who asks, and pays.")]
RequestId = Annotated[
    str | None, typer.Option(metavar="ID", help="Asking again with the same one is free, and gives the same answer.")
]


def query(  # noqa: PLR0913, PLR0917  each is an option of the command
    sql: Sql,
    dataset: DatasetFile,
    epsilon: Epsilon,
    analyst: Analyst,
    request_id: RequestId = None,
    pooling: Pooling = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question of a table.

    The charge is on record before the table is looked at.

    \b
    Example:
      inbounds query --dataset clinic.toml --epsilon 0.5 --analyst ana \\
          "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"
    """
    cost, fixed = number(epsilon, "--epsilon"), chosen_part(pooling, "--pooling")
    request = request_id or uuid4().hex
    with _remembering(request):
        with opened(dataset, ledger) as asked:
            answer = asked.sql(sql).ask(cost, analyst=analyst, request_id=request, pooling=fixed)
            balance = asked.ledger.balance(asked.name, analyst if asked.per_analyst is not None else None)
        paid = [("epsilon", epsilon), ("budget", balance), ("request id", answer.request_id)]
        show(_data(answer, balance), f"{answer}\n\n{pairs(paid)}", as_json=as_json)


@contextmanager
def _remembering(request: str) -> Iterator[None]:
    """Say how to ask again for free, if a question may have been charged and its answer did not come through."""
    try:
        yield
    except BaseException as problem:
        certain = isinstance(problem, InboundsError) and not isinstance(problem, LedgerUnavailable)
        if not certain and request not in str(problem):
            typer.echo(f"inbounds: if it was charged, the answer is free with --request-id {request}", err=True)
        raise


def explain(sql: Sql, dataset: DatasetFile, epsilon: Epsilon, pooling: Pooling = None, as_json: AsJson = False) -> None:
    """Say what query would do, without doing it.

    Nothing is spent, and no row is looked at.

    \b
    Example:
      inbounds explain --dataset clinic.toml --epsilon 0.5 \\
          "SELECT COUNT(*) FROM visits WHERE age >= 65"
    """
    cost, fixed = number(epsilon, "--epsilon"), chosen_part(pooling, "--pooling")
    with opened(dataset) as asked:
        explanation = asked.sql(sql).explain(cost, pooling=fixed)
    show(explanation.data(), str(explanation), as_json=as_json)


def _data(answer: Answer, balance: Balance) -> dict[str, Any]:
    return {
        "rows": answer.data(),
        "expected_errors": answer.errors,
        "epsilon": answer.epsilon,
        "budget": {"cap": balance.cap, "spent": balance.spent, "left": balance.left},
        "request_id": answer.request_id,
    }
