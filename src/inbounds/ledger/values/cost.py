"""What a charge takes: epsilon, what it counts in rho, and a delta of its own if it has one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import (
    Amount,
    delta_units,
    format_amount,
    format_delta,
    fraction,
    units,
    units_at_least,
)
from inbounds.exact.rational import exact, shown
from inbounds.privacy.rho import pure


@dataclass(frozen=True)
class Cost:
    """Amounts in units; a rho that is None is not counted."""

    epsilon: int
    rho: int | None = None
    delta: int | None = None

    @classmethod
    def of(cls, epsilon: Amount, rho: Fraction | None = None, delta: Amount | None = None) -> Cost:
        """Read what is charged: rho is rounded up, and never more than that of anything that loses epsilon."""
        amount = units(epsilon, "amount")
        most = pure_rho(amount)
        known = most if rho is None else min(_rho_units(rho), most)
        return cls(amount, known, None if delta is None else delta_units(delta))

    def without_rho(self) -> Cost:
        """Return the cost to a dataset that counts epsilon alone."""
        return replace(self, rho=None)

    def __str__(self) -> str:
        rho = [] if self.rho is None else [f"rho {format_amount(self.rho)}"]
        delta = [] if self.delta is None else [f"delta {format_delta(self.delta)}"]
        more = ", ".join([*rho, *delta])
        return f"{format_amount(self.epsilon)} ({more})" if more else format_amount(self.epsilon)


def _rho_units(rho: Fraction) -> int:
    given = exact(rho, "rho", InvalidParameter)
    if given <= 0:
        raise InvalidParameter(f"rho must be above 0, got {shown(rho)}; give that of the release, or leave it out")
    return units_at_least(given)


def pure_rho(epsilon: int) -> int:
    """Return the rho of whatever loses at most so many units of epsilon, in units, rounded up."""
    return units_at_least(pure(fraction(epsilon)))
