"""What each question of a report may cost: as it says, as much as its wanted error takes, or its share of the total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

from inbounds.errors import InvalidParameter
from inbounds.publish.report_file import ReportFile, ReportQuestion, amount_text

GRAIN = 10**4
"""Shares are rounded down to so many parts of epsilon, which people can read and type."""

FINEST = 10**12
"""And to so many, which a ledger can charge, where they would be nothing else."""


def divide(file: ReportFile, needed: Mapping[str, Fraction], free: Sequence[str] = ()) -> dict[str, Fraction]:
    """Return the cost of each question that is not free; `needed` is what the wanted errors take.

    Of a total, questions first have what they say or need; the rest is divided by weight.
    """
    asked = [question for question in file.questions if question.name not in free]
    costs = {question.name: question.epsilon or needed.get(question.name, Fraction(0)) for question in asked}
    shared = [question for question in asked if question.weight is not None]
    if file.total is None:
        return costs
    taken = sum(costs.values(), Fraction(0))
    rest = file.total - taken
    if rest < 0 or (shared and rest == 0):
        raise InvalidParameter(_describe_shortage(file.total, taken, shared))
    weights = {question.name: question.weight or Fraction(0) for question in shared}
    return costs | _round_down({name: rest * weight / sum(weights.values()) for name, weight in weights.items()})


def scale_down(costs: Mapping[str, Fraction], room: Fraction) -> dict[str, Fraction] | None:
    """Return costs in the same proportion that come to at most `room`; None if that is nothing."""
    part = room / sum(costs.values(), Fraction(0))
    scaled = _round_down({name: cost * part for name, cost in costs.items()})
    return scaled if all(scaled.values()) else None


def _round_down(amounts: dict[str, Fraction]) -> dict[str, Fraction]:
    grain = GRAIN if all(amount * GRAIN >= 1 for amount in amounts.values()) else FINEST
    return {name: Fraction(floor(amount * grain), grain) for name, amount in amounts.items()}


def _describe_shortage(total: Fraction, taken: Fraction, shared: Sequence[ReportQuestion]) -> str:
    for_others = f", and nothing is left for {', '.join(question.name for question in shared)}" if shared else ""
    above = "above" if shared else "of"
    return (
        f"the total is {amount_text(total)}, but the wanted errors and given epsilons take {amount_text(taken)}"
        f"{for_others}; write a total {above} {amount_text(taken)}, or want larger errors"
    )
