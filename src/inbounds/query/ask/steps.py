"""The steps of asking, in this order: plan, check, charge, run, answer, keep.

Nothing is charged before the plans are made and checked, and no row is read before the charge is durable.  Whatever
comes of the rows is kept under the request id before anybody sees it (`draw_once`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inbounds.accuracy.confidence import percent
from inbounds.display.progress import Patient, Progress, reporting
from inbounds.errors import InvalidParameter, InvalidQuestion, LedgerConflict, UselessQuestion
from inbounds.ledger import Receipt
from inbounds.ledger.values.names import LONGEST_TEXT
from inbounds.query.answer import unfinished_table
from inbounds.query.answer.derived_answer import StoredQuestion
from inbounds.query.answer.kept_answer import read_kept, write_kept
from inbounds.query.answer.unfinished_table import Part
from inbounds.query.ask.draw import draw_once
from inbounds.query.ask.options import check_at_once
from inbounds.query.methods.joint.joint_table import JointTable, Unprojected
from inbounds.query.methods.joint.running_table import RunningTable
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan, rho_of
from inbounds.query.methods.usefulness import INSIST, why_useless
from inbounds.query.question.clipping_warnings import warnings_of
from inbounds.results.answer import Answer
from inbounds.sampling.entropy import system

if TYPE_CHECKING:
    from inbounds.query.query import Query


@dataclass(frozen=True)
class Asking:
    """One question that is asked once, with everything that was chosen for it; all of it was checked."""

    query: Query
    epsilon: Fraction
    analyst: str
    request_id: str | None
    pooling: Fraction | None
    weights: Sequence[Any] | None
    confidence: float
    progress: Progress | None
    force: bool
    simultaneous: bool

    def result(self) -> Answer:
        """Take all steps, and return the answer."""
        plans = self.plan()
        self.check(plans)
        receipt = self.charge(plans)
        with reporting(self.progress) as report:
            patient = Patient(report)
            text = draw_once(
                self.query.dataset.ledger,
                receipt,
                lambda: self.run(plans, report),
                lambda totals: self.answer(plans, totals, patient),
            )
            patient.end()
        return self.read(plans, receipt, text)

    def plan(self) -> tuple[Plan, ...]:
        """Return how each question will be answered; no row is looked at."""
        return self.query.plans(self.epsilon, pooling=self.pooling, weights=self.weights)

    def check(self, plans: Sequence[Plan]) -> None:
        """Refuse what would tell nothing, unless it is forced, and what would be too sure or too long to be kept."""
        if self.simultaneous:
            check_at_once(self.confidence, self.query.at_once(plans))
        if not self.force:
            self._check_useful(plans)
        if longest_text(self.query, plans) > LONGEST_TEXT:
            raise InvalidQuestion(
                f"the answer for {len(plans[0].rows)} groups is too long to be stored; ask for fewer groups"
            )

    def charge(self, plans: Sequence[Plan]) -> Receipt:
        """Charge the analyst; the receipt has the answer if this request was answered before."""
        dataset = self.query.dataset
        more = _running(plans) if _measures_blocks(plans) else []
        return dataset.ledger.charge(
            dataset.name,
            self.analyst,
            self.epsilon,
            request_id=self.request_id,
            fingerprint=self._fingerprint(plans, self.query.facts, "in any spelling", *more),
            earlier=self._served_by(plans),
            note=self.query.asked_text[:1000],
            terms=dataset.terms,
            rho=rho_of(plans) or None,
        )

    def run(self, plans: Sequence[Plan], report: Progress) -> list[Any]:
        """Return what the statement of each question finds; all of them run before anything is drawn."""
        rows: dict[str, Any] = {}
        for statement in (plan.sql for plan in plans):
            if statement not in rows:  # which questions may share
                report("running the statement")
                rows[statement] = self.query.dataset.engine.run(statement)
        return [rows[plan.sql] for plan in plans]

    def answer(self, plans: Sequence[Plan], totals: Sequence[Any], report: Progress) -> str:
        """Return the text to keep: private answers to all questions; if no table could be made, what was measured."""
        confidences = self._confidences(plans)
        drawn_from = zip(plans, totals, confidences, strict=True)
        parts = [_draw(plan, total, confidence, report) for plan, total, confidence in drawn_from]
        # If one table failed, all that was measured is kept: it is paid for, and can be tried again for nothing.
        if (answers := unfinished_table.complete_answers(parts)) is None:
            return unfinished_table.dump(parts)
        return write_kept(replace(self._put_together(plans, answers), asked=_stored_question(self.query, plans)))

    def _confidences(self, plans: Sequence[Plan]) -> list[float]:
        """Return how sure the intervals of each question are."""
        return self.query.confidences(self.confidence, plans, simultaneous=self.simultaneous)

    def _put_together(self, plans: Sequence[Plan], answers: Sequence[list[tuple[Answered, ...]]]) -> Answer:
        """Return the answers to all questions as one, which says how sure its intervals are."""
        confidences = self._confidences(plans)
        answer = self.query.put_together(plans, answers, self.confidence, confidences)
        raised = tuple(confidences[which] for which, _ in self.query.places)
        raised = raised if set(confidences) != {self.confidence} else ()
        return replace(answer, confidences=raised, simultaneous=self.simultaneous)

    def read(self, plans: Sequence[Plan], receipt: Receipt, text: str) -> Answer:
        """Return the answer that was kept, as it is shown to whoever asked."""
        query = self.query
        if (parts := unfinished_table.load(text)) is None:
            answer = read_kept(text, self.epsilon, receipt.request_id, query.row_limit)
            answer = replace(answer, columns=query.released_columns)  # as this spelling calls them
        elif receipt.answer is None:
            raise unfinished_table.projection_failure(receipt.request_id)
        else:
            answer = self._finish(plans, parts, receipt.request_id)
        remarks = (*query.remarks(answer), *self._remark_kept(answer))
        return query.view(replace(answer, warnings=warnings_of(query.questions), remarks=remarks))

    def _remark_kept(self, answer: Answer) -> tuple[str, ...]:
        """Say that the intervals are those that were kept, where others were asked for this time."""
        if (answer.confidence, answer.simultaneous) == (self.confidence, self.simultaneous) or not answer.intervals:
            return ()
        how = "all at once" if answer.simultaneous else "each by itself"
        return (f"The intervals were kept with the answer: {percent(answer.confidence)}, {how}.",)

    def _check_useful(self, plans: Sequence[Plan]) -> None:
        """Refuse to charge for what would tell nothing; what was charged before is answered all the same."""
        problem = why_useless(plans)
        if problem is None:
            return
        with suppress(InvalidParameter, LedgerConflict), self.query.dataset.unchecked_ledger() as ledger:
            if self.request_id is not None and ledger.request(self.request_id) is not None:
                return
        raise UselessQuestion(f"{problem}; {INSIST}")

    def _finish(self, plans: Sequence[Plan], parts: Sequence[Part], request_id: str) -> Answer:
        """Return the answer that is made of what was measured before: the data are not looked at again."""
        tried = zip(plans, parts, self._confidences(plans), strict=True)
        retried = [unfinished_table.retry(plan, part, confidence) for plan, part, confidence in tried]
        if (answers := unfinished_table.complete_answers(retried)) is None:
            raise unfinished_table.projection_failure(request_id)
        return replace(self._put_together(plans, answers), request_id=request_id)

    def _served_by(self, plans: Sequence[Plan]) -> list[str]:
        """Return the fingerprints of other requests whose answers serve this one, such as the same one once had."""
        # The rows of a plain table add up to running totals as well, if less accurately.  The other way round, whoever
        # asks for the rows is not given those that were measured for their sums.
        running = _running(plans)
        others = [[], running] if running else []
        now = [self._fingerprint(plans, self.query.facts, "in any spelling", *more) for more in others]
        return [self._fingerprint(plans, self.query.earlier_facts), *now]

    def _fingerprint(self, plans: Sequence[Plan], facts: Sequence[str], *more: str) -> str:
        """Tell questions apart: the same one has the same facts, cost and pooling, however it is shown."""
        facts = [*facts, *(str(plan.epsilon) for plan in plans), str(self.pooling)]
        if self.query.questions[0].alone:
            facts.append("each cell alone")
        return sha256("\0".join([*facts, *more]).encode()).hexdigest()


def _draw(plan: Plan, totals: Any, confidence: float, report: Progress) -> Part:
    """Return the answers of one question; if no table could be made, what was measured for it."""
    try:
        return plan.answering.answer_all(plan.totals(totals), confidence, report, system)
    except Unprojected as failure:
        return failure.measured


def _running(plans: Sequence[Plan]) -> list[str]:
    """Return along which group running totals were planned for, by its place: names may be those of a spelling."""
    questions = [plan.question for plan in plans if isinstance(plan.answering, RunningTable)]
    return [f"running totals along group {question.running}" for question in questions]


def _measures_blocks(plans: Sequence[Plan]) -> bool:
    """Return whether blocks of keys are measured for running totals: then it is another measurement."""
    return any(isinstance(plan.answering, RunningTable) and plan.answering.has_blocks for plan in plans)


def longest_text(query: Query, plans: Sequence[Plan]) -> int:
    """Return how long the text that is kept of an answer can get, whatever is drawn."""
    return max(query.longest(plans, _stored_question(query, plans)), unfinished_table.longest(plans))


def _stored_question(query: Query, plans: Sequence[Plan]) -> dict[str, Any] | None:
    """Return what is asked if the answer is one table that adds up, so that its sums and parts are free later."""
    if len(plans) > 1 or not isinstance(plans[0].answering, JointTable):
        return None
    return StoredQuestion.of(query.dataset.identity, plans[0].question).data()
