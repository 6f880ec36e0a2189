"""What the row limit does to an answer, in words: no figure of noise can tell what was cut off."""

from __future__ import annotations

from inbounds.query.question import Question

NO_LIMIT = "none: each row is a unit of its own"

NOT_IN_NOISE = "The expected noise does not include that."

ASK = "Ask the custodian how many rows are beyond the limit."


def row_limit(question: Question) -> str | None:
    """Say that a row limit is in force, and what it does; None where each row is a unit of its own."""
    if question.table.rows_are_units:
        return None
    if question.measure.counts_units and question.cells <= question.table.limit:
        return _nothing_cut(question)
    cut = _cut_groups(question) if question.measure.counts_units else _cut_rows(question)
    noise = f" {NOT_IN_NOISE}" if question.measure.has_noise else ""
    return f"A row limit is in force (contribution bound): {cut} {question.measure.under_limit}{noise} {ASK}"


def _nothing_cut(question: Question) -> str:
    where = "in each group that it has rows in" if question.groups else "however many rows it has"
    return f"The row limit takes nothing away here: each {question.table.unit} counts once, {where}."


def _cut_groups(question: Question) -> str:
    unit, limit = question.table.unit, question.table.limit
    return f"a {unit} with rows in more than {limit} groups is weighed down to {limit} in all of them together."


def _cut_rows(question: Question) -> str:
    unit, limit = question.table.unit, question.table.limit
    return (
        f"at most {limit} rows with the same {unit} count in full, and more of them are weighed down to {limit} "
        "together."
    )
