"""What will be done for a question, without doing it: nothing is spent, and no row is looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from textwrap import fill
from typing import Any

import sqlglot

from inbounds.notation import write_end
from inbounds.query.parts import Ranking, Ratio
from inbounds.query.plan import Plan

WIDTH = 80


@dataclass(frozen=True)
class Explanation:
    """The plan for a question, in words."""

    question: str
    epsilon: Fraction
    answers: str
    sensitivity: str
    guarantee: str
    bounds: str
    mechanism: str
    expected_error: str
    statement: str

    @classmethod
    def of(cls, plan: Plan, dialect: str) -> Explanation:
        """Put a plan into words."""
        return cls(
            question=str(plan.question),
            epsilon=plan.epsilon,
            answers=_answers(plan),
            sensitivity=_sensitivity(plan),
            guarantee=_guarantee(plan),
            bounds=plan.answering.bounds.brief(),
            mechanism=plan.answering.mechanism(),
            expected_error=plan.answering.expected_error(),
            statement=sqlglot.parse_one(plan.sql, dialect=dialect).sql(dialect=dialect, pretty=True),
        )

    def data(self) -> dict[str, Any]:
        """Return the explanation as a dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        found = []
        told = {**asdict(self), "epsilon": f"{write_end(self.epsilon)} for everything together"}
        for name, text in told.items():
            if name == "statement":
                found.append(f"statement\n{text}")
            else:
                label = f"{name.replace('_', ' '):<16}"
                found.append(fill(label + text, WIDTH, subsequent_indent=" " * 16, break_long_words=False))
        return "\n".join(found)


def _answers(plan: Plan) -> str:
    count = len(plan.cells)
    if count == 1:
        return "1"
    if plan.question.table.rows_are_units:
        return f"{count}, each at epsilon {float(plan.epsilon):g}: a row is in one group only"
    return f"{count}, at epsilon {float(plan.epsilon):g} together: what one unit changes adds up over groups"


def _sensitivity(plan: Plan) -> str:
    table, answering = plan.question.table, plan.answering
    who = "one row" if table.rows_are_units else f"all rows of one {table.unit}, weighed as at most {table.limit}"
    if isinstance(answering, Ranking):
        return f"{float(answering.sensitivity):g} in rank, by {who}"
    if isinstance(answering, Ratio):
        return f"{float(answering.sensitivity):g} in both sums together, by {who}"
    return f"{float(answering.sensitivity):g}, by {who}"


def _guarantee(plan: Plan) -> str:
    if plan.answering.guarantee == "standard":
        return "standard: one unit changes one released number"
    return "distance: one unit can change several released numbers, and the loss of each is in proportion to its change"
