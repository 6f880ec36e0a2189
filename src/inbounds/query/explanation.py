"""What will be done for a question, without doing it: nothing is spent, and no row is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from textwrap import fill
from typing import Any

import sqlglot

from inbounds.bounds.notation import write_end
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.answering import QuantileByRank, Ratio
from inbounds.query.plan import Plan

WIDTH = 80


@dataclass(frozen=True)
class Explanation:
    """The plan for a question; as text, in words."""

    question: str
    epsilon: Fraction
    """What everything together costs."""
    answers: int
    """How many numbers will be released."""
    sensitivity: Fraction
    """The most that one unit can change: an answer, both sums behind a mean together, or a rank."""
    guarantee: GuaranteeName
    bounds: str
    mechanism: str
    expected_error: str
    statement: str
    words: dict[str, str] = field(repr=False)
    """What the text says in place of a bare number or name."""

    @classmethod
    def of(cls, plan: Plan, dialect: str) -> Explanation:
        """Explain a plan."""
        return cls(
            question=str(plan.question),
            epsilon=plan.epsilon,
            answers=len(plan.cells),
            sensitivity=plan.answering.sensitivity,
            guarantee=plan.answering.guarantee,
            bounds=plan.answering.bounds.brief(),
            mechanism=plan.answering.mechanism(),
            expected_error=plan.answering.expected_error(),
            statement=sqlglot.parse_one(plan.sql, dialect=dialect).sql(dialect=dialect, pretty=True),
            words={
                "epsilon": f"{write_end(plan.epsilon)} for everything together",
                "answers": _answers(plan),
                "sensitivity": _sensitivity(plan),
                "guarantee": _guarantee(plan),
            },
        )

    def data(self) -> dict[str, Any]:
        """Return the explanation as a dictionary: numbers as numbers, names as names, and the rest as text."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name != "words"}

    def __str__(self) -> str:
        found = []
        for name, text in {**self.data(), **self.words}.items():
            if name == "statement":
                found.append(f"statement\n{text}")
            else:
                label = f"{name.replace('_', ' '):<16}"
                found.append(fill(label + text, WIDTH, subsequent_indent=" " * 16))
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
    if isinstance(answering, QuantileByRank):
        return f"{float(answering.sensitivity):g} in rank, by {who}"
    if isinstance(answering, Ratio):
        return f"{float(answering.sensitivity):g} in both sums together, by {who}"
    return f"{float(answering.sensitivity):g}, by {who}"


def _guarantee(plan: Plan) -> str:
    if plan.answering.guarantee == "standard":
        return "standard: one unit changes one released number"
    return "distance: one unit can change several released numbers, and the loss of each is in proportion to its change"
