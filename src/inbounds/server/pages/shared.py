"""Shared answers: what somebody was given a link to, as a page, a picture and a file."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics.person import Action, Person
from inbounds.server.pages.page import render_page, svg_response
from inbounds.server.pages.parts.answer_chart import draw_answer
from inbounds.server.pages.parts.answer_files import check_ending, export_answer, file_response
from inbounds.server.pages.parts.answer_table import describe_answer
from inbounds.server.pages.pictures.answer_picture import ChosenChart
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.visitor import Visitor, require_visitor
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.door import Serving
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import PublicId
from inbounds.server.service.publishing.sharing import load_shared
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

Reader = Annotated[Visitor, require_visitor(Action.READ_SHARED)]


@router.get("/shared/{share}")
async def shared_page(
    request: Request, share: PublicId, service: Serving, visitor: Reader, chart: ChosenChart = None
) -> Response:
    """Show an answer to somebody with whom it is shared."""
    found = await run_planning(request, visitor.person, load_shared, service, visitor.person, share)
    facts: dict[str, Any] = {
        "share": found.share,
        "stored": found.stored,
        "cost": format_amount(found.stored.answer.epsilon),
        "address": f"/shared/{share}",
    }
    return render_page(request, "shared_one", visitor, **facts, **describe_answer(found.stored.answer, chart))


@router.get("/shared/{share}/chart.svg")
async def chart_picture(
    request: Request, share: PublicId, service: Serving, visitor: Reader, look: Looks, chart: ChosenChart = None
) -> Response:
    """Draw a shared answer."""
    found = await run_planning(request, visitor.person, load_shared, service, visitor.person, share)
    return svg_response(await run_in_threadpool(draw_answer, found.stored.answer, look, chart))


@router.get("/shared/{share}/answer.{ending}")
async def download(request: Request, share: PublicId, ending: str, service: Serving, visitor: Reader) -> Response:
    """Return a shared answer as a file."""
    check_ending(ending)
    content, kind = await run_planning(request, visitor.person, _export, service, visitor.person, share, ending)
    return file_response(content, kind, f"answer-{share[:12]}.{ending}")


def _export(service: Service, person: Person, share: str, ending: str) -> tuple[bytes, str]:
    return export_answer(load_shared(service, person, share).stored, ending)
