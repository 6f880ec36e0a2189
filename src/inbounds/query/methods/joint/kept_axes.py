"""The axes of a table without the keys that a condition rules out whole: what is left is numbered anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.table.axis import Axis, Level
from inbounds.query.contract.public_counts import Known

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class KeptAxes:
    """Axes with the keys that are left, and the new number of each of these."""

    axes: tuple[Axis, ...]
    numbers: Mapping[str, Mapping[int, int]]
    """For each axis and level that lost a key: the new numbers of the others."""
    possible: NDArray[np.bool_] | None
    """Which cells are left of those that the axes still have; None if all are."""

    @classmethod
    def of(cls, axes: Sequence[Axis], possible: NDArray[np.bool_] | None) -> KeptAxes:
        """Take the axes of a table, and which of its cells a condition leaves, if not all."""
        if possible is None:
            return cls(tuple(axes), {}, None)
        # The keys of each axis that have a cell left; number them anew on every level; cut the cells to these keys.
        others = [tuple(i for i in range(len(axes)) if i != place) for place in range(len(axes))]
        left_keys = [np.flatnonzero(possible.any(axis=others[place])) for place in range(len(axes))]
        numbers: dict[str, dict[int, int]] = {}
        left = []
        for axis, keys in zip(axes, left_keys, strict=True):
            levels = []
            for level in range(len(axis.levels) + 1):
                before, now = np.unique(np.asarray(axis.keys_at(level))[keys], return_inverse=True)
                numbers[str(axis.name_of(level))] = {code: new for new, code in enumerate(before.tolist())}
                levels.append(Level(axis.name_of(level), tuple(now.tolist())))
            left.append(Axis(axis.name, len(keys), tuple(levels[1:])))
        inside = possible[np.ix_(*left_keys)]
        return cls(tuple(left), numbers, None if inside.all() else inside)

    def number(self, name: str, code: int) -> int:
        """Return the new number of a key that is left."""
        return self.numbers[name][code] if name in self.numbers else code

    def known(self, known: Known) -> Known:
        """Return the combinations that cannot be in new numbers, without those of keys that are not left.

        Public numbers of rows are of all rows, and go with no condition: without one, no key is lost.
        """
        zeros = [
            {name: self.number(name, code) for name, code in zero.items()}
            for zero in known.zeros
            if all(name not in self.numbers or code in self.numbers[name] for name, code in zero.items())
        ]
        return replace(known, zeros=tuple(zeros))
