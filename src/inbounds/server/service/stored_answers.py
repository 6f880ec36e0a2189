"""An answer that was given before, or follows from such: the data are not looked at."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from inbounds.errors import AnswerFailed, InboundsError
from inbounds.exact.amount import fraction
from inbounds.ledger.values.entry import Entry
from inbounds.query import Answer
from inbounds.query.answer.kept_answer import read_kept
from inbounds.query.answer.unfinished_table import load as unfinished
from inbounds.query.ask.draw import is_failed
from inbounds.query.methods.contribution_bound import row_limit
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import AGAIN, Problem
from inbounds.server.service.answer_shape import Question
from inbounds.server.service.asking import explain_parts, request_id, run_query
from inbounds.server.service.explaining import Owned, PartOut, to_query
from inbounds.server.service.service import Service

UNKNOWN_REQUEST = "you have no query with this Idempotency-Key; list your queries to find it"


@dataclass(frozen=True)
class StoredAnswer:
    """An answer that was given before, as it was asked for."""

    key: str
    """What its request was called."""
    dataset: str
    sql: str
    """The question as it was written."""
    asked_at: str
    answer: Answer
    parts: list[PartOut]


def load_answer(service: Service, person: Person, key: str) -> StoredAnswer:
    """Return one of a person's own answers; the data are not looked at.

    It is shown as it was asked for if the question was stored and can still be read, otherwise as it was released.
    """
    request = request_id(person, key)
    with service.holdings.reading() as ledger:
        entries = ledger.request(request)
    if entries is None or entries[0].analyst != person.name:
        raise Problem("not-found", UNKNOWN_REQUEST)
    charge, answer = entries
    # The ledger may have the answer already; before its tick nobody is told so.
    if service.claims.is_running(request):
        raise Problem("request-running", "this query is still running; look again in a moment")
    if answer is not None and is_failed(answer.text):
        raise AnswerFailed(request)
    if answer is None or not is_finished(answer):
        raise Problem("not-answered", f"this query was charged but not answered yet; {AGAIN}")
    stored = service.questions.find(request)
    if stored is not None and person.may_see(charge.dataset):
        _, content = stored
        with suppress(InboundsError, ValidationError):  # contract or server changed since: what was released is shown
            return _load_as_asked(service, person, key, charge, content)
    released = read_kept(answer.text, fraction(charge.amount), key, _row_limit(service, charge))
    return StoredAnswer(key, charge.dataset, charge.text, charge.time, released, [])


def is_finished(entry: Entry | None) -> bool:
    """Return whether an answer is there, and is not what was measured for one only."""
    return entry is not None and unfinished(entry.text) is None and not is_failed(entry.text)


def _row_limit(service: Service, charge: Entry) -> str | None:
    """Return what was said beside an answer of a row limit, None where the contract no longer has its question."""
    with suppress(InboundsError):
        if charge.dataset in service.holdings.names:
            dataset = service.holdings.open_holding(charge.dataset).dataset
            return row_limit(dataset.sql(charge.text).questions, noise_only=True)
    return None


def _load_as_asked(service: Service, person: Person, key: str, charge: Entry, content: dict[str, Any]) -> StoredAnswer:
    """Return what was released as the question wanted it shown: asking again with its id gives what is kept."""
    question = Question(**content)
    holding = service.holdings.holding(charge.dataset, person)
    query = to_query(holding, question)
    return StoredAnswer(
        key,
        charge.dataset,
        question.sql,
        charge.time,
        run_query(query, question, person, key),
        explain_parts(holding, query, question),
    )


def derive_answer(service: Service, name: str, question: Owned, person: Person) -> Answer:
    """Return the answer that follows from those that somebody has, or refuse; what has not left yet tells nothing."""
    query = to_query(service.holdings.holding(name, person), question)
    with service.holdings.reading() as ledger:
        answer: Answer | None = query.owned(person.name, ledger, service.claims.is_running)
    if answer is None:
        raise Problem("not-owned", "none of your answers covers this query; run it with an ε")
    return answer
