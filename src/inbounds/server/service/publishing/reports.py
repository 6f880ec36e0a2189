"""Reports on the server: proposed by an analyst, approved by a custodian, run at the analyst's charge, and published.

Every number of a report is an answer of this server's ledger, under a request id that follows from the report: one that
was interrupted goes on where it was, and nothing is paid twice (docs/decisions/0091-reports-on-the-server.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

from fastapi import Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from inbounds.bounds.notation import write_end
from inbounds.errors import InboundsError
from inbounds.publish import PublishedTable, Report, ReportFile
from inbounds.publish.asker import LocalAsker
from inbounds.publish.plan import cost_each
from inbounds.query.methods.plan import rho_of
from inbounds.results.answer_json import read_answer
from inbounds.server.basics import clock
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import AGAIN, Problem, to_problem
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.answer_shape import AnswerOut, Question
from inbounds.server.service.asking import answer_question, request_id
from inbounds.server.service.door import service_of
from inbounds.server.service.explaining import Owned, to_query
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import (
    LONGEST_FILE,
    MOST_TABLES,
    Proposal,
    ReportQuestion,
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


@dataclass(frozen=True)
class Price:
    """What questions cost together; what follows from the contract is free."""

    epsilon: Fraction
    rho: Fraction
    too_expensive: str | None = None
    """Why the first question is refused that costs more than one may."""


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
    names = [question.name for question in proposal.questions]
    if len(set(names)) < len(names):
        raise Problem("invalid-parameter", "two tables of this report have the same name; give each its own")
    theirs = [one for one in service.reports.find_all() if one.person == person.name and one.state != REJECTED]
    if any(_is_same(proposal_of(stored), proposal) for stored in theirs):
        raise Problem("invalid-parameter", "you have a report of this name and edition; choose another name or edition")
    price = price_of(service, proposal, proposal.questions, person)
    _refuse_expensive(price)
    name = service.reports.propose(person.name, proposal.model_dump(mode="json"), format_amount(price.epsilon) or "0")
    if name is None:
        raise Problem("too-many", "too many of your reports are pending; wait for a decision")
    return find_report(service, person, name)


def propose_report_file(service: Service, dataset: str, text: str, person: Person) -> StoredReport:
    """Keep the proposal that the text of a report's file makes."""
    return propose_report(service, read_report_file(service, dataset, text, person), person)


def read_report_file(service: Service, dataset: str, text: str, person: Person) -> Proposal:
    """Return the proposal that the text of a report's file makes; costs are found for wanted errors and a total."""
    if len(text) > LONGEST_FILE:
        raise Problem("invalid-parameter", f"a report file may have {LONGEST_FILE:,} characters; propose several")
    holding = service.holdings.holding(dataset, person)
    try:
        file = ReportFile.parse(text)
        if len(file.questions) > MOST_TABLES:
            raise Problem("invalid-parameter", f"a report may have at most {MOST_TABLES} queries; propose several")
        costed = cost_each(LocalAsker(holding.dataset, person.name), file)
    except InboundsError as error:
        raise Problem("invalid-parameter", str(error)) from None
    questions = [
        {
            "name": one.name,
            "title": one.question.title,
            "sql": one.question.sql,
            "epsilon": write_end(one.epsilon or PUBLIC_WITH),
            "description": one.question.description,
            "chart": one.question.chart,
        }
        for one in costed
    ]
    facts = {"dataset": dataset, "name": file.name, "title": file.title, "questions": questions}
    try:
        return Proposal.model_validate({**facts, "description": file.description, "edition": file.edition})
    except ValidationError as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"]))
        raise Problem("invalid-parameter", f"{where} of the report is too long or malformed; change it") from None


def _is_same(one: Proposal, other: Proposal) -> bool:
    """Return whether two reports have the same name, and so the same request ids."""
    return (one.dataset, one.name, one.edition) == (other.dataset, other.name, other.edition)


def price_of(service: Service, proposal: Proposal, questions: Sequence[ReportQuestion], person: Person) -> Price:
    """Return what questions cost, or refuse the first that cannot be asked; no row is read."""
    holding = service.holdings.holding(proposal.dataset, person)
    epsilon = rho = Fraction(0)
    too_expensive = None
    for question in questions:
        try:
            query = to_query(holding, Owned(sql=question.sql))
            plans = query.plans(question.epsilon)
            explanation = query.explain(question.epsilon)
        except InboundsError as error:
            problem = to_problem(error)
            raise Problem(problem.code, f"{question.name}: {problem.detail}", more=problem.more) from None
        if explanation.useless:
            raise Problem("useless-question", f"{question.name}: {explanation.useless}")
        epsilon += explanation.epsilon
        rho += rho_of(plans)
        if explanation.too_expensive:
            too_expensive = too_expensive or f"{question.name}: {explanation.too_expensive}"
    return Price(epsilon, rho, too_expensive)


