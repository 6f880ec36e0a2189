"""95 % intervals hold the answer without noise that often, for every measure that has one, and are not much wider."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from tests.helpers.cut_tables import HOSPITAL, SHARES, CutTable
from tests.helpers.drawn_answers import CONFIDENCE, KINDS, AskedOften, Drawn

NAMES = ("AVG", "PROPORTION", "VARIANCE", "STDDEV", "CORR", "COVAR", "SUM", "COUNT", "SUM / COUNT DISTINCT", "REST")
NARROW = ("AVG", "PROPORTION", "VARIANCE", "STDDEV")
WIDEST = 3.5
FALSE_ALARM = 1e-11
"""Of one interval: many are tried."""

CUT_DRAWS = 100


def is_covered(drawn: Drawn) -> bool:
    """Return whether so many intervals hold the truth as those that do with 95 % probability."""
    runs = len(drawn.values)
    return bool(stats.binom.cdf(drawn.covered.min(), runs, CONFIDENCE) > FALSE_ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_answer_without_noise(kind: str, tmp_path: Path) -> None:
    """They do for weighed rows of units with several; half as wide they do not."""
    with AskedOften(kind, 2000, several=True, ledger=tmp_path / "ledger.db") as asked:
        tried = {name: asked.draw(name, 1, 300) for name in NAMES}
    assert [name for name, drawn in tried.items() if not is_covered(drawn)] == []
    assert [name for name in NARROW if tried[name].width > WIDEST] == []
    for name in ("AVG", "VARIANCE", "SUM", "COUNT"):
        drawn = tried[name]
        middle, quarter = (drawn.low + drawn.high) / 2, (drawn.high - drawn.low) / 4
        assert not is_covered(replace(drawn, low=middle - quarter, high=middle + quarter))


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [200, 2000, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_a_corpus(kind: str, rows: int, tmp_path: Path) -> None:
    """They do at any epsilon and for any number of rows, whether rows are units or units have several."""
    missed = []
    for several in (False, True):
        with AskedOften(kind, rows, several=several, ledger=tmp_path / f"{several}.db") as asked:
            for name in NAMES:
                tried = {epsilon: asked.draw(name, epsilon, 500) for epsilon in (0.1, 0.5, 1, 3, 5)}
                missed += [(name, epsilon, several) for epsilon, drawn in tried.items() if not is_covered(drawn)]
    assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("part", SHARES)
def test_intervals_with_cut_rows_of_a_hospital(part: float, tmp_path: Path) -> None:
    """Where it is public how much is over the limit, they hold the truth of all rows; those about the noise do not."""
    with CutTable(HOSPITAL, tmp_path / "ledger.db", part) as table:
        assert 0.005 < table.share <= part
        tried = {sql: table.held(sql, 1, CUT_DRAWS) for sql in table.questions}
    assert [
        sql
        for sql, (held, _) in tried.items()
        if stats.binom.cdf(CUT_DRAWS * held, CUT_DRAWS, CONFIDENCE) < FALSE_ALARM
    ] == []
    assert stats.binom.cdf(CUT_DRAWS * tried["SELECT COUNT(*) FROM visits"][1], CUT_DRAWS, CONFIDENCE) < FALSE_ALARM
