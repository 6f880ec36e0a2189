"""Budgets: what is spent and left, and grants of more."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from inbounds.ledger.values.receipt import Balance
from inbounds.server.basics.person import Person, Role
from inbounds.server.basics.problem import Problem
from inbounds.server.service.amounts import Amount, text
from inbounds.server.service.service import Service


class AccountOut(BaseModel):
    """What is spent of a cap, in epsilon, as exact decimals."""

    cap: str | None
    spent: str
    left: str | None
    rho_cap: str | None = None
    rho_spent: str | None = None
    rho_left: str | None = None


class MoreOut(BaseModel):
    """How many more questions like the last one fit."""

    count: int
    epsilon: str


class BudgetOut(BaseModel):
    """What an analyst, and everybody together, has spent and has left."""

    dataset: str
    analyst: str | None
    asked: int = Field(description="How many questions were charged.")
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
    """More budget, or less, on the record."""

    model_config = ConfigDict(extra="forbid")
    amount: Amount
    analyst: str | None = Field(
        default=None, max_length=100, description="One analyst; everybody together if not given."
    )
    note: str = Field(min_length=1, max_length=1000, description="Why, for the record.")


def granted(service: Service, name: str, wanted: Grant, person: Person) -> AccountOut:
    """Grant more, on the record, in the name of whoever grants."""
    holding = service.holdings.holding(name, person)
    analyst = wanted.analyst
    known = service.file.people.get(analyst or "")
    if analyst is not None and (known is None or known.role is not Role.ANALYST or not known.may_see(name)):
        raise Problem("invalid-parameter", "there is no analyst of this name who may ask this dataset; check the name")
    ledger = holding.dataset.ledger
    ledger.grant(name, wanted.amount, analyst, note=f"{wanted.note} (granted by {person.name})")
    return account(ledger.balance(name, analyst))
