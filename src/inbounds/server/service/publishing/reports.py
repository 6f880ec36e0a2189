"""Reports on the server: proposed by an analyst, approved by a custodian, run at the analyst's charge, and published.

Every number of a report is an answer of this server's ledger, under a request id that follows from the report: one that
was interrupted goes on where it was, and nothing is paid twice (docs/decisions/0091-reports-on-the-server.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from fastapi import Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from inbounds.bounds.notation import write_end
from inbounds.errors import InboundsError
from inbounds.publish import PublishedTable, Report, ReportFile, ReportPlan
from inbounds.publish.plan import PlannedRequest, cost_each, describe_together
from inbounds.publish.run import make_tables
from inbounds.query import Answer
from inbounds.results.answer_json import read_answer
from inbounds.server.basics import clock
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import AGAIN, Problem, to_problem
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.answer_shape import Question
from inbounds.server.service.asking import answer_question, request_id
from inbounds.server.service.door import service_of
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_plan import ServerAsker, plan_proposal
from inbounds.server.service.publishing.report_shape import (
    LONGEST_FILE,
    MOST_TABLES,
    Foreseen,
    Proposal,
    content_of,
    proposal_of,
)
from inbounds.server.service.service import Service
from inbounds.server.state.report_store import PUBLISHED, REJECTED, StoredReport

PUBLIC_WITH = Fraction(1, 1000)
"""What a query whose answer is public is asked with: that is free."""

UNKNOWN_REPORT = "no report has this id, or you don't have access to it; choose one from the list of reports"
CLOSED = "this report has already been decided; reload the list of reports"


GO_ON = "approve the report again, at no extra cost"
"""What to do where a query would be sent again."""

IN_REPORTS = {
    "answer-failed": (
        "the answer could not be computed, and never will be; the charge stands. Reject the report: its analyst can "
        "propose it again with another ε for this table, which is charged again"
    ),
    "request-reused": (
        "this table was asked under another contract; reject the report, and let its analyst propose it under another "
        "edition, which is charged anew"
    ),
}
"""What is said of a table where a query would need another Idempotency-Key."""


def may_see(person: Person, stored: StoredReport) -> bool:
    """Return whether a report is this person's to see: a published one is everybody's."""
    if stored.state == PUBLISHED:
        return person.may(Action.READ_REPORTS)
    return person.may(Action.APPROVE_REPORTS) or (person.may(Action.PROPOSE_REPORTS) and stored.person == person.name)


def reports_of(service: Service, person: Person) -> list[StoredReport]:
    """Return the reports that a person may see, the newest first."""
    return [stored for stored in service.reports.find_all() if may_see(person, stored)]


def find_report(service: Service, person: Person, name: str) -> StoredReport:
    """Return a report; one that is somebody else's is refused like one that does not exist."""
    stored = service.reports.find(name)
    if stored is None or not may_see(person, stored):
        raise Problem("not-found", UNKNOWN_REPORT)
    return stored


def load_published(service: Service, person: Person, name: str) -> Report:
    """Return a published report; one that is not published is not there, whoever looks."""
    stored = find_report(service, person, name)
    if stored.published is None:
        raise Problem("not-found", UNKNOWN_REPORT)
    return Report.read(stored.published)


def propose_report(service: Service, proposal: Proposal, person: Person) -> StoredReport:
    """Keep a proposal whose questions can all be asked; this is free, and nothing is asked."""
    holding = service.holdings.holding(proposal.dataset, person)
    return _keep_proposal(service, proposal, person, ServerAsker(service, holding, person))


