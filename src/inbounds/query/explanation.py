"""What will be done for a question, without doing it: nothing is spent, and no row is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from html import escape
from textwrap import fill
from typing import Any

import sqlglot

from inbounds.bounds.notation import write_end
from inbounds.display.table import Column, Table
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.answering import QuantileByRank, Ratio
from inbounds.query.plan import Plan
from inbounds.query.row_limit import NO_LIMIT, row_limit

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
    expected_noise: str
    """How far off the noise will put an answer; what the row limit and the bounds cut off is not in it."""
    row_limit: str
    """Whether a row limit is in force, and what it does to the answers."""
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
            expected_noise=plan.answering.expected_noise(),
            row_limit=row_limit(plan.question) or NO_LIMIT,
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

    def _told(self) -> dict[str, str]:
        """Return what is said, by what it is called, without the statement."""
        told = {**self.data(), **self.words}
        return {name.replace("_", " "): str(text) for name, text in told.items() if name != "statement"}

    def __str__(self) -> str:
        told = [fill(f"{name:<16}{text}", WIDTH, subsequent_indent=" " * 16) for name, text in self._told().items()]
        return "\n".join([*told, f"statement\n{self.statement}"])

    def _repr_html_(self) -> str:
        table = Table([Column("", left=True), Column("", left=True)], [[*pair] for pair in self._told().items()])
        return f"{table.html()}<pre>{escape(self.statement)}</pre>"


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
