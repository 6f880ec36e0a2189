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

from inbounds.display.progress import Patient, Progress, reporting
from inbounds.errors import InvalidParameter, InvalidQuestion, LedgerConflict, UselessQuestion
from inbounds.exact.rational import round_up
from inbounds.ledger import Receipt
from inbounds.ledger.values.names import LONGEST_TEXT
from inbounds.query.answer import unfinished_table
from inbounds.query.answer.answer import Answer, columns_of
from inbounds.query.answer.boundary_remarks import remark_edges
from inbounds.query.answer.derived_answer import StoredQuestion
from inbounds.query.answer.released.needed_cells import needed_cells
from inbounds.query.answer.released.window import windows_in
from inbounds.query.answer.unfinished_table import Part
from inbounds.query.ask.draw import draw_once
from inbounds.query.identity.question import identity_of
from inbounds.query.methods.joint.joint_table import JointTable, Unprojected
from inbounds.query.methods.plan import Plan, rho_of
from inbounds.query.methods.usefulness import INSIST, why_useless
from inbounds.query.question.clipping_warnings import warnings_of
from inbounds.query.question.contribution_bound import row_limit
from inbounds.query.question.question import sql_of
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
        """Refuse what would tell nothing, unless it is forced, and what would be too long to be kept."""
        if not self.force:
            self._check_useful(plans)
        if longest_text(self.query, plans) > LONGEST_TEXT:
            raise InvalidQuestion(
                f"the answer for {len(plans[0].rows)} groups is too long to be stored; ask for fewer groups"
            )

    def charge(self, plans: Sequence[Plan]) -> Receipt:
        """Charge the analyst; the receipt has the answer if this request was answered before."""
        dataset = self.query.dataset
        return dataset.ledger.charge(
            dataset.name,
            self.analyst,
            self.epsilon,
            request_id=self.request_id,
            fingerprint=self._fingerprint(plans, identity_of(self.query.questions), "in any spelling"),
            earlier=self._fingerprint(plans, sql_of(self.query.questions)),
            note=sql_of(self.query.questions)[:1000],
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
        confidences = self._confidences()
        drawn_from = zip(plans, totals, confidences, strict=True)
        parts = [_draw(plan, total, confidence, report) for plan, total, confidence in drawn_from]
        # If one table failed, all that was measured is kept: it is paid for, and can be tried again for nothing.
        if (answers := unfinished_table.complete_answers(parts)) is None:
            return unfinished_table.dump(parts)
        answer = Answer.of(plans, self.query.places, answers, "", self.confidence)
        raised = tuple(confidences[which] for which, _ in self.query.places)
        raised = raised if set(confidences) != {self.confidence} else ()
        return replace(answer, asked=_stored_question(self.query, plans), confidences=raised).dump()

    def read(self, plans: Sequence[Plan], receipt: Receipt, text: str) -> Answer:
        """Return the answer that was kept, as it is shown to whoever asked."""
        questions = self.query.questions
        if (parts := unfinished_table.load(text)) is None:
            answer = Answer.load(text, self.epsilon, receipt.request_id, row_limit(questions))
            answer = replace(answer, columns=columns_of(questions, self.query.places))  # as this spelling calls them
        elif receipt.answer is None:
            raise unfinished_table.projection_failure(receipt.request_id)
        else:
            answer = self._finish(plans, parts, receipt.request_id)
        remarks = remark_edges(answer, questions[0], self.query.asked)
        return self.query.view(replace(answer, warnings=warnings_of(questions), remarks=remarks))

    def _check_useful(self, plans: Sequence[Plan]) -> None:
        """Refuse to charge for what would tell nothing; what was charged before is answered all the same."""
        problem = why_useless(plans)
        if problem is None:
            return
        with suppress(InvalidParameter, LedgerConflict), self.query.dataset.unchecked_ledger() as ledger:
            if self.request_id is not None and ledger.request(self.request_id) is not None:
                return
        raise UselessQuestion(f"{problem}; {INSIST}")

    def _confidences(self) -> list[float]:
        """Return the confidence of each question's intervals: higher where several have to hold at once.

        Those of one question in one row hold at once as they are.  An expression over `k` questions or rows has the
        confidence that is asked for if each misses with at most the `k`-th part of the probability.
        """
        query = self.query
        question_of = dict(zip(query.asked, (which for which, _ in query.places), strict=True))
        rows = len(query.questions[0].rows)
        follows = query.shown.has_public_rows
        columns = [
            needed_cells(column.of, question_of, rows) if follows or not any(windows_in(column.of)) else None
            for column in query.shown.columns
        ]
        most = [
            max((needed.total() for needed in columns if needed is not None and i in needed), default=1)
            for i in range(len(query.questions))
        ]
        return [self.confidence if k == 1 else round_up(1 - (1 - Fraction(self.confidence)) / k) for k in most]

    def _finish(self, plans: Sequence[Plan], parts: Sequence[Part], request_id: str) -> Answer:
        """Return the answer that is made of what was measured before: the data are not looked at again."""
        retried = [unfinished_table.retry(plan, part, self.confidence) for plan, part in zip(plans, parts, strict=True)]
        if (answers := unfinished_table.complete_answers(retried)) is None:
            raise unfinished_table.projection_failure(request_id)
        return Answer.of(plans, self.query.places, answers, request_id, self.confidence)

    def _fingerprint(self, plans: Sequence[Plan], text: str, *more: str) -> str:
        """Tell questions apart: the same one has the same contract, text, cost and pooling, however it is shown.

        Until questions had one text in all spellings, it was the one that is shown.
        """
        facts = [self.query.dataset.identity, text, *(str(plan.epsilon) for plan in plans), str(self.pooling)]
        if self.query.questions[0].alone:
            facts.append("each cell alone")
        return sha256("\0".join([*facts, *more]).encode()).hexdigest()


def _draw(plan: Plan, totals: Any, confidence: float, report: Progress) -> Part:
    """Return the answers of one question; if no table could be made, what was measured for it."""
    try:
        return plan.answering.answer_all(plan.totals(totals), confidence, report, system)
    except Unprojected as failure:
        return failure.measured


def longest_text(query: Query, plans: Sequence[Plan]) -> int:
    """Return how long the text that is kept of an answer can get, whatever is drawn."""
    return max(Answer.longest(plans, query.places, _stored_question(query, plans)), unfinished_table.longest(plans))


def _stored_question(query: Query, plans: Sequence[Plan]) -> dict[str, Any] | None:
    """Return what is asked if the answer is one table that adds up, so that its sums and parts are free later."""
    if len(plans) > 1 or not isinstance(plans[0].answering, JointTable):
        return None
    return StoredQuestion.of(query.dataset.identity, plans[0].question).data()
