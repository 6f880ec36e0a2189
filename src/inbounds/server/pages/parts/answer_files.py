"""An answer as a file: csv, parquet, or json with the proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from inbounds.files.csv_text import write_table
from inbounds.query import Answer
from inbounds.query.engines.parquet_file import parquet_bytes
from inbounds.results.answer import unlike
from inbounds.server.basics.problem import Problem
from inbounds.server.service.answer_shape import to_answer_out
from inbounds.server.service.stored_answers import StoredAnswer


def export_answer(stored: StoredAnswer, ending: str) -> tuple[bytes, str]:
    """Return the content of a file, and what kind of file it is."""
    make, kind = FILES[ending]
    return make(stored), kind


def check_ending(ending: str) -> None:
    """Refuse a kind of file that there is not."""
    if ending not in FILES:
        raise Problem("not-found", "an answer can be downloaded as csv, parquet or json; choose one of these")


def file_response(content: bytes, kind: str, name: str) -> Response:
    """Return a file that a browser saves, and never shows as a page."""
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def answer_csv(answer: Answer) -> bytes:
    """Return an answer as csv."""
    columns = _columns(answer)
    return write_table(columns, zip(*columns.values(), strict=True))


def json_bytes(data: Mapping[str, Any]) -> bytes:
    """Return data as the content of a JSON file."""
    return json.dumps(data, indent=2, ensure_ascii=False).encode()


def _columns(answer: Answer) -> dict[str, list[Any]]:
    """Return the columns of a file: the caveat is in each row, so that no row goes anywhere without it."""
    columns, caveat = answer.by_column(), answer.caveat
    note = {} if caveat is None else {unlike("caveat", tuple(columns)): [caveat] * len(answer.rows)}
    return columns | note


def _json(stored: StoredAnswer) -> bytes:
    shape = to_answer_out(stored.answer, stored.dataset, stored.sql, stored.key, stored.parts)
    return json_bytes(shape.model_dump(mode="json"))


CSV, JSON, HTML = "text/csv; charset=utf-8", "application/json", "text/html; charset=utf-8"

FILES: dict[str, tuple[Callable[[StoredAnswer], bytes], str]] = {
    "csv": (lambda stored: answer_csv(stored.answer), CSV),
    "parquet": (lambda stored: parquet_bytes(_columns(stored.answer)), "application/vnd.apache.parquet"),
    "json": (_json, JSON),
}
