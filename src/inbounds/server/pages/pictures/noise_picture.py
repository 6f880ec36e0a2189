"""A picture of how far off an answer will be, before it is asked: no row is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from inbounds.accuracy.window import indices_of, stated_window
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.plot.curves import AnswerAxis
from inbounds.plot.pictures import densities
from inbounds.plot.style import COLOURS
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.plan import Plan
from inbounds.server.pages.pictures.figure import Look, svg
from inbounds.server.pages.words import shorten

MOST = 16
"""So many bars are drawn."""

LAW, BAR, TITLE = 2.7, 0.3, 0.36
"""Heights, in inches."""


def is_law(plans: Sequence[Plan]) -> bool:
    """Return whether there is one law to draw: of single numbers, all released alike."""
    return _mechanism(plans) is not None


def _mechanism(plans: Sequence[Plan]) -> Mechanism | None:
    """Return the mechanism of single numbers that are all released alike, None if there are several."""
    answering = plans[0].answering if len(plans) == 1 else None
    return answering.choice.mechanism if isinstance(answering, OneNumber) else None


def noise_height(plans: Sequence[Plan]) -> float:
    """Return how high the picture is, in inches."""
    lines = _bars(plans)
    return LAW if is_law(plans) else 0.15 + sum(BAR if error is not None else TITLE for _, error, _ in lines)


def noise_picture(plans: Sequence[Plan], look: Look) -> bytes:
    """Return the picture, as SVG: of single numbers the law of what is released, otherwise the errors as bars."""
    mechanism = _mechanism(plans)
    if mechanism is not None:
        return svg(lambda axes: _law(mechanism, axes), look, LAW)
    return svg(lambda axes: _draw_bars(_bars(plans), axes, look), look, noise_height(plans))


def _law(mechanism: Mechanism, axes: Any) -> None:
    """Draw how likely each number is to be released, if the true one is in the middle of those that were considered."""
    truth = _middle(mechanism)
    densities(mechanism, [truth], plain=False, axes=axes)
    axes.set_title(f"If the true value is {_number(float(truth))}", fontsize="medium")
    axes.set_xlabel("released value")
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    legend = axes.get_legend()
    if legend is not None:
        legend.remove()


def _middle(mechanism: Mechanism) -> Fraction:
    axis = AnswerAxis.of(mechanism)
    lattice = axis.lattice
    span = indices_of(stated_window(axis.bounds, axis.plain), axis.bounds, lattice)
    first, last = max(span.low, lattice.first), min(span.high, lattice.last)
    return lattice.value(lattice.project((first + last) // 2)[0])


Line = tuple[str, float | None, float]
"""What a line says, the error, and its share of the greatest of its kind; a title has no error."""


def _bars(plans: Sequence[Plan]) -> list[Line]:
    lines: list[Line] = []
    for plan in plans:
        several = len(plans) > 1
        for title, errors in plan.answering.foreseen().items():
            most = max(errors.values()) or 1
            lines.append((f"{plan.question.measure}: error, {title}" if several else f"Error, {title}", None, 0))
            lines += [(where, error, error / most) for where, error in errors.items()]
    return lines[:MOST]


def _draw_bars(lines: Sequence[Line], axes: Any, look: Look) -> None:
    """Draw a bar for each error, as long as its share of the greatest of its kind, with the number beside it."""
    at, left = 0.0, -1.0 if look.narrow else -0.55
    for words, error, share in lines:
        at += (TITLE if error is None else BAR) / BAR
        if error is None:
            size, most = ("small", 42) if look.narrow else ("medium", 56)
            axes.text(left, at, shorten(words, most), va="center", fontweight="bold", fontsize=size)
            continue
        axes.barh(at, share, color=COLOURS[0], height=0.62)
        axes.text(share + 0.02, at, _number(error), va="center")
        axes.text(left, at, shorten(words, 21), va="center")
    axes.set_ylim(at + 0.8, 0.2)
    axes.set_xlim(left, 1.25)
    axes.axis("off")


def _number(value: float) -> str:
    digits = f"{value:.2g}" if abs(value) < 100 else f"{value:,.0f}"
    return digits if "e" not in digits else f"{value:,.2g}"
