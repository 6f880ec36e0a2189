"""Shared answers: links that owners give to named people, and what is behind them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics.person import Action, Person
from inbounds.server.service.answer_list import AnswerId
from inbounds.server.service.answer_shape import AnswerOut, to_answer_out, to_response
from inbounds.server.service.door import Serving, refusals, require
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import PublicId
from inbounds.server.service.publishing.sharing import (
    ShareOut,
    Sharing,
    load_shared,
    revoke_share,
    share_answer,
    shared_with,
    shares_of,
    to_share_out,
)
from inbounds.server.service.service import Service

router = APIRouter(prefix="/v1", tags=["shared"])

Owner = Annotated[Person, require(Action.SHARE)]
Reading = Annotated[Person, require(Action.READ_SHARED)]


@router.post(
    "/answers/{key}/shares",
    summary="Share an answer",
    status_code=201,
    responses=refusals(
        "not-found", "not-answered", "request-running", "invalid-parameter", "ledger-unavailable",
        "too-many-statements", "answer-failed",
    ),
)  # fmt: skip
async def share(key: AnswerId, sharing: Sharing, request: Request, service: Serving, person: Owner) -> ShareOut:
    """Make a link to one of your own answers, for people in the custodian's file. Nothing is spent."""
    return to_share_out(await run_planning(request, person, share_answer, service, person, key, sharing), person)


@router.get("/answers/{key}/shares", summary="List the links to an answer", responses=refusals())
async def shares(key: AnswerId, service: Serving, person: Owner) -> list[ShareOut]:
    """List the links to one of your own answers."""
    return [to_share_out(one, person) for one in await run_in_threadpool(shares_of, service, person, key)]


@router.delete(
    "/answers/{key}/shares/{share}", summary="Revoke a link", status_code=204, responses=refusals("not-found")
)
async def revoke(key: AnswerId, share: PublicId, service: Serving, person: Owner) -> None:
    """Revoke a link immediately."""
    await run_in_threadpool(revoke_share, service, person, key, share)


@router.get("/shared", summary="List answers shared with you", responses=refusals())
async def shared(service: Serving, person: Reading) -> list[ShareOut]:
    """List the answers that others have shared with you."""
    return [to_share_out(one, person) for one in await run_in_threadpool(shared_with, service, person)]


@router.get(
    "/shared/{share}",
    summary="Get a shared answer",
    responses=refusals("not-found", "request-running", "ledger-unavailable", "too-many-statements", "answer-failed"),
    response_model=AnswerOut,
)
async def shared_answer(share: PublicId, request: Request, service: Serving, person: Reading) -> Response:
    """Return an answer that was shared with you."""
    return await run_planning(request, person, _load_shared, service, person, share)


def _load_shared(service: Service, person: Person, name: str) -> Response:
    stored = load_shared(service, person, name).stored
    return to_response(to_answer_out(stored.answer, stored.dataset, stored.sql, stored.key, stored.parts))