def propose_report_file(service: Service, dataset: str, text: str, person: Person) -> StoredReport:
    """Keep the proposal that the text of a report's file makes; costs are found for wanted errors and a total."""
    if len(text) > LONGEST_FILE:
        raise Problem("invalid-parameter", f"a report file may have {LONGEST_FILE:,} characters; propose several")
    asker = ServerAsker(service, service.holdings.holding(dataset, person), person)
    try:
        file = ReportFile.parse(text)
        if len(file.questions) > MOST_TABLES:
            raise Problem("invalid-parameter", f"a report may have at most {MOST_TABLES} queries; propose several")
        costed = cost_each(asker, file)
    except InboundsError as error:
        raise Problem("invalid-parameter", str(error)) from None
    questions = [
        {
            "name": one.name,
            "title": one.question.title,
            "sql": one.question.sql,
            "epsilon": write_end(one.epsilon or PUBLIC_WITH),
            "error": _write_error(one.question.error),
            "description": one.question.description,
            "chart": one.question.chart,
        }
        for one in costed
    ]
    facts = {"dataset": dataset, "name": file.name, "title": file.title, "questions": questions}
    more = {"description": file.description, "edition": file.edition, "consistent": file.consistent}
    try:
        proposal = Proposal.model_validate({**facts, **more})
    except ValidationError as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"]))
        raise Problem("invalid-parameter", f"{where} of the report is too long or malformed; change it") from None
    return _keep_proposal(service, proposal, person, asker)


def _write_error(error: Fraction | str | None) -> str | None:
    return write_end(error) if isinstance(error, Fraction) else error


def _keep_proposal(service: Service, proposal: Proposal, person: Person, asker: ServerAsker) -> StoredReport:
    names = [question.name for question in proposal.questions]
    if len(set(names)) < len(names):
        raise Problem("invalid-parameter", "two tables of this report have the same name; give each its own")
    theirs = [one for one in service.reports.find_all() if one.person == person.name and one.state != REJECTED]
    if any(_is_same(proposal_of(stored), proposal) for stored in theirs):
        raise Problem("invalid-parameter", "you have a report of this name and edition; choose another name or edition")
    plan = plan_proposal(asker, service, proposal, person)
    content = content_of(proposal, _foresee(plan))
    name = service.reports.propose(person.name, content, format_amount(plan.cost) or "0")
    if name is None:
        raise Problem("too-many", "too many of your reports are pending; wait for a decision")
    return find_report(service, person, name)


def _foresee(plan: ReportPlan) -> Foreseen:
    """Return what is shown of a plan until the report is published."""
    together = [list(request.together.names) for request in plan.requests if len(request.questions) > 1]
    said = [text for request in plan.requests if (text := describe_together(request.together))]
    noise = {question.name: question.words for question, request in plan.questions if not request.together.is_public}
    warnings = dict.fromkeys(warning for question, _ in plan.questions for warning in question.warnings)
    return Foreseen(noise=noise, together=together, notes=[*said, *plan.notes, *warnings])


def _is_same(one: Proposal, other: Proposal) -> bool:
    """Return whether two reports have the same name, and so the same request ids."""
    return (one.dataset, one.name, one.edition) == (other.dataset, other.name, other.edition)


async def approve_report(request: Request, custodian: Person, name: str) -> StoredReport:
    """Run a report at the charge of whoever proposed it, and publish it; sent again, it goes on where it was.

    1. Claim the report, so that it is run once at a time.
    2. Plan it, and refuse what would not fit the budget as a whole, before anything is charged.
    3. Ask one question after the other, as the analyst's own: each is charged first, and leaves at its tick.  Those
       that are released together are views of one request, charged with the first of them.
    4. Publish, once every answer has left.
    """
    service = service_of(request)
    with service.claims.one_of(f"report {name}", 1) as free:
        if not free:
            raise Problem("request-running", "this report is being run; wait a moment, then reload the page")
        stored = await run_in_threadpool(find_report, service, custodian, name)
        if stored.state == PUBLISHED:
            return stored
        if not stored.is_open:
            raise Problem("invalid-parameter", CLOSED)
        proposal, owner = proposal_of(stored), _owner_of(service, stored)
        plan = await run_planning(request, custodian, _plan_affordable, service, stored, owner)
        await run_in_threadpool(service.reports.approve, name, custodian.name)
        tables: dict[str, PublishedTable] = {}
        for planned in plan.requests:
            tables |= await _ask_together(request, owner, proposal, planned)
        await run_in_threadpool(_publish, service, stored, owner, tables)
    return await run_in_threadpool(find_report, service, custodian, name)


