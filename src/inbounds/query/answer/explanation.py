"""What will be done for a question, without doing it: nothing is spent, and no row is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import lru_cache
from html import escape
from textwrap import fill
from typing import Any

import sqlglot

from inbounds.bounds.notation import write_end
from inbounds.display.table import Column, TextTable
from inbounds.exact.rational import cut
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.answer.budget_forecast import BudgetForecast
from inbounds.query.columns.derived_column import DerivedKeys
from inbounds.query.methods.contribution_bound import NOTHING_READ, no_limit, row_limit
from inbounds.query.methods.method import Foreseen
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.usefulness import INSIST, too_few, why_useless
from inbounds.query.question.clipping_warnings import clippings_of, warnings_of
from inbounds.query.question.question import Question, derived_columns, sql_of

WIDTH = 80
NOT_TOLD = ("in_words", "certificate")
"""What of a part is not among its data."""

TEXT = re.compile(r"'(?:[^']+|'')*'")
ESCAPED_TEXT = re.compile(r"'(?:[^'\\]+|''|\\.)*'", re.DOTALL)
"""A constant text."""

LONG = 2000
"""A longer one cannot be read: the keys of a column, as a statement lists them."""

ESCAPING = ("clickhouse", "spark")
"""The dialects in which a backslash escapes a quote."""

SHOWN_OF_LONG = 100
"""So many characters of it are shown."""


@dataclass(frozen=True)
class ExplainedPart:
    """How one part of a query will be answered: measures that share epsilon."""

    measures: str
    epsilon: Fraction
    """The cost of this part."""
    answers: int
    """How many numbers will be released."""
    sensitivity: Fraction
    """The most one unit can change: an answer, both sums behind a mean together, or a rank."""
    guarantee: GuaranteeName
    bounds: str
    mechanism: str
    proof: str
    """Why the loss is at most epsilon."""
    expected_noise: str
    """The expected error from noise; it does not account for the contribution bound or for clamping."""
    expected_errors: Foreseen
    """The figures behind it: in what sense, and then where, for groupings in the order in which they are asked for."""
    statement: str
    in_words: dict[str, str] = field(repr=False)
    """What the text says in place of a bare number or name."""
    certificate: Certificate | None = field(default=None, repr=False, compare=False)
    """The proof for others to check, where there is one: `part.certificate.to_json()` (docs/check.md)."""

    @classmethod
    def of(cls, plan: Plan, dialect: str) -> ExplainedPart:
        """Explain a plan."""
        return cls(
            measures=str(plan.question.measure),
            epsilon=plan.epsilon,
            answers=len(plan.rows) * len(plan.question.measure.answer_names),
            sensitivity=plan.answering.sensitivity,
            guarantee=plan.answering.guarantee,
            bounds=plan.answering.possible(),
            mechanism=plan.answering.mechanism(),
            proof=plan.answering.proof(),
            expected_noise=plan.answering.expected_noise(),
            expected_errors=plan.answering.foreseen(),
            statement=_format_statement(plan.sql, dialect),
            in_words={
                "answers": _describe_answers(plan),
                "sensitivity": _describe_sensitivity(plan),
                "guarantee": _describe_guarantee(plan),
            },
            certificate=plan.answering.certificate,
        )

    def data(self) -> dict[str, Any]:
        """Return it as a dictionary: numbers as numbers, names as names, and the rest as text."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in NOT_TOLD}

    def facts(self) -> dict[str, str]:
        """Return what is said, by what it is called, without the statement."""
        texts = {**self.data(), **self.in_words}
        left_out = ("measures", "epsilon", "expected_errors", "statement")
        return {name.replace("_", " "): str(text) for name, text in texts.items() if name not in left_out}


