"""How many keys have a row: in bounds, and moved by a unit no more than its limit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from inbounds.query.methods.category_count import KeysPresent
from inbounds.query.methods.contribution_bound import NOTHING_CUT
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.region]
keys = ["x", "y"]
[columns.place]
keys = ["a", "b", "c", "d", "e"]
within = "region"
map = {a = "x", b = "x", c = "x", d = "y", e = "y"}
"""
TYPES = "who BIGINT, region VARCHAR, place VARCHAR"
REGION = dict(zip("abcde", "xxxyy", strict=True))


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


def counted(playground: Playground, rows: list[tuple[int, str]], by: str | None = None) -> list[float]:
    """Return the number of keys that noise is put on, of each group."""
    query = playground.dataset.count_keys("place")
    plan = (query.by(by) if by else query).plan(1, pooling=1)
    answering = plan.answering
    assert isinstance(answering, KeysPresent)
    totals = playground.totals(plan, [(who, REGION[place], place) for who, place in rows])
    first, found = 0, []
    for size in answering.of_each:
        found.append(
            sum(min(one, answering.unit_weight) for (one,) in totals[first : first + size]) / answering.unit_weight
        )
        first += size
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "limit"), [("row", 1), ("who", 1), ("who", 2), ("who", 4)])
def test_a_unit_moves_the_number_of_keys_by_its_limit(unit: str, limit: int) -> None:
    """However many keys a unit has rows in, it moves all groups together by its limit at most, which the noise is for;
    it would move the plain number of keys by more."""
    draw, most, plain = random.Random(limit), 0.0, 0
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES) as playground:
        plan = playground.dataset.count_keys("place").plan(1, pooling=1)
        assert plan.answering.sensitivity == limit
        for _ in range(30):
            rows = [(draw.randint(2, 4), draw.choice("abcde")) for _ in range(draw.randint(0, 4))]
            new = [(1, place) for place in draw.sample("abcde", draw.randint(1, 5))]
            new = new[:1] if unit == "row" else new
            for by in (None, "region"):
                before, after = counted(playground, rows, by), counted(playground, rows + new, by)
                most = max(most, sum(abs(b - a) for a, b in zip(before, after, strict=True)))
            plain = max(plain, len({place for _, place in rows + new}) - len({place for _, place in rows}))
        assert most <= limit + 1e-9
        assert most > 0.7 * limit
        assert unit == "row" or plain > limit or limit == 4


def test_keys_of_units_within_the_limit_count_in_full() -> None:
    """The number is that of the keys that have a row, where no unit is in more keys than its limit."""
    with Playground(contract(COLUMNS, limit=2), TYPES) as playground:
        rows = [(1, "a"), (1, "a"), (1, "a"), (1, "b"), (2, "b"), (3, "e")]
        assert counted(playground, rows) == [3]
        assert counted(playground, rows, "region") == [2, 1]
        assert counted(playground, [(1, place) for place in "abcde"]) == [pytest.approx(2)]
        assert counted(playground, []) == [0]


@pytest.mark.slow
def test_a_number_of_keys_is_possible(tmp_path: Path) -> None:
    """Answers are whole numbers from 0 to the keys that a group can have, with intervals in the same bounds."""
    with Playground(contract(COLUMNS, limit=2), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill([(i, "x", "abc"[i % 3]) for i in range(30)])
        dataset = playground.dataset
        for _ in range(20):
            answer = dataset.count_keys("place").by("region").ask("0.1", analyst="ana", pooling=1, force=True)
            for (_, value), most, (interval,) in zip(answer.rows, (3, 2), answer.intervals, strict=True):
                assert isinstance(value, int)
                assert 0 <= value <= most
                assert interval is not None
                assert 0 <= interval[0] <= interval[1] <= most
        assert answer.columns == ("region", "keys_place")
        sure = dataset.sql("SELECT COUNT(DISTINCT place) FROM visits").ask(200, analyst="ana")
        assert sure.value == 3
        assert "at most 2 categories of place" in " ".join(str(sure).split())
        assert "one who" in str(dataset.count_keys("place").explain(1))


def test_a_limit_of_all_keys_takes_nothing() -> None:
    """Where a unit may be in every key, the answer says that nothing is cut."""
    with Playground(contract(COLUMNS, limit=5), TYPES) as playground:
        told = playground.dataset.count_keys("place").explain(1).row_limit
        assert told == f"{NOTHING_CUT}each who counts in all its categories."
