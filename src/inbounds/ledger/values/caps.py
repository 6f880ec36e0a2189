"""What a dataset was opened with: a total, a cap for each analyst, and a delta, part of it kept for charges."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import (
    LIMIT,
    Amount,
    delta_fraction,
    delta_units,
    format_amount,
    format_delta,
    fraction,
    units,
    units_at_most,
)
from inbounds.exact.rational import shown
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.entry import Entry
from inbounds.privacy.rho import greatest_rho


@dataclass(frozen=True)
class Caps:
    """Amounts in units; without a delta epsilon alone counts."""

    total: int
    per_analyst: int | None
    delta: int | None = None
    reserved: int | None = None

    @classmethod
    def of(cls, total: Amount, per_analyst: Amount | None, delta: Amount | None, reserved: Amount | None) -> Caps:
        """Read what a dataset is to be opened with."""
        caps = cls(
            units(total, "total"),
            None if per_analyst is None else units(per_analyst, "per_analyst"),
            None if delta is None else delta_units(delta),
            None if reserved is None else delta_units(reserved, "delta_reserved"),
        )
        if (caps.reserved or 0) > (caps.delta or 0):
            raise InvalidParameter(
                f"delta_reserved must be part of delta, got {shown(reserved)} of {shown(delta)}; give less, or a delta"
            )
        return caps

    @classmethod
    def in_entry(cls, opening: Entry) -> Caps:
        """Return what an entry opened a dataset with."""
        return cls(opening.amount, opening.per_analyst, opening.delta, opening.reserved)

    @property
    def filter_delta(self) -> int:
        """The part of delta that is not kept for charges: what sums of rho are converted with."""
        return (self.delta or 0) - (self.reserved or 0)

    def rho_cap(self, cap: int | None) -> int | None:
        """Return how far rho may go where epsilon may go to `cap`; None if it does not count, or there is no cap."""
        if cap is None or self.filter_delta <= 0:
            return None
        return min(LIMIT, units_at_most(greatest_rho(fraction(cap), delta_fraction(self.filter_delta))))

    def account(self, cap: int | None, *, reserve: int = 0) -> Account:
        """Return an account with nothing in it, where epsilon may go to `cap`."""
        return Account(cap, 0, self.rho_cap(cap), 0, reserve)

    def __str__(self) -> str:
        per_analyst = (
            "no cap per analyst" if self.per_analyst is None else f"{format_amount(self.per_analyst)} per analyst"
        )
        text = f"a total of {format_amount(self.total)} and {per_analyst}"
        if self.delta is None:
            return text
        reserve = f", {format_delta(self.reserved)} of it reserved" if self.reserved else ""
        return f"{text} at a delta of {format_delta(self.delta)}{reserve}"
