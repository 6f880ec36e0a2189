"""What a total has beyond the groups of a table: rows without a category, by subtraction of what is published."""

from __future__ import annotations

from fractions import Fraction

from inbounds.display.figures import format_error
from inbounds.display.suggestion import list_names
from inbounds.publish.together import PlannedQuestion, Together
from inbounds.query.answer.answer import Answer


def describe_rests(together: Together, whole: Answer) -> dict[str, str]:
    """Say for each question that is asked by groups what the total has beyond them.

    `whole` has all groupings as they were released: a column for each key, None where it is added up, and the numbers.
    """
    sums: dict[frozenset[int], Fraction] = {}
    for row in whole.rows:
        told = frozenset(place for place, key in enumerate(row[:-1]) if key is not None)
        sums[told] = sums.get(told, Fraction(0)) + Fraction(str(row[-1]))
    total = sums[frozenset()]
    rests = {}
    for question in together.questions:
        told = frozenset(map(together.keys.index, question.keys))
        if told:
            rests[question.name] = _describe_rest(question, total - sums.get(told, Fraction(0)))
    return rests


def _describe_rest(question: PlannedQuestion, rest: Fraction) -> str:
    noise = "" if question.error is None else f" (expected noise {format_error(question.error)})"
    return f"Without a category of {list_names(question.keys)}: {_write(rest)}{noise}, the total less these groups."


def _write(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,}"
