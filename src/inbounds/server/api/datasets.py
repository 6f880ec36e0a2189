"""Datasets: what can be asked, what is left to spend, and what a question would do, for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from inbounds.ledger.receipt import Balance
from inbounds.query.asking import rho_of
from inbounds.query.column import Column, Keys
from inbounds.query.made import Made, MadeKeys
from inbounds.server.api.amounts import Amount, text
from inbounds.server.api.door import Serving, allowed, refusals
from inbounds.server.api.planning import planned
from inbounds.server.holdings import Holding
from inbounds.server.person import Action, Person, Role
from inbounds.server.problem import Problem
from inbounds.server.service import Service

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])

Name = Annotated[str, Path(description="The name of a dataset.", min_length=1, max_length=200)]
Seeing = Annotated[Person, allowed(Action.SEE_DATASET)]
LONGEST_SQL = 20_000


class ColumnOut(BaseModel):
    """A column that can be asked about."""

    name: str
    bounds: str | None = Field(default=None, description="The possible values of a column of numbers or days.")
    keys: list[str | int | bool] | None = Field(default=None, description="The public categories of a column of keys.")
    made_of: str | None = Field(default=None, description="The expression that it is made of, if it is not stored.")


class TableOut(BaseModel):
    """A table that can stand after FROM."""

    name: str
    public: bool = Field(description="Public tables are not protected; they can be joined by their key.")
    unit: str | None = Field(description="The column that tells whose rows they are; 'row' if each is somebody else's.")
    key: str | None = Field(default=None, description="The key of a public table.")
    max_rows_per_unit: int | None = None
    columns: list[ColumnOut]


class DatasetOut(BaseModel):
    """The public description of a dataset."""

    name: str
    tables: list[TableOut]
    tick: float = Field(description="Answers leave so many seconds after a question, or at a multiple of it.")


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


class Owned(BaseModel):
    """A question, whatever it costs: answers that somebody has may tell it for nothing."""

    model_config = ConfigDict(extra="forbid")
    sql: str = Field(
        min_length=1, max_length=LONGEST_SQL, examples=["SELECT clinic, AVG(age) FROM visits GROUP BY clinic"]
    )
    alone: bool = Field(default=False, description="Each group by itself: less noise in each, and sums that drift.")


class Asking(Owned):
    """A question."""

    epsilon: Amount
    pooling: Amount | None = Field(default=None, description="From 0 to 1, instead of chosen for the least error.")
    weights: list[Amount] | None = Field(
        default=None, max_length=100, description="How several measures divide epsilon."
    )


class PartOut(BaseModel):
    """How measures that share epsilon are answered."""

    measures: str
    epsilon: str
    answers: int
    sensitivity: str
    guarantee: str
    bounds: str
    mechanism: str
    proof: str = Field(description="Why the loss is at most epsilon: a certificate, or the law that is drawn from.")
    expected_noise: str


class ExplanationOut(BaseModel):
    """What will be done for a question; nothing is spent for it, and no row is looked at."""

    question: str
    epsilon: str
    row_limit: str
    parts: list[PartOut]
    warnings: list[str]
    shown: str | None
    owned: str | None
    useless: str | None = Field(
        default=None, description="Why it would tell nothing, and is refused unless it is asked with force."
    )
    public: str | None = Field(default=None, description="What of it is public knowledge: exact, and free.")
    made_of_rows: list[str]
    made_of_columns: dict[str, str]
    left_afterwards: str | None = Field(
        description="What the analyst would have left of epsilon, if anything is capped."
    )
    fits: bool = Field(description="Whether there is enough left.")


@router.get("", responses=refusals())
async def datasets(service: Serving, person: Seeing) -> list[DatasetOut]:
    """List the datasets that are yours to ask."""
    names = [name for name in service.holdings.names if person.may_see(name)]
    found = await run_in_threadpool(lambda: [service.holdings.holding(name, person) for name in names])
    return [described(one) for one in found]


@router.get("/{name}", responses=refusals("not-found", "dataset-unavailable"))
async def dataset(name: Name, service: Serving, person: Seeing) -> DatasetOut:
    """Describe a dataset: its tables and columns, their bounds and keys.  All of it is public."""
    return described(await run_in_threadpool(service.holdings.holding, name, person))


@router.get("/{name}/budget", responses=refusals("not-found", "ledger-unavailable"))
async def budget(
    name: Name,
    service: Serving,
    person: Seeing,
    analyst: Annotated[str | None, Query(max_length=200, description="For the custodian: whose.")] = None,
) -> BudgetOut:
    """Tell what is spent and what is left: yours, and of everybody together."""
    if person.role is Role.ANALYST and analyst not in (None, person.name):
        raise Problem("not-allowed", "an analyst sees no other analyst's budget; leave analyst out")
    who = person.name if person.role is Role.ANALYST else analyst
    return await run_in_threadpool(budget_of, service, name, person, who)


@router.post(
    "/{name}/explain",
    responses=refusals(
        "not-found", "invalid-question", "invalid-parameter", "dataset-unavailable", "too-many-statements"
    ),
)
async def explain(
    name: Name, asking: Asking, request: Request, service: Serving, person: Annotated[Person, allowed(Action.EXPLAIN)]
) -> ExplanationOut:
    """Say what a question would do: cost, mechanism, expected noise, what is left afterwards.  It is free."""
    return await planned(request, person, explained, service, name, asking, person)


def described(holding: Holding) -> DatasetOut:
    """Return the public description of a dataset: nothing of where it is."""
    tables = holding.dataset.tables
    found = [
        TableOut(
            name=name,
            public=False,
            unit=table.unit,
            max_rows_per_unit=table.limit,
            columns=[_column(one) for one in table.columns.values()],
        )
        for name, table in tables.private.items()
    ]
    for name, public in tables.public.items():
        columns = [_column(one) for one in public.columns.values()]
        found.append(TableOut(name=name, public=True, unit=None, key=public.key, columns=columns))
    return DatasetOut(name=holding.name, tables=found, tick=holding.tick)


def _column(column: Column) -> ColumnOut:
    made = str(column.formula) if isinstance(column, Made | MadeKeys) else None
    if isinstance(column, Keys):
        return ColumnOut(name=column.name, keys=list(column.keys), made_of=made)
    return ColumnOut(name=column.name, bounds=column.bounds.brief(), made_of=made)


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


def asked(holding: Holding, asking: Owned) -> Any:
    """Return the question that was sent."""
    query = holding.dataset.sql(asking.sql)
    return query.alone() if asking.alone else query


def explained(service: Service, name: str, asking: Asking, person: Person) -> ExplanationOut:
    """Return what a question would do."""
    holding = service.holdings.holding(name, person)
    analyst = person.name if person.role is Role.ANALYST else None
    query = asked(holding, asking)
    with service.holdings.reading() as ledger:
        found = query.explain(
            asking.epsilon,
            pooling=asking.pooling,
            weights=asking.weights,
            analyst=analyst,
            ledger=ledger,
            hidden=service.claims.is_running,
        )
        balances = [ledger.balance(name, who) for who in {None, analyst}]
        rho = rho_of(query.plans(asking.epsilon, pooling=asking.pooling, weights=asking.weights))
        fits = not found.epsilon or ledger.fits(name, found.epsilon, analyst, rho=rho or None)
    left = [one.left - found.epsilon for one in balances if one.left is not None]
    return ExplanationOut(
        question=found.question,
        epsilon=text(found.epsilon) or "0",
        row_limit=found.row_limit,
        parts=[part_out(part.data()) for part in found.parts],
        warnings=list(found.warnings),
        shown=found.shown,
        owned=found.owned,
        useless=found.useless,
        public=found.public,
        made_of_rows=list(found.made),
        made_of_columns=found.from_columns,
        left_afterwards=text(max(Fraction(0), min(left))) if left else None,
        fits=fits,
    )


def part_out(part: Mapping[str, Any]) -> PartOut:
    """Return a part of an explanation, without the statement: it names files and tables that are nobody's business."""
    told = {name: part[name] for name in PartOut.model_fields}
    return PartOut(**{**told, "epsilon": text(part["epsilon"]), "sensitivity": text(part["sensitivity"])})
