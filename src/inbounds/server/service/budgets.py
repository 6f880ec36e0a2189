"""Budgets: what is spent and left, and grants of more."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from inbounds.ledger.values.receipt import Balance
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.service.amounts import Amount, format_amount
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


class PeriodOut(BaseModel):
    """The month, quarter or year that caps and spending are of, in UTC, if the budget refreshes."""

    name: str
    refresh: str = Field(description="monthly, quarterly or yearly")
    begins: str
    until: str = Field(description="The day on which the budget refreshes.")
    adding_up: str = Field(description="What all periods of a year add up to, in words.")


class BudgetOut(BaseModel):
    """The privacy budget of a dataset: of one analyst, and of all analysts together."""

    dataset: str
    analyst: str | None
    asked: int = Field(description="Number of queries charged.")
    total: AccountOut
    own: AccountOut | None
    more_like_the_last: MoreOut | None
    period: PeriodOut | None = Field(default=None, description="The current period, if the budget refreshes.")
    lifetime: AccountOut | None = Field(
        default=None, description="What all periods together have spent and may spend, if the budget refreshes or did."
    )


def to_account_out(balance: Balance) -> AccountOut:
    """Return a balance as the interface has it."""
    return AccountOut(
        cap=format_amount(balance.cap),
        spent=format_amount(balance.spent) or "0",
        left=format_amount(balance.left),
        rho_cap=format_amount(balance.rho_cap),
        rho_spent=format_amount(balance.rho_spent),
        rho_left=format_amount(balance.rho_left),
    )


def budget_of(service: Service, name: str, person: Person, analyst: str | None) -> BudgetOut:
    """Return what an analyst, or everybody together, has asked and spent, and has left."""
    service.holdings.holding(name, person)  # which enters it in the ledger, if it is new
    with service.holdings.reading() as ledger:
        repeats, total = ledger.repeats(name, analyst), ledger.balance(name)
        adding_up = ledger.allowance(name).adding_up
        return BudgetOut(
            dataset=name,
            analyst=analyst,
            asked=ledger.charges(name, analyst),
            total=to_account_out(total),
            period=None if total.period is None else PeriodOut(**total.period.data(), adding_up=adding_up or ""),
            lifetime=None if total.lifetime is None else to_account_out(total.lifetime),
            own=None if analyst is None else to_account_out(ledger.balance(name, analyst)),
            more_like_the_last=None
            if repeats is None
            else MoreOut(count=repeats.count, epsilon=format_amount(repeats.last.amount) or "0"),
        )


class Grant(BaseModel):
    """A budget grant, recorded in the ledger. A negative amount reduces the budget."""

    model_config = ConfigDict(extra="forbid")
    amount: Amount
    analyst: str | None = Field(
        default=None, max_length=100, description="The analyst to grant it to; all analysts together if omitted."
    )
    note: str = Field(min_length=1, max_length=1000, description="The reason, recorded in the ledger.")
    lifetime: bool = Field(
        default=False,
        description="Of a budget that refreshes: raise what all periods together may spend, instead of this one.",
    )


def grant_budget(service: Service, name: str, grant: Grant, person: Person) -> AccountOut:
    """Grant more, on the record, in the name of whoever grants."""
    holding = service.holdings.holding(name, person)
    analyst = grant.analyst
    if analyst is not None and analyst not in {person.name for person in service.file.analysts_of(name)}:
        raise Problem("invalid-parameter", "no analyst of this name has access to this dataset; check the name")
    ledger = holding.dataset.ledger
    note = f"{grant.note} (granted by {person.name})"
    ledger.grant(name, grant.amount, analyst, note=note, lifetime=grant.lifetime)
    balance = ledger.balance(name, analyst)
    return to_account_out(balance.lifetime if grant.lifetime and balance.lifetime is not None else balance)
