"""Answers: one's own questions so far; and each answer, as a table, a picture and a file."""

from __future__ import annotations

import csv
import io
import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.query import Answer
from inbounds.server.api.answer_shape import answer_out
from inbounds.server.api.answers import AnswerId, answers_of
from inbounds.server.api.door import Serving
from inbounds.server.api.kept import Kept, kept
from inbounds.server.pages.answer_picture import answer_picture, can_be_drawn
from inbounds.server.pages.page import page, picture
from inbounds.server.pages.visitor import Visitor, signed_in
from inbounds.server.person import Action
from inbounds.server.problem import Problem
from inbounds.server.service import Service

router = APIRouter(include_in_schema=False)

Analyst = Annotated[Visitor, signed_in(Action.READ_ANSWERS)]
MOST = 50
"""So many questions are on one page."""


@router.get("/answers")
async def answers_page(
    request: Request, service: Serving, visitor: Analyst, before: Annotated[int, Query(ge=0, le=2**62)] = 0
) -> Response:
    """List one's own questions, the newest first, and one's requests for budget."""
    found = await run_in_threadpool(answers_of, service, visitor.person, 0, 100_000)
    shown = [one for one in reversed(found) if not before or one.entry < before][: MOST + 1]
    older = shown[MOST - 1].entry if len(shown) > MOST else None
    requests = await run_in_threadpool(service.budget_requests.listed, None, visitor.person.name)
    return page(request, "answers", visitor, asked=shown[:MOST], older=older, requests=requests)


@router.get("/answers/{key}")
async def answer_page(request: Request, key: AnswerId, service: Serving, visitor: Analyst) -> Response:
    """Show an answer."""
    found = await run_in_threadpool(kept, service, visitor.person, key)
    return page(
        request,
        "answers_one",
        visitor,
        key=key,
        found=found,
        table=_table(found.answer),
        drawn=can_be_drawn(found.answer),
        reading=_reading(found.answer),
    )


@router.get("/answers/{key}/chart.svg")
async def chart(key: AnswerId, service: Serving, visitor: Analyst, dark: bool = False) -> Response:
    """Draw an answer."""
    found = await run_in_threadpool(kept, service, visitor.person, key)
    if not can_be_drawn(found.answer):
        raise Problem("not-found", "this answer has no picture")
    return picture(await run_in_threadpool(answer_picture, found.answer, dark=dark))


@router.get("/answers/{key}/answer.{ending}")
async def exported(key: AnswerId, ending: str, service: Serving, visitor: Analyst) -> Response:
    """Return an answer as a file: csv, parquet, or json with the proof."""
    if ending not in FILES:
        raise Problem("not-found", "an answer can be had as csv, parquet or json")
    content, kind = await run_in_threadpool(_exported, service, visitor, key, ending)
    name = f'attachment; filename="{key}.{ending}"'
    return Response(content, media_type=kind, headers={"Content-Disposition": name})


def _exported(service: Service, visitor: Visitor, key: str, ending: str) -> tuple[bytes, str]:
    make, kind = FILES[ending]
    return make(kept(service, visitor.person, key), key), kind


def _csv(found: Kept, key: str) -> bytes:
    assert key
    text = io.StringIO()
    writer = csv.writer(text)
    columns = found.answer.by_column()
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _parquet(found: Kept, key: str) -> bytes:
    assert key
    import pyarrow.parquet  # noqa: PLC0415  only whoever wants such a file needs it

    file = io.BytesIO()
    pyarrow.parquet.write_table(found.answer.to_arrow(), file)
    return file.getvalue()


def _json(found: Kept, key: str) -> bytes:
    data = answer_out(found.answer, found.dataset, found.sql, key, found.parts).model_dump(mode="json")
    return json.dumps(data, indent=2, ensure_ascii=False).encode()


FILES: dict[str, tuple[Any, str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
    "json": (_json, "application/json"),
}


def _table(answer: Answer) -> dict[str, Any]:
    """Return what a template shows: cells as texts, with the interval beside each number."""
    keys = len(answer.columns) - answer.measures
    rows = []
    for number, row in enumerate(answer.rows):
        intervals = answer.intervals[number] if answer.intervals else (None,) * answer.measures
        measured = [(shown(cell), _interval(one)) for cell, one in zip(row[keys:], intervals, strict=True)]
        names = ["(all)" if cell is None else str(cell) for cell in row[:keys]]
        rows.append({"names": names, "measured": measured, "is_total": any(cell is None for cell in row[:keys])})
    return {"groups": answer.columns[:keys], "measures": answer.columns[keys:], "rows": rows}


def shown(cell: Any) -> str:
    """Return a number as people read it."""
    if cell is None:
        return "none"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return (
        f"{cell:,.4g}"
        if isinstance(cell, float) and abs(cell) < 1e4
        else f"{cell:,.1f}"
        if isinstance(cell, float)
        else str(cell)
    )


def _interval(ends: tuple[Any, Any] | None) -> str:
    return "" if ends is None else f"{shown(ends[0])} to {shown(ends[1])}"


def _reading(answer: Answer) -> str:
    """Say how to read an answer, in two sentences."""
    sure = f"{answer.confidence * 100:g} of 100"
    if not any(one is not None for row in answer.intervals for one in row):
        return "Each number is private: it is near the true one, and possible. How near, the explanation says in ranks."
    return (
        "Each number is private: random noise was added, and what is shown is possible. The true number, before noise, "
        f"lies in the interval beside it in {sure} cases."
    )
