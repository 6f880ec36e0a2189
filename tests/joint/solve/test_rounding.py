"""Whole numbers that keep sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import InvalidParameter, ProjectionFailed
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.solve import rounding
from inbounds.joint.solve.rounding import check_solver, round_cells
from inbounds.joint.solve.tree_rounding import round_tree
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.chains import chains
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.tree import Tree
from tests.helpers.joint_tables import all_groupings, random_chain, random_layout

TWO_WAY: list[Grouping] = [(0, 0), (0, None), (None, 0), (None, None)]
PAIRS: list[Grouping] = [(0, 0, 0), (0, 0, None), (0, None, 0), (None, 0, 0)]


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_up_to_two_chains_no_cell_and_no_sum_moves_by_one(seed: int) -> None:
    """Any trees, any two trees on the same cells: every sum becomes one of the two whole numbers next to it."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)))
    groupings = list(dict.fromkeys([*random_chain(rng, layout), *random_chain(rng, layout)]))
    assert len(chains(layout, groupings)) <= 2
    cells = rng.exponential(size=layout.shape) * rng.choice([0.1, 3.0, 1e6])
    found = round_cells(layout, cells, groupings, Facts.none(layout))
    assert found.kept_groupings == tuple(groupings)
    assert found.cells.min() >= 0
    assert all(np.all(np.abs(layout.sum(found.cells, g) - layout.sum(cells, g)) < 1) for g in groupings)


def test_cells_of_a_two_way_table_go_mostly_to_the_nearest_number() -> None:
    """Of cells that are all but whole, few are rounded the other way; sums of other blocks stay near too."""
    rng = np.random.default_rng(5)
    layout = Layout.plain((60, 60))
    cells = rng.integers(0, 9, layout.shape) + rng.choice([0.1, 0.9], layout.shape)
    found = round_cells(layout, cells, TWO_WAY, Facts.none(layout)).cells
    assert np.mean(found == np.rint(cells)) > 0.8
    assert abs(found[:30, :30].sum() - cells[:30, :30].sum()) < 60


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_from_three_chains_on_it_says_what_was_kept(seed: int) -> None:
    """Whether a solver is tried or not, groupings said to be kept are those whose sums all moved by less than 1."""
    rng = np.random.default_rng(seed)
    layout = Layout.plain(tuple(rng.integers(2, 5, 3).tolist()))
    cells = rng.exponential(size=layout.shape)
    facts = Facts.none(layout).with_known(layout.total, np.rint(cells.sum()))
    cells *= np.rint(cells.sum()) / cells.sum()
    groupings = all_groupings(layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounding, "MOST_PROGRAM", int(rng.choice([0, 1000])))
        found = round_cells(layout, cells, groupings, facts)
    moved = {g: float(np.abs(layout.sum(found.cells, g) - layout.sum(cells, g)).max()) for g in groupings}
    assert found.kept_groupings == tuple(g for g in groupings if moved[g] < 1)
    assert found.cells.sum() == round(cells.sum())
    assert (None, None, None) in found.kept_groupings


def test_margins_along_each_axis_are_kept_without_a_program() -> None:
    """Three chains that leave each other room are kept by one flow after the other, however many cells there are."""
    rng = np.random.default_rng(3)
    layout = Layout.plain((12, 11, 10))
    cells = rng.exponential(size=layout.shape)
    groupings = [g for g in all_groupings(layout) if sum(level is not None for level in g) in {0, 1, 3}]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounding, "MOST_PROGRAM", 0)
        assert round_cells(layout, cells, groupings, Facts.none(layout)).kept_groupings == tuple(groupings)


def test_two_chains_are_found_where_facts_suggest_three() -> None:
    """A fact is not put into a chain that leaves the others none to share."""
    layout = Layout((Axis(0, 4), Axis(1, 5), Axis(2, 4, (Level("half", (1, 0, 1, 0)),))))
    groupings: list[Grouping] = [(0, 0, 1), (None, 0, 0), (None, 0, None), (None, None, 0), (None, None, 1)]
    cells = np.random.default_rng(0).exponential(size=layout.shape)
    cells *= np.array([30.0, 40.0])[np.array([1, 0, 1, 0])] / layout.sum(cells, (None, None, 1))[np.array([1, 0, 1, 0])]
    facts = Facts.none(layout).with_known((None, None, 1), np.array([30, 40]))
    assert round_cells(layout, cells, groupings, facts).kept_groupings == tuple(groupings)


def test_a_tree_whose_sums_are_far_from_the_facts_still_agrees_with_them() -> None:
    """Cells that a fact was not told of are moved as far as it takes, and none below what it can be."""
    layout = Layout.plain((3, 4))
    values = np.array([100, 0, 7])
    facts = Facts.none(layout).with_known((0, None), values)
    for cells in (np.zeros((3, 4)), np.full((3, 4), 30.3), np.arange(12.0).reshape(3, 4)):
        found = round_tree(Tree.of(layout, [(0, None)]), cells, facts)
        assert np.array_equal(found.sum(axis=1), values)
        assert found.min() >= 0


def test_what_no_table_has_is_an_error_that_names_no_number() -> None:
    """Facts that were not checked, and that no table has, end in a failure and never in a table."""
    layout = Layout.plain((2, 2, 2))
    same, crossed = np.array([[1, 0], [0, 1]]), np.array([[0, 1], [1, 0]])
    facts = Facts.none(layout).with_known(PAIRS[1], same).with_known(PAIRS[2], same).with_known(PAIRS[3], crossed)
    with pytest.raises(ProjectionFailed, match=r"^[^0-9]*$"):
        round_cells(layout, np.full((2, 2, 2), 0.25), PAIRS, facts)


def test_a_missing_solver_is_noticed_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees need no solver; tables with rows and columns do, and without one they are refused."""
    layout = Layout.plain((2, 2))
    check_solver(layout, TWO_WAY, Facts.none(layout))
    monkeypatch.setattr(rounding, "solver_is_installed", lambda: False)
    check_solver(layout, [(0, 0), (0, None), (None, None)], Facts.none(layout))
    with pytest.raises(InvalidParameter, match="which brings scipy"):
        check_solver(layout, TWO_WAY, Facts.none(layout))
    with pytest.raises(InvalidParameter, match="which brings scipy"):
        JointPlan.of(layout, Fraction(1), TWO_WAY, sensitivity=Fraction(1), facts=Facts.none(layout))


def test_equal_remainders_are_taken_evenly() -> None:
    """Where many cells have the same remainder, sums over neighbours move by little, not only measured ones."""
    layout = Layout.plain((300,))
    cells = np.full(300, 5.3)
    rounded = round_tree(Tree.of(layout, [layout.finest, layout.total]), cells, Facts.none(layout))
    assert rounded.sum() == round(cells.sum())
    assert np.abs(np.cumsum(rounded - cells)).max() < 3
