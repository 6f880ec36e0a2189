"""Budget: what the custodian allows to be spent, as the contract says it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import delta_fraction, delta_units, fraction, units
from inbounds.ledger.values.caps import Caps
from inbounds.query.contract.contract import Contract

BUDGET_KEYS = ("total", "per_analyst", "delta", "delta_reserved", "ledger")


@dataclass(frozen=True)
class Budget:
    """How much may be spent, in all and by each analyst: epsilon in units of the ledger, and delta, if there is one."""

    total: int
    per_analyst: int | None
    delta: Fraction | None
    delta_reserved: Fraction | None

    @classmethod
    def of(cls, contract: Contract) -> Budget:
        """Read the budget of a contract."""
        contract.refuse_unknown(BUDGET_KEYS, "budget")
        total = _amount(contract, "total")
        per_analyst = _amount(contract, "per_analyst") if contract.has("budget", "per_analyst") else None
        if per_analyst is not None and per_analyst > total:
            raise contract.refuse(
                "per_analyst must not be above total; lower it, or raise the total", "budget", "per_analyst"
            )
        delta, reserved = _delta(contract, "delta"), _delta(contract, "delta_reserved")
        if (reserved or 0) > (delta or 0):
            raise contract.refuse(
                "delta_reserved must be part of delta; lower it, or give a delta that is not below it",
                "budget",
                "delta_reserved",
            )
        if contract.has("budget", "ledger"):
            contract.text_of("budget", "ledger")
        return cls(total, per_analyst, delta, reserved)

    @property
    def caps(self) -> Caps:
        """The same, as a ledger counts it."""
        per_analyst = None if self.per_analyst is None else fraction(self.per_analyst)
        return Caps.of(fraction(self.total), per_analyst, self.delta, self.delta_reserved)


def _amount(contract: Contract, key: str) -> int:
    value = contract.value("budget", key)
    try:
        return units(value, key)
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "budget", key) from None


def _delta(contract: Contract, key: str) -> Fraction | None:
    """Return a delta that may be there."""
    if not contract.has("budget", key):
        return None
    value = contract.value("budget", key)
    try:
        return delta_fraction(delta_units(value, key))
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "budget", key) from None
