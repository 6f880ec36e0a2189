"""What a server refuses, as the errors that a dataset at hand would raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds import errors

SAME = {
    "invalid-question": errors.InvalidQuestion,
    "useless-question": errors.UselessQuestion,
    "invalid-parameter": errors.InvalidParameter,
    "invalid-request": errors.InvalidParameter,
    "request-reused": errors.RequestReused,
    "ledger-conflict": errors.LedgerConflict,
    "ledger-broken": errors.LedgerBroken,
    "dataset-unavailable": errors.InvalidContract,
    "no-table": errors.ProjectionFailed,
}

FAILED = {"statement-failed": "remote", "statement-stopped": errors.OVERTIME}
"""What became of a statement, as an error calls it."""

PAID = ("request-running", "ledger-unavailable", "no-table", "unknown")
"""After these a question may have been charged, and whoever asks again needs its request id."""


@dataclass(frozen=True)
class Refusal:
    """A refusal: its code, and the error that tells of it."""

    code: str
    error: errors.InboundsError


def read_refusal(response: Any, request_id: str | None = None) -> Refusal | None:
    """Read a refusal, None if it is none; whatever else a proxy may answer is one, too."""
    try:
        body = response.json()
        if response.is_success:
            return None
        code, detail = str(body["code"]), str(body["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail, body = "unknown", "the response is not from an inbounds server; check the address", {}
    if request_id is not None and code in PAID:
        detail = f"{detail} (the request id is {request_id!r})"
    return Refusal(code, _make_error(code, detail, body, response.status_code, request_id))


def _make_error(
    code: str, detail: str, body: dict[str, Any], status: int, request_id: str | None
) -> errors.InboundsError:
    if code in _WITH_AMOUNTS:
        return _WITH_AMOUNTS[code](detail, body)
    if "table" in body:  # of a report, which goes on otherwise than a question does: the server says how
        return errors.ServerRefused(detail, code, status)
    if code in FAILED:
        return errors.EngineFailed(FAILED[code], request_id, charged=body.get("charged") is not False)
    if code == "answer-failed":
        return errors.AnswerFailed(request_id)
    if code == "ledger-unavailable":
        return errors.LedgerUnavailable(detail, body.get("charged") is None)
    kind = SAME.get(code)
    return errors.ServerRefused(detail, code, status) if kind is None else kind(detail)


def _make_budget_error(detail: str, body: dict[str, Any]) -> errors.BudgetExceeded:
    requested, total, own = (_read_fraction(body.get(name)) for name in ("requested", "left_total", "left_analyst"))
    who = str(body.get("dataset", "")), str(body.get("analyst", ""))
    return errors.BudgetExceeded(detail, *who, requested or Fraction(0), total or Fraction(0), own)


def _make_price_error(detail: str, body: dict[str, Any]) -> errors.QuestionTooExpensive:
    requested, most = (_read_fraction(body.get(name)) for name in ("requested", "most"))
    return errors.QuestionTooExpensive(detail, requested or Fraction(0), most or Fraction(0))


def _read_fraction(text: object) -> Fraction | None:
    return None if text is None else Fraction(str(text))


_WITH_AMOUNTS: dict[str, Callable[[str, dict[str, Any]], errors.InboundsError]] = {
    "budget-exceeded": _make_budget_error,
    "question-too-expensive": _make_price_error,
}
"""Refusals that say how much was asked and how much may be."""
