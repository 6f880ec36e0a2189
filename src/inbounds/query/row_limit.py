"""What the row limit does to an answer, in words: no figure of noise can tell what was cut off."""

from __future__ import annotations

from inbounds.query.measure import Count, CountUnits, Sum
from inbounds.query.question import Question

NO_LIMIT = "none: each row is a unit of its own"

COMPARE = (
    "The expected noise does not include that; the custodian can compare with the real data without releasing anything."
)


def row_limit(question: Question) -> str | None:
    """Say that a row limit is in force, and what it does; None where each row is a unit of its own."""
    table, measure = question.table, question.measure
    if table.rows_are_units:
        return None
    if isinstance(measure, CountUnits):
        return _units(question)
    if isinstance(measure, Count):
        so = "So this is a count of weighed rows, which can be far below the number of rows."
    elif isinstance(measure, Sum):
        so = "So this is a sum over weighed rows, which can be far from the sum over all rows."
    else:
        so = f"So those with more rows count for less here than in a {measure.title} over all rows."
    return (
        f"A row limit is in force (contribution bound): at most {table.limit} rows with the same {table.unit} count in "
        f"full, and more of them are weighed down to {table.limit} together. {so} {COMPARE}"
    )


def _units(question: Question) -> str:
    table = question.table
    if question.cells <= table.limit:
        where = "in each group that it has rows in" if question.groups else "however many rows it has"
        return f"The row limit takes nothing away here: each {table.unit} counts once, {where}."
    return (
        f"A row limit is in force (contribution bound): a {table.unit} with rows in more than {table.limit} groups is "
        f"weighed down to {table.limit} in all of them together, so these counts can be below the true ones. {COMPARE}"
    )
