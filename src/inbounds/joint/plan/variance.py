"""How exact the least-squares estimate of every grouping will be, from the noise of those that are measured.

On a chain of nested groupings that is two passes over the tree, public groups included.  Otherwise the table falls
into components: for every axis the constant, and what each level tells beyond the next coarser one.  Every grouping
sees a component whole or not at all, so that variances are sums over components.  That is exact where all keys of a
level have equally many children, and where facts are about whole groupings; elsewhere it is an approximation, by mean
numbers of children.  In all of it answers may be negative: what the projection gains by knowing better is extra.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inbounds.joint.table.axis import Axis
from inbounds.joint.table.chains import chains
from inbounds.joint.table.layout import Grouping
from inbounds.joint.table.public_groups import known_groups
from inbounds.joint.table.tree import add_up, parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts

    Floats = NDArray[np.float64]

MOST_COMPONENTS = 2**16
"""Tables with more components than this are judged grouping by grouping."""

LEAST = 1e-30
"""No noise has a smaller variance, so that there is always something to divide by."""


class Spread(NamedTuple):
    """Variances of the groups of a grouping, and how many groups have each."""

    variances: Floats
    counts: Floats


class Prediction(ABC):
    """Variances of least-squares estimates, for any noise on the measured groupings."""

    def __init__(self, facts: Facts, measured: Sequence[Grouping], asked: Sequence[Grouping]) -> None:
        self.facts, self.layout = facts, facts.layout
        self.measured, self.asked = tuple(measured), tuple(asked)

    @abstractmethod
    def spreads(self, noise: Sequence[float]) -> list[Spread]:
        """Return the variances of all groupings that are asked for, if the measured ones have this noise."""


def prediction(facts: Facts, measured: Sequence[Grouping], asked: Sequence[Grouping]) -> Prediction:
    """Return what predicts the variances of some groupings, in the most exact way that there is."""
    # One chain is a tree, on which variances are exact.  Else the table is taken to be symmetric within each axis:
    # exact for measurements of whole groupings without facts about single groups, and near enough for a split
    # otherwise.
    every = [*measured, *asked, *facts.known]
    finest = max(measured, key=facts.layout.groups)
    coarser = [grouping for grouping in every if facts.layout.is_within(finest, grouping)]
    if set(asked) <= set(coarser) and len(chains(facts.layout, every)) == 1:
        return ByChain(facts, measured, asked)
    return smooth_prediction(facts, measured, asked)


def smooth_prediction(facts: Facts, measured: Sequence[Grouping], asked: Sequence[Grouping]) -> Prediction:
    """Return what predicts variances from the sizes of axes and levels alone."""
    sizes = [1 + sum(size > 0 for _, size in _components(axis)) for axis in facts.layout.axes]
    if np.prod(sizes, dtype=float) <= MOST_COMPONENTS:
        return ByComponents(facts, measured, asked)
    return OneByOne(facts, measured, asked)


class ByChain(Prediction):
    """Exactly, on a tree: up from the leaves, and down again."""

    @cached_property
    def _chain(self) -> list[Grouping]:
        """The groupings from the finest that is measured to the coarsest."""
        (ordered,) = chains(self.layout, [*self.measured, *self.asked, *self.facts.known])
        finest = min(ordered.index(grouping) for grouping in self.measured)
        return ordered[finest:]

    @cached_property
    def _unknown(self) -> list[NDArray[np.bool_]]:
        return [~known_groups(self.facts, grouping)[1] for grouping in self._chain]

    @cached_property
    def _parents(self) -> list[NDArray[np.intp]]:
        return [parents(self.layout, *pair) for pair in pairwise(self._chain)]

    @cached_property
    def _leaves(self) -> Floats:
        """How many leaves that are not public each node above them has: they are all alike, and need no pass."""
        whole = float(self._unknown[0].sum())
        if not self._parents:
            return np.array([whole])
        return add_up(self._unknown[0].astype(np.float64), self._parents[0], len(self._unknown[1]))

    def spreads(self, noise: Sequence[float]) -> list[Spread]:
        own = {grouping: max(variance, LEAST) for grouping, variance in zip(self.measured, noise, strict=True)}
        levels = self._down(*self._up([own.get(grouping, np.inf) for grouping in self._chain]))
        return [levels[self._chain.index(grouping)] for grouping in self.asked]

    def _up(self, own: list[float]) -> tuple[float, list[Floats], list[Floats]]:
        """Return the variance of a leaf, and of each node above: of the sum of its children, and with its own noise."""
        # Estimates of independent noise combine by their precisions, `1 / variance`; those of children add up as
        # variances.
        leaf = own[0]
        sums, both = [leaf * self._leaves], []
        for level in range(1, len(self._chain)):
            below = sums[-1]
            with np.errstate(divide="ignore"):
                together = 1 / (1 / np.maximum(below, LEAST) + 1 / own[level])
            both.append(np.where(self._unknown[level] & (below > 0), together, 0.0))
            if level + 1 < len(self._chain):
                sums.append(add_up(both[-1], self._parents[level], len(self._unknown[level + 1])))
        return leaf, sums, both

    def _down(self, leaf: float, sums: list[Floats], both: list[Floats]) -> list[Spread]:
        """Return the variances given everything: those of the root are final, a child shares in its parent's."""
        if not both:
            known = float((~self._unknown[0]).sum())
            return [Spread(np.array([leaf, 0.0]), np.array([self._leaves[0], known]))]
        # What a node learns from above is shared among its children by their variances: a child keeps `1 - share` of
        # its own variance, and takes `share^2` of its parent's.
        final = [both[-1]]
        for level in range(len(both) - 2, -1, -1):
            places = self._parents[level + 1]
            share = both[level] / np.maximum(sums[level + 1][places], LEAST)
            final.insert(0, both[level] * (1 - share) + share**2 * final[0][places])
        share = 1 / np.maximum(self._leaves, 1)
        leaves = leaf * (1 - share) + share**2 * final[0]
        known = float((~self._unknown[0]).sum())
        first = Spread(np.append(leaves, 0.0), np.append(self._leaves, known))
        return [first, *(Spread(level, np.ones(len(level))) for level in final)]