@dataclass(frozen=True)
class Explanation:
    """The preview of a query, part by part."""

    question: str
    epsilon: Fraction
    """The total cost."""
    row_limit: str
    """The contribution bound, and how it affects the answers."""
    parts: tuple[ExplainedPart, ...]
    warnings: tuple[str, ...] = ()
    """Comparisons with values that never occur."""
    shown: str | None = None
    """What is computed from the released values, for free."""
    owned: str | None = None
    """Whether the answer follows for free from earlier answers of the analyst, if one was named."""
    made: tuple[str, ...] = ()
    """The columns of per-unit subqueries and public tables, with their bounds."""
    from_columns: dict[str, str] = field(default_factory=dict)
    """The bounds or categories of derived columns."""
    lasting: BudgetForecast | None = None
    """The cost in rho, and how many such queries the budget allows, if it has a delta."""
    useless: str | None = None
    """Why the answer would tell nothing, and is refused unless `force` is given."""
    public: str | None = None
    """What is public knowledge, exact and free."""
    intervals: str | None = None
    """What there is to know about the intervals: how many hold at once, and those of quantiles."""
    max_epsilon_per_question: Fraction | None = None
    """What a single query may cost, if there is a limit."""
    too_expensive: str | None = None
    """Why the query is refused: it costs more than that."""

    @classmethod
    def of(
        cls,
        plans: Sequence[Plan],
        dialect: str,
        owned: str | None = None,
        shown: str | None = None,
        lasting: BudgetForecast | None = None,
        asked: Sequence[Question] = (),
    ) -> Explanation:
        """Explain the plans of a question; with `asked`, of one that asks for what is public as well."""
        questions = [plan.question for plan in plans]
        whole = list(asked) or questions
        cost = sum((plan.epsilon for plan in plans), Fraction(0))
        parts = tuple(ExplainedPart.of(plan, dialect) for plan in plans)
        limit = (row_limit(questions) or no_limit(questions[0])) if plans else NOTHING_READ
        warnings = tuple(dict.fromkeys((*warnings_of(questions), *too_few(plans), *clippings_of(whole))))
        inputs, derived = _describe_inputs(whole[0]), _describe_derived_columns(whole)
        useless = why_useless(plans)
        return cls(sql_of(whole), cost, limit, parts, warnings, shown, owned, inputs, derived, lasting, useless)

    @classmethod
    def together(
        cls,
        parts: Sequence[Explanation],
        question: str,
        shown: str,
        lasting: BudgetForecast | None,
        public: Sequence[str],
        impossible: Sequence[str],
    ) -> Explanation:
        """Explain several queries that are asked together."""

        def each(of: Iterable[str | None]) -> list[str]:
            return list(dict.fromkeys(one for one in of if one))

        limits = each(part.row_limit for part in parts) or [NOTHING_READ]
        return cls(
            question,
            sum((part.epsilon for part in parts), Fraction(0)),
            " ".join(limits),
            tuple(explained for part in parts for explained in part.parts),
            tuple(each(warning for part in parts for warning in part.warnings)),
            shown,
            None,
            tuple(each(made for part in parts for made in part.made)),
            {name: bounds for part in parts for name, bounds in part.from_columns.items()},
            lasting,
            next(iter([*each(part.useless for part in parts), *impossible]), None),
            " ".join(dict.fromkeys(public)) or None,
        )

    @property
    def statement(self) -> str:
        """The statements that will run, one after another."""
        return ";\n".join(dict.fromkeys(part.statement for part in self.parts))

    def data(self) -> dict[str, Any]:
        """Return the explanation as a dictionary, with its parts as dictionaries in a list."""
        lasting = None if self.lasting is None else self.lasting.data()
        return {**vars(self), "parts": [part.data() for part in self.parts], "lasting": lasting}

    def _blocks(self) -> list[dict[str, str]]:
        """Return what is said, by what it is called: of all together, then of each part, without statements."""
        most = self.max_epsilon_per_question
        allowed = "" if most is None else f"; a query may cost at most {write_end(most)}"
        cost = f"{write_end(self.epsilon)} in total{allowed}"
        lines = {
            "question": self.question,
            "cost (ε)": cost,
            "rho": self.lasting,
            "shown": self.shown,
            "too expensive": self.too_expensive,
            "refused": self.useless and f"{self.useless}; {INSIST}",
            "warning": " ".join(self.warnings),
            "public": self.public,
            "input columns": "; ".join(self.made),
            "intervals": self.intervals,
            "derived columns": "; ".join(f"{name} in {bounds}" for name, bounds in self.from_columns.items()),
            "free": self.owned and f"{self.owned}: ask with an epsilon of 0",
        }
        head = {name: str(text) for name, text in lines.items() if text}
        if len(self.parts) == 1:
            return [{**head, **self.parts[0].facts(), "row limit": self.row_limit}]
        blocks = [{**head, "row limit": self.row_limit}]
        for number, part in enumerate(self.parts, 1):
            title = {f"part {number}": part.measures, "cost (ε)": f"{write_end(part.epsilon)} for this part"}
            blocks.append({**title, **part.facts()})
        return blocks

    def __str__(self) -> str:
        blocks = [
            "\n".join(fill(f"{name:<16}{text}", WIDTH, subsequent_indent=" " * 16) for name, text in block.items())
            for block in self._blocks()
        ]
        return "\n\n".join(blocks) + (f"\nstatement\n{self.statement}" if self.parts else "")

    def _repr_html_(self) -> str:
        columns = [Column("", left=True), Column("", left=True)]
        tables = (TextTable(columns, [[*pair] for pair in block.items()]).html() for block in self._blocks())
        return f"{''.join(tables)}<pre>{escape(self.statement)}</pre>"


