"""Tools that preview, practise and ask: the last of them is the only one that spends anything."""

from __future__ import annotations

from pydantic import BaseModel, Field, model_validator

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.amount import format_amount, units
from inbounds.gateways.assistants.answer_shape import AnswerFields, describe_cost, draw_answer, to_answer_fields
from inbounds.gateways.assistants.looking import OfDataset
from inbounds.gateways.assistants.text import list_facts, quote
from inbounds.gateways.assistants.tool import Reply, Tool, Visit
from inbounds.gateways.paid_once import Question, is_kept

LONGEST_SQL = 20_000


class OfQuery(OfDataset):
    """A query of a dataset."""

    sql: str = Field(
        description="One SELECT with aggregates, such as SELECT clinic, AVG(age) FROM visits GROUP BY clinic.",
        min_length=1,
        max_length=LONGEST_SQL,
    )


class Previewed(OfQuery):
    """A query to preview."""

    epsilon: float | None = Field(
        default=None, gt=0, le=1e6, allow_inf_nan=False, description="The cost; or give error."
    )
    error: str | None = Field(
        default=None,
        max_length=40,
        description='Instead of epsilon: find the least epsilon with this expected error, such as "20" or "2 %".',
    )
    rows: int | None = Field(
        default=None, ge=1, description="How many rows to assume in each group, where the error depends on that."
    )

    @model_validator(mode="after")
    def _check_one(self) -> Previewed:
        if (self.epsilon is None) == (self.error is None):
            raise ValueError("give epsilon or error, and not both")
        return self


class Practised(OfQuery):
    """A query to practise."""

    epsilon: float = Field(gt=0, le=1e6, allow_inf_nan=False, description="The epsilon to practise with; not charged.")


class Asked(OfQuery):
    """A query to ask."""

    epsilon: float = Field(
        ge=0,
        le=1e6,
        allow_inf_nan=False,
        description="The cost, such as 0.1. A larger epsilon has less noise, and uses up more of the budget. With 0, "
        "only what follows from earlier answers is returned, for free.",
    )
    edition: str = Field(
        default="",
        max_length=100,
        description="Leave empty. Another edition of the same query, such as 2026-12, is charged again and drawn anew; "
        "give one only if the person asks for new numbers.",
    )


class Preview(BaseModel):
    """What a query would cost and tell."""

    question: str
    epsilon: str = Field(description="What it would cost; 0 if it is public knowledge.")
    already_paid: bool = Field(description="True if asking it at this epsilon is free, since it was paid before.")
    fits: bool = Field(description="Whether the budget is sufficient.")
    left_afterwards: str | None
    refused_here: str | None = Field(default=None, description="Why it would be refused by the caps of this session.")
    expected_noise: list[str] = Field(description="For each part, the expected size of the noise, in words.")
    intervals: str | None = None
    wanted: str | None = None
    public: str | None = None
    useless: str | None = Field(default=None, description="Why the answer would tell nothing; then it is refused.")
    owned: str | None = Field(default=None, description="Whether it follows from earlier answers: ask with epsilon 0.")
    row_limit: str | None = None
    warnings: list[str]


def _preview(visit: Visit, arguments: Previewed) -> Reply:
    dataset = visit.connection.dataset(arguments.dataset)
    if arguments.error is None:
        amount, wanted = units(arguments.epsilon or 0), None
    else:
        found = dataset.sql(arguments.sql).find_epsilon(arguments.error, rows=arguments.rows)
        amount, wanted = units(found.epsilon), found.words
    facts = dataset.sql(arguments.sql).explain(format_amount(amount)).data()
    is_public = not float(facts["epsilon"])
    request_id = Question(dataset, arguments.sql, format_amount(amount)).request_id(facts, amount)
    paid = not is_public and is_kept(dataset, request_id)
    fields = Preview(
        question=facts["question"],
        epsilon=facts["epsilon"],
        already_paid=paid,
        fits=paid or facts["fits"],
        left_afterwards=facts["left_afterwards"],
        refused_here=None if paid or is_public else _why_refused(visit, amount),
        expected_noise=[f"{part['measures']}: {part['expected_noise']}" for part in facts["parts"]],
        wanted=wanted,
        **{name: facts.get(name) for name in ("intervals", "public", "useless", "owned", "row_limit")},
        warnings=facts["warnings"],
    )
    return Reply(_write_preview(fields), fields)


