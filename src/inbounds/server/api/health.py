"""Whether the server is there, whether it can answer, and what it counts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person, Role
from inbounds.server.basics.problem import RETRY, Problem
from inbounds.server.service.door import Serving, allowed, refusals

router = APIRouter(tags=["server"])


class StateOut(BaseModel):
    """How the server is."""

    status: str


class MeOut(BaseModel):
    """Who you are here."""

    name: str
    role: Role
    datasets: list[str]


@router.get("/healthz")
async def health(service: Serving) -> StateOut:
    """Tell that the process runs."""
    await service.probes.turn()
    return StateOut(status="ok")


@router.get("/readyz", responses=refusals("server-unavailable"))
async def readiness(service: Serving) -> StateOut:
    """Tell whether every dataset can be used, and the ledger and the server's own file can be written."""
    await service.probes.turn()
    if not await service.readiness.is_ready():
        raise Problem(
            "server-unavailable", "the ledger, a dataset or the server's file cannot be used; try again", headers=RETRY
        )
    return StateOut(status="ready")


@router.get("/v1/me", responses=refusals())
async def me(person: Annotated[Person, allowed(Action.KNOW_ONESELF)]) -> MeOut:
    """Tell who you are here, and what is yours to ask."""
    return MeOut(name=person.name, role=person.role, datasets=list(person.datasets))


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}}, **refusals()}, response_class=Response)
async def metrics(service: Serving, person: Annotated[Person, allowed(Action.READ_METRICS)]) -> Response:
    """Return counts of requests, answers and refusals, for the custodian, in the format of Prometheus."""
    return Response(
        await run_in_threadpool(service.metrics.text), media_type="text/plain; version=1.0.0; charset=utf-8"
    )