@lru_cache(256)
def _format_statement(statement: str, dialect: str) -> str:
    """Return a statement over several lines; reading it takes longer than all the rest of an explanation."""
    short = (ESCAPED_TEXT if dialect in ESCAPING else TEXT).sub(_cut_text, statement)
    return sqlglot.parse_one(short, dialect=dialect).sql(dialect=dialect, pretty=True)


def _cut_text(constant: re.Match[str]) -> str:
    """Return a constant text in quotes; of a long one, how it begins."""
    if len(constant[0]) <= LONG:
        return constant[0]
    start = constant[0][1:SHOWN_OF_LONG].replace("'", "").replace("\\", "")
    return f"'{start}… and {len(constant[0]) - SHOWN_OF_LONG:,} more characters'"


def _describe_inputs(question: Question) -> tuple[str, ...]:
    relation = question.table.relation
    return () if relation is None else tuple(relation.describe())


def _describe_derived_columns(questions: Sequence[Question]) -> dict[str, str]:
    return {
        name: cut(", ".join(map(repr, column.keys))) if isinstance(column, DerivedKeys) else column.bounds.brief()
        for name, column in derived_columns(questions).items()
    }


def _describe_answers(plan: Plan) -> str:
    count = len(plan.rows) * len(plan.question.measure.answer_names)
    if count == 1:
        return "1"
    if plan.answering.divided is not None:
        return f"{count}, at ε = {float(plan.epsilon):g} together{plan.answering.divided}"
    if plan.question.table.rows_are_units:
        each = "each" if len(plan.question.measure.answer_names) == 1 else "those of each group"
        return f"{count}, {each} at ε = {float(plan.epsilon):g}: each row is in one group only"
    return f"{count}, at ε = {float(plan.epsilon):g} together: one unit can change several groups"


def _describe_sensitivity(plan: Plan) -> str:
    table, answering = plan.question.table, plan.answering
    single = "one row" if table.owner is None else f"the one row of a {table.owner}"
    who = single if table.rows_are_units else f"all rows of one {table.unit}, weighted as at most {table.limit}"
    return f"{float(answering.sensitivity):g}{answering.changed}, from {who}"


def _describe_guarantee(plan: Plan) -> str:
    if plan.answering.guarantee == "standard":
        return "standard: one unit changes one released number"
    return "distance: one unit can change several released numbers, each losing in proportion to its change"