def reject_report(service: Service, custodian: Person, name: str, note: str) -> StoredReport:
    """Reject a report that is not published yet; what was charged for it stays charged."""
    with service.claims.one_of(f"report {name}", 1) as free:
        if not free:
            raise Problem("request-running", "this report is being run; wait a moment, then reload the page")
        find_report(service, custodian, name)
        if not service.reports.reject(name, custodian.name, note):
            raise Problem("invalid-parameter", CLOSED)
    return find_report(service, custodian, name)


async def _ask_together(
    request: Request, owner: Person, proposal: Proposal, planned: PlannedRequest
) -> dict[str, PublishedTable]:
    """Return the tables of one request: the first view of it that is asked is charged, the others are free."""
    epsilon = Decimal(write_end(planned.epsilon)) if planned.epsilon else None

    async def ask(name: str, sql: str) -> Answer:
        by_itself = next(one.cost for one in proposal.questions if one.name in planned.together.names)
        question = Question(sql=sql, epsilon=Decimal(write_end(by_itself)) if epsilon is None else epsilon)
        try:
            out = await answer_question(request, owner, proposal.dataset, question, planned.request_id)
        except (InboundsError, Problem) as error:
            raise _in_report(name, error if isinstance(error, Problem) else to_problem(error)) from None
        answer = read_answer(out.model_dump(mode="json"))
        return replace(answer, request_id=request_id(owner, out.id))

    answers = {question.name: await ask(question.name, question.sql) for question in planned.in_order}
    whole = planned.together.whole
    name = planned.in_order[0].name
    return make_tables(planned.together, answers, None if whole is None else await ask(name, whole))


def _in_report(name: str, problem: Problem) -> Problem:
    """Return what a query of a report failed with; it says which table it was, and how the report goes on."""
    words = IN_REPORTS.get(problem.code) or problem.detail.replace(AGAIN, GO_ON)
    return Problem(problem.code, f"{name}: {words}", headers=problem.headers, more={**problem.more, "table": name})


def _owner_of(service: Service, stored: StoredReport) -> Person:
    """Return who proposed a report, as the file has them now: its charges are theirs."""
    owner = service.file.people.get(stored.person)
    if owner is None or not owner.may(Action.ASK) or not owner.may_see(proposal_of(stored).dataset):
        raise Problem("invalid-parameter", "its analyst no longer has access to the dataset; reject this report")
    return owner


def _plan_affordable(service: Service, stored: StoredReport, owner: Person) -> ReportPlan:
    """Return the plan of a report, unless what is due does not fit the budget, or it costs more than was shown."""
    proposal = proposal_of(stored)
    asker = ServerAsker(service, service.holdings.holding(proposal.dataset, owner), owner)
    plan = plan_proposal(asker, service, proposal, owner)
    if plan.cost > Fraction(stored.cost):
        raise Problem("invalid-parameter", "the contract has changed, and this report costs more now; reject it")
    if not plan.fits:
        amounts = {"requested": plan.due, "left_total": plan.left.total, "left_analyst": plan.left.own}
        facts = {name: None if amount is None else write_end(amount) for name, amount in amounts.items()}
        raise Problem(
            "budget-exceeded",
            f"this report costs ε {format_amount(plan.due)}, which is more than {owner.name} or all analysts "
            "together have left; grant more budget, or reject it",
            more={"dataset": proposal.dataset, "analyst": owner.name, **facts},
        )
    return plan


def _publish(service: Service, stored: StoredReport, owner: Person, tables: Mapping[str, PublishedTable]) -> None:
    """Put the answers together, and keep the report.

    The end of the ledger's chain is kept apart from it: with the times of entries, which readers could guess from it,
    it would tell how long a question took.
    """
    proposal = proposal_of(stored)
    holding = service.holdings.holding(proposal.dataset, owner)
    report = Report(
        name=proposal.name,
        title=proposal.title,
        dataset=proposal.dataset,
        unit=holding.dataset.tables.main.unit,
        tables=tuple(tables[question.name] for question in proposal.questions),
        contract=holding.dataset.terms.digest,
        ledger_head="",
        published=clock.now().date().isoformat(),
        description=proposal.description,
        edition=proposal.edition,
        analyst=owner.name,
    )
    with service.holdings.reading() as ledger:
        head = str(ledger.head())
    service.reports.publish(stored.id, report.data(), head)
