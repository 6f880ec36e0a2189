"""Many draws of one answer, to see how far off it is.

With real data each of them would have to be paid for.  Nobody pays here, for these patients are made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import singledispatch
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.method import Answering, write_value
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.sampling.entropy import system

if TYPE_CHECKING:
    from numpy.typing import NDArray

Totals = Sequence[list[int]]


def draw_often(plan: Plan, totals: Totals, times: int) -> NDArray[np.float64]:
    """Return so many independent draws of an answer, one in a row, as numbers.

    They are drawn as answers are.  For tables and quantiles, what depends on the totals alone is computed once, and
    intervals are left out.
    """
    return _draw(plan.answering, totals, times)


def parts_of_epsilon(plan: Plan) -> list[Fraction]:
    """Return what is spent on each row of an answer: on a total other than on its parts, or nothing."""
    return _parts(plan.answering) or [plan.epsilon] * len(plan.rows)


def as_number(value: Any) -> float:
    """Return an answer as a number: a day by its ordinal, and where there is none, no number."""
    return nan if value is None else float(value.toordinal() if isinstance(value, date) else value)


@singledispatch
def _draw(answering: Answering, totals: Totals, times: int) -> NDArray[np.float64]:
    answers = answering.answer_all([*totals] * times, CONFIDENCE, lambda _: None, system)
    return np.array([as_number(answer.value) for (answer,) in answers]).reshape(times, len(totals))


@_draw.register(JointTable)
def _(answering: JointTable, totals: Totals, times: int) -> NDArray[np.float64]:
    tables = (answering.steps_of(answering.measure(totals, system)) for _ in range(times))
    drawn = np.array([[steps for rows in table for steps in rows] for table in tables], dtype=np.float64)
    return drawn * float(answering.sign * answering.step)


@_draw.register(QuantileByRank)
def _(answering: QuantileByRank, totals: Totals, times: int) -> NDArray[np.float64]:
    laws = [answering.law(group) for group in totals]
    return np.array(
        [[as_number(write_value(answering.bounds, law.draw(system))) for law in laws] for _ in range(times)]
    )


@singledispatch
def _parts(_: Answering) -> list[Fraction]:
    return []


@_parts.register(JointTable)
def _(answering: JointTable) -> list[Fraction]:
    return [answering.plan.split.get(rows.grouping, Fraction(0)) for rows in answering.rows for _ in rows.places]
