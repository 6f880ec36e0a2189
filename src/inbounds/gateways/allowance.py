"""What may be spent through a gateway: by one question, and by one person while the program runs.

The server has caps of its own, which nothing here can raise.  These are lower ones, which whoever starts a gateway
sets for a program that asks in their name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

from inbounds.errors import (
    BudgetExceeded,
    EngineFailed,
    InvalidParameter,
    InvalidQuestion,
    LedgerConflict,
    ServerRefused,
)
from inbounds.exact.amount import format_amount

NOT_CHARGED = (BudgetExceeded, InvalidParameter, InvalidQuestion, LedgerConflict)
"""After these a server has charged nothing."""

REFUSED_EARLY = ("not-authenticated", "not-allowed", "not-found", "too-many", "too-many-statements")
"""Nor has it after a `ServerRefused` of these codes."""


@dataclass(frozen=True)
class Allowance:
    """The most that may be spent, in units of epsilon; None for no cap of this program."""

    question: int | None = None
    session: int | None = None

    def refuse_excess(self, amount: int) -> None:
        """Refuse a question that costs more than one may."""
        if self.question is not None and amount > self.question:
            most = format_amount(self.question)
            raise InvalidParameter(
                f"one question may cost at most epsilon {most} here, got {format_amount(amount)}; ask with epsilon "
                f"{most} or less, or have whoever started this program raise --max-epsilon"
            )


@dataclass
class Taken:
    """An amount that was taken for a request, by everybody who sends it just now."""

    senders: int = 0
    is_spent: bool = False
    """Whether it was charged, or may have been."""


class Account:
    """What one person has spent through this program: each request once, however often it is repeated."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._lock = RLock()
        self._requests: dict[str, Taken] = {}
        self._spent = 0

    @property
    def left(self) -> int | None:
        """What may still be spent, in units; None if there is no cap.  What may have been charged counts as spent."""
        return None if self.allowance.session is None else self.allowance.session - self._spent

    def refuse_excess(self, amount: int) -> None:
        """Refuse what is above the cap of a question, or above what is left for this session."""
        self.allowance.refuse_excess(amount)
        left = self.left
        if left is not None and amount > left:
            raise InvalidParameter(self._describe_excess(amount, left))

    @contextmanager
    def spending(self, request_id: str, amount: int) -> Iterator[bool]:
        """Take an amount before a question is sent, and give it back only if nothing was charged for certain.

        A request takes it once.  Yields false to whoever sends what somebody else is just sending, and will pay for.
        """
        with self._lock:
            if request_id not in self._requests:
                self.refuse_excess(amount)
                self._spent += amount
            taken = self._requests.setdefault(request_id, Taken())
            taken.senders += 1
            is_first = taken.senders == 1
        is_free = False
        try:
            yield is_first
        except Exception as problem:
            is_free = _is_free(problem)
            raise
        finally:
            with self._lock:
                taken.senders -= 1
                taken.is_spent |= not is_free
                if not taken.is_spent and not taken.senders:
                    del self._requests[request_id]
                    self._spent -= amount

    def _describe_excess(self, amount: int, left: int) -> str:
        most = format_amount(self.allowance.session or 0)
        again = "repeat a question, which is free, or have whoever started this program raise --max-session-epsilon"
        if not left:
            return f"at most epsilon {most} may be spent in this session, and all of it is spent; {again}"
        return (
            f"at most epsilon {most} may be spent in this session, {format_amount(self._spent)} of it is spent, and "
            f"this costs {format_amount(amount)}; ask with epsilon {format_amount(left)} or less, {again}"
        )


def _is_free(problem: Exception) -> bool:
    """Return whether nothing was charged, for certain."""
    if isinstance(problem, EngineFailed):
        return not problem.charged
    if isinstance(problem, ServerRefused):
        return problem.code in REFUSED_EARLY
    return isinstance(problem, NOT_CHARGED)
