"""`inbounds query`: ask a question of a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.new_ledger import tell_of_new
from inbounds.cli.shell.options import (
    Alone,
    AsJson,
    Cost,
    DatasetFile,
    LedgerPlace,
    Pooling,
    Sql,
    Weights,
    chosen_part,
    chosen_weights,
    number,
)
from inbounds.cli.shell.output import pairs, show
from inbounds.cli.shell.remote import TOTAL, KeyFile, Server, accounts, balances, connected, own_budget
from inbounds.errors import (
    InboundsError,
    InvalidParameter,
    InvalidQuestion,
    LedgerError,
    LedgerUnavailable,
    ServerError,
)

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset
    from inbounds.ledger.values.receipt import Balance
    from inbounds.query import Answer, Dataset

Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Your name; the cost is charged to it.")]
Confidence = Annotated[
    str, typer.Option(metavar="NUMBER", help="The confidence level of the intervals, between 0 and 1.")
]
RequestId = Annotated[
    str | None, typer.Option(metavar="ID", help="Repeat an id to get the same answer again, for free.")
]

Force = Annotated[bool, typer.Option("--force", help="Pay even for an answer that would tell you nothing.")]


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    sql: Sql,
    dataset: DatasetFile,
    epsilon: Cost,
    analyst: Analyst = None,
    request_id: RequestId = None,
    pooling: Pooling = None,
    alone: Alone = False,
    weights: Weights = None,
    confidence: Confidence = str(CONFIDENCE),
    force: Force = False,
    ledger: LedgerPlace = None,
    server: Server = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Query a table in SQL.

    The cost is recorded in the ledger before the table is read. With an epsilon of 0 you get only what follows from
    answers you already have. Public knowledge is free, and a query whose answer would tell you nothing is refused.
    With --server your API key identifies you.

    \b
    Example:
      inbounds query --dataset clinic.toml --epsilon 0.5 --analyst ana \\
          "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"
    """
    cost, fixed = number(epsilon, "--epsilon"), chosen_part(pooling, "--pooling")
    sure = number(confidence, "--confidence")
    request = uuid4().hex if request_id is None else request_id
    shares = chosen_weights(weights)
    if server is not None:
        with connected(server, key_file, analyst=analyst, ledger=ledger) as connection, _remembering(request):
            remote = connection.dataset(dataset)
            wanted = remote.sql(sql).alone() if alone else remote.sql(sql)
            if cost == 0:
                found = _told_for_free(wanted.owned(), "you already have")
            else:
                found = wanted.ask(
                    cost, request_id=request, pooling=fixed, weights=shares, confidence=float(sure), force=force
                )
            left = _left(remote)
            told = accounts(left) if left else {TOTAL: "cannot be read"}
            paid = [_cost(found, epsilon), *told.items()]
            data = {**_answer(found), "budget": balances(left) if left else {}}
            if not show(data, f"{found}\n\n{pairs([*paid, *_request(found)])}", as_json=as_json):
                _tell(request)
        return
    if analyst is None:
        raise InvalidParameter("--analyst is missing; give your name, or --server, where your API key identifies you")
    with open_dataset(dataset, ledger) as asked:
        question = asked.sql(sql).alone() if alone else asked.sql(sql)
        with _remembering(request):
            if cost == 0:
                answer = _told_for_free(question.owned(analyst), f"{analyst} already has")
            else:
                answer = question.ask(
                    cost,
                    analyst=analyst,
                    request_id=request,
                    pooling=fixed,
                    weights=shares,
                    confidence=float(sure),
                    force=force,
                )
            budget = _budget(asked, analyst)
            created = tell_of_new(asked.ledger, as_json=as_json)
            text = f"{answer}\n\n{pairs(_paid(epsilon, analyst, budget, answer))}"
            if not show(_data(answer, budget, created=created), text, as_json=as_json):
                _tell(request)


def _left(remote: RemoteDataset) -> dict[str, Any] | None:
    """Return what is left, as a server tells it; None if it cannot be told, for the answer is there."""
    try:
        return remote.budget()
    except (ServerError, LedgerError):
        return None


def _told_for_free(found: Answer | None, who_has: str) -> Answer:
    """Return what follows from answers that somebody has."""
    if found is None:
        raise InvalidQuestion(
            f"epsilon must be above 0, got 0: this does not follow from the answers {who_has}; give an epsilon"
        )
    return found


def _budget(asked: Dataset, analyst: str) -> dict[str, Balance]:
    """Return what is left, in all and for the analyst; nothing if it cannot be read, for the answer is there."""
    try:
        found = {"total": asked.ledger.balance(asked.name)}
        if asked.per_analyst is not None:
            found["analyst"] = asked.ledger.balance(asked.name, analyst)
    except LedgerUnavailable:
        return {}
    return found


@contextmanager
def _remembering(request: str) -> Iterator[None]:
    """Say how to ask again for free, if a question may have been charged and its answer did not come through."""
    try:
        yield
    except (InboundsError, ImportError):  # they say themselves what was charged
        raise
    except BaseException:
        _tell(request)
        raise


def _tell(request: str) -> None:
    with suppress(OSError):  # nobody reads that either
        typer.echo(f"inbounds: if this was charged, repeat it for free with --request-id {request}", err=True)


def _paid(epsilon: str, analyst: str, budget: dict[str, Balance], answer: Answer) -> list[tuple[str, Any]]:
    names = {"analyst": own_budget(analyst), "total": TOTAL}
    left = [(name, budget.get(key, "cannot be read")) for key, name in names.items() if key in budget or key == "total"]
    return [_cost(answer, epsilon), *left, *_request(answer)]


def _cost(answer: Answer, epsilon: str) -> tuple[str, str]:
    """Say what an answer cost: what it was asked for, or nothing."""
    return "cost (ε)", epsilon if answer.epsilon else "0"


def _request(answer: Answer) -> list[tuple[str, Any]]:
    """Say how to ask again; what is public is not kept, and asked again as it was asked first."""
    return [] if len(answer.public) == answer.measures else [("request id", answer.request_id)]


def _data(answer: Answer, budget: dict[str, Balance], *, created: bool) -> dict[str, Any]:
    told = {name: balance.data() for name, balance in budget.items()}
    return {**_answer(answer), "budget": told, "ledger_created": created}


def _answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON has it, with names in every row and the cost as a number."""
    from inbounds.query.answer.answer_json import write_answer  # noqa: PLC0415  whoever has an answer has that

    facts = {name: fact for name, fact in write_answer(answer).items() if name not in ("id", "columns")}
    return facts | {"rows": answer.data(), "epsilon": answer.epsilon, "request_id": answer.request_id}
