"""Budgets: what is spent and left, and grants of more."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from inbounds.ledger.values.receipt import Balance
from inbounds.server.basics.person import Person, Role
from inbounds.server.basics.problem import Problem
from inbounds.server.service.amounts import Amount, text
from inbounds.server.service.service import Service


class AccountOut(BaseModel):
    """An account: cap, spent and left, in ε, as exact decimals."""

    cap: str | None
    spent: str
    left: str | None
    rho_cap: str | None = None
    rho_spent: str | None = None
    rho_left: str | None = None


class MoreOut(BaseModel):
    """How many more queries like the last one the budget allows."""

    count: int
    epsilon: str


class BudgetOut(BaseModel):
    """The privacy budget of a dataset: of one analyst, and of all analysts together."""

    dataset: str
    analyst: str | None
    asked: int = Field(description="Number of queries charged.")
    total: AccountOut
    own: AccountOut | None
    more_like_the_last: MoreOut | None


def account(balance: Balance) -> AccountOut:
    """Return a balance as the interface has it."""
    return AccountOut(
        cap=text(balance.cap),
        spent=text(balance.spent) or "0",
        left=text(balance.left),
        rho_cap=text(balance.rho_cap),
        rho_spent=text(balance.rho_spent),
        rho_left=text(balance.rho_left),
    )


def budget_of(service: Service, name: str, person: Person, analyst: str | None) -> BudgetOut:
    """Return what an analyst, or everybody together, has asked and spent, and has left."""
    service.holdings.holding(name, person)  # which enters it in the ledger, if it is new
    with service.holdings.reading() as ledger:
        repeats = ledger.repeats(name, analyst)
        return BudgetOut(
            dataset=name,
            analyst=analyst,
            asked=ledger.charges(name, analyst),
            total=account(ledger.balance(name)),
            own=None if analyst is None else account(ledger.balance(name, analyst)),
            more_like_the_last=None
            if repeats is None
            else MoreOut(count=repeats.count, epsilon=text(repeats.last.amount) or "0"),
        )


class Grant(BaseModel):
    """A budget grant, recorded in the ledger. A negative amount reduces the budget."""

    model_config = ConfigDict(extra="forbid")
    amount: Amount
    analyst: str | None = Field(
        default=None, max_length=100, description="The analyst to grant it to; all analysts together if omitted."
    )
    note: str = Field(min_length=1, max_length=1000, description="The reason, recorded in the ledger.")


def granted(service: Service, name: str, wanted: Grant, person: Person) -> AccountOut:
    """Grant more, on the record, in the name of whoever grants."""
    holding = service.holdings.holding(name, person)
    analyst = wanted.analyst
    known = service.file.people.get(analyst or "")
    if analyst is not None and (known is None or known.role is not Role.ANALYST or not known.may_see(name)):
        raise Problem("invalid-parameter", "no analyst of this name has access to this dataset; check the name")
    ledger = holding.dataset.ledger
    ledger.grant(name, wanted.amount, analyst, note=f"{wanted.note} (granted by {person.name})")
    return account(ledger.balance(name, analyst))
