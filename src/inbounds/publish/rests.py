"""What a total has beyond the groups of a table: rows without a category, by subtraction of what is published."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from inbounds.display.figures import format_error
from inbounds.display.suggestion import list_names
from inbounds.publish.together import Together
from inbounds.query.methods.joint.joint_table import clamped_error
from inbounds.results.answer import Answer


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
            rest = total - sums.get(told, Fraction(0))
            # It was measured like one more group; of counts, none is below 0.
            error = question.error or 0.0
            noise = clamped_error(error, float(rest)) if together.is_count else error
            rests[question.name] = _describe_rest(question.keys, rest, noise)
    return rests


def _describe_rest(keys: Sequence[str], rest: Fraction, noise: float) -> str:
    return (
        f"Not in these groups: {_write(rest)} without a category of {list_names(keys)} (expected noise "
        f"{format_error(noise)}), which is the total less the groups."
    )


def _write(number: Fraction) -> str:
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,}"
