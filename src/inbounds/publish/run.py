"""Publishing: the questions of a plan are asked, each once and for all, and their answers become a report.

Nothing is kept here.  Every request has an id that is made of what is asked, and the ledger keeps its answer under it.
So whoever runs a plan again, to the end or after an interruption, pays for what was not charged yet and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from inbounds.display.progress import Progress, check_progress, reporting, silent
from inbounds.errors import BudgetExceeded, InvalidReport, RequestReused
from inbounds.publish.asker import Asker, Paid, asker_of
from inbounds.publish.charges import FileCharges
from inbounds.publish.plan import PlannedRequest, ReportPlan, describe_together, fits_all
from inbounds.publish.report_file import amount_text
from inbounds.publish.rests import describe_rests
from inbounds.publish.together import PlannedQuestion, Together
from inbounds.query.dataset import Dataset
from inbounds.report.report import PublishedTable, Report
from inbounds.results.answer import Answer

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset


def run_report(plan: ReportPlan, dataset: Dataset | RemoteDataset, progress: Progress | None = None) -> Report:
    """Ask all questions of a plan, and return the report; what was paid before is free.

    Before the first charge the budget is checked for all of them.
    """
    check_progress(progress)
    asker = asker_of(dataset, plan.analyst if isinstance(dataset, Dataset) else None)
    before = FileCharges(asker, plan.file)
    requests = [replace(request, paid=before.find(request.request_id)) for request in plan.requests]
    refuse_excess(replace(plan, requests=tuple(requests), left=asker.left(), fits=fits_all(asker, requests)))
    tables: dict[str, PublishedTable] = {}
    with reporting(progress) as report:
        for number, request in enumerate(requests, 1):
            answers = {}
            for question in request.in_order:
                where = f"{number} of {len(requests)}, {question.name}"
                report(where)
                answers[question.name] = _ask(asker, request, question, _Prefixed(report, where))
            whole = request.together.whole
            rests = None if whole is None else asker.ask(whole, request.asked_with, request.request_id, silent)
            tables |= make_tables(request.together, answers, rests)
    after = FileCharges(asker, plan.file)
    ours = [charge for request in requests if (charge := after.find(request.request_id)) is not None]
    return _make_report(plan, asker, tables, ours)


class _Prefixed:
    """Reports beside which question something is done for."""

    def __init__(self, report: Progress, where: str) -> None:
        self._report, self._where = report, where

    def __call__(self, text: str) -> None:
        self._report(f"{self._where}: {text}")


def _ask(asker: Asker, request: PlannedRequest, question: PlannedQuestion, report: Progress) -> Answer:
    """Return the answer to a question; its request is charged unless it was before."""
    try:
        return asker.ask(question.sql, request.asked_with, request.request_id, report)
    except RequestReused:
        raise InvalidReport(
            f"{question.name} was asked under another contract of {asker.name!r}; give the report another "
            "-- edition:, under which all of it is asked and charged anew"
        ) from None


def make_tables(together: Together, answers: Mapping[str, Answer], whole: Answer | None) -> dict[str, PublishedTable]:
    """Return the tables of a request, with what there is to know of questions that were asked together."""
    rests = {} if whole is None else describe_rests(together, whole)
    tables = {}
    for question in together.questions:
        answer, written = answers[question.name], question.question
        notes = (answer.note, describe_together(together), rests.get(question.name))
        answer = replace(answer, sql=written.sql, note=" ".join(note for note in notes if note) or None)
        table = PublishedTable(written.name, written.title, written.sql, answer, written.description, written.chart)
        tables[question.name] = table
    return tables


def _make_report(plan: ReportPlan, asker: Asker, tables: dict[str, PublishedTable], charges: Sequence[Paid]) -> Report:
    """Return the report: the same whenever it is made of the same charges, whatever was charged since."""
    last = max(charges, key=lambda paid: int(paid.head.partition(":")[0] or 0), default=None)
    days = [paid.day for paid in charges]
    return Report(
        name=plan.file.name,
        title=plan.file.title,
        dataset=plan.dataset,
        unit=asker.unit,
        tables=tuple(tables[question.name] for question in plan.file.questions),
        contract=asker.contract,
        ledger_head="" if last is None or asker.is_practice else last.head,
        published=max(days, default=datetime.now(UTC).date().isoformat()),
        description=plan.file.description,
        edition=plan.file.edition,
        analyst=plan.analyst,
        practice=asker.is_practice,
    )


def refuse_excess(plan: ReportPlan) -> None:
    """Refuse a report for which the budget is not enough; nothing was charged."""
    if plan.fits:
        return
    left = plan.left
    named = [
        f"{who} has {amount_text(amount)} left"
        for who, amount in (("the dataset", left.total), (repr(plan.analyst), left.own))
        if amount is not None
    ]
    raise BudgetExceeded(
        f"the report {plan.file.name!r} still costs {amount_text(plan.due)}, but {' and '.join(named)}; {plan.remedy}",
        plan.dataset,
        plan.analyst,
        plan.due,
        left.total or Fraction(0),
        left.own,
    )


def why_no_head(dataset: Dataset | RemoteDataset) -> str | None:
    """Say why a report has no head of the ledger, None if it has one."""
    if isinstance(dataset, Dataset) or dataset.is_practice:
        return None
    return "a server tells analysts no head of its ledger; its custodian knows it"
