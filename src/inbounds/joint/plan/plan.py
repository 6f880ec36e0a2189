"""What will be measured of a table, at which epsilon each, and how far off it will be: before any look at the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.joint.plan.split import best_split, check_split, finest_of
from inbounds.joint.plan.variance import LEAST, Prediction, Spread, prediction, smooth_prediction
from inbounds.joint.solve.rounding import check_solver
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.public_groups import is_public
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.claim import Promise, checked_epsilon
from inbounds.published import Geometric

if TYPE_CHECKING:
    from inbounds.joint.plan.facts import Facts

NORMAL = math.sqrt(2 / math.pi)
"""The mean distance from zero of normal noise with a variance of 1."""

MOST_NODES = 20_000
"""A tree with more nodes than this above its leaves is split as if all nodes of a level had equally many children."""

WHOLE_LINE = Bounds(None, None, step=1)
FROM_ZERO = Bounds(0, None, step=1)


@dataclass(frozen=True, eq=False)
class JointPlan:
    """How a table is measured.  Looks at no data, and can be shown to anyone.

    The cells are counted in grains, and released in steps; one unit changes all cells by at most `sensitivity` steps
    in sum.  Each grouping is released with noise that keeps the distance guarantee for that sensitivity, so it costs
    its part of epsilon, and all of them together cost epsilon (docs/proofs.md, "Tables measured together").
    """

    layout: Layout
    epsilon: Fraction
    split: Mapping[Grouping, Fraction]
    """What each measured grouping costs; adds up to epsilon exactly."""
    sensitivity: Fraction
    grain: Fraction
    facts: Facts
    """Public, and not protected: what is known of all groups of a grouping is not measured, and costs nothing."""
    nonnegative: bool = True
    asked: tuple[Grouping, ...] = ()
    """What was asked for and is not public: measured, or a sum of what is."""

    def __post_init__(self) -> None:
        if not self.asked:
            object.__setattr__(self, "asked", tuple(self.split))

    @classmethod
    def of(  # noqa: PLR0913  what decides about a table is this much
        cls,
        layout: Layout,
        epsilon: Fraction,
        groupings: Sequence[Grouping],
        *,
        sensitivity: Fraction,
        facts: Facts,
        grain: Fraction = Fraction(1),
        nonnegative: bool = True,
        split: Mapping[Grouping, Fraction] | None = None,
    ) -> JointPlan:
        """Check what is asked for, and divide epsilon over what is measured of it."""
        checked_epsilon(epsilon)
        _check_sizes(sensitivity, grain)
        _check_groupings(layout, groupings)
        facts.check(nonnegative)
        public = [grouping for grouping in groupings if is_public(facts, grouping)]
        asked = tuple(grouping for grouping in groupings if grouping not in public)
        if not asked:
            raise InvalidParameter(
                "at least one grouping must not be public, got only known ones; ask for one that is not known"
            )
        check_solver(layout, groupings, facts)
        if split is None:
            parts = _default_split(facts, epsilon, asked, sensitivity / grain)
        else:
            parts = check_split(layout, epsilon, asked, public, split)
        measured = {grouping: part for grouping, part in zip(asked, parts, strict=True) if part}
        plan = cls(layout, epsilon, measured, sensitivity, grain, facts, bool(nonnegative), asked)
        for grouping in plan.measured:
            plan.mechanism(grouping)  # which refuses noise that cannot be had, before anything is spent
        return plan

    @property
    def measured(self) -> tuple[Grouping, ...]:
        """The groupings that are measured."""
        return tuple(self.split)

    def mechanism(self, grouping: Grouping) -> Geometric:
        """Return what measures every group of a grouping, in grains, with its certificate."""
        return self._mechanisms[grouping]

    @property
    def certificate(self) -> Certificate:
        """What is proved of all measurements together, in grains: the losses of the groupings add up."""
        promise = Promise(WHOLE_LINE, self.sensitivity / self.grain, self.epsilon, "distance", Fraction(0), False)
        loss = sum((self.mechanism(grouping).noise.loss for grouping in self.split), Fraction(0))
        return Certificate.of(
            promise,
            Lattice.of(WHOLE_LINE, Fraction(1)),
            bound=loss,
            witnessed=loss,
            pair=None,
            pairs=len(self.split),
            method="noise alone",
            precision=0,
            law=self.state_law,
        )

    def state_law(self) -> dict[str, Any]:
        """Return the law in exact numbers, for a certificate: the rate of the noise on each grouping."""
        noises = [
            {"of": ", ".join(map(str, self.layout.names(grouping))), "rate": str(self.mechanism(grouping).noise.rate)}
            for grouping in self.split
        ]
        return {"kind": "joint", "noises": noises}

    def truth_mechanism(self, grouping: Grouping) -> Geometric:
        """Return the same law of noise around truths that are not negative, if these are not: for intervals."""
        return self._noise_mechanism(grouping, FROM_ZERO) if self.nonnegative else self.mechanism(grouping)

    @cached_property
    def _mechanisms(self) -> dict[Grouping, Geometric]:
        return {grouping: self._noise_mechanism(grouping, WHOLE_LINE) for grouping in self.split}

    def _noise_mechanism(self, grouping: Grouping, bounds: Bounds) -> Geometric:
        return Geometric(bounds, self.sensitivity / self.grain, self.split[grouping], guarantee="distance")

    def rate(self, grouping: Grouping) -> float:
        """Return by which exponent the noise of a measured group falls with every grain; a double, rather too small."""
        return math.nextafter(float(self.mechanism(grouping).noise.rate), 0)

    @property
    def weights(self) -> dict[Grouping, float]:
        """How much each measured grouping counts in least squares: by its inverse variance, the greatest as 1."""
        most = max(self.split.values())
        return {grouping: float((part / most) ** 2) for grouping, part in self.split.items()}

    @cached_property
    def asked_weights(self) -> dict[Grouping, float]:
        """How much each grouping that is asked for counts once it is estimated: by the inverse variance of that."""
        # Of noise without a lattice, as above: the variances of large rates differ by more than doubles can weigh.
        spreads = self._prediction(self.asked).spreads([1 / weight for weight in self.weights.values()])
        return {grouping: 1 / _mean_variance(spread) for grouping, spread in zip(self.asked, spreads, strict=True)}

    # What to expect.

    @cached_property
    def errors(self) -> dict[Grouping, float]:
        """The predicted error of each grouping that is asked for: see `error`."""
        errors = _errors(self._prediction(self.asked), self._noise, self._own_ratio, self.asked)
        return {grouping: error * float(self.grain) for grouping, error in zip(self.asked, errors, strict=True)}

    def error(self, grouping: Grouping) -> float:
        """Return how far off a group of any grouping is predicted to be, on average over groups, in steps.

        For the least-squares estimate from all measurements and public facts, before cells are made non-negative and
        whole.  Infinite if no measured grouping tells the groups apart.
        """
        if grouping in self.asked:
            return self.errors[grouping]
        if is_public(self.facts, grouping):
            return 0.0
        errors = _errors(self._prediction([grouping]), self._noise, self._own_ratio, [grouping])
        return errors[0] * float(self.grain)

    def _prediction(self, asked: Sequence[Grouping]) -> Prediction:
        return prediction(self.facts, self.measured, asked)

    @cached_property
    def _noise(self) -> dict[Grouping, float]:
        return {grouping: variance(self.rate(grouping)) for grouping in self.split}

    @cached_property
    def _own_ratio(self) -> dict[Grouping, float]:
        return {grouping: _ratio(self.rate(grouping)) for grouping in self.split}

    def __getstate__(self) -> dict[str, object]:
        """Pickle what it is made of; the rest is made again, with its proofs."""
        names = ("layout", "epsilon", "split", "sensitivity", "grain", "facts", "nonnegative", "asked")
        return {name: self.__dict__[name] for name in names}


def variance(rate: float) -> float:
    """Return the variance of two-sided geometric noise, `2 q / (1 - q)^2`: infinite at the rate of no measurement."""
    if rate == 0:
        return math.inf
    return 0.5 / math.sinh(rate / 2) ** 2 if rate < 700 else 0.0  # whose square would be infinite


def _ratio(rate: float) -> float:
    """Return the mean distance of such noise from zero over its deviation: `sqrt(2 q) / (1 + q)`."""
    return math.sqrt(2 * math.exp(-rate)) / (1 + math.exp(-rate))


def _errors(
    predicted: Prediction, noise: Mapping[Grouping, float], ratios: Mapping[Grouping, float], asked: Sequence[Grouping]
) -> list[float]:
    noises = [noise[grouping] for grouping in predicted.measured]
    is_whole = sum(map(math.isfinite, noises)) == 1  # plain sums of whole noises, not means of several
    return [
        _mean_error(spread, noise.get(g, math.inf), ratios.get(g, NORMAL), is_whole)
        for g, spread in zip(asked, predicted.spreads(noises), strict=True)
    ]


def _mean_error(spread: Spread, own: float, ratio: float, is_whole: bool) -> float:
    """Return the mean distance from the truth over the groups of a grouping.

    Least squares take a group's own measurement with a weight of its variance afterwards over that before, which is
    also its share in what noise is left.  The more of it is one geometric noise, the less it is like a normal one.
    Whole noise of a small variance is 0 or 1: its mean distance is its variance then, up to where it is like a normal.
    """
    variances = spread.variances
    shares = np.minimum(variances / own, 1.0) if 0 < own < math.inf else np.full(len(variances), float(own == 0))
    shape = NORMAL / np.sqrt(1 + NORMAL**2 / np.maximum(variances, LEAST)) if is_whole else NORMAL
    errors = np.sqrt(variances) * (shape + (ratio - shape) * shares**2)
    return float(errors @ spread.counts / spread.counts.sum())


def _mean_variance(spread: Spread) -> float:
    """Return the mean variance of the groups that are not public."""
    unknown = float(spread.counts @ (spread.variances > 0))
    return float(spread.variances @ spread.counts) / unknown if unknown else LEAST


def _default_split(facts: Facts, epsilon: Fraction, asked: Sequence[Grouping], sensitivity: Fraction) -> list[Fraction]:
    layout = facts.layout
    # The search asks for hundreds of predictions, so trees of many nodes are predicted from their sizes alone.
    nodes = sum(layout.groups(grouping) for grouping in asked) - max(map(layout.groups, asked))
    make = prediction if nodes <= MOST_NODES else smooth_prediction
    predicted = make(facts, asked, asked)
    sizes = [layout.groups(grouping) for grouping in asked]
    rate_of_all = float(epsilon / sensitivity)

    def cost(shares: list[float]) -> float:
        rates = dict(zip(asked, (share * rate_of_all for share in shares), strict=True))
        noise = {grouping: variance(rate) for grouping, rate in rates.items()}
        errors = _errors(predicted, noise, {grouping: _ratio(rate) for grouping, rate in rates.items()}, asked)
        return math.fsum(math.sqrt(size) * error for size, error in zip(sizes, errors, strict=True))

    return best_split(epsilon, sizes, finest_of(layout, asked), cost)


def _check_sizes(sensitivity: Fraction, grain: Fraction) -> None:
    if sensitivity <= 0:
        raise InvalidParameter(
            f"sensitivity must be positive, got {shown(sensitivity)}; give the most that one unit changes all cells "
            "together"
        )
    if grain <= 0 or grain.numerator != 1:
        raise InvalidParameter(
            f"a step must be a whole number of grains, got a grain of {shown(grain)}; divide it evenly"
        )


def _check_groupings(layout: Layout, groupings: Sequence[Grouping]) -> None:
    if not groupings:
        raise InvalidParameter("at least one grouping must be asked for, got none; the cells are the one of all axes")
    for place, grouping in enumerate(groupings):
        if grouping in groupings[:place]:
            raise InvalidParameter(
                f"each grouping must be asked for once, got {layout.names(grouping)} twice; leave one out"
            )
