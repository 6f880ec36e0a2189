"""Prices for the groups of one chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.joint.solve.price_tree import PriceTree
from tests.helpers.joint_tables import random_chain, random_layout


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_settled_prices_leave_nothing_missing_in_their_chain(seed: int) -> None:
    """What a group gives and what its free cells pay add up to what was missing, in every group that has a price."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 3)), depth=3)
    chain = [g for g in random_chain(rng, layout) if g != layout.finest and rng.random() < 0.8] or [layout.total]
    tree = PriceTree.of(layout, chain)
    is_free = rng.integers(0, 2, layout.shape).astype(np.float64)
    missing, give = rng.normal(size=tree.groups), np.exp(rng.normal(size=tree.groups))
    is_bound = rng.random(tree.groups) < 0.8
    prices = tree.settle(missing, give, is_bound, tree.add_up(is_free))
    left = missing - give * prices - tree.add_up(is_free * tree.spread(prices))
    assert left[is_bound] == pytest.approx(0, abs=1e-9)
    assert np.all(prices[~is_bound] == 0)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_spreading_is_the_transpose_of_adding_up(seed: int) -> None:
    """What cells pay in all is what groups take in all."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, 2)
    tree = PriceTree.of(layout, [g for g in random_chain(rng, layout) if g != layout.finest] or [layout.total])
    cells, prices = rng.normal(size=layout.shape), rng.normal(size=tree.groups)
    assert tree.add_up(cells) @ prices == pytest.approx(np.sum(cells * tree.spread(prices)))
