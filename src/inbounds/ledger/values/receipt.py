"""What the ledger hands back: a receipt for a charge, and the balance of an account."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.exact.amount import DELTA_UNIT, UNIT, delta_fraction, format_amount, format_delta, fraction
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import Entry


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
    rho: Fraction | None = None
    """What was counted in rho, if the dataset has a delta for that."""
    delta: Fraction | None = None
    """The delta that was charged, if there was one."""

    @classmethod
    def of(cls, charge: Entry, answer: str | None = None, *, fresh: bool = True) -> Receipt:
        """Return the receipt for a charge."""
        rho = None if charge.rho is None else fraction(charge.rho)
        delta = None if charge.delta is None else delta_fraction(charge.delta)
        return cls(charge.seq, charge.request_id, fraction(charge.amount), charge.time, answer, fresh, rho, delta)

    @property
    def cost(self) -> str:
        """What was charged, in words."""
        rho = None if self.rho is None else int(self.rho * UNIT)
        delta = None if self.delta is None else int(self.delta * DELTA_UNIT)
        return str(Cost(int(self.amount * UNIT), rho, delta))


@dataclass(frozen=True)
class Balance:
    """The state of one account, in epsilon, and in rho and delta where the dataset has a delta."""

    cap: Fraction | None
    """None for an analyst of a dataset that has no cap per analyst."""
    spent: Fraction
    """The sum of epsilon; above the cap where rho is what counts."""
    rho_cap: Fraction | None = None
    """How far the sum of rho may go instead of that of epsilon; None if rho does not count."""
    rho_spent: Fraction | None = None
    delta: Fraction | None = None
    """What sums of rho are converted with; None if rho does not count, or a server does not say."""
    delta_reserved: Fraction | None = None
    """How much charges that have a delta may have together; None if nothing, and for an analyst."""
    delta_spent: Fraction | None = None

    @classmethod
    def of(cls, account: Account, caps: Caps) -> Balance:
        """Return the balance of an account of a dataset with these caps."""
        counts = caps.filter_delta > 0
        return cls(
            None if account.cap is None else fraction(account.cap),
            fraction(account.spent),
            None if account.rho_cap is None else fraction(account.rho_cap),
            fraction(account.spent_rho) if counts else None,
            delta_fraction(caps.filter_delta) if counts else None,
            delta_fraction(account.reserve) if account.reserve else None,
            delta_fraction(account.spent_delta) if account.reserve else None,
        )

    @property
    def left(self) -> Fraction | None:
        """What this cap still allows of epsilon; an analyst is bound by that of the dataset too."""
        return None if self.cap is None else max(Fraction(0), self.cap - self.spent)

    @property
    def rho_left(self) -> Fraction | None:
        """What this account still allows of rho."""
        if self.rho_cap is None or self.rho_spent is None:
            return None
        return max(Fraction(0), self.rho_cap - self.rho_spent)

    def data(self) -> dict[str, Any]:
        """Return the balance as a dictionary: cap, spent and left; the same of rho and delta where they count."""
        fields: dict[str, Any] = {"cap": self.cap, "spent": self.spent, "left": self.left}
        if self.delta is not None:
            fields["delta"] = self.delta
        if self.rho_spent is not None:
            fields["rho"] = {"cap": self.rho_cap, "spent": self.rho_spent, "left": self.rho_left}
        if self.delta_reserved is not None and self.delta_spent is not None:
            left = self.delta_reserved - self.delta_spent
            fields["delta_reserved"] = {"cap": self.delta_reserved, "spent": self.delta_spent, "left": left}
        return fields

    def __str__(self) -> str:
        return "; ".join(part for part in (self._epsilon(), self._rho(), self._reserve_text()) if part)

    def _epsilon(self) -> str:
        if self.cap is None or self.left is None:
            return f"{_text(self.spent)} spent, no cap of its own"
        return f"{_text(self.spent)} of {_text(self.cap)} spent, {_text(self.left)} left"

    def _rho(self) -> str:
        if self.rho_spent is None:
            return ""
        if self.rho_cap is None or self.rho_left is None:
            return "" if self.delta is None else f"in rho {_text(self.rho_spent)} spent"
        known = "" if self.delta is None else f", at a delta of {_delta(self.delta)}:"
        return f"or in rho{known} {_text(self.rho_spent)} of {_text(self.rho_cap)} spent, {_text(self.rho_left)} left"

    def _reserve_text(self) -> str:
        if self.delta_reserved is None or self.delta_spent is None:
            return ""
        return f"of the delta reserved for charges, {_delta(self.delta_spent)} of {_delta(self.delta_reserved)} spent"


@dataclass(frozen=True)
class Repeats:
    """How often a charge still fits."""

    count: int
    last: Receipt

    def data(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        fields: dict[str, Any] = {"count": self.count, "epsilon": self.last.amount}
        fields |= {} if self.last.rho is None else {"rho": self.last.rho}
        return fields | ({} if self.last.delta is None else {"delta": self.last.delta})

    def __str__(self) -> str:
        return more_queries(self.count, self.last.cost)


def more_queries(count: int, cost: str) -> str:
    """Return how many more queries at some cost the budget allows, in words."""
    return f"{count:,} more {'query' if count == 1 else 'queries'} at ε = {cost}"


def _text(epsilon: Fraction) -> str:
    return format_amount(int(epsilon * UNIT))


def _delta(delta: Fraction) -> str:
    return format_delta(int(delta * DELTA_UNIT))
