"""Questions that would be paid for and tell nothing: found out by the contract, public tables and the plan alone.

Rows are never looked at, so a refusal tells nothing about them.  Two things are useless: a condition that no row can
meet, and an answer that the plan itself expects to be no nearer to the truth than a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from inbounds.query.methods.plan import Plan
from inbounds.query.question.impossible_condition import why_impossible
from inbounds.query.question.question import Question

MANY = 100
"""Of so many rows and more, an answer is hoped to be nearer than a guess; else it is said."""

INSIST = "to pay for it anyway, use force (--force)"

NO_BETTER = "no more accurate than guessing the middle of the range"


def why_useless(plans: Sequence[Plan]) -> str | None:
    """Return why a question is not worth what it costs, and what to do; None if it may be worth it."""
    for plan in plans:
        problem = why_impossible(plan.question)
        if problem is not None:
            return problem
    return _why_guess(plans)


def _why_guess(plans: Sequence[Plan]) -> str | None:
    """Name what is no better than a guess; beside what may be, with its own part of epsilon."""
    guesses = [plan for plan in plans if plan.answering.is_guess(most_rows(plan.question))]
    if not guesses:
        return None
    named = ", ".join(str(plan.question.measure) for plan in guesses)
    parts = ", ".join(dict.fromkeys(f"{float(plan.epsilon):g}" for plan in guesses))
    at = f"at epsilon {parts}" if len(plans) == 1 else f"with a share of {parts} of epsilon"
    are, it = ("are", "them") if len(guesses) > 1 else ("is", "it")
    return (
        f"{at}, {named} {are} expected to be {NO_BETTER}, whatever the data; "
        f"{f'leave {it} out, or ' if len(guesses) < len(plans) else ''}ask for a larger epsilon"
    )


def most_rows(question: Question) -> int | None:
    """Return how many rows count at most, weighed, if that is public."""
    table = question.table
    known = [table.known.total, None if table.units is None else table.units * table.limit]
    return min((rows for rows in known if rows is not None), default=None)


def too_few(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Say of how many rows each answer must be to be nearer than a guess, where a hundred are too few."""
    warnings = []
    for plan in plans:
        rows = MANY
        while rows < 2**40 and plan.answering.is_guess(rows):
            rows *= 2
        if rows > MANY and not plan.answering.is_guess(None):
            warnings.append(
                f"With fewer than about {rows:,} rows, {plan.question.measure} is expected to be {NO_BETTER}."
            )
    return tuple(warnings)
