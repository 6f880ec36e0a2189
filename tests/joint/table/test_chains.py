"""Chains of groupings that lie in one another."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.joint.table.chains import chains
from inbounds.joint.table.layout import Layout
from inbounds.joint.table.tree import parents
from tests.helpers.joint_tables import all_groupings, random_layout


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_chains_are_nested_and_as_few_as_groupings_that_are_not(seed: int) -> None:
    """Every grouping is in one chain, each lies in the next, and so many of them lie in no other (Dilworth)."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)))
    every = all_groupings(layout)
    given_ = [every[i] for i in rng.choice(len(every), min(len(every), 8), replace=False)]
    found = chains(layout, given_)
    assert sorted(map(str, (grouping for chain in found for grouping in chain))) == sorted(map(str, given_))
    assert all(layout.is_within(finer, coarser) for chain in found for finer, coarser in pairwise(chain))
    apart = max(
        (
            len(some)
            for size in range(1, len(given_) + 1)
            for some in combinations(given_, size)
            if not any(layout.is_within(a, b) or layout.is_within(b, a) for a, b in combinations(some, 2))
        ),
        default=0,
    )
    assert len(found) == apart


def test_a_two_way_table_is_two_chains() -> None:
    """Cells and total fit in the first chain, rows and columns are not nested."""
    layout = Layout.plain((3, 4))
    found = chains(layout, [(0, 0), (0, None), (None, 0), (None, None)])
    assert sorted(map(len, found)) == [1, 3]
    assert chains(layout, []) == []
    assert chains(layout, [(0, 0), (None, None)]) == [[(0, 0), (None, None)]]


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_adding_up_by_parents_is_adding_up_cells(seed: int) -> None:
    """Sums of a finer grouping, added up by its parents, are the sums of the coarser one."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, 2)
    every = all_groupings(layout)
    cells = rng.integers(0, 9, layout.shape)
    for finer in every:
        for coarser in every:
            if layout.is_within(finer, coarser):
                found = np.bincount(parents(layout, finer, coarser), layout.sum(cells, finer).ravel())
                assert np.array_equal(found, layout.sum(cells, coarser).ravel())
