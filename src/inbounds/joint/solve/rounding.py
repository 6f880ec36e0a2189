"""A table in whole numbers that keeps its sums.

One chain of groupings is a tree, and rounded from the root down.  Two chains are a network, where a flow in whole
numbers moves every cell and every sum by less than 1.  With more chains there need not be such a table: a solver
looks for one, and if it finds none, sums are held chain after chain as long as that is possible.  Facts are
held in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, permutations
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter, ProjectionFailed
from inbounds.joint.solve.network import flow, meet
from inbounds.joint.solve.projection import extend_chain
from inbounds.joint.solve.solvers import NOT_INSTALLED, Bounds, solver_is_installed, whole_cells
from inbounds.joint.solve.tree_rounding import round_tree, snap
from inbounds.joint.table.chains import chains
from inbounds.joint.table.limits import GroupLimits
from inbounds.joint.table.tree import Tree
from inbounds.limit.program.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping, Layout

MOST_PROGRAM = 50_000
"""How many cells a program in whole numbers is tried on before anything else."""

PROGRAM_SECONDS = 10.0
"""How long it is tried where there is another way."""

MOST_ORDERS = 24
"""In how many orders chains of facts are tried."""

WIDTHS = (0, 1, 16, 1 << 10, 1 << 28)
"""How far sums may move that are not facts: the first that will do."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """Whole cells, and the groupings of which every sum moved by less than 1."""

    cells: NDArray[np.int64]
    kept_groupings: tuple[Grouping, ...]


def check_solver(layout: Layout, groupings: Iterable[Grouping], facts: Facts) -> None:
    """Raise `InvalidParameter` if rounding will need a solver and there is none; to be asked before measuring."""
    if len(chains(layout, {*groupings, *facts.known})) > 1 and not solver_is_installed():
        raise InvalidParameter(NOT_INSTALLED)


def round_cells(
    layout: Layout,
    cells: NDArray[np.float64],
    groupings: Sequence[Grouping],
    facts: Facts,
    *,
    nonnegative: bool = True,
    deadline: Deadline = NEVER,
) -> Rounded:
    """Return whole cells that agree with the facts, with as many groupings kept as could be.

    Raise `ProjectionFailed` if no whole cells were found that agree with the facts.
    """
    job = _Job(layout, cells, facts, nonnegative, deadline)
    whole = job.solve(list(dict.fromkeys((*facts.known, *groupings))))
    if whole is None:
        raise ProjectionFailed(
            "no table of whole numbers that agrees with all known values was found in the time allowed; the "
            "measurements remain valid: allow more time, or leave out some known values"
        )
    return Rounded(whole, tuple(grouping for grouping in groupings if job.is_kept(whole, grouping)))


@dataclass(frozen=True, eq=False)
class _Job:
    layout: Layout
    cells: NDArray[np.float64]
    facts: Facts
    nonnegative: bool
    deadline: Deadline

    def is_kept(self, whole: NDArray[np.int64], grouping: Grouping) -> bool:
        moved = self.layout.sum(whole, grouping) - self.layout.sum(self.cells, grouping)
        return bool(np.all(np.abs(moved) < 1))

    def solve(self, groupings: list[Grouping]) -> NDArray[np.int64] | None:
        # 1. Three or more chains and few cells: a program in whole numbers keeps all sums, if there is a table that
        #    does.
        # 2. Else one network flow after the other.  Two chains are always kept; of more, some may have to move.
        # 3. Where not even the facts could be held, a program for the facts alone, with ever more room for other sums.
        nested = chains(self.layout, [g for g in groupings if g not in (self.layout.finest, self.layout.total)])
        if len(nested) > 2 and self.layout.cells <= MOST_PROGRAM:
            whole = self._by_program(groupings, 0, PROGRAM_SECONDS)
            if whole is not None:
                return whole
        whole = next(filter(lambda cells: cells is not None, map(self._by_networks, self._in_turn(groupings))), None)
        if whole is None:  # facts in several chains whose meets leave no room
            for width in WIDTHS:
                whole = self._by_program(list(self.facts.known), width, self.deadline.left)
                if whole is not None or self.deadline.passed:
                    break
        return whole

    # One network after the other: what one has settled is a fact for the next.

    def _by_networks(self, in_turn: list[list[Grouping]]) -> NDArray[np.int64] | None:
        """Round along one chain after the other; None if some fact could not be held."""
        # The meet of two chains is rounded so that it keeps both; after that it stands for both as a single chain.
        held = self.facts
        up: list[Grouping] = []
        for place, chain in enumerate(in_turn):
            if not up:
                up = chain
                continue
            middle = meet(chain[0], up[0])
            # Where a chain is still to come it is rounded first, so that what it cannot keep is not far off.
            near = self._near(in_turn[place + 1] if place + 1 < len(in_turn) else up, held, middle)
            sums = self._cross(chain, up, held, middle, near)
            if sums is not None:
                held, up = held.with_known(middle, sums), [middle]
            elif any(grouping in self.facts.known for grouping in chain):
                return None
        return round_tree(Tree.of(self.layout, up), self.cells, held, self.nonnegative)

    def _in_turn(self, groupings: list[Grouping]) -> Iterator[list[list[Grouping]]]:
        """Yield the groupings in two chains, or else the chains of facts in some order, and then what else fits in.

        Orders in which meets become fine late are the first, for what is settled in a meet leaves others no room.
        """
        inner = [g for g in groupings if g not in (self.layout.finest, self.layout.total)]
        fewest = chains(self.layout, inner)
        if len(fewest) <= 2:
            yield fewest
            return
        orders = list(islice(permutations(self.facts.chains()), MOST_ORDERS))
        orders.sort(key=self._meets)
        for order in orders:
            left, ordered = inner, []
            for place, chain in enumerate(order):
                # A grouping that fits into a chain makes its meets finer; where there is more to hold, it waits.
                longer = extend_chain(self.layout, list(chain), left) if place == len(order) - 1 else list(chain)
                ordered.append(longer)
                left = [grouping for grouping in left if grouping not in longer]
            yield [chain for chain in ordered + chains(self.layout, left) if chain]

    def _meets(self, order: Sequence[list[Grouping]]) -> int:
        """Return how many groups the meets of chains have as one after the other is added."""
        finest = [chain[0] for chain in order if chain]
        return sum(self.layout.groups(grouping) for grouping in accumulate(finest, meet))

    def _near(self, chain: list[Grouping], facts: Facts, middle: Grouping) -> NDArray[np.int64]:
        whole = round_tree(Tree.of(self.layout, chain), self.cells, facts, self.nonnegative)
        return self.layout.sum(whole, middle).ravel()

    def _cross(
        self,
        down: list[Grouping],
        up: list[Grouping],
        facts: Facts,
        middle: Grouping,
        near: NDArray[np.int64],
    ) -> NDArray[np.int64] | None:
        """Return whole sums of the meet of two chains that keep their sums, or else as nearly as there are any."""
        # A chain with facts must be kept, at the price of moving other sums; one without is kept in place or not at
        # all.
        is_needed = any(grouping in self.facts.known for grouping in down)
        tree = Tree.of(self.layout, [middle])
        limits = GroupLimits.of(tree, facts, self.nonnegative)
        place = tree.levels.index(middle)
        for width in WIDTHS if is_needed else WIDTHS[:1]:
            bounds = {grouping: self._bounds(grouping, facts, width) for grouping in {*down, *up, self.layout.total}}
            lower, upper = self._bounds(middle, facts, width)
            if self.nonnegative:
                lower = np.maximum(lower, limits.least[place])
                upper = np.maximum(lower, upper)
            fixed, value = limits.is_fixed[place], limits.least[place]
            bounds[middle] = np.where(fixed, value, lower), np.where(fixed, value, upper)
            sums = flow(self.layout, down, up, bounds, near)
            if sums is not None:
                return sums
        return None

    def _bounds(self, grouping: Grouping, facts: Facts, width: int) -> Bounds:
        """Return between which whole numbers each sum of a grouping must be."""
        # Rounding to a neighbour moves a sum by less than 1; a sum that is whole already stays.
        sums = snap(self.layout.sum(self.cells, grouping)).ravel()
        lower = np.floor(sums).astype(np.int64) - width
        upper = np.ceil(sums).astype(np.int64) + width
        if self.nonnegative:
            lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)
        if grouping == self.layout.total and facts.most is not None:
            lower, upper = np.minimum(lower, facts.most), np.minimum(upper, facts.most)
        values, is_known = facts.flat(grouping)
        return np.where(is_known, values, lower), np.where(is_known, values, upper)

    # A program in whole numbers.

    def _by_program(self, groupings: list[Grouping], width: int, seconds: float) -> NDArray[np.int64] | None:
        wanted = {*groupings, self.layout.finest, self.layout.total}
        bounds = {grouping: self._bounds(grouping, self.facts, width) for grouping in wanted}
        # What going up costs more than going down, so that cells prefer the whole number that is nearer.
        costs = np.floor(self.cells) + 0.5 - self.cells
        return whole_cells(self.layout, bounds, costs, min(seconds, self.deadline.left)).cells
