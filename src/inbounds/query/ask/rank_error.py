"""How far off a discovered quantile may be, from its plan alone."""

from __future__ import annotations

from fractions import Fraction

from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantileByRank, QuantilesInOrder


def rank_error_of(plan: Plan) -> float:
    """Return by how many ranks quantiles are off, at most, with the usual confidence."""
    assert isinstance(plan.answering, QuantileByRank | QuantilesInOrder)
    return plan.answering.rank_error


def describe_noise(rank_error: float, share: Fraction, ranks: str, then: str) -> str:
    """Say how far noise may move a share, and from which size of a table on that does not matter."""
    return (
        f"noise may move that by about {round_ranks(rank_error)} {ranks}, so a table of fewer than about "
        f"{round_ranks(rank_error / float(share))} {ranks} may get {then}"
    )


def round_ranks(number: float) -> str:
    """Write a number with two digits that count."""
    return f"{float(f'{number:.2g}'):,.0f}"
