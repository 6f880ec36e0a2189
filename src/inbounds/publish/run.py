"""Publishing: the questions of a plan are asked, each once and for all, and their answers become a report.

Nothing is kept here.  Every request has an id that is made of what is asked, and the ledger keeps its answer under it.
So whoever runs a plan again, to the end or after an interruption, pays for what was not charged yet and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from inbounds.display.progress import Progress, check_progress, reporting
from inbounds.errors import BudgetExceeded, InvalidReport, RequestReused
from inbounds.publish.asker import Asker, Paid, asker_of
from inbounds.publish.plan import PlannedRequest, ReportPlan, describe_together, fits_all, prefix_of
from inbounds.publish.report_file import amount_text
from inbounds.publish.together import PlannedQuestion
from inbounds.query.dataset import Dataset
from inbounds.report.report import PublishedTable, Report

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset


def run_report(plan: ReportPlan, dataset: Dataset | RemoteDataset, progress: Progress | None = None) -> Report:
    """Ask all questions of a plan, and return the report; what was paid before is free.

    Before the first charge the budget is checked for all of them.
    """
    check_progress(progress)
    asker = asker_of(dataset, plan.analyst if isinstance(dataset, Dataset) else None)
    prefix = prefix_of(plan.file, asker)
    paid = asker.paid(prefix)
    requests = [replace(request, paid=paid.get(request.request_id)) for request in plan.requests]
    refuse_excess(replace(plan, requests=tuple(requests), left=asker.left(), fits=fits_all(asker, requests)))
    tables = {}
    with reporting(progress) as report:
        for number, request in enumerate(requests, 1):
            for question in sorted(request.questions, key=lambda question: not question.comes_first):
                where = f"{number} of {len(requests)}, {question.name}"
                report(where)
                tables[question.name] = _ask(asker, request, question, _Prefixed(report, where))
    charges = asker.paid(prefix)
    ours = [charges[request.request_id] for request in requests if request.request_id in charges]
    return _make_report(plan, asker, tables, ours)


class _Prefixed:
    """Reports beside which question something is done for."""

    def __init__(self, report: Progress, where: str) -> None:
        self._report, self._where = report, where

    def __call__(self, text: str) -> None:
        self._report(f"{self._where}: {text}")


def _ask(asker: Asker, request: PlannedRequest, question: PlannedQuestion, report: Progress) -> PublishedTable:
    """Return the table of a question; its request is charged unless it was before."""
    try:
        answer = asker.ask(question.sql, request.asked_with, request.request_id, report)
    except RequestReused:
        raise InvalidReport(
            f"{question.name} was asked under another contract of {asker.name!r}; give the report another "
            "-- edition:, under which all of it is asked and charged anew"
        ) from None
    written = question.question
    notes = [note for note in (answer.note, describe_together(request.together)) if note]
    answer = replace(answer, sql=written.sql, note=" ".join(notes) or None)
    return PublishedTable(written.name, written.title, written.sql, answer, written.description, written.chart)


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
