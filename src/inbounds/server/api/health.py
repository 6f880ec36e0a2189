"""Whether the server is there, whether it can answer, and what it counts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person, Role
from inbounds.server.basics.problem import RETRY, Problem
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.door import Serving, refusals, require

router = APIRouter(tags=["server"])


class StateOut(BaseModel):
    """Status of the server."""

    status: str


class MeOut(BaseModel):
    """The authenticated person."""

    name: str
    role: Role
    datasets: list[str]
    max_epsilon_per_question: str | None = Field(
        default=None,
        description="The most ε that one of your queries may cost on any dataset; a dataset may allow less.",
    )


@router.get("/healthz", summary="Check that the process is running")
async def health(service: Serving) -> StateOut:
    """Report that the process is running."""
    await service.probes.turn()
    return StateOut(status="ok")


@router.get("/readyz", summary="Check that the server is ready", responses=refusals("server-unavailable"))
async def readiness(service: Serving) -> StateOut:
    """Report whether every dataset is usable, and the ledger and the server's own file are writable."""
    await service.probes.turn()
    if not await service.readiness.is_ready():
        raise Problem(
            "server-unavailable",
            "the ledger, a dataset or the server's own file is unavailable; try again",
            headers=RETRY,
        )
    return StateOut(status="ready")


@router.get("/v1/me", summary="Get your name and role", responses=refusals())
async def me(person: Annotated[Person, require(Action.KNOW_ONESELF)]) -> MeOut:
    """Return your name, your role and the datasets you can query."""
    return MeOut(
        name=person.name,
        role=person.role,
        datasets=list(person.datasets),
        max_epsilon_per_question=format_amount(person.max_epsilon_per_question),
    )


@router.get(
    "/metrics",
    summary="Get metrics",
    responses={200: {"content": {"text/plain": {}}}, **refusals()},
    response_class=Response,
)
async def metrics(service: Serving, person: Annotated[Person, require(Action.READ_METRICS)]) -> Response:
    """Return counts of requests, answers and errors in Prometheus format."""
    return Response(
        await run_in_threadpool(service.metrics.text), media_type="text/plain; version=1.0.0; charset=utf-8"
    )
