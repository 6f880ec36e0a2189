"""What is predicted of least-squares estimates, against linear algebra on every cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.variance import ByChain, ByComponents, OneByOne, prediction
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout

TREE = Layout((Axis("leaf", 7, (Level("node", (0, 0, 1, 1, 1, 2, 2)), Level("top", (0, 0, 0, 0, 0, 1, 1)))),))
TABLE = Layout.plain((4, 3))
LEVELS = Layout((Axis("leaf", 6, (Level("node", (0, 0, 1, 1, 2, 2)),)), Axis("x", 3)))


def sums(layout: Layout, grouping: Grouping) -> Any:
    """Return the matrix that adds up the cells of each group."""
    found = np.zeros((layout.groups(grouping), layout.cells))
    found[layout.group_of_cells(grouping).ravel(), np.arange(layout.cells)] = 1
    return found


def by_cells(facts: Facts, measured: list[Grouping], noise: list[float]) -> list[float]:
    """Return the mean variance of each measured grouping, from the normal matrix on all cells that facts leave free."""
    layout = facts.layout
    matrices = [sums(layout, grouping) for grouping in measured]
    normal = sum(matrix.T @ matrix / one for matrix, one in zip(matrices, noise, strict=True))
    free = np.eye(layout.cells)
    if facts.known:
        fixed = np.vstack([sums(layout, grouping)[known.ravel()] for grouping, (_, known) in facts.known.items()])
        _, sizes, rows = np.linalg.svd(fixed)
        free = rows[np.count_nonzero(sizes > 1e-9) :].T
    covariance = free @ np.linalg.inv(free.T @ normal @ free) @ free.T
    return [float(np.diag(matrix @ covariance @ matrix.T).mean()) for matrix in matrices]


def known(layout: Layout, **masks: list[bool]) -> Facts:
    """Return facts about the groups that are marked, all of them 0."""
    found = {}
    for name, mask in masks.items():
        grouping = layout.grouping(() if name == "total" else int(name[1:]) if name.startswith("a") else name)
        where = np.array(mask).reshape(layout.sizes(grouping))
        found[grouping] = (np.zeros(layout.sizes(grouping), dtype=np.int64), where)
    return Facts(layout, found)


SOME = known(TREE, leaf=[True, False, False, False, True, False, False], node=[False, False, True])
CASES = [
    (ByChain, Facts.none(TREE), ["leaf", "node", "top", ()], [1.0, 2.0, 3.0, 4.0]),
    (ByChain, Facts.none(TREE), ["leaf", "top"], [1.0, 0.1]),
    (ByChain, Facts.none(TREE), ["leaf"], [1.5]),
    (ByChain, known(TREE, total=[True]), ["leaf", "node"], [1.0, 2.0]),
    (ByChain, SOME, ["leaf", "top"], [1.0, 2.0]),
    (ByChain, Facts.none(TABLE), [(0, 1), (0,), ()], [2.0, 1.0, 3.0]),
    (ByComponents, Facts.none(TABLE), [(0, 1), (0,), (1,), ()], [2.0, 1.0, 3.0, 0.5]),
    (ByComponents, known(TABLE, a0=[True] * 4), [(0, 1), (1,)], [1.0, 2.0]),
    (ByComponents, Facts.none(LEVELS), [("leaf", "x"), ("node", "x"), "leaf", "x", ()], [1.0, 2.0, 3.0, 4.0, 0.5]),
]


@pytest.mark.parametrize(("kind", "facts", "names", "noise"), CASES)
def test_predicted_variances_are_those_of_least_squares(kind: type, facts: Facts, names: Any, noise: Any) -> None:
    """Two passes over a tree, and sums over components, give what the normal matrix of all cells gives."""
    measured = [facts.layout.grouping(one) for one in names]
    found = prediction(facts, measured, measured)
    spreads = found.spreads(noise)
    assert type(found) is kind
    assert [float(one.variances @ one.counts / one.counts.sum()) for one in spreads] == pytest.approx(
        by_cells(facts, measured, noise)
    )
    assert [one.counts.sum() for one in spreads if kind is ByChain] == [
        facts.layout.groups(grouping) for grouping in measured if kind is ByChain
    ]


def test_what_is_not_measured_is_predicted_too() -> None:
    """A sum of measured groups has the variance of the sum, and what no measurement tells has none that is finite."""
    rows, total = TABLE.grouping(0), TABLE.total
    (whole,), (cells,) = (prediction(Facts.none(TABLE), [rows], [one]).spreads([2.0]) for one in (total, TABLE.finest))
    assert whole.variances.tolist() == [8.0]
    assert np.isinf(cells.variances).all()


def test_vast_cubes_are_predicted_grouping_by_grouping() -> None:
    """With more components than can be listed, a grouping is as good as the best that it is a sum of."""
    layout = Layout.plain((2,) * 18)
    found = prediction(Facts.none(layout), [layout.finest, layout.grouping(0), layout.grouping(1)], [layout.total])
    assert type(found) is OneByOne
    assert found.spreads([1.0, 3.0, 2.0])[0].variances.tolist() == [4.0]
