"""What is said of noise on several totals together is what the benchmark computes, and the laws it speaks of hold."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from benchmarks import totals

from tests.helpers.programs import ROOT

RECORD = ROOT / "docs" / "decisions" / "0088-no-noise-on-totals-together.md"


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_the_figures_of_the_record_are_those_of_the_benchmark(number: int) -> None:
    """Every ratio that is computed is in the record's tables, in its row or its column."""
    report = (totals.report_one_column, totals.report_several_columns)[number]()
    text = RECORD.read_text("utf-8")
    if number == 0:
        assert all(f"| {' | '.join(row)} |" in text for row in report.rows)
        return
    for first in range(0, len(report.rows), len(totals.EPSILONS)):
        block = report.rows[first : first + len(totals.EPSILONS)]
        for kind, column in (("L1 stairs", 2), ("box", 3), ("box in stairs", 4)):
            ratios = " | ".join(row[column] for row in block)
            assert f"| {block[0][0][0]} | {kind} | {ratios} |" in text


def test_neighbours_noise_is_one_level_away_and_a_part_of_a_move_may_cost_as_much() -> None:
    """Over all moves on a small lattice; one whose bands beyond the core are a row too narrow is found out."""
    assert set(totals.worst_levels().values()) == {1}
    narrow = {
        abs(_narrow_level(s + 1, d + change) - _narrow_level(s, d))
        for s in range(-3, 3)
        for d in range(-18, 19)
        for change in range(-6, 7)
    }
    assert max(narrow) > 1


def _narrow_level(s: int, d: int, core: int = 2, whole: int = 6) -> int:
    return abs(s) + 2 * max(0, -(-(abs(d) - core - abs(s) * whole) // whole))


@pytest.mark.parametrize("epsilon", totals.EPSILONS)
def test_an_hourglass_has_the_least_noise_on_each_of_its_sums(epsilon: int) -> None:
    """The best core leads to the noise of a staircase, and the one of half its width does not."""
    assert totals.hourglass(epsilon) == pytest.approx(totals.least(epsilon), rel=1e-9)
    assert totals._hourglass(epsilon, _best_core(epsilon) / 2) > 1.01 * totals.least(epsilon)


def _best_core(epsilon: int) -> float:
    """Return twice the first stair of the staircase with the least mean size (Geng & Viswanath 2014)."""
    return 2 / (1 + exp(epsilon / 2))


def test_the_hull_of_rows_has_rows_on_its_border_and_not_all_of_the_l1_ball() -> None:
    """A row and its negative have norm 1, what is between rows no more, and there are points outside."""
    u = np.linspace(0, 1, 101)
    rows = np.stack([(1 - u) ** 2, 2 * u * (1 - u), u**2], axis=1)
    assert totals.norm(rows) == pytest.approx(1)
    assert totals.norm(-rows) == pytest.approx(1)
    assert (totals.norm((rows + rows[::-1]) / 2) < 1 + 1e-12).all()
    assert totals.norm(np.array([[1, -1, 1]]) / 3) == pytest.approx(5 / 3)