def _refuse_expensive(price: Price) -> None:
    """Refuse questions of which one costs more than it may; each is charged by itself, and counts by itself."""
    if price.too_expensive is not None:
        raise Problem("question-too-expensive", price.too_expensive)


async def approve_report(request: Request, custodian: Person, name: str) -> StoredReport:
    """Run a report at the charge of whoever proposed it, and publish it; sent again, it goes on where it was.

    1. Claim the report, so that it is run once at a time.
    2. Refuse what would not fit the budget as a whole, before anything is charged.
    3. Ask one question after the other, as the analyst's own: each is charged first, and leaves at its tick.
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
        await run_planning(request, custodian, _refuse_unaffordable, service, stored, owner)
        await run_in_threadpool(service.reports.approve, name, custodian.name)
        answers = [await _ask_table(request, owner, proposal, question) for question in proposal.questions]
        await run_in_threadpool(_publish, service, stored, owner, answers)
    return await run_in_threadpool(find_report, service, custodian, name)


async def _ask_table(request: Request, owner: Person, proposal: Proposal, question: ReportQuestion) -> AnswerOut:
    """Ask a question of a report; if it fails, it says which, and how a report goes on."""
    asked, key = Question(sql=question.sql, epsilon=question.epsilon), key_for(proposal, question)
    try:
        return await answer_question(request, owner, proposal.dataset, asked, key)
    except (InboundsError, Problem) as error:
        problem = error if isinstance(error, Problem) else to_problem(error)
    words = IN_REPORTS.get(problem.code) or problem.detail.replace(AGAIN, GO_ON)
    more = {**problem.more, "table": question.name}
    raise Problem(problem.code, f"{question.name}: {words}", headers=problem.headers, more=more)


def reject_report(service: Service, custodian: Person, name: str, note: str) -> StoredReport:
    """Reject a report that is not published yet; what was charged for it stays charged."""
    with service.claims.one_of(f"report {name}", 1) as free:
        if not free:
            raise Problem("request-running", "this report is being run; wait a moment, then reload the page")
        find_report(service, custodian, name)
        if not service.reports.reject(name, custodian.name, note):
            raise Problem("invalid-parameter", CLOSED)
    return find_report(service, custodian, name)


def key_for(proposal: Proposal, question: ReportQuestion) -> str:
    """Return the Idempotency-Key of a question: it follows from the report, so that a repetition costs nothing."""
    facts = (proposal.dataset, proposal.name, proposal.edition or "", question.name, str(question.cost))
    return f"report-{sha256(chr(0).join(facts).encode()).hexdigest()[:40]}"


def _owner_of(service: Service, stored: StoredReport) -> Person:
    """Return who proposed a report, as the file has them now: its charges are theirs."""
    owner = service.file.people.get(stored.person)
    if owner is None or not owner.may(Action.ASK) or not owner.may_see(proposal_of(stored).dataset):
        raise Problem("invalid-parameter", "its analyst no longer has access to the dataset; reject this report")
    return owner


def _refuse_unaffordable(service: Service, stored: StoredReport, owner: Person) -> None:
    """Refuse a report whose remaining questions do not fit the budget together, or cost more than was shown."""
    proposal = proposal_of(stored)
    if price_of(service, proposal, proposal.questions, owner).epsilon > Fraction(stored.cost):
        raise Problem("invalid-parameter", "the contract has changed, and this report costs more now; reject it")
    with service.holdings.reading() as ledger:
        due = [one for one in proposal.questions if ledger.request(request_id(owner, key_for(proposal, one))) is None]
    price = price_of(service, proposal, due, owner)
    _refuse_expensive(price)  # the limit may be lower now; what was charged before is not charged again
    with service.holdings.reading() as ledger:
        fits = not price.epsilon or ledger.fits(proposal.dataset, price.epsilon, owner.name, rho=price.rho or None)
        left = [ledger.balance(proposal.dataset, who).left for who in (None, owner.name)]
    if not fits:
        amounts = {"requested": price.epsilon, "left_total": left[0], "left_analyst": left[1]}
        facts = {name: None if amount is None else write_end(amount) for name, amount in amounts.items()}
        raise Problem(
            "budget-exceeded",
            f"this report costs ε {format_amount(price.epsilon)}, which is more than {owner.name} or all analysts "
            "together have left; grant more budget, or reject it",
            more={"dataset": proposal.dataset, "analyst": owner.name, **facts},
        )


def _publish(service: Service, stored: StoredReport, owner: Person, answers: Sequence[AnswerOut]) -> None:
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
        tables=tuple(
            _to_table(question, answer, owner) for question, answer in zip(proposal.questions, answers, strict=True)
        ),
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


def _to_table(question: ReportQuestion, out: AnswerOut, owner: Person) -> PublishedTable:
    """Return a table of a report: what was released, as the interface has it."""
    answer = read_answer(out.model_dump(mode="json"))
    answer = replace(answer, request_id=request_id(owner, out.id), sql=question.sql)
    return PublishedTable(question.name, question.title, question.sql, answer, question.description, question.chart)
