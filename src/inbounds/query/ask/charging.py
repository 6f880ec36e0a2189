"""Charging: the one way from a question to the ledger, and what a single question may cost at most."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidParameter, LedgerConflict, QuestionTooExpensive
from inbounds.ledger import Receipt
from inbounds.query.answer.explanation import Explanation

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

MOST_PER_QUESTION = "max_epsilon_per_question"
"""What the limit is called in a contract and in a custodian's file."""


@dataclass(frozen=True)
class PriceLimit:
    """The most epsilon that one question may cost.

    It limits spending, and no answer means anything else by it: so it is no part of the terms of a contract.
    """

    most: Fraction
    who: str
    """Whom it limits, as a sentence begins: a dataset's queries, or a person's."""
    where: str
    """What says so."""

    @classmethod
    def of_dataset(cls, name: str, most: Fraction) -> PriceLimit:
        """Return the limit that a contract states."""
        return cls(most, f"a query of {name!r}", "its contract")

    @classmethod
    def of_person(cls, name: str, most: Fraction) -> PriceLimit:
        """Return the limit that a custodian's file states for a person."""
        return cls(most, f"a query by {name!r}", "the custodian's file")

    @classmethod
    def strictest(cls, limits: Iterable[PriceLimit | None]) -> PriceLimit | None:
        """Return the limit that leaves the least, None if there is none."""
        return min((limit for limit in limits if limit is not None), key=lambda limit: limit.most, default=None)

    def explain(self, epsilon: Fraction) -> str | None:
        """Say why a question that costs so much is refused; None if it is not."""
        if epsilon <= self.most:
            return None
        most = write_end(self.most)
        return (
            f"{self.who} may cost at most ε = {most} ({MOST_PER_QUESTION} in {self.where}), got {write_end(epsilon)}; "
            f"ask with an epsilon of {most} or less"
        )


def with_limit(explanation: Explanation, limit: PriceLimit | None) -> Explanation:
    """Return an explanation that says what a question may cost, and why it is refused if it costs more."""
    if limit is None:
        return explanation
    return replace(explanation, max_epsilon_per_question=limit.most, too_expensive=limit.explain(explanation.epsilon))


def was_charged(dataset: Dataset, request_id: str | None) -> bool:
    """Return whether a request was charged before: then asking again costs nothing."""
    if request_id is not None:
        with suppress(InvalidParameter, LedgerConflict), dataset.unchecked_ledger() as ledger:
            return ledger.request(request_id) is not None
    return False


def refuse_expensive(dataset: Dataset, epsilon: Fraction, request_id: str | None) -> None:
    """Refuse a question that costs more than one may; what was charged before is answered all the same."""
    limit = dataset.price_limit
    why = None if limit is None else limit.explain(epsilon)
    if limit is not None and why is not None and not was_charged(dataset, request_id):
        raise QuestionTooExpensive(why, epsilon, limit.most)


def charge(dataset: Dataset, analyst: str, epsilon: Fraction, *, request_id: str | None, **facts: Any) -> Receipt:
    """Charge a question that may cost so much, under the terms of the dataset; `facts` are those of `Ledger.charge`."""
    refuse_expensive(dataset, epsilon, request_id)
    return dataset.ledger.charge(dataset.name, analyst, epsilon, request_id=request_id, terms=dataset.terms, **facts)
