"""Datasets: what can be asked, what is left to spend, and what a question would do, for nothing."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics.person import Action, Person, Role
from inbounds.server.basics.problem import Problem
from inbounds.server.service.amounts import Whole
from inbounds.server.service.budgets import BudgetOut, budget_of
from inbounds.server.service.dataset_shape import DatasetOut, Name, describe_dataset
from inbounds.server.service.door import Serving, refusals, require
from inbounds.server.service.explaining import Explaining, ExplanationOut, explain_question
from inbounds.server.service.planning import run_planning
from inbounds.server.service.practising import MOST_PRACTICE_ROWS, practice_csv

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])

Seeing = Annotated[Person, require(Action.SEE_DATASET)]


@router.get("", summary="List datasets", responses=refusals())
async def datasets(service: Serving, person: Seeing) -> list[DatasetOut]:
    """List the datasets you can query."""
    names = [name for name in service.holdings.names if person.may_see(name)]
    holdings = await run_in_threadpool(lambda: [service.holdings.holding(name, person) for name in names])
    return [describe_dataset(holding) for holding in holdings]


@router.get("/{name}", summary="Describe a dataset", responses=refusals("not-found", "dataset-unavailable"))
async def dataset(name: Name, service: Serving, person: Seeing) -> DatasetOut:
    """Describe a dataset: its tables and columns, with their bounds and categories. All of this is public."""
    return describe_dataset(await run_in_threadpool(service.holdings.holding, name, person))


@router.get("/{name}/budget", summary="Get the privacy budget", responses=refusals("not-found", "ledger-unavailable"))
async def budget(
    name: Name,
    service: Serving,
    person: Seeing,
    analyst: Annotated[
        str | None, Query(max_length=200, description="Custodians only: the analyst whose budget to return.")
    ] = None,
) -> BudgetOut:
    """Return the privacy budget, spent and left: your own, and that of all analysts together."""
    if person.role is not Role.CUSTODIAN and analyst not in (None, person.name):
        raise Problem("not-allowed", "analysts can see only their own budget; omit analyst")
    who = analyst if person.role is Role.CUSTODIAN else person.name
    return await run_in_threadpool(budget_of, service, name, person, who)


@router.post(
    "/{name}/explain",
    summary="Preview a query",
    responses=refusals(
        "not-found", "invalid-question", "invalid-parameter", "dataset-unavailable", "too-many-statements"
    ),
)
async def explain(
    name: Name,
    explaining: Explaining,
    request: Request,
    service: Serving,
    person: Annotated[Person, require(Action.EXPLAIN)],
) -> ExplanationOut:
    """Preview a query: its cost, mechanism and error, and the budget left afterwards. Previews are free.

    With `error` instead of `epsilon`, the least ε for that expected error is found first.
    """
    return await run_planning(request, person, explain_question, service, name, explaining, person)


@router.get(
    "/{name}/practice",
    summary="Get practice data",
    responses=refusals("not-found", "invalid-parameter", "dataset-unavailable", "too-many-statements"),
    response_class=Response,
)
async def practice(
    name: Name,
    request: Request,
    service: Serving,
    person: Annotated[Person, require(Action.EXPLAIN)],
    table: Annotated[str | None, Query(max_length=200, description="A private table; by default the main one.")] = None,
    rows: Annotated[Whole, Query(ge=1, le=MOST_PRACTICE_ROWS, description="About how many rows.")] = 1000,
    seed: Annotated[Whole, Query(ge=-(2**62), le=2**62, description="The same seed makes the same rows.")] = 0,
) -> Response:
    """Return made-up rows that fit the contract, as CSV. They tell nothing about anybody; the data is not read."""
    content = await run_planning(request, person, practice_csv, service, name, table, rows, seed, person)
    headers = {"Content-Disposition": 'attachment; filename="practice.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)
