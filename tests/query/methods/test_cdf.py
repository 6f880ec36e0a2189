"""Cumulative distributions: shares in order, from few measured groups, with intervals that hold."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inbounds.errors import InvalidQuestion
from inbounds.query.methods.cdf import CumulativeShares, best_branching, stretch, tree_of
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "b"]
[columns.size]
bounds = "[0, 20] | [30, 49] step 1"
[columns.weight]
bounds = "[0.5, 2]"
"""
TYPES = "who BIGINT, place VARCHAR, size BIGINT, weight DOUBLE"


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


@given(st.integers(1, 300), st.integers(2, 12), st.data())
def test_a_stretch_is_made_of_whole_groups(bins: int, branching: int, data: st.DataObject) -> None:
    """The groups of a stretch hold each of its bins once and no other, and few of each level are taken."""
    levels = len(tree_of(bins, branching).axes[0].levels) + 1
    first = data.draw(st.integers(0, bins))
    last = data.draw(st.integers(first, bins))
    found: list[int] = []
    for level, groups in enumerate(stretch((first, last), branching, levels)):
        width = branching**level
        found += [leaf for group in groups for leaf in range(group * width, min((group + 1) * width, bins))]
        assert level == levels - 1 or len(groups) <= 2 * (branching - 1) or first == last
    whole = list(range(first, last))
    assert sorted(found) == whole or (last == bins and set(whole) <= set(found))


def test_few_bins_need_no_tree() -> None:
    """Few bins are measured by themselves; many by a tree of few levels."""
    assert [len(tree_of(bins, best_branching(bins)).axes[0].levels) for bins in (1, 2, 5, 100, 1000)] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("totals", [[0] * 41, [5] * 41, [2**70, *[0] * 40], [-(2**70)] * 41])
def test_shares_never_fall(totals: list[int]) -> None:
    """Whatever the rows are, shares rise from 0 to 1, or there are none because no rows were released."""
    answering = CumulativeShares.of(41, Fraction(1, 2), Fraction(3), Fraction(1, 4))
    for _ in range(10):
        found = [one.value for (one,) in answering.answer_all([[total] for total in totals], 0.95, quiet)]
        if None in found:
            assert set(found) == {None}
            continue
        assert found == sorted(found)  # type: ignore[type-var]
        assert found[-1] == 1


@pytest.mark.slow
def test_intervals_hold_what_they_say() -> None:
    """Each share lies in its interval at least as often as was asked for, and those for far less do not pass for it."""
    rows = np.arange(41) % 7 * 30
    answering = CumulativeShares.of(41, Fraction(1), Fraction(1), Fraction(1))
    truth, runs, place = np.cumsum(rows) / rows.sum(), 400, 17

    def covered(confidence: float) -> int:
        found = (
            answering.answer_all([[int(total)] for total in rows], confidence, quiet)[place][0] for _ in range(runs)
        )
        return sum(one.interval is not None and one.interval[0] <= truth[place] <= one.interval[1] for one in found)

    assert stats.binom.cdf(covered(0.95), runs, 0.95) > 1e-9
    assert stats.binom.cdf(covered(0.05), runs, 0.95) < 1e-9


def test_both_ways_of_asking_are_one(tmp_path: Path) -> None:
    """A cumulative distribution is asked for in SQL and in Python, and its rows are called by the ends of its bins."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        dataset = playground.dataset
        playground.fill([(i, "a", i % 50, 1.0) for i in range(100)])
        assert dataset.sql("SELECT CDF(size) FROM visits") == dataset.cdf("size")
        assert str(dataset.cdf("size", 7)) == "SELECT CDF(size, 7) FROM visits"
        answer = dataset.cdf("size").where("place = 'a'").ask(50, analyst="ana")
        assert answer.columns == ("size", "share")
        assert [row[0] for row in answer.rows] == [*range(21), *range(30, 50)]
        assert answer.rows[-1][1] == 1
        assert dict(answer.rows)[20] == pytest.approx(0.5, abs=0.2)
        with pytest.raises(InvalidQuestion, match="CDF covers all rows at once"):
            dataset.sql("SELECT place, CDF(size) FROM visits GROUP BY place")
        with pytest.raises(InvalidQuestion, match="CDF cannot be combined"):
            dataset.sql("SELECT CDF(size), COUNT(*) FROM visits")
