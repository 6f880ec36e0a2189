"""How long a budget with a delta lasts: what a question counts in rho, and how many like it fit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.exact.amount import DELTA_UNIT, UNIT, format_amount, format_delta, fraction
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost


@dataclass(frozen=True)
class BudgetForecast:
    """What a question counts beside epsilon, and how often it fits a budget of which nothing is spent."""

    rho: Fraction
    delta: Fraction
    """What sums of rho are converted with: the budget's, without what is reserved."""
    total: Fraction
    fits: int
    """How many such questions fit the total, by the sum of epsilon or that of rho."""
    fits_by_epsilon: int
    """How many would without a delta."""
    fits_for_analyst: int | None
    """How many of them one analyst may ask, if each has a cap."""

    @classmethod
    def of(cls, caps: Caps, epsilon: Fraction, rho: Fraction) -> BudgetForecast | None:
        """Return how long a budget lasts for questions of so much; None where rho does not count."""
        if caps.filter_delta <= 0:
            return None
        cost = Cost.of(epsilon, rho)
        assert cost.rho is not None
        fits = caps.account(caps.total).more_like(cost, is_total=True)
        assert fits is not None
        own = caps.account(caps.per_analyst).more_like(cost, is_total=False)
        return cls(
            rho=fraction(cost.rho),
            delta=Fraction(caps.filter_delta, DELTA_UNIT),
            total=fraction(caps.total),
            fits=fits,
            fits_by_epsilon=caps.total // cost.epsilon,
            fits_for_analyst=None if own is None else min(own, fits),
        )

    def data(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        return dict(vars(self))

    def __str__(self) -> str:
        total, delta = format_amount(int(self.total * UNIT)), format_delta(int(self.delta * DELTA_UNIT))
        own = "" if self.fits_for_analyst is None else f", {self.fits_for_analyst:,} by one analyst"
        return (
            f"{format_amount(int(self.rho * UNIT))}: a budget of {total} with delta {delta} allows {self.fits:,} such "
            f"queries{own}; without the delta, {self.fits_by_epsilon:,}"
        )