class ByComponents(Prediction):
    """By components, each seen whole by some groupings and not at all by the others."""

    @cached_property
    def _public(self) -> list[Grouping]:
        return [grouping for grouping, (_, known) in self.facts.known.items() if known.all()]

    @cached_property
    def _dimensions(self) -> Floats:
        return _product([np.array([1.0, *(float(size) for _, size in _components(axis))]) for axis in self.layout.axes])

    def _multiplicities(self, grouping: Grouping) -> Floats:
        """Return for each component how often a grouping adds it up: 0 if it does not tell it."""
        return _product([_factors(axis, level) for axis, level in zip(self.layout.axes, grouping, strict=True)])

    @cached_property
    def _by_measured(self) -> Floats:
        return np.array([self._multiplicities(grouping) for grouping in self.measured])

    @cached_property
    def _by_public(self) -> NDArray[np.bool_]:
        seen = [self._multiplicities(grouping) > 0 for grouping in self._public]
        return np.any(seen, axis=0) if seen else np.zeros(len(self._dimensions), dtype=np.bool_)

    @cached_property
    def _by_asked(self) -> Floats:
        groups = np.array([[float(self.layout.groups(grouping))] for grouping in self.asked])
        return np.array([self._multiplicities(grouping) * self._dimensions for grouping in self.asked]) / groups

    def spreads(self, noise: Sequence[float]) -> list[Spread]:
        # Components are orthogonal, so each is estimated by itself: the precisions of all groupings that see it add up.
        precisions = (1 / np.maximum(np.array(noise, dtype=float), LEAST)) @ self._by_measured
        with np.errstate(divide="ignore"):
            each = np.where(self._by_public, 0.0, 1 / precisions)
        return [Spread(np.array([float(each[row > 0] @ row[row > 0])]), np.ones(1)) for row in self._by_asked]


class OneByOne(Prediction):
    """Each grouping by the best single measured one: its own noise, or the sum of that of a finer one."""

    def spreads(self, noise: Sequence[float]) -> list[Spread]:
        return [Spread(np.array([self._best(grouping, noise)]), np.ones(1)) for grouping in self.asked]

    def _best(self, asked: Grouping, noise: Sequence[float]) -> float:
        layout = self.layout
        pairs = [pair for pair in zip(self.measured, noise, strict=True) if layout.is_within(pair[0], asked)]
        return min((variance * layout.groups(g) / layout.groups(asked) for g, variance in pairs), default=np.inf)


def _components(axis: Axis) -> list[tuple[int, int]]:
    """Return the levels of an axis from the coarsest on, each with how much it tells beyond the one before."""
    # The dimensions of nested spaces of functions on the axis: constants, then what each finer level adds.
    levels = list(reversed(range(len(axis.levels) + 1)))
    sizes = [1, *(axis.size_of(level) for level in levels)]
    return [(level, here - before) for level, (before, here) in zip(levels, pairwise(sizes), strict=True)]


def _factors(axis: Axis, level: int | None) -> Floats:
    """Return over how many keys an axis is added up, for each component that is still seen then, and else 0."""
    keys = axis.size if level is None else axis.size / axis.size_of(level)
    seen = [level is not None and component >= level for component, _ in _components(axis)]
    return np.array([keys, *(keys * is_seen for is_seen in seen)])


def _product(factors: list[Floats]) -> Floats:
    product = np.ones(1)
    for factor in factors:
        product = np.multiply.outer(product, factor).ravel()
    return product
