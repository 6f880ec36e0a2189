"""`inbounds query`: ask a question of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.cli.files.code_file import CodeFile, CodePath, chosen
from inbounds.cli.shell.access import TOTAL, Access, Balances, open_access
from inbounds.cli.shell.cost import AssumedRows, CostOrNone, Price, WantedError, agree, refuse_unasked
from inbounds.cli.shell.options import (
    Alone,
    AsJson,
    DatasetFile,
    KeyFile,
    LedgerPlace,
    Pooling,
    Practise,
    Server,
    Simultaneous,
    Sql,
    Weights,
    read_number,
    read_optional_part,
    read_weights,
)
from inbounds.cli.shell.output import format_pairs, show
from inbounds.cli.shell.request import remembering, tell_request
from inbounds.code.question_code import WrittenQuestion
from inbounds.errors import InvalidParameter, InvalidQuestion, LedgerError, ServerError

if TYPE_CHECKING:
    from inbounds.query import Answer

Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Your name; the cost is charged to it.")]
Confidence = Annotated[
    str, typer.Option(metavar="NUMBER", help="The confidence level of the intervals, between 0 and 1.")
]
RequestId = Annotated[
    str | None, typer.Option(metavar="ID", help="Repeat an id to get the same answer again, for free.")
]

Force = Annotated[bool, typer.Option("--force", help="Pay even for an answer that would tell you nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Pay what --error finds without asking.")]

USUAL = {"confidence": CONFIDENCE, "simultaneous": False, "force": False}
"""How a query is asked if nothing else is said; nothing is said of the others."""


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    sql: Sql,
    dataset: DatasetFile,
    epsilon: CostOrNone = None,
    error: WantedError = None,
    rows: AssumedRows = None,
    analyst: Analyst = None,
    request_id: RequestId = None,
    pooling: Pooling = None,
    alone: Alone = False,
    weights: Weights = None,
    confidence: Confidence = str(CONFIDENCE),
    simultaneous: Simultaneous = False,
    force: Force = False,
    yes: Yes = False,
    code: CodePath = None,
    ledger: LedgerPlace = None,
    server: Server = None,
    key_file: KeyFile = None,
    practise: Practise = False,
    as_json: AsJson = False,
) -> None:
    """Query a table in SQL.

    The cost is recorded in the ledger before the table is read. With an epsilon of 0 you get only what follows from
    answers you already have. Public knowledge is free, and a query whose answer would tell you nothing is refused.
    With --error the least epsilon for that expected error is found, shown, and paid if you agree. With --server your
    API key identifies you.

    \b
    Example:
      inbounds query --dataset clinic.toml --epsilon 0.5 --analyst ana \\
          "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"
    """
    price, fixed = Price.read(epsilon, error, rows, sql), read_optional_part(pooling, "--pooling")
    level, shares = float(read_number(confidence, "--confidence")), read_weights(weights)
    request = uuid4().hex if request_id is None else request_id
    if server is None and analyst is None and not practise:
        raise InvalidParameter("--analyst is missing; give your name, or --server, where your API key identifies you")
    yes = yes or practise  # which spends nothing
    refuse_unasked(price, yes=yes)
    where: dict[str, Any] = {"ledger": ledger, "analyst": analyst}
    file = CodeFile.at(code, price.epsilon, dataset=dataset, server=server, practise=practise, **where)
    with open_access(dataset, server, key_file, **where, practise=practise) as access:
        question = access.question(sql, alone=alone)
        cost = price.settle(question, fixed, shares)
        agree(cost, yes=yes)
        with remembering(request):
            options: dict[str, Any] = {
                "pooling": fixed,
                "weights": shares,
                "confidence": level,
                "simultaneous": simultaneous,
                "force": force,
            }
            if cost.epsilon == 0:
                answer = question.owned(**access.who)
            else:
                answer = question.ask(cost.epsilon, request_id=request, **options, **access.who)
            if answer is None:
                raise InvalidQuestion(
                    f"epsilon must be above 0, got 0: this does not follow from the answers {access.owner}; "
                    "give an epsilon"
                )
            budget = None if access.is_practice else _read_budget(access)
            data = {**_write_answer(answer), "budget": {} if budget is None else budget.data(), **cost.data()}
            data |= access.tell_of_ledger(as_json=as_json)
            saved = []
            if file is not None:
                facts: dict[str, Any] = {"alone": alone, "options": chosen(options, USUAL)}
                is_paid = not practise and not answer.is_public
                file.write(WrittenQuestion(file.place, sql, cost.text, request, is_answered=is_paid, **facts), "0")
                saved.append(("code", str(file.path)))
                data |= dict(saved)
            if access.is_practice:
                lines = [("cost (ε)", f"{cost.text}, not charged"), *saved]
                show(data, f"{answer}\n\n{format_pairs(lines)}", as_json=as_json)
                return
            lines = [("cost (ε)", (epsilon or cost.text) if answer.epsilon else "0")]
            lines += [(TOTAL, "cannot be read")] if budget is None else budget.lines()[::-1]
            if not answer.is_public:  # what is public is not kept, and asked again as it was asked first
                lines.append(("request id", answer.request_id))
            lines += saved
            if not show(data, f"{answer}\n\n{format_pairs(lines)}", as_json=as_json):
                tell_request(request)


def _read_budget(access: Access) -> Balances | None:
    """Return what is left; None if it cannot be read, for the answer is there."""
    try:
        return access.budget()
    except (ServerError, LedgerError):
        return None


def _write_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON has it, with names in every row and the cost as a number."""
    from inbounds.results.answer_json import write_answer  # noqa: PLC0415  whoever has an answer has that

    facts = {name: fact for name, fact in write_answer(answer).items() if name not in ("id", "columns")}
    return facts | {"rows": answer.data(), "epsilon": answer.epsilon, "request_id": answer.request_id}