def _why_refused(visit: Visit, amount: int) -> str | None:
    """Say which cap of this program a question would exceed."""
    try:
        visit.account.refuse_excess(amount)
    except InvalidParameter as problem:
        return str(problem)
    return None


def _write_preview(fields: Preview) -> str:
    cost = "0: public knowledge is free" if fields.epsilon == "0" else fields.epsilon
    return list_facts(
        [
            ("question", quote(fields.question)),
            (
                "cost (epsilon)",
                f"0: paid before at {fields.epsilon}; asking again is free" if fields.already_paid else cost,
            ),
            ("fits the budget", "yes" if fields.fits else "no"),
            ("left afterwards", None if fields.already_paid else fields.left_afterwards),
            ("refused here", fields.refused_here),
            ("wanted error", fields.wanted),
            *(("expected noise", noise) for noise in fields.expected_noise),
            ("intervals", fields.intervals),
            ("public", fields.public),
            ("would tell nothing", fields.useless),
            ("follows from earlier answers", fields.owned and f"{fields.owned} (ask with epsilon 0, for free)"),
            ("note", fields.row_limit),
            *(("warning", warning) for warning in fields.warnings),
            ("note", "This was a preview: nothing was charged, and no row was read."),
        ]
    )


def _practise(visit: Visit, arguments: Practised) -> Reply:
    query = visit.connection.dataset(arguments.dataset).sql(arguments.sql)
    return _reply(to_answer_fields(query.practise(format_amount(units(arguments.epsilon))), arguments.sql, "0"))


def _ask(visit: Visit, arguments: Asked) -> Reply:
    dataset = visit.connection.dataset(arguments.dataset)
    if not arguments.epsilon:
        owned = dataset.sql(arguments.sql).owned()
        if owned is None:
            raise InvalidQuestion(
                "this does not follow from earlier answers, so it is not free; ask with an epsilon above 0"
            )
        return _reply(to_answer_fields(owned, arguments.sql, "0"))
    paid = Question(dataset, arguments.sql, arguments.epsilon, arguments.edition).ask(visit.account)
    return _reply(to_answer_fields(paid.answer, arguments.sql, format_amount(paid.charged)))


def _reply(fields: AnswerFields) -> Reply:
    return Reply(f"{draw_answer(fields)}\n\n{describe_cost(fields)}", fields)


TOOLS = (
    Tool(
        "explain",
        "Preview a query (free)",
        "Preview a query: what it would cost, how large the noise is expected to be, whether the budget is enough, and "
        "what is wrong with it. Free: nothing is charged and no row is read. Give epsilon, or error to find the least "
        "epsilon that is accurate enough. Use it before ask.",
        Previewed,
        Preview,
        _preview,
    ),
    Tool(
        "practise",
        "Try a query on made-up rows (free)",
        "Run a query on made-up rows that fit the contract. Free: nothing is charged, and the answer tells nothing "
        "about anybody. Use it to see the shape of an answer; never report its numbers.",
        Practised,
        AnswerFields,
        _practise,
    ),
    Tool(
        "ask",
        "Run a query (spends privacy budget)",
        "Run a query and return its private answer. THIS SPENDS epsilon of the person's privacy budget, which is never "
        "given back; the charge is made before the data are read. The same query at the same epsilon is free when "
        "repeated, and has the same answer. Every number has random noise, so that no single person's rows can be "
        "recognised: report it with its interval. Rows cannot be read. Preview with explain first, use the least "
        "epsilon that is accurate enough, and do not split one question into many.",
        Asked,
        AnswerFields,
        _ask,
        spends=True,
    ),
)
