"""What the row limit does to an answer, in words: no figure of noise can tell what was cut off."""

from __future__ import annotations

from collections.abc import Sequence

from inbounds.query.methods.cut_rows import CutRows
from inbounds.query.question.question import Question

NO_LIMIT = "none: each row is a unit of its own"
NOTHING_READ = "none: no row is read"


def no_limit(question: Question) -> str:
    """Say why no row limit is in force."""
    table = question.table
    return NO_LIMIT if table.owner is None else f"none: each row summarises all rows of one {table.owner}"


IN_FORCE = "Contribution bound: "
"""How every sentence about a row limit that is in force begins."""

NOTHING_CUT = "The contribution bound changes nothing here: "

NOT_IN_NOISE = "Neither the noise figure nor the interval accounts for this"

WHERE_EXPLAINED = "docs/tables.md#who-is-protected"

ADVICE = "The custodian can find a better limit, for a price: inbounds discover limit."
"""What is said wherever a limit may cut rows: the contract and the question decide that, and data never do."""


def row_limit(questions: Sequence[Question], *, noise_only: bool = False) -> str | None:
    """Say that a row limit is in force, and what it does; None where each row is a unit of its own.

    With `noise_only`: of intervals that are about the noise whatever is public.
    """
    if questions[0].table.rows_are_units:
        return None
    uncut = [question for question in questions if _cuts_nothing(question)]
    limited = [question for question in questions if question not in uncut]
    sentences = list(map(_say_nothing_cut, uncut))
    if limited:
        cuts = dict.fromkeys(map(_say_cut, limited))
        known = [] if noise_only else [question for question in limited if is_known_cut(question)]
        unknown = [question for question in limited if question not in known]
        sentences += [IN_FORCE + " ".join(cuts), *dict.fromkeys(question.measure.under_limit for question in unknown)]
        noisy = any(question.measure.has_noise for question in unknown)
        where = f"{NOT_IN_NOISE} ({WHERE_EXPLAINED})." if noisy else f"See {WHERE_EXPLAINED}."
        sentences += [where, *dict.fromkeys(map(_say_known, known))]
        if not all(question.measure.counts_units for question in limited):
            sentences.append(ADVICE)
    return " ".join(sentences)


def counts_everything(question: Question) -> bool:
    """Return whether every unit counts in full, in every group that it has rows in."""
    return question.table.rows_are_units or (question.sets is None and _cuts_nothing(question))


def is_known_cut(question: Question) -> bool:
    """Return whether it is public for all answers to a question how much is cut at most."""
    return all(CutRows.of(question, place) is not None for place in range(len(question.measure.answer_names)))


def _say_known(question: Question) -> str:
    return (
        f"At most {question.table.known.over_limit}: that is public, and intervals with cut rows include them, while "
        "noise figures do not."
    )


def _cuts_nothing(question: Question) -> bool:
    measure, table = question.measure, question.table
    if question.sets is not None and measure.has_totals:
        return measure.counts_units
    return measure.counts_units and question.cells * measure.parts(table) <= table.limit


def _say_nothing_cut(question: Question) -> str:
    if question.sets is not None:
        return f"Each {question.table.unit} counts once in total, split over the groups where it has rows."
    if question.measure.categories is not None:
        return f"{NOTHING_CUT}each {question.table.unit} counts in all its categories."
    where = "in each group where it has rows" if question.groups else "however many rows it has"
    return f"{NOTHING_CUT}each {question.table.unit} counts once, {where}."


def _say_cut(question: Question) -> str:
    unit, limit, measure = question.table.unit, question.table.limit, question.measure
    if measure.counts_units:
        groups = measure.categories or "groups"
        return f"each {unit} counts for at most {limit} {groups} in total; those in more are down-weighted."
    rows = "1 row" if limit == 1 else f"{limit} rows"
    return f"each {unit} contributes at most {rows}; those with more are down-weighted."
