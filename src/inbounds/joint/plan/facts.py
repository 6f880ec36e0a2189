"""What is publicly known of a table, and is therefore neither measured nor protected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.joint.solve.feasibility import is_possible
from inbounds.joint.table.chains import chains
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.limits import GroupLimits
from inbounds.joint.table.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

GREATEST = 1 << 52
"""Known values and their sums stay below this, where a double still holds every whole number and its half."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Known values of groups, and the greatest total there can be.  **Public: facts are not protected.**

    For each grouping `known` has the values, and for which groups they are known; a cell that must be empty is a known
    cell of value 0.
    """

    layout: Layout
    known: Mapping[Grouping, tuple[NDArray[np.int64], NDArray[np.bool_]]] = field(default_factory=dict)
    most: int | None = None

    def __post_init__(self) -> None:
        for grouping, (values, is_known) in self.known.items():
            self._check_form(grouping, values, is_known)
        if self.most is not None and (type(self.most) is not int or not 0 <= self.most < GREATEST):
            raise InvalidParameter(
                f"the greatest total must be a whole number from 0 to 2^52, got {shown(self.most)}; give one, or None"
            )
        some = {grouping: pair for grouping, pair in self.known.items() if np.any(pair[1])}
        object.__setattr__(self, "known", some)

    def _check_form(self, grouping: Grouping, values: NDArray[np.int64], is_known: NDArray[np.bool_]) -> None:
        names, sizes = self.layout.names(grouping), self.layout.sizes(grouping)
        if values.shape != sizes or is_known.shape != sizes:
            raise InvalidParameter(
                f"known values of {names} must have the shape {sizes}, got {values.shape}; give one for each group, "
                "and say which are known"
            )
        if values.dtype != np.int64:
            raise InvalidParameter(f"known values of {names} must be whole numbers, got {values.dtype}; round them")
        if np.any((np.abs(values.astype(np.float64)) >= GREATEST) & is_known):
            raise InvalidParameter(f"known values of {names} must be below 2^52, got a larger one; use a coarser step")

    @classmethod
    def none(cls, layout: Layout) -> Facts:
        """Return that nothing is known."""
        return cls(layout)

    def flat(self, grouping: Grouping) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the values of a grouping, 0 where there is none, and which are known; both flat."""
        if grouping not in self.known:
            groups = self.layout.groups(grouping)
            return np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.bool_)
        values, is_known = self.known[grouping]
        return np.where(is_known, values, 0).ravel(), is_known.ravel()

    def with_known(self, grouping: Grouping, values: NDArray[np.int64]) -> Facts:
        """Return these facts and all the values of a grouping."""
        shaped = np.asarray(values, dtype=np.int64).reshape(self.layout.sizes(grouping))
        return Facts(self.layout, {**self.known, grouping: (shaped, np.ones(shaped.shape, dtype=np.bool_))}, self.most)

    def chains(self) -> list[list[Grouping]]:
        """Return the known groupings in chains, at least one, without the cells and the total."""
        inner = [grouping for grouping in self.known if grouping not in (self.layout.finest, self.layout.total)]
        return chains(self.layout, inner) or [[]]

    def check(self, nonnegative: bool) -> None:
        """Raise `InvalidParameter` unless there is a table of whole numbers of which all of this is true."""
        if nonnegative:
            for grouping, (values, is_known) in self.known.items():
                if np.any((values < 0) & is_known):
                    raise InvalidParameter(
                        f"known values of {self.layout.names(grouping)} must not be negative, got one that is; "
                        "correct it"
                    )
        chains = self.chains()
        limits = [GroupLimits.of(Tree.of(self.layout, chain), self, nonnegative) for chain in chains]
        totals = [int(limit.least[-1][0]) for limit in limits if nonnegative or limit.is_fixed[-1][0]]
        if self.most is not None and max(totals, default=0) > self.most:
            raise InvalidParameter(
                f"known values must add up to at most the greatest total, got more than {self.most}; "
                "correct one of them"
            )
        if len(chains) > 1 and not is_possible(self, chains, limits, nonnegative):
            raise InvalidParameter(
                f"known values of {self._list_groupings()} must be possible together, got some that no table "
                "has; correct one, or leave it out"
            )

    def _list_groupings(self) -> str:
        return ", ".join(str(self.layout.names(grouping)) for grouping in self.known)
