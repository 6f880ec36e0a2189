"""What running a report will do: the plan of `inbounds publish`, for questions that are charged to an analyst here.

Every request has an Idempotency-Key that follows from the report, so that an interrupted one goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256

from inbounds.errors import InboundsError, InvalidQuestion
from inbounds.exact.amount import fraction
from inbounds.ledger import Ledger
from inbounds.publish import ReportFile, ReportPlan
from inbounds.publish.asker import Identity, LocalAsker, Paid, Preview
from inbounds.publish.charges import Charges
from inbounds.publish.plan import make_plan
from inbounds.publish.report_file import ReportQuestion as FileQuestion
from inbounds.publish.report_file import read_error
from inbounds.publish.together import Costed
from inbounds.query.ask.privacy_options import drop_options
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem, to_problem
from inbounds.server.service.asking import request_id
from inbounds.server.service.explaining import LONGEST_SQL
from inbounds.server.service.publishing.report_shape import Proposal, ReportQuestion
from inbounds.server.service.service import Service
from inbounds.server.state.open_datasets import Holding


class ServerAsker(LocalAsker):
    """Plans for an analyst of this server.  What is planned is asked by the server, in the analyst's name."""

    def __init__(self, service: Service, holding: Holding, person: Person) -> None:
        super().__init__(holding.dataset, person.name)
        self._service = service

    @contextmanager
    def _ledger(self) -> Iterator[Ledger | None]:
        with self._service.holdings.reading() as ledger:
            yield ledger

    def _preview(self, sql: str, epsilon: Fraction) -> Preview:
        _refuse_long(sql)
        return super()._preview(sql, epsilon)

    def _identity(self, sql: str, epsilon: Fraction) -> Identity:
        _refuse_long(sql)
        return super()._identity(sql, epsilon)


def _refuse_long(sql: str) -> None:
    """Refuse what could not be asked here: questions that are joined may be too long, though none of them is."""
    if len(sql) > LONGEST_SQL:
        raise InvalidQuestion(f"a query may have {LONGEST_SQL:,} characters, got {len(sql):,}; ask for less at once")


class ProposalCharges(Charges):
    """Those of a report that was proposed, found by the Idempotency-Keys of its requests."""

    def __init__(self, service: Service, proposal: Proposal, owner: Person) -> None:
        self._service, self._proposal, self._owner = service, proposal, owner
        self._questions = {question.name: question for question in proposal.questions}

    @property
    def is_begun(self) -> bool:
        return True  # each request is looked for

    @property
    def may_lack_rests(self) -> bool:
        return False  # before there was a rest, every question was asked by itself here

    def request_id(self, names: Sequence[str], identity: Identity, epsilon: Fraction) -> str:
        del identity  # another contract does not make another request: that would be charged twice, unseen
        if len(names) == 1:
            return key_for(self._proposal, self._questions[names[0]])
        return _key(self._proposal, "together", *names, str(epsilon))

    def find(self, key: str) -> Paid | None:
        with self._service.holdings.reading() as ledger:
            entries = ledger.request(request_id(self._owner, key))
        charge = None if entries is None else entries[0]
        return None if charge is None else Paid(key, fraction(charge.amount), charge.text, charge.time[:10])

    def of_names(self, names: Sequence[str]) -> list[Paid]:
        del names
        return []  # nobody changes a proposal

    def others(self, used: set[str]) -> list[Paid]:
        del used
        return []


def plan_proposal(asker: ServerAsker, service: Service, proposal: Proposal, owner: Person) -> ReportPlan:
    """Return the plan of a report, or refuse the first question that cannot be asked; no row is read."""
    costed = [_cost(asker, question) for question in proposal.questions]
    file = ReportFile(
        proposal.name,
        proposal.title,
        tuple(each.question for each in costed),
        proposal.description,
        proposal.edition,
        consistent=proposal.consistent,
    )
    plan = make_plan(asker, file, costed, ProposalCharges(service, proposal, owner))
    for question, request in plan.questions:  # the limit may be lower than it was; what is charged stays as it is
        if question.too_expensive and request.due:
            raise Problem("question-too-expensive", f"{question.name}: {question.too_expensive}")
    return plan


def _cost(asker: ServerAsker, question: ReportQuestion) -> Costed:
    """Return a question with its cost; what follows from the contract is free."""
    epsilon, sql = question.cost, drop_options(question.sql)
    try:
        preview = asker.preview(sql, epsilon)
    except InboundsError as error:
        problem = to_problem(error)
        raise Problem(problem.code, f"{question.name}: {problem.detail}", more=problem.more) from None
    if preview.useless:
        raise Problem("useless-question", f"{question.name}: {preview.useless}")
    written = FileQuestion(
        question.name,
        question.title,
        sql,
        1,
        question.description,
        question.chart,
        epsilon=epsilon,
        error=None if question.error is None else read_error(question.error),
    )
    return Costed(written, epsilon if preview.epsilon else Fraction(0), preview)


def key_for(proposal: Proposal, question: ReportQuestion) -> str:
    """Return the Idempotency-Key of a question that is asked by itself."""
    return _key(proposal, question.name, str(question.cost))


def _key(proposal: Proposal, *facts: str) -> str:
    """Return an Idempotency-Key: it follows from the report, so that a repetition costs nothing."""
    whole = (proposal.dataset, proposal.name, proposal.edition or "", *facts)
    return f"report-{sha256(chr(0).join(whole).encode()).hexdigest()[:40]}"
