"""What every refusal looks like: problem+json (RFC 9457), with a code that stays what it is.

Status and text depend on the question and on the ledger, never on data: what a database said is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inbounds import errors
from inbounds.bounds.notation import write_end

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class ProblemType:
    """The status and the title of a code."""

    status: int
    title: str


KINDS = {
    "invalid-request": ProblemType(400, "Invalid request"),
    "invalid-question": ProblemType(400, "Invalid query"),
    "useless-question": ProblemType(400, "The answer would tell you nothing"),
    "invalid-parameter": ProblemType(400, "A value is missing or out of range"),
    "not-authenticated": ProblemType(401, "API key not recognised"),
    "budget-exceeded": ProblemType(402, "Not enough budget left"),
    "question-too-expensive": ProblemType(402, "Too much for one query"),
    "not-allowed": ProblemType(403, "Not available to your role"),
    "stale-form": ProblemType(403, "This form has expired"),
    "wrong-address": ProblemType(403, "Requests must come through the proxy"),
    "not-found": ProblemType(404, "Not found, or you don't have access"),
    "not-owned": ProblemType(404, "None of your answers covers this query"),
    "method-not-allowed": ProblemType(405, "Method not allowed"),
    "request-running": ProblemType(409, "This request is still running"),
    "not-answered": ProblemType(409, "Charged but not answered yet"),
    "ledger-conflict": ProblemType(409, "Conflict with the ledger"),
    "too-large": ProblemType(413, "The request is too large"),
    "request-reused": ProblemType(422, "This Idempotency-Key was already used for another query"),
    "too-many": ProblemType(429, "Too many requests"),
    "headers-too-large": ProblemType(431, "The request headers are too large"),
    "too-many-statements": ProblemType(429, "Too many queries at once"),
    "too-slow": ProblemType(408, "The request took too long to arrive"),
    "failed": ProblemType(500, "Internal server error"),
    "answer-failed": ProblemType(500, "The answer could not be computed"),
    "statement-failed": ProblemType(503, "The database could not run the query"),
    "dataset-unavailable": ProblemType(503, "The dataset is unavailable"),
    "ledger-unavailable": ProblemType(503, "The ledger is unavailable"),
    "ledger-broken": ProblemType(503, "The ledger failed verification"),
    "server-unavailable": ProblemType(503, "The server is unavailable"),
    "no-table": ProblemType(503, "No consistent table was found yet"),
    "statement-stopped": ProblemType(504, "The query took too long and was stopped"),
}
"""Every code there is; none changes its meaning."""


class Problem(Exception):
    """A refusal, with what to do about it."""

    def __init__(
        self, code: str, detail: str, *, headers: dict[str, str] | None = None, more: dict[str, Any] | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers or {}
        self.more = more or {}

    @property
    def status(self) -> int:
        """The status of the response."""
        return KINDS[self.code].status

    def data(self) -> dict[str, Any]:
        """Return the body."""
        kind = KINDS[self.code]
        return {
            "type": f"urn:inbounds:{self.code}",
            "title": kind.title,
            "status": kind.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }


AGAIN = "send it again with the same Idempotency-Key, at no extra cost"

FAILED_ANSWER = (
    "the answer could not be computed, and this Idempotency-Key will always give this error; the charge stands. "
    "Tell your custodian, or send the query with a new Idempotency-Key, which is charged again"
)

REUSED = "this Idempotency-Key was already used for another query or ε; choose a new one"


def to_problem(error: errors.InboundsError) -> Problem:
    """Return the refusal for an error: in its own words where they are about the question, in ours elsewhere."""
    return next(translate(error) for kind, translate in _TRANSLATIONS if isinstance(error, kind))


def _budget(error: errors.BudgetExceeded) -> Problem:
    left: dict[str, Any] = {
        "left_total": error.left_total,
        "left_analyst": error.left_analyst,
        "requested": error.requested,
    }
    facts = {name: None if amount is None else write_end(amount) for name, amount in left.items()}
    return Problem("budget-exceeded", str(error), more={"dataset": error.dataset, "analyst": error.analyst, **facts})


def _too_expensive(error: errors.QuestionTooExpensive) -> Problem:
    more = {"requested": write_end(error.requested), "most": write_end(error.most)}
    return Problem("question-too-expensive", str(error), more=more)


def _unavailable(error: errors.LedgerUnavailable) -> Problem:
    outcome = f"it may have been charged: {AGAIN}" if error.uncertain else f"nothing was changed; {_LATER}"
    more = {"charged": None if error.uncertain else False}
    return Problem("ledger-unavailable", f"the ledger cannot be reached; {outcome}", headers=RETRY, more=more)


def _statement(error: errors.EngineFailed) -> Problem:
    if error.stopped:
        outcome = f"the charge stands: {AGAIN}" if error.charged else "nothing was charged"
        return Problem("statement-stopped", f"the query exceeded its time limit; {outcome}")
    outcome = f"the charge stands: {AGAIN}" if error.charged else "nothing was charged; try again"
    more = {"charged": error.charged}
    return Problem("statement-failed", f"the database could not run the query; {outcome}", headers=RETRY, more=more)


def _in_our_words(code: str, detail: str, headers: dict[str, str] | None = None) -> Callable[[Any], Problem]:
    return lambda _: Problem(code, detail, headers=headers)


def _as_it_says(code: str) -> Callable[[Any], Problem]:
    return lambda error: Problem(code, str(error))


_LATER = "try again later, or tell your custodian"

RETRY = {"Retry-After": "5"}

# Subclasses come before their base classes, because the first match is taken.
_TRANSLATIONS: tuple[tuple[type[errors.InboundsError], Callable[[Any], Problem]], ...] = (
    (errors.BudgetExceeded, _budget),
    (errors.RequestReused, _in_our_words("request-reused", REUSED)),
    (errors.LedgerConflict, _as_it_says("ledger-conflict")),
    (errors.LedgerUnavailable, _unavailable),
    (errors.LedgerError, _in_our_words("ledger-broken", "the ledger failed verification; tell your custodian")),
    (errors.EngineFailed, _statement),
    (errors.AnswerFailed, _in_our_words("answer-failed", FAILED_ANSWER)),
    (errors.InvalidContract, _in_our_words("dataset-unavailable", f"the dataset cannot be read; {_LATER}", RETRY)),
    (
        errors.ProjectionFailed,
        _in_our_words("no-table", f"no consistent table was found yet; the measurements are kept: {AGAIN}"),
    ),
    (errors.UselessQuestion, _as_it_says("useless-question")),
    (errors.QuestionTooExpensive, _too_expensive),
    (errors.QueryError, _as_it_says("invalid-question")),
    (errors.InboundsError, _as_it_says("invalid-parameter")),
)
"""How each kind of error becomes a refusal."""


MISTAKE = Problem("failed", "something went wrong on the server; tell your custodian when this happened")
