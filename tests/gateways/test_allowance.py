"""What may be spent through a gateway, before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from inbounds import errors
from inbounds.exact.amount import UNIT
from inbounds.gateways.allowance import Account, Allowance

FREE = (
    errors.BudgetExceeded("no", "visits", "ana", Fraction(1), Fraction(0), None),
    errors.InvalidQuestion("no"),
    errors.UselessQuestion("no"),
    errors.InvalidParameter("no"),
    errors.RequestReused("no"),
    errors.ServerRefused("no", "too-many", 429),
    errors.EngineFailed("remote", charged=False),
)
PERHAPS_CHARGED = (
    errors.ServerUnreachable("ReadTimeout"),
    errors.ServerRefused("no", "request-running", 409),
    errors.ServerRefused("no", "failed", 500),
    errors.EngineFailed("remote"),
    errors.AnswerFailed(),
    errors.LedgerUnavailable("no", True),
    errors.ProjectionFailed("no"),
    errors.InvalidContract("no"),
    OSError("no"),
)


def spend(account: Account, request: str, amount: int, problem: Exception | None = None) -> None:
    """Send a question that ends like this."""
    with account.spending(request, amount):
        if problem is not None:
            raise problem


def test_a_question_has_a_cap() -> None:
    """What costs more than one question may is refused, and what costs as much is not."""
    account = Account(Allowance(question=UNIT))
    spend(account, "a", UNIT)
    with pytest.raises(errors.InvalidParameter, match=r"at most epsilon 1 here, got 1\.5; ask with epsilon 1 or less"):
        spend(account, "b", 3 * UNIT // 2)


def test_a_session_has_a_cap() -> None:
    """All questions together may cost so much; a repeated one costs nothing more."""
    account = Account(Allowance(session=2 * UNIT))
    for _ in range(3):
        spend(account, "a", 3 * UNIT // 2)
    with pytest.raises(errors.InvalidParameter, match=r"this costs 1; ask with epsilon 0\.5 or less"):
        spend(account, "b", UNIT)
    spend(account, "c", UNIT // 2)
    with pytest.raises(errors.InvalidParameter, match="all of it is spent; repeat a question, which is free"):
        spend(account, "d", 1)
    spend(account, "a", 3 * UNIT // 2)


@pytest.mark.parametrize("problem", FREE, ids=lambda problem: type(problem).__name__)
def test_what_was_refused_is_given_back(problem: Exception) -> None:
    """After a refusal before any charge, the session has as much left as before."""
    account = Account(Allowance(session=UNIT))
    with pytest.raises(type(problem)):
        spend(account, "a", UNIT, problem)
    assert account.left == UNIT


@pytest.mark.parametrize("problem", PERHAPS_CHARGED, ids=lambda problem: type(problem).__name__)
def test_what_may_have_been_charged_counts(problem: Exception) -> None:
    """After any other failure the amount counts as spent, once, also if the question is sent again."""
    account = Account(Allowance(session=2 * UNIT))
    for _ in range(2):
        with pytest.raises(type(problem)):
            spend(account, "a", UNIT, problem)
    assert account.left == UNIT
    spend(account, "a", UNIT)
    assert account.left == UNIT


def test_who_sends_the_same_at_once_takes_it_once() -> None:
    """Of two that send one request at the same time one pays, and its payment is not given back to the other."""
    account = Account(Allowance(session=2 * UNIT))
    with account.spending("a", UNIT) as is_first:
        assert is_first
        with account.spending("a", UNIT) as is_payer:
            assert not is_payer
        with pytest.raises(errors.InvalidQuestion):
            spend(account, "a", UNIT, errors.InvalidQuestion("no"))
    assert account.left == UNIT


def test_many_at_once_do_not_exceed_a_session() -> None:
    """However many questions are sent at the same time, no more is taken than may be."""
    account = Account(Allowance(session=10))

    def take(name: int) -> bool:
        try:
            spend(account, str(name), 1)
        except errors.InvalidParameter:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, range(200))) == 10
    assert account.left == 0


@pytest.mark.parametrize("read", [lambda account: account.left, lambda account: account.allowance.question])
def test_no_cap_is_no_cap(read: Callable[[Account], object]) -> None:
    """Without caps of its own a gateway refuses nothing; the server's are left."""
    account = Account(Allowance())
    spend(account, "a", 10**6 * UNIT)
    assert read(account) is None
