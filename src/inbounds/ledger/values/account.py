"""The account of a dataset, or of one of its analysts."""

from __future__ import annotations

from typing import NamedTuple

from inbounds.ledger.values.cost import Cost

MOST_SPENT = 2**63 - 1
"""The most that an account can hold, in units; where rho counts, a sum of epsilon has no other end."""


class Account(NamedTuple):
    """Caps, and what was spent of them, in units; the fields are columns of a store, in this order.

    What is spent is within the caps if the sum of epsilon is, or the sum of rho; and the sum of deltas.
    """

    cap: int | None
    """Of epsilon; None if there is none."""
    spent: int
    rho_cap: int | None = None
    """None if rho does not count."""
    spent_rho: int = 0
    reserve: int = 0
    """Of delta, for charges that have one: of a dataset, for analysts have none of their own."""
    spent_delta: int = 0

    @property
    def left(self) -> int | None:
        """What is left of epsilon, in units: nothing if rho has taken over."""
        return None if self.cap is None else max(0, self.cap - self.spent)

    @property
    def left_rho(self) -> int | None:
        """What is left of rho, in units."""
        return None if self.rho_cap is None else max(0, self.rho_cap - self.spent_rho)

    @property
    def is_within(self) -> bool:
        """Whether what is spent is within the caps."""
        by_epsilon = self.cap is None or self.spent <= self.cap
        return by_epsilon or (self.rho_cap is not None and self.spent_rho <= self.rho_cap)

    def after(self, cost: Cost, *, is_total: bool) -> Account:
        """Return the account with a charge in it."""
        delta = (cost.delta or 0) if is_total else 0
        return self._replace(
            spent=self.spent + cost.epsilon,
            spent_rho=self.spent_rho + (cost.rho or 0),
            spent_delta=self.spent_delta + delta,
        )

    def more_like(self, cost: Cost, *, is_total: bool) -> int | None:
        """Return how many more charges like this one fit, None if there is no end to them."""
        if self.cap is None:
            return None
        count = max(0, self.cap - self.spent) // cost.epsilon
        if self.rho_cap is not None and cost.rho:
            count = max(count, max(0, self.rho_cap - self.spent_rho) // cost.rho)
        count = min(count, (MOST_SPENT - self.spent) // cost.epsilon)
        if is_total and cost.delta:
            count = min(count, max(0, self.reserve - self.spent_delta) // cost.delta)
        return count
