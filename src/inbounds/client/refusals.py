"""What a server refuses, as the errors that a dataset at hand would raise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds import errors

SAME = {
    "invalid-question": errors.InvalidQuestion,
    "invalid-parameter": errors.InvalidParameter,
    "invalid-request": errors.InvalidParameter,
    "request-reused": errors.RequestReused,
    "ledger-conflict": errors.LedgerConflict,
    "ledger-unavailable": errors.LedgerUnavailable,
    "no-table": errors.ProjectionFailed,
}


@dataclass(frozen=True)
class Refusal:
    """A refusal: its code, and the error that tells of it."""

    code: str
    error: errors.InboundsError


def refusal(response: Any) -> Refusal:
    """Read a refusal; whatever else a proxy may answer is one, too."""
    try:
        found = response.json()
        code, detail = str(found["code"]), str(found["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail, found = "unknown", "what it answered is none of the server's answers; check the address", {}
    if code == "budget-exceeded":
        return Refusal(code, _budget(detail, found))
    kind = SAME.get(code)
    if kind is not None:
        return Refusal(code, kind(detail))
    return Refusal(code, errors.ServerRefused(detail, code, response.status_code))


def _budget(detail: str, found: dict[str, Any]) -> errors.BudgetExceeded:
    requested, total, own = (_fraction(found.get(name)) for name in ("requested", "left_total", "left_analyst"))
    who = str(found.get("dataset", "")), str(found.get("analyst", ""))
    return errors.BudgetExceeded(detail, *who, requested or Fraction(0), total or Fraction(0), own)


def _fraction(text: object) -> Fraction | None:
    return None if text is None else Fraction(str(text))
