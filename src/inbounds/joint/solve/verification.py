"""The last look at a table before it leaves, in whole numbers and with nothing rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import ProjectionFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Layout


def verify(layout: Layout, cells: NDArray[np.int64], facts: Facts, *, nonnegative: bool = True) -> None:
    """Raise `ProjectionFailed` unless every cell is a whole number that is possible, and every fact is true of them."""
    if cells.dtype != np.int64 or cells.shape != layout.shape:
        raise _failure()
    if nonnegative and np.any(cells < 0):
        raise _failure()
    for grouping, (values, is_known) in facts.known.items():
        if np.any((layout.sum(cells, grouping) != values) & is_known):
            raise _failure()
    if facts.most is not None and cells.sum() > facts.most:
        raise _failure()


def _failure() -> ProjectionFailed:
    return ProjectionFailed(
        "no table was found that agrees with all known values; the measurements remain valid: allow more time, or "
        "leave out some known values"
    )
