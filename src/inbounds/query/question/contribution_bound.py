"""What the row limit does to an answer, in words: no figure of noise can tell what was cut off."""

from __future__ import annotations

from collections.abc import Sequence

from inbounds.query.question.measure import CountKeys
from inbounds.query.question.question import Question

NO_LIMIT = "none: each row is a unit of its own"
NOTHING_READ = "none: no row is read"


def no_limit(question: Question) -> str:
    """Say why no row limit is in force."""
    table = question.table
    return NO_LIMIT if table.owner is None else f"none: each row is made of all rows of one {table.owner}"


NOT_IN_NOISE = "Neither the expected noise nor an interval includes that."

WEIGHED_ANEW = (
    "A question about fewer rows weighs them anew, so answers to different questions need not agree: ask for numbers "
    "that must agree in one question, with GROUP BY or ROLLUP."
)

ASK = "Ask the custodian how many rows are beyond the limit; inbounds check shows it to them."


def row_limit(questions: Sequence[Question]) -> str | None:
    """Say that a row limit is in force, and what it does; None where each row is a unit of its own."""
    if questions[0].table.rows_are_units:
        return None
    uncut = [question for question in questions if _takes_nothing(question)]
    limited = [question for question in questions if question not in uncut]
    told = [_nothing_cut(question) for question in uncut]
    if limited:
        cuts = dict.fromkeys(_cut_groups(one) if one.measure.counts_units else _cut_rows(one) for one in limited)
        told += ["A row limit is in force (contribution bound): " + " ".join(cuts)]
        told += dict.fromkeys(one.measure.under_limit for one in limited)
        told += [NOT_IN_NOISE] if any(one.measure.has_noise for one in limited) else []
        told += [WEIGHED_ANEW, ASK]
    return " ".join(told)


def counts_everything(question: Question) -> bool:
    """Return whether every unit counts in full, in every group that it has rows in."""
    return question.table.rows_are_units or (question.sets is None and _takes_nothing(question))


def _takes_nothing(question: Question) -> bool:
    measure, table = question.measure, question.table
    if question.sets is not None and measure.has_totals:
        return measure.counts_units
    return measure.counts_units and question.cells * measure.parts(table) <= table.limit


def _nothing_cut(question: Question) -> str:
    if question.sets is not None:
        return f"Each {question.table.unit} counts once in all, shared over the groups that it has rows in."
    if isinstance(question.measure, CountKeys):
        return f"The row limit takes nothing away here: each {question.table.unit} counts in every key that it has."
    where = "in each group that it has rows in" if question.groups else "however many rows it has"
    return f"The row limit takes nothing away here: each {question.table.unit} counts once, {where}."


def _cut_groups(question: Question) -> str:
    unit, limit = question.table.unit, question.table.limit
    of = f"keys of {question.measure.column}" if isinstance(question.measure, CountKeys) else "groups"
    return f"a {unit} with rows in more than {limit} {of} counts for less in each, and for {limit} in all of them."


def _cut_rows(question: Question) -> str:
    unit, limit = question.table.unit, question.table.limit
    return (
        f"of the rows that this question is about, at most {limit} with the same {unit} count in full; where there are "
        f"more, each of them counts for less, so that together they count as {limit}."
    )
