"""`inbounds query` and `inbounds explain`: a question to a table, asked or only planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from inbounds.cli.options import AsJson, DatasetFile, Epsilon, LedgerPlace, Pooling, Sql, chosen_part, number
from inbounds.cli.output import pairs, show
from inbounds.cli.tables import opened
from inbounds.errors import EngineFailed

if TYPE_CHECKING:
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
    with opened(dataset, ledger) as asked:
        question, request = asked.sql(sql), request_id or uuid4().hex
        try:
            answer = question.ask(cost, analyst=analyst, request_id=request, pooling=fixed)
        except EngineFailed:  # it was charged: whoever pays must be able to ask again
            typer.echo(f"inbounds: the request id is {request}", err=True)
            raise
        balance = asked.ledger.balance(asked.name, analyst if asked.per_analyst is not None else None)
    paid = [("epsilon", epsilon), ("budget", balance), ("request id", answer.request_id)]
    show(_data(answer), f"{answer}\n\n{pairs(paid)}", as_json=as_json)


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


def _data(answer: Answer) -> dict[str, Any]:
    return {
        "rows": answer.data(),
        "expected_errors": answer.errors,
        "epsilon": answer.epsilon,
        "request_id": answer.request_id,
    }
