"""What the ledger hands back: a receipt for a charge, and the balance of an account."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.ledger.amount import UNIT, written


@dataclass(frozen=True)
class Receipt:
    """Proof that a request was charged, once."""

    seq: int
    request_id: str
    amount: Fraction
    time: str
    answer: str | None = None
    """The answer that was already given to this request, if there is one: the only one that may leave."""
    fresh: bool = True
    """Whether this call charged; false if an earlier one did."""


@dataclass(frozen=True)
class Balance:
    """The state of one account, in epsilon."""

    cap: Fraction | None
    """None for an analyst of a dataset that has no cap per analyst."""
    spent: Fraction

    @property
    def left(self) -> Fraction | None:
        """What this cap still allows; an analyst is bound by that of the dataset too."""
        return None if self.cap is None else self.cap - self.spent

    def data(self) -> dict[str, Fraction | None]:
        """Return the balance as a dictionary: cap, spent and left."""
        return {"cap": self.cap, "spent": self.spent, "left": self.left}

    def __str__(self) -> str:
        if self.cap is None or self.left is None:
            return f"{_text(self.spent)} spent, no cap of its own"
        return f"{_text(self.spent)} of {_text(self.cap)} spent, {_text(self.left)} left"


def _text(epsilon: Fraction) -> str:
    return written(int(epsilon * UNIT))
