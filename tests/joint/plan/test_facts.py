"""Public facts, and whether they are possible together."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import InvalidParameter
from inbounds.joint.plan.facts import Facts
from inbounds.joint.solve import solvers
from inbounds.joint.table.layout import Grouping, Layout
from tests.helpers.joint_tables import all_groupings, random_layout, random_problem


def _facts(shape: tuple[int, ...], known: dict[Grouping, object], most: int | None = None) -> Facts:
    arrays = {grouping: np.asarray(values, dtype=np.int64) for grouping, values in known.items()}
    return Facts(Layout.plain(shape), {g: (v, np.ones(v.shape, dtype=bool)) for g, v in arrays.items()}, most)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=50, deadline=None)
def test_what_is_true_of_a_table_is_not_refused(seed: int, signed: bool) -> None:
    """Facts that were read off a table are possible together, whatever groupings they are about."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), largest=4)
    random_problem(rng, layout, all_groupings(layout), known=0.4, signed=signed).facts.check(nonnegative=not signed)


def _exists(facts: Facts, greatest: int) -> bool:
    """Try every table of few cells."""
    layout = facts.layout
    for values in product(range(greatest + 1), repeat=layout.cells):
        cells = np.array(values).reshape(layout.shape)
        agrees = all(np.all((layout.sum(cells, g) == v) | ~k) for g, (v, k) in facts.known.items())
        if agrees and (facts.most is None or cells.sum() <= facts.most):
            return True
    return False


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=75, deadline=None)
def test_facts_are_refused_exactly_if_no_table_has_them(seed: int) -> None:
    """On small tables, with any partly known groupings and a cap, the check agrees with trying every table."""
    rng = np.random.default_rng(seed)
    layout = Layout.plain([(4,), (2, 2), (2, 3), (2, 2, 2)][int(rng.integers(4))])
    known = {}
    for g in all_groupings(layout):
        if rng.random() < 0.6:
            values = rng.integers(0, 3, layout.sizes(g))
            known[g] = np.asarray(values, dtype=np.int64), np.asarray(rng.random(layout.sizes(g)) < 0.5)
    most = int(rng.integers(0, 4)) if rng.random() < 0.3 else None
    known[layout.total] = np.asarray(rng.integers(0, 3), dtype=np.int64), np.asarray(True)
    facts = Facts(layout, known, most)
    if _exists(facts, 2):
        facts.check(nonnegative=True)
    else:
        with pytest.raises(InvalidParameter, match="known values"):
            facts.check(nonnegative=True)


@pytest.mark.parametrize(
    "facts",
    [
        _facts((2, 2), {(0, None): [3, 4], (None, 0): [3, 5]}),
        _facts((2, 2), {(0, None): [3, 4], (None, None): 8}),
        _facts((2, 2), {(0, None): [3, 4]}, most=6),
        _facts((2, 2), {(0, None): [-3, 4]}),
        _facts(
            (2, 2, 2), {(0, 0, None): [[1, 0], [0, 1]], (0, None, 0): [[1, 0], [0, 1]], (None, 0, 0): [[0, 1], [1, 0]]}
        ),
    ],
)
def test_facts_that_contradict_each_other_are_refused_by_name(facts: Facts) -> None:
    """Totals that differ, more than the greatest total, a negative count, three margins of no table."""
    with pytest.raises(InvalidParameter, match=r"known values.*;"):
        facts.check(nonnegative=True)


def test_a_negative_fact_is_possible_where_cells_may_be_negative() -> None:
    """Only counts cannot be negative; and margins that differ are impossible with either."""
    _facts((2, 2), {(0, None): [-3, 4]}).check(nonnegative=False)
    with pytest.raises(InvalidParameter, match="possible together"):
        _facts((2, 2), {(0, None): [-3, 4], (None, 0): [2, 2]}).check(nonnegative=False)


def test_facts_of_the_wrong_form_are_refused() -> None:
    """Values need the shape of their grouping, and are whole numbers that a double can hold."""
    layout = Layout.plain((2, 3))
    all_known = np.ones(2, dtype=bool)
    with pytest.raises(InvalidParameter, match="shape"):
        Facts(layout, {(None, 0): (np.zeros(2, dtype=np.int64), all_known)})
    with pytest.raises(InvalidParameter, match="whole numbers"):
        Facts(layout, {(0, None): (np.zeros(2), all_known)})  # type: ignore[dict-item]
    with pytest.raises(InvalidParameter, match="below"):
        Facts(layout, {(0, None): (np.full(2, 1 << 60), all_known)})
    with pytest.raises(InvalidParameter, match="greatest total"):
        Facts(layout, {}, most=-1)


def test_margins_of_separate_axes_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known sums along different axes are possible if their totals agree, however large the table is."""
    monkeypatch.setattr(solvers, "_scipy", None)
    facts: dict[Grouping, object] = {
        (0, None, None): np.ones(100),
        (None, 0, None): np.ones(100),
        (None, None, 0): np.full(50, 2),
    }
    _facts((100, 100, 50), facts).check(nonnegative=True)


def test_without_a_solver_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no solver is told of the extra that brings one."""
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    facts = _facts((2, 2), {(0, None): [1, 1], (None, 0): [1, 1]})
    cell = np.zeros((2, 2), dtype=np.int64), np.eye(2, dtype=bool)
    with pytest.raises(InvalidParameter, match="which brings scipy"):
        Facts(facts.layout, {**facts.known, (0, 0): cell}).check(nonnegative=True)
