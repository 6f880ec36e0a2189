"""A picture of how far off an answer will be, before it is asked: no row is looked at."""

from __future__ import annotations

from typing import Any

from inbounds.plot.style import COLOURS
from inbounds.query import Dataset
from inbounds.query.answering import OneNumber
from inbounds.query.plan import Plan
from inbounds.server.pages.figure import svg

POINTS = 201


def noise_picture(dataset: Dataset, sql: str, epsilon: str, *, dark: bool) -> bytes:
    """Return the picture, as SVG: the expected noise of each part, and of single numbers its whole law."""
    plans = dataset.sql(sql).plans(epsilon)
    return svg(lambda axes: _draw(plans[0], axes), dark=dark, size=(7.2, 2.4))


def _draw(plan: Plan, axes: Any) -> None:
    answering = plan.answering
    if isinstance(answering, OneNumber):
        _law(answering, axes)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)


def _law(answering: OneNumber, axes: Any) -> None:
    """Draw with which odds the noise is how large, far from the ends."""
    mean = answering.choice.error
    span = [(2 * number / (POINTS - 1) - 1) * 5 * mean for number in range(POINTS)]
    odds = [2.718281828 ** (-abs(one) / mean) for one in span]
    axes.fill_between(span, odds, color=COLOURS[0], alpha=0.35, linewidth=0)
    axes.plot(span, odds, color=COLOURS[0])
    axes.axvline(0, color=COLOURS[1], linewidth=1.5)
    axes.set_xlabel("how far the answer is from the true number")
