"""Tables at random: whatever is released of them is possible, as plain loops over whole numbers see it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from benchmarks.joint_check import KINDS, Cell, Names, RandomTable, added_up, check, crossing, faults, random_table

from inbounds.joint import Axis, Level
from tests.helpers.caller_settings import SURROUNDINGS

BLOCKS = 4
TREE = (Axis("leaf", 4, (Level("node", (0, 1, 0, 1)),)),)


def hand_made() -> RandomTable:
    """Return a table with a public node and an empty leaf."""
    counts: dict[Cell, int] = {(0,): 3, (1,): 0, (2,): 4, (3,): 1}
    return RandomTable(
        "tree", TREE, counts, [("leaf",), ("node",)], Fraction(1), {("node",): {(0,): 7}}, frozenset({(1,)})
    )


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_release_of_a_random_table_is_possible(block: int) -> None:
    """No cell is negative, all sums add up, public facts are true, and epsilon is what was asked for."""
    for seed in range(block, 100 * BLOCKS, BLOCKS):
        assert check(random_table(Random(seed))) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["raising NumPy", "everything"])
def test_settings_of_the_caller_make_no_difference(setting: str) -> None:
    """Tables of every kind are released where the caller has told NumPy and warnings to raise whatever they can."""
    for seed in range(60):
        table = random_table(Random(seed))
        with SURROUNDINGS[setting]():
            assert check(table) == [], seed


def test_random_tables_are_of_every_kind() -> None:
    """Among the tables are all kinds, with public facts and without, with few and with many crossing groupings."""
    tables = [random_table(Random(seed)) for seed in range(200)]
    for kind in KINDS:
        some = [table for table in tables if table.kind == kind]
        assert any(table.known and table.zeros for table in some)
        assert any(not table.known and not table.zeros for table in some)
    assert {crossing(table) for table in tables} == {1, 2, 3}


def test_sums_by_loops_are_sums() -> None:
    """Adding up by loops is what one would do by hand."""
    counts = hand_made().counts
    assert added_up(TREE, counts, ("leaf",)) == counts
    assert added_up(TREE, counts, ("node",)) == {(0,): 7, (1,): 1}
    assert added_up(TREE, counts, ()) == {(): 8}


@pytest.mark.parametrize(
    ("tamper", "wrong"),
    [
        (lambda cells, sums: None, None),
        (lambda cells, sums: cells.__setitem__(3, cells[3] + 1), "does not add up"),
        (lambda cells, sums: cells.__setitem__(3, -1), "negative"),
        (lambda cells, sums: cells.__setitem__(1, 2), "must be empty"),
        (lambda cells, sums: cells.__setitem__(0, cells[0] + 1), "not as known"),
        (lambda cells, sums: sums.__setitem__(("node",), sums["node",] + [0, 1]), "does not add up"),
        (lambda cells, sums: sums.__setitem__((), np.array([8, 0])), "has not 1 groups"),
    ],
)
def test_a_tampered_table_is_caught(tamper: Callable[[Any, Any], None], wrong: str | None) -> None:
    """One count or sum that was changed after a release is found, and nothing is found in what was not changed."""
    table = hand_made()
    found = table.released()
    cells = found.cells.copy()
    asked: list[Names] = [("leaf",), ("node",), ()]
    sums = {names: found.grouping(names).copy() for names in asked}
    tamper(cells, sums)
    seen = faults(table, cells, sums)
    assert (seen == []) if wrong is None else any(wrong in one for one in seen)


def test_a_count_that_is_not_whole_is_caught() -> None:
    """Halves are no counts."""
    table = hand_made()
    assert "whole number" in faults(table, table.released().cells + 0.5, {})[0]
