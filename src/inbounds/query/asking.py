"""Asking: a question is planned, paid for, run, and answered with noise, in this order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inbounds.display.progress import Progress, reporting
from inbounds.errors import EngineFailed, InvalidParameter, InvalidQuestion
from inbounds.exact.rational import as_written
from inbounds.ledger.amount import fraction, units
from inbounds.ledger.names import LONGEST_TEXT
from inbounds.privacy.claim import checked_epsilon
from inbounds.query.answer import Answer
from inbounds.query.answering import Answered
from inbounds.query.condition import Condition
from inbounds.query.explanation import Explanation
from inbounds.query.plan import Plan
from inbounds.query.question import Question
from inbounds.query.row_limit import row_limit

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

REPORTED = 1000
"""Progress is told every so many groups."""


@dataclass(frozen=True)
class Query:
    """A question to a dataset, ready to be explained or asked."""

    dataset: Dataset
    question: Question

    def where(self, condition: Condition | str) -> Query:
        """Return the question about fewer rows: a condition, or its text as in SQL."""
        return replace(self, question=self.question.where(condition))

    def by(self, *columns: str) -> Query:
        """Return the question for each key of some columns; every key is answered, also those without rows."""
        return replace(self, question=self.question.by(*columns))

    def plan(self, epsilon: Any, *, pooling: Any = None) -> Plan:
        """Return how the question will be answered; nothing is spent, and no row is looked at."""
        return self.dataset.planned(self.question, _cost(epsilon), _fixed(pooling))

    def explain(self, epsilon: Any, *, pooling: Any = None) -> Explanation:
        """Say what will be done: sensitivity, bounds, mechanism and why, cost, expected noise, row limit, statement."""
        return Explanation.of(self.plan(epsilon, pooling=pooling), self.dataset.engine.dialect.name)

    def ask(
        self,
        epsilon: Any,
        *,
        analyst: str,
        request_id: str | None = None,
        pooling: Any = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Return private answers, and charge the analyst for them first.

        * `request_id`: asking again with the same one returns the stored answer and charges nothing.
        * `pooling`: fixed, from 0 to 1, instead of chosen for the least error.
        * `progress`: takes a line of text now and then; if not given, a terminal shows it.
        """
        fixed = _fixed(pooling)
        planned = self.plan(epsilon, pooling=fixed)
        if Answer.longest(planned) > LONGEST_TEXT:
            raise InvalidQuestion(
                f"the answer for {len(planned.cells)} groups is too long to be kept; ask for fewer groups"
            )
        account = self.dataset.ledger
        receipt = account.charge(
            self.dataset.name,
            analyst,
            planned.epsilon,
            request_id=request_id,
            fingerprint=self._fingerprint(planned, fixed),
            note=str(self.question)[:1000],
            terms=self.dataset.terms,
        )
        if receipt.answer is None:
            try:
                with reporting(progress) as report:
                    answered = self._answered(planned, report)
            except EngineFailed as failure:
                raise EngineFailed(failure.kind, receipt.request_id) from None
            text = account.answered(receipt, Answer.of(planned, answered, receipt.request_id).dump())
        else:
            text = receipt.answer
        return Answer.load(text, planned.epsilon, receipt.request_id, row_limit(self.question))

    def _answered(self, planned: Plan, report: Progress) -> list[Answered]:
        report("running the statement")
        totals = planned.totals(self.dataset.engine.run(planned.sql))
        found = []
        for number, one in enumerate(totals):
            if number % REPORTED == 0:
                report(f"answering for group {number + 1} of {len(totals)}")
            found.append(planned.answering.answer(one))
        return found

    def _fingerprint(self, planned: Plan, pooling: Any) -> str:
        """Tell questions apart: the same one has the same contract, text, cost and pooling."""
        told = (self.dataset.contract.text, str(self.question), str(planned.epsilon), str(pooling))
        return sha256("\0".join(told).encode()).hexdigest()


def _cost(epsilon: Any) -> Fraction:
    """Return what a ledger can charge; what it cannot is refused by the range of every epsilon, where that is why."""
    try:
        return fraction(units(epsilon))
    except InvalidParameter:
        if isinstance(epsilon, int | float | Decimal | Fraction):
            checked_epsilon(epsilon)
        raise


def _fixed(pooling: Any) -> Fraction | None:
    return None if pooling is None else as_written(pooling, "pooling", InvalidParameter)
