"""Intervals with cut rows of TPC-H's orders and lines, by customer."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

from tests.helpers.cut_tables import SHARES, CutTable, shop_tables
from tests.helpers.drawn_answers import CONFIDENCE

DRAWS = 100
FALSE_ALARM = 1e-11


@pytest.mark.slow
@pytest.mark.parametrize(("which", "part"), list(enumerate(SHARES)), ids=["orders", "lines"])
def test_intervals_hold_the_truth_of_all_rows(tpch: Path, which: int, part: float, tmp_path: Path) -> None:
    """Whatever a limit cuts, intervals hold the truth at least 95 % of the time; those about the noise only do not."""
    with CutTable(shop_tables(tpch)[which], tmp_path / "ledger.db", part) as table:
        assert 0.005 < table.share <= part
        tried = {sql: table.held(sql, 1, DRAWS) for sql in table.questions}
    assert [sql for sql, (held, _) in tried.items() if _misses(held)] == []
    assert _misses(tried["SELECT COUNT(*) FROM visits"][1])


def _misses(held: float) -> bool:
    return bool(stats.binom.cdf(DRAWS * held, DRAWS, CONFIDENCE) < FALSE_ALARM)
