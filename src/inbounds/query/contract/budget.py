"""Budget: what the custodian allows to be spent, as the contract says it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import delta_fraction, delta_units, fraction, units
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.refresh import Allowance, Refresh
from inbounds.query.contract.contract import Contract

BUDGET_KEYS = (
    "total", "per_analyst", "max_epsilon_per_question", "refresh", "lifetime", "delta", "delta_reserved", "ledger",
)  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """How much may be spent, in all and by each analyst: epsilon in units of the ledger, and delta, if there is one."""

    total: int
    per_analyst: int | None
    delta: Fraction | None
    delta_reserved: Fraction | None
    max_epsilon_per_question: int | None = None
    """What a single question may cost, which no ledger knows of: it is refused before it is charged."""
    refresh: Refresh | None = None
    """How often the amounts come back; None if they are for all time."""
    lifetime: int | None = None
    """What may be spent in all, if they come back."""

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
        has_limit = contract.has("budget", "max_epsilon_per_question")
        most = _amount(contract, "max_epsilon_per_question") if has_limit else None
        return cls(total, per_analyst, delta, reserved, most, *_refresh(contract, total))

    @property
    def allowance(self) -> Allowance:
        """What may be spent, as a ledger counts it: in each period, if there are any."""
        return Allowance(self.total, self.per_analyst, self.refresh, self.lifetime)

    @property
    def caps(self) -> Caps:
        """The same, as a ledger counts it."""
        per_analyst = None if self.per_analyst is None else fraction(self.per_analyst)
        return Caps.of(fraction(self.total), per_analyst, self.delta, self.delta_reserved)


def _refresh(contract: Contract, total: int) -> tuple[Refresh | None, int | None]:
    """Return how often a budget refreshes, and what it may come to in all."""
    if not contract.has("budget", "refresh"):
        if contract.has("budget", "lifetime"):
            raise contract.refuse(
                'lifetime is for a budget that refreshes; leave it out, or write how often, as in refresh = "monthly"',
                "budget",
                "lifetime",
            )
        return None, None
    try:
        refresh = Refresh.read(contract.value("budget", "refresh"))
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "budget", "refresh") from None
    if contract.has("budget", "delta"):
        raise contract.refuse(
            "a budget that refreshes cannot have a delta; leave refresh or delta out", "budget", "refresh"
        )
    lifetime = _amount(contract, "lifetime") if contract.has("budget", "lifetime") else None
    if lifetime is not None and lifetime < total:
        raise contract.refuse("lifetime must not be below total; raise it, or lower the total", "budget", "lifetime")
    return refresh, lifetime


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
