"""The plan of a report, for free: what each question costs and tells, what is paid already, and whether it fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from inbounds.bounds.notation import write_end
from inbounds.display.facts import FactSheet
from inbounds.display.figures import format_error
from inbounds.display.suggestion import list_names
from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.publish.asker import Asker, Left, Paid, asker_of
from inbounds.publish.charges import Charges, FileCharges
from inbounds.publish.report_file import ReportFile, ReportQuestion, amount_text, refuse_faults
from inbounds.publish.shares import divide, scale_down
from inbounds.publish.together import Costed, PlannedQuestion, Together, arrange

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset
    from inbounds.query import Dataset

LONGEST_NOTE = 1000
"""So much of a question stands in the ledger."""

LEAST = Fraction(1, 10**12)
"""What a public question is asked with: it costs nothing, and would cost next to nothing were it public no more."""

T = TypeVar("T")


@dataclass(frozen=True)
class PlannedRequest:
    """What is charged at once: a question, or several that are asked together."""

    together: Together
    request_id: str
    paid: Paid | None
    """The charge, if it was made before: then asking again is free."""
    note: str | None = None
    """What to know of an earlier charge for questions of these names."""

    @property
    def questions(self) -> tuple[PlannedQuestion, ...]:
        """The questions that it answers."""
        return self.together.questions

    @property
    def in_order(self) -> list[PlannedQuestion]:
        """The same in the order in which they are asked: what needs intervals that hold at once comes first."""
        return sorted(self.questions, key=lambda question: not question.comes_first)

    @property
    def epsilon(self) -> Fraction:
        """What it costs once; 0 if all of it is public."""
        return Fraction(0) if self.together.is_public else self.together.epsilon

    @property
    def asked_with(self) -> Fraction:
        """The epsilon that it is asked with."""
        return LEAST if self.together.is_public else self.together.epsilon

    @property
    def due(self) -> Fraction:
        """What of it is still to be paid."""
        return Fraction(0) if self.paid is not None else self.epsilon


@dataclass(frozen=True)
class ReportPlan:
    """What publishing a report will do; nothing of it is done yet."""

    file: ReportFile
    dataset: str
    analyst: str
    requests: tuple[PlannedRequest, ...]
    left: Left
    """What is left of the budget before."""
    fits: bool
    """Whether the budget is enough for all that is not paid yet."""
    unused: tuple[Paid, ...] = ()
    """What earlier runs paid for that is no part of the report any more."""
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> Fraction:
        """What the report costs, paid or not."""
        return sum((request.epsilon for request in self.requests), Fraction(0))

    @property
    def due(self) -> Fraction:
        """What is still to be paid."""
        return sum((request.due for request in self.requests), Fraction(0))

    @property
    def questions(self) -> list[tuple[PlannedQuestion, PlannedRequest]]:
        """The questions in the order of the file, with the requests that answer them."""
        planned = {question.name: (question, request) for request in self.requests for question in request.questions}
        return [planned[question.name] for question in self.file.questions]

    @property
    def remedy(self) -> str | None:
        """What would have to give, if it does not fit."""
        if self.fits:
            return None
        due = {question.name: question.epsilon for question, request in self.questions if request.due}
        room = self.left.least
        scaled = scale_down(due, min(room, self.due)) if room else None
        if scaled is None or not room or room >= self.due:
            return "leave questions out, or ask the custodian to grant more"
        paid = {question.name: question.epsilon for question, request in self.questions if request.paid is not None}
        paid = {} if self.file.total is None else paid  # whose shares would be others without the total
        fitting = ", ".join(f"{amount_text(part)} for {name}" for name, part in (paid | scaled).items())
        total = "" if self.file.total is None else "without the total and "
        return f"it would fit {total}with epsilon {fitting}; or ask the custodian to grant more"

    def data(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        return {
            "report": self.file.name,
            "title": self.file.title,
            "edition": self.file.edition,
            "dataset": self.dataset,
            "analyst": self.analyst,
            "questions": [_question_data(question, request) for question, request in self.questions],
            "epsilon": self.cost,
            "due": self.due,
            "left": {"total": self.left.total, "analyst": self.left.own},
            "fits": self.fits,
            "remedy": self.remedy,
            "unused": [{"epsilon": paid.epsilon, "question": paid.question} for paid in self.unused],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        edition = "" if self.file.edition is None else f", edition {self.file.edition}"
        rows = [("report", f"{self.file.title} ({self.file.name}{edition})")]
        rows += [(question.name, _describe_question(question, request)) for question, request in self.questions]
        rows += [("together", text) for request in self.requests if (text := describe_together(request.together))]
        warnings = dict.fromkeys(warning for question, _ in self.questions for warning in question.warnings)
        rows += [("warning", warning) for warning in warnings]
        rows += [("note", note) for note in self.notes]
        rows += [("paid, unused", _describe_unused(paid)) for paid in self.unused]
        paid = self.cost - self.due
        rows.append(("cost (ε)", write_end(self.cost) + (f", of which {write_end(paid)} is paid" if paid else "")))
        rows += self._budget_rows()
        if self.remedy is not None:
            rows.append(("does not fit", self.remedy))
        return str(FactSheet(rows))

    def _budget_rows(self) -> list[tuple[str, str]]:
        accounts = (("total budget", self.left.total), (f"{self.analyst}'s budget", self.left.own))
        return [
            (name, f"{write_end(left)} left, {write_end(max(Fraction(0), left - self.due))} afterwards")
            for name, left in accounts
            if left is not None
        ]


def plan_report(file: ReportFile, dataset: Dataset | RemoteDataset, analyst: str | None = None) -> ReportPlan:
    """Plan a report about a dataset, at hand or on a server; nothing is spent, and no row is looked at."""
    # 1. What is public, and what wanted errors take.  2. What each question costs, and what it would tell by itself.
    # 3. Which are asked together.  4. What was paid before, and whether the rest fits.
    asker = asker_of(dataset, analyst)
    plan = make_plan(asker, file, cost_each(asker, file), FileCharges(asker, file))
    refuse_faults(file.name, [fault for request in plan.requests if request.due for fault in _too_expensive(request)])
    return plan


def make_plan(asker: Asker, file: ReportFile, asked: Sequence[Costed], charges: Charges) -> ReportPlan:
    """Return the plan of questions whose costs are known."""
    together, notes = arrange(asker, asked, charges, consistent=file.consistent)
    requests = tuple(_to_request(each, charges) for each in together)
    used = {request.request_id for request in requests}
    return ReportPlan(
        file,
        asker.name,
        asker.analyst,
        requests,
        asker.left(),
        fits_all(asker, requests),
        tuple(charges.others(used)),
        tuple(notes),
    )


def fits_all(asker: Asker, requests: Sequence[PlannedRequest]) -> bool:
    """Return whether the budget is enough for all requests that are not paid yet."""
    return asker.fits([(request.questions[0].sql, request.epsilon) for request in requests if request.due])


def _to_request(together: Together, charges: Charges) -> PlannedRequest:
    """Give questions that are asked together their request id, and say what was asked under their names before."""
    request_id = charges.request_id(together.names, together.identity, together.epsilon)
    paid, before = charges.find(request_id), charges.of_names(together.names)
    is_new = bool(before) and paid is None and not together.is_public
    return PlannedRequest(together, request_id, paid, _describe_change(together, before[-1]) if is_new else None)


def _too_expensive(request: PlannedRequest) -> list[tuple[int, str]]:
    """Return why a request is refused that costs more than one question may, with the line of its question."""
    asked = request.questions
    return [(one.question.line, f"{one.name}: {one.too_expensive}") for one in asked if one.too_expensive]


# What each question costs.


def cost_each(asker: Asker, file: ReportFile) -> list[Costed]:
    """Return the questions with their costs; those that cannot be asked are told all at once."""
    faults: list[tuple[int, str]] = []

    def tried(question: ReportQuestion, find: Callable[..., T], *given: Any) -> T | None:
        try:
            return find(*given)
        except (InvalidQuestion, InvalidParameter) as problem:
            faults.append((question.line, _describe_fault(question, problem)))
        return None

    free: list[str] = []
    needed: dict[str, Fraction] = {}
    for question in file.questions:
        first = tried(question, asker.preview, question.sql, question.epsilon or file.total or Fraction(1))
        if first is not None and not first.epsilon:
            free.append(question.name)
        elif first is not None and question.error is not None:
            found = tried(question, asker.epsilon_for, question.sql, question.error, question.rows)
            needed[question.name] = found or Fraction(1)
    refuse_faults(file.name, faults)
    try:
        costs = divide(file, needed, free)
    except InvalidParameter as problem:
        refuse_faults(file.name, [(1, str(problem))])
        raise
    asked = []
    for question in file.questions:
        epsilon = costs.get(question.name, LEAST)
        preview = tried(question, asker.preview, question.sql, epsilon)
        if preview is None:
            continue
        if preview.useless:
            faults.append((question.line, f"{question.name}: {preview.useless}"))
        asked.append(Costed(question, epsilon if preview.epsilon else Fraction(0), preview))
    refuse_faults(file.name, faults)
    return asked


def _describe_fault(question: ReportQuestion, problem: Exception) -> str:
    return f"{question.name}: {str(problem).partition(chr(10))[0]}"


# In words.


def describe_together(together: Together) -> str | None:
    """Say what it means that questions are asked together; None if there is one."""
    if len(together.questions) < 2:
        return None
    keys = ""
    if together.has_rest:
        keys = (
            f" Rows without a category of {list_names(together.keys)} count in the tables that are not grouped by it, "
            "so groups can add up to less than a total."
        )
    elif together.keys:
        keys = f" Rows without a category of {list_names(together.keys)} count in none of them."
    cost = write_end(together.epsilon)
    return f"{list_names(together.names)} are released together, for ε = {cost}: their numbers agree.{keys}"


def _describe_question(question: PlannedQuestion, request: PlannedRequest) -> str:
    if request.together.is_public:
        return "public: exact and free"
    wanted = question.question.error
    at_most = "" if wanted is None else f", wanted at most {wanted if isinstance(wanted, str) else write_end(wanted)}"
    state = "paid" if request.paid is not None else request.note
    alone = question.alone_error
    beside = "" if alone is None else f" ({format_error(alone)} if asked by itself)"
    parts = (f"ε = {write_end(question.epsilon)}", f"expected error: {question.words}{beside}{at_most}", state)
    return "; ".join(part for part in parts if part)


def _describe_change(together: Together, before: Paid) -> str:
    """Say why a request costs again."""
    if together.text[:LONGEST_NOTE] != before.question[:LONGEST_NOTE]:
        why = "; this is another question, and costs again"
    elif together.epsilon != before.epsilon:
        why = "; at another epsilon it costs again"
    else:
        why = ", under another contract; under this one it costs again"
    with_others = " together" if len(together.questions) > 1 else ""
    return f"asked{with_others} before at epsilon {amount_text(before.epsilon)}{why}"


def _describe_unused(paid: Paid) -> str:
    return f"ε = {write_end(paid.epsilon)}, no part of this report any more: {paid.question}"


def _question_data(question: PlannedQuestion, request: PlannedRequest) -> dict[str, Any]:
    return {
        "name": question.name,
        "title": question.question.title,
        "sql": question.question.sql,
        "epsilon": Fraction(0) if request.together.is_public else question.epsilon,
        "wanted_error": question.question.error,
        "expected_error": question.error,
        "expected_error_alone": question.alone_error,
        "expected_noise": question.words,
        "together": [name for name in request.together.names if name != question.name],
        "public": request.together.is_public,
        "paid": request.paid is not None,
        "note": request.note,
        "request_id": request.request_id,
    }
