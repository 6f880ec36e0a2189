"""The picture of an answer, as the image that a page loads."""

from __future__ import annotations

from inbounds.query import Answer
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.pictures.answer_picture import answer_picture, drawable
from inbounds.server.pages.pictures.figure import Look


def draw_answer(answer: Answer, look: Look, chart: str | None) -> bytes:
    """Return the picture of an answer, or refuse if it has none."""
    drawn = drawable(answer, chart)
    if drawn is None:
        raise Problem("not-found", "this answer has no chart; go back to the table")
    return answer_picture(drawn, look, chart)
