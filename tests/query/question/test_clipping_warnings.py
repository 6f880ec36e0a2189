"""Comparisons with values that no row can have are warned of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.delay]
bounds = "[0, 240] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.place]
keys = ["a", "b"]
"""
TYPES = "who BIGINT, delay BIGINT, day DATE, place VARCHAR"


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    """A table of delays that are clipped to 240."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as found:
        yield found


@pytest.mark.parametrize(
    "condition",
    ["delay > 500", "delay = -1", "delay IN (3, 241)", "NOT (place = 'a' OR delay < -5)", "day >= '2027-01-01'"],
)
def test_a_constant_beyond_the_bounds_is_warned_of(playground: Playground, condition: str) -> None:
    """Answer and explanation name the column, its bounds and the comparison, if who asks insists on an answer."""
    query = playground.dataset.count().where(condition)
    answer, explanation = query.ask(1, analyst="ana", pooling=1, force=True), query.explain(1, pooling=1)
    (warning,) = answer.warnings
    named = "day are clipped to [2026" if "day" in condition else "delay are clipped to [0, 240] step 1"
    assert warning.startswith(f"Values of {named}")
    assert explanation.warnings == answer.warnings
    assert warning in " ".join(str(answer).split())
    assert warning in " ".join(str(explanation).split())
    assert max(map(len, str(answer).splitlines())) <= 80


@pytest.mark.parametrize("condition", ["delay > 239", "delay <= 240", "delay = 0", "place = 'a'", "day < '2026-12-31'"])
def test_what_is_possible_has_no_warning(playground: Playground, condition: str) -> None:
    """Constants within the bounds, the ends too, need none."""
    assert playground.dataset.count().where(condition).explain(1, pooling=1).warnings == ()


def test_proportions_are_warned_of_too(playground: Playground) -> None:
    """A proportion is about its own condition, and each warning is given once."""
    query = playground.dataset.proportion("delay > 500").where("delay > 500")
    assert len(query.explain(1, pooling=1).warnings) == 1
