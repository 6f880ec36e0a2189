"""Explaining: what a question would do, without doing it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inbounds.bounds.notation import write_end
from inbounds.query import Query
from inbounds.query.methods.plan import rho_of
from inbounds.results.row_counts import MOST_ROWS
from inbounds.server.basics.person import Person, Role
from inbounds.server.service.amounts import Amount, Size, Whole, format_amount
from inbounds.server.service.service import Service
from inbounds.server.state.open_datasets import Holding

LONGEST_SQL = 20_000

STATED = "Its cost. Not needed if the SQL says it: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) …"


class Owned(BaseModel):
    """A query to derive from answers you already have, for free."""

    model_config = ConfigDict(extra="forbid")
    sql: str = Field(
        min_length=1, max_length=LONGEST_SQL, examples=["SELECT clinic, AVG(age) FROM visits GROUP BY clinic"]
    )
    alone: bool = Field(
        default=False, description="Answer each group separately: less noise per group, but totals may not add up."
    )


class Asking(Owned):
    """A query."""

    epsilon: Amount | None = Field(default=None, description=STATED, examples=["0.5"])
    pooling: Amount | None = Field(
        default=None, description="From 0 to 1. By default it is chosen to minimise the error."
    )
    weights: list[Amount] | None = Field(default=None, max_length=100, description="How several measures share ε.")
    simultaneous: bool = Field(
        default=False,
        description="All intervals of the answer hold at once with the confidence level, instead of each by itself.",
    )


class Explaining(Owned):
    """A query to preview, at an ε or with a wanted error."""

    epsilon: Amount | None = Field(default=None, description=f"{STATED} Or give `error`.", examples=["0.5"])
    error: Size | None = Field(
        default=None,
        description='Instead of `epsilon`: find the least ε with this expected error, such as 20 or "2 %". '
        "The mean error of each measure is then predicted to be at most that.",
    )
    rows: Whole | None = Field(
        default=None, ge=1, le=MOST_ROWS, description="How many rows to assume in each group, for `error`."
    )
    pooling: Amount | None = Field(default=None, description="As for a query.")
    weights: list[Amount] | None = Field(default=None, max_length=100, description="As for a query.")
    simultaneous: bool = Field(default=False, description="As for a query.")

    @model_validator(mode="after")
    def _check_one(self) -> Explaining:
        if self.epsilon is not None and self.error is not None:
            raise ValueError("give epsilon or error, and not both")
        return self

    def settle(self, query: Query) -> tuple[Asking, str | None]:
        """Return the query with its ε; one that was found, with words about the wanted error."""
        facts = self.model_dump(exclude={"epsilon", "error", "rows"})
        if self.error is None:
            return Asking(epsilon=self.epsilon, **facts), None
        found = query.find_epsilon(self.error, rows=self.rows, pooling=self.pooling, weights=self.weights)
        return Asking(epsilon=Decimal(write_end(found.epsilon)), **facts), found.words


class PartOut(BaseModel):
    """How measures that share an ε are answered."""

    measures: str
    epsilon: str
    answers: int
    sensitivity: str
    guarantee: str
    bounds: str
    mechanism: str
    proof: str = Field(
        description="Why the privacy loss is at most ε: a certificate, or the distribution that is sampled."
    )
    expected_noise: str
    expected_errors: dict[str, dict[str, float]] = Field(
        description="The figures behind it: in what sense, and then where; groupings stand in the order of the query."
    )


class ExplanationOut(BaseModel):
    """Preview of a query. It spends no budget and reads no rows."""

    question: str
    epsilon: str
    row_limit: str
    parts: list[PartOut]
    warnings: list[str]
    shown: str | None
    owned: str | None
    useless: str | None = Field(
        default=None,
        description="Why the answer would tell you nothing. Such a query is refused unless sent with `force`.",
    )
    public: str | None = Field(default=None, description="Which part is public knowledge: exact and free.")
    intervals: str | None = Field(
        default=None, description="What to know about the intervals: how many hold at once, and those of quantiles."
    )
    wanted: str | None = Field(
        default=None, description="For a wanted error: the ε that was found, and the errors that are predicted."
    )
    made_of_rows: list[str]
    made_of_columns: dict[str, str]
    left_afterwards: str | None = Field(description="The ε that the analyst would have left; null if there is no cap.")
    fits: bool = Field(description="Whether the budget is sufficient.")
    max_epsilon_per_question: str | None = Field(
        default=None, description="The most ε that one of your queries may cost here."
    )
    too_expensive: str | None = Field(
        default=None, description="Why the query is refused: it costs more than one query may."
    )


def to_query(holding: Holding, asking: Owned) -> Any:
    """Return the question that was sent."""
    query = holding.dataset.sql(asking.sql)
    return query.alone() if asking.alone else query


def explain_question(service: Service, name: str, explaining: Explaining, person: Person) -> ExplanationOut:
    """Return what a question would do: the library's explanation, and what it would leave of the budget."""
    holding = service.holdings.holding(name, person)
    analyst = person.name if person.role is Role.ANALYST else None
    query = to_query(holding, explaining)
    asking, wanted = explaining.settle(query)
    with service.holdings.reading() as ledger:
        explanation = query.explain(
            asking.epsilon,
            pooling=asking.pooling,
            weights=asking.weights,
            analyst=analyst,
            ledger=ledger,
            hidden=service.claims.is_running,
            simultaneous=asking.simultaneous,
        )
        # A charge goes to two accounts, that of all analysts and the analyst's own; the smaller rest counts.
        balances = [ledger.balance(name, who) for who in {None, analyst}]
        rho = rho_of(query.plans(asking.epsilon, pooling=asking.pooling, weights=asking.weights))
        fits = not explanation.epsilon or ledger.fits(name, explanation.epsilon, analyst, rho=rho or None)
    left = [balance.left - explanation.epsilon for balance in balances if balance.left is not None]
    return ExplanationOut(
        question=explanation.question,
        epsilon=format_amount(explanation.epsilon) or "0",
        row_limit=explanation.row_limit,
        parts=[to_part_out(part.data()) for part in explanation.parts],
        warnings=list(explanation.warnings),
        shown=explanation.shown,
        owned=explanation.owned,
        useless=explanation.useless,
        public=explanation.public,
        intervals=explanation.intervals,
        wanted=wanted,
        made_of_rows=list(explanation.made),
        made_of_columns=explanation.from_columns,
        left_afterwards=format_amount(max(Fraction(0), min(left))) if left else None,
        fits=fits,
        max_epsilon_per_question=format_amount(explanation.max_epsilon_per_question),
        too_expensive=explanation.too_expensive,
    )


def to_part_out(part: Mapping[str, Any]) -> PartOut:
    """Return a part of an explanation, without the statement: it names files and tables that are nobody's business."""
    amounts = {name: format_amount(part[name]) for name in ("epsilon", "sensitivity")}
    return PartOut(**{name: part[name] for name in PartOut.model_fields} | amounts)
