"""Asking: a question is planned, paid for, run, and answered with noise, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inbounds.display.progress import Progress, reporting
from inbounds.errors import EngineFailed, InvalidParameter, InvalidQuestion, LedgerConflict, ProjectionFailed
from inbounds.exact.rational import as_written, shown
from inbounds.joint.measuring import Measured
from inbounds.ledger.amount import fraction, units
from inbounds.ledger.names import LONGEST_TEXT
from inbounds.privacy.claim import checked_epsilon
from inbounds.query import unfinished
from inbounds.query.answer import Answer, columns_of
from inbounds.query.answering import Answered
from inbounds.query.clipping import warnings_of
from inbounds.query.condition import Condition
from inbounds.query.explanation import Explanation
from inbounds.query.expression import Expression
from inbounds.query.joint_table import JointTable, Unprojected
from inbounds.query.measure import Measure
from inbounds.query.owned import Asked, derived
from inbounds.query.plan import Plan
from inbounds.query.question import Question, sql_of
from inbounds.query.row_limit import row_limit
from inbounds.query.sharing import Shared, asked_of
from inbounds.query.unfinished import Part

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

LEAST_ODDS = Fraction(1, 10**9)
"""Intervals are neither surer nor less sure than this, where doubles still tell odds from none."""


@dataclass(frozen=True)
class Query:
    """What is asked of a dataset, ready to be explained or asked: one question, or several about the same groups."""

    dataset: Dataset
    questions: tuple[Question, ...]
    places: tuple[tuple[int, int], ...] = ((0, 0),)
    """For each column of the answer: which question answers it, and in which of its own columns."""

    @classmethod
    def of(cls, dataset: Dataset, measures: tuple[Measure, ...]) -> Query:
        """Ask for some measures of all rows; those that go together share what they cost."""
        shared = Shared.of(measures)
        return cls(dataset, tuple(Question(dataset.table, one) for one in shared.measures), shared.places)

    @property
    def question(self) -> Question:
        """The question, if it is one."""
        if len(self.questions) != 1:
            raise ValueError(f"there are {len(self.questions)} questions, each with a part of epsilon; use questions")
        return self.questions[0]

    def where(self, condition: Condition | str) -> Query:
        """Return the question about fewer rows: a condition, or its text as in SQL."""
        return self._each(lambda question: question.where(condition))

    def by(self, *columns: str | Expression) -> Query:
        """Return the question for each key of some columns; every key is answered, also those without rows."""
        return self._each(lambda question: question.by(*columns))

    def with_totals(self) -> Query:
        """Return the question with totals: over each of its groups by itself, and over everything."""
        return self._apart()._each(lambda question: question.with_totals())

    def groupings(self, *sets: Iterable[str | Expression]) -> Query:
        """Return the question for several groupings at once, each a set of columns to tell apart; `()` is the total."""
        given = [one if isinstance(one, str) else tuple(one) for one in sets]  # each is read for every measure
        return self._apart()._each(lambda question: question.with_sets(given))

    def _apart(self) -> Query:
        """Return the same with every count and sum in a question of its own: each of them is a table that adds up."""
        shared = Shared.of(
            tuple(asked_of(self.questions[which].measure, column) for which, column in self.places), with_totals=True
        )
        questions = tuple(replace(self.questions[0], measure=one) for one in shared.measures)
        return replace(self, questions=questions, places=shared.places)

    def alone(self) -> Query:
        """Return the question with each cell answered by itself: least error in a cell, and sums that drift."""
        return self._each(lambda question: question.by_itself())

    def _each(self, change: Any) -> Query:
        return replace(self, questions=tuple(change(question) for question in self.questions))

    def plan(self, epsilon: Any, *, pooling: Any = None) -> Plan:
        """Return how the question will be answered, if it is one; nothing is spent, and no row is looked at."""
        return self.dataset.planned(self.question, _cost(epsilon), _fixed(pooling))

    def plans(self, epsilon: Any, *, pooling: Any = None, weights: Sequence[Any] | None = None) -> tuple[Plan, ...]:
        """Return how each question will be answered, with its part of epsilon."""
        cost, fixed = _cost(epsilon), _fixed(pooling)
        return tuple(
            self.dataset.planned(question, cost * part, fixed)
            for question, part in zip(self.questions, self._parts(weights), strict=True)
        )

    def _parts(self, weights: Sequence[Any] | None) -> list[Fraction]:
        """Return which part of epsilon each question has: all the same, or by the weights of what was asked for."""
        if weights is None:
            return [Fraction(1, len(self.questions))] * len(self.questions)
        given = [as_written(one, "a weight", InvalidParameter) for one in weights]
        if len(given) != len(self.places) or any(one <= 0 for one in given):
            raise InvalidParameter(
                f"weights must be {len(self.places)} numbers above 0, one for each measure, got {shown(weights)}; "
                "give such, or leave them out"
            )
        return [
            sum((one for one, (at, _) in zip(given, self.places, strict=True) if at == number), Fraction(0))
            / sum(given)
            for number in range(len(self.questions))
        ]

    def explain(
        self, epsilon: Any, *, pooling: Any = None, weights: Sequence[Any] | None = None, analyst: str | None = None
    ) -> Explanation:
        """Say what will be done: sensitivity, bounds, mechanism and why, cost, expected noise, row limit, statement.

        With `analyst`: also whether the answer follows for free from what that analyst owns.
        """
        plans = self.plans(epsilon, pooling=pooling, weights=weights)
        found = None if analyst is None else self.owned(analyst)
        owned = None if found is None else f"{analyst} owns this already, as a sum or a part of {found.request_id}"
        return Explanation.of(plans, self.dataset.engine.dialect.name, owned)

    def ask(
        self,
        epsilon: Any,
        *,
        analyst: str,
        request_id: str | None = None,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> Answer:
        """Return private answers, and charge the analyst for them first.

        * `request_id`: asking again with the same one returns the stored answer and charges nothing.
        * `pooling`: fixed, from 0 to 1, instead of chosen for the least error.
        * `weights`: how epsilon is divided among several measures; equally if not given.
        * `confidence`: of the intervals beside the answers, above 0 and below 1.
        * `progress`: takes a line of text now and then; if not given, a terminal shows it.
        """
        fixed, sure = _fixed(pooling), _confidence(confidence)
        planned = self.plans(epsilon, pooling=fixed, weights=weights)
        adds_up = self._adds_up(planned)
        if Answer.longest(planned, self.places, adds_up) > LONGEST_TEXT:
            raise InvalidQuestion(
                f"the answer for {len(planned[0].rows)} groups is too long to be kept; ask for fewer groups"
            )
        account = self.dataset.ledger
        receipt = account.charge(
            self.dataset.name,
            analyst,
            _cost(epsilon),
            request_id=request_id,
            fingerprint=self._fingerprint(planned, fixed),
            note=str(self)[:1000],
            terms=self.dataset.terms,
            rho=sum((plan.rho for plan in planned), Fraction(0)) or None,
        )
        text = receipt.answer
        if text is None:
            try:
                with reporting(progress) as report:
                    parts = [self._part(plan, sure, report) for plan in planned]
            except EngineFailed as failure:
                raise EngineFailed(failure.kind, receipt.request_id) from None
            if (answered := _finished(parts)) is None:
                account.answered(receipt, unfinished.dump(parts))
                raise _unprojected(receipt.request_id)
            made = Answer.of(planned, self.places, answered, receipt.request_id, sure)
            text = account.answered(receipt, replace(made, asked=adds_up).dump())
        if (kept := unfinished.load(text)) is not None:
            found = self._finish(planned, kept, receipt.request_id, sure)
        else:
            found = Answer.load(text, _cost(epsilon), receipt.request_id, row_limit(self.questions))
        return replace(found, warnings=warnings_of(self.questions))

    def _part(self, planned: Plan, confidence: float, report: Progress) -> Part:
        """Return the answers of one question; if no table could be made, what was measured for it."""
        report("running the statement")
        totals = planned.totals(self.dataset.engine.run(planned.sql))
        try:
            return planned.answering.answer_all(totals, confidence, report)
        except Unprojected as failure:
            return failure.measured

    def _finish(self, planned: Sequence[Plan], parts: Sequence[Part], request_id: str, confidence: float) -> Answer:
        """Return the answer that is made of what was measured before: the data are not looked at again."""
        answered = [_again(plan, part, confidence) for plan, part in zip(planned, parts, strict=True)]
        if (finished := _finished(answered)) is None:
            raise _unprojected(request_id)
        return Answer.of(planned, self.places, finished, request_id, confidence)

    def _adds_up(self, planned: Sequence[Plan]) -> dict[str, Any] | None:
        """Return what is asked if the answer is one table that adds up, so that its sums and parts are free later."""
        if len(planned) > 1 or not isinstance(planned[0].answering, JointTable):
            return None
        return Asked.of(self.dataset.identity, planned[0].question).data()

    def owned(self, analyst: str) -> Answer | None:
        """Return the answer that follows from what an analyst owns already, for nothing; None if none does.

        It is a sum or a part of a table that was released together and adds up; the data are not looked at.
        """
        if len(self.questions) > 1:
            return None
        try:
            with self.dataset.unchecked_ledger() as ledger:
                entries = ledger.statement(self.dataset.name, analyst).entries
        except (InvalidParameter, LedgerConflict):  # there is no ledger yet, or it does not know the dataset
            return None
        kept = [(entry.request_id, entry.text) for entry in entries if entry.kind == "answer"]
        found = derived(self.dataset.identity, self.questions[0], kept)
        if found is None:
            return None
        names = columns_of(self.questions, self.places)
        limit = row_limit(self.questions)
        facts = (found.noise, Fraction(0), found.request_id, limit, found.intervals, found.confidence)
        return Answer(names, found.rows, *facts, note=found.note)

    def __str__(self) -> str:
        """Return what is asked, in SQL."""
        return sql_of(self.questions)

    def _fingerprint(self, planned: Sequence[Plan], pooling: Any) -> str:
        """Tell questions apart: the same one has the same contract, text, cost and pooling."""
        told = [self.dataset.identity, str(self), *(str(plan.epsilon) for plan in planned), str(pooling)]
        if self.questions[0].alone:
            told.append("each cell alone")
        return sha256("\0".join(told).encode()).hexdigest()


def _finished(parts: Sequence[Part]) -> list[list[tuple[Answered, ...]]] | None:
    """Return the answers to all questions, None if one of them is not there."""
    found = [part for part in parts if not isinstance(part, Measured)]
    return found if len(found) == len(parts) else None


def _again(planned: Plan, part: Part, confidence: float) -> Part:
    """Try once more to make a table of what was measured."""
    if not isinstance(part, Measured) or not isinstance(planned.answering, JointTable):
        return part
    try:
        return planned.answering.made_of(part, confidence)
    except Unprojected:
        return part


def _unprojected(request_id: str) -> ProjectionFailed:
    return ProjectionFailed(
        "no possible table was found for what was measured; what was charged stays charged, and the measurements are "
        f"kept. Ask again with the same request id, {request_id!r}, which costs nothing more"
    )


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


def _confidence(given: Any) -> float:
    found = as_written(given, "confidence", InvalidParameter)
    if not LEAST_ODDS <= found <= 1 - LEAST_ODDS:
        raise InvalidParameter(
            f"confidence must be above 0 and below 1, by 1e-9 or more, got {shown(given)}; give one such as 0.95"
        )
    return float(found)
