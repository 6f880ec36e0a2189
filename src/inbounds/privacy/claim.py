"""What a mechanism promises, and the law that is claimed to keep the promise.

A `Promise` is what the caller asks for.  A `Claim` adds a scale and a step, and with them a law; whether the law keeps
the promise is for a certificate to say.  Nothing can be released from a claim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any, get_args

from inbounds.bounds import Bounds
from inbounds.bounds.fine_step import fine_step
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter, LatticeTooFine
from inbounds.exact.rational import as_written, exact, rounded, shown
from inbounds.privacy.guarantee import GuaranteeName, Pairs, deciding_pairs
from inbounds.privacy.law import Law

RECOMMENDED_EACH, RECOMMENDED_TOTAL = "0.1 to 1", "1 to 5"
"""Epsilon for one release or question, and for all about one person: docs/parameters.md says so, and why."""

LEAST_EPSILON = Fraction(1, 10**9)
GREATEST_EPSILON = Fraction(1000)

NEAR = 8
"""The step for the plain scale is kept for scales that one at most so many times finer or coarser would suit."""


@dataclass(frozen=True)
class Promise:
    """A privacy guarantee asked for over some bounds, every number exact."""

    bounds: Bounds
    sensitivity: Fraction
    epsilon: Fraction
    guarantee: GuaranteeName
    pooling: Fraction
    trusted: bool

    def __post_init__(self) -> None:
        """Refuse what no caller could have asked for, however the object was made: `certify` rests on it."""
        _sensitivity(self.sensitivity, self.bounds)
        checked_epsilon(self.epsilon)
        _guarantee(self.guarantee)
        _pooling(self.pooling)
        _trusted(self.trusted)

    @classmethod
    def of(cls, bounds: Bounds, sensitivity: Any, epsilon: Any, guarantee: str, pooling: Any, trusted: bool) -> Promise:
        """Check what a caller passed and make it exact."""
        if not isinstance(bounds, Bounds):
            raise InvalidParameter(f"bounds must be a Bounds, got {type(bounds).__name__}; try Bounds(low, high)")
        if bounds.values in ("time", "clock"):
            raise InvalidParameter(
                f"a mechanism releases numbers or dates, got times, {bounds.brief()}; give it seconds as numbers, or "
                "ask a table about its times"
            )
        return cls(
            bounds,
            _sensitivity(sensitivity, bounds),
            checked_epsilon(epsilon),
            _guarantee(guarantee),
            _pooling(pooling),
            _trusted(trusted),
        )

    @property
    def plain_scale(self) -> Fraction:
        """The scale that would do if every number were possible."""
        return self.sensitivity / self.epsilon

    def refuse_extreme_noise(self) -> None:
        """Refuse noise whose scale would be near the least or the greatest doubles."""
        if not Fraction(1, 2**960) < self.plain_scale < 2**960:
            raise InvalidParameter(
                f"sensitivity / epsilon must be from 2**-960 to 2**960, got {rounded(self.plain_scale, 6)}; "
                "use other units for the answer"
            )

    def step_for(self, scale: Fraction) -> Fraction:
        """Return the step of the lattice for noise of this scale: that of the bounds, or else one that suits it.

        For scales near the plain one that is the step for the plain one, so that they share a lattice.  It never falls
        as the scale grows.
        """
        bounds = self.bounds
        if bounds.step is not None:
            return bounds.step
        suited, plain_scale = fine_step(bounds, scale, self.sensitivity), self.plain_scale
        if scale == plain_scale:
            return suited
        try:
            plain = fine_step(bounds, plain_scale, self.sensitivity)
        except LatticeTooFine:
            return suited
        return plain if suited / NEAR <= plain <= suited * NEAR else suited


@dataclass(frozen=True, eq=False)
class Claim:
    """The statement that truncated Laplace noise of this scale on this lattice keeps a promise."""

    promise: Promise
    lattice: Lattice
    pairs: Pairs
    """The pairs of indices that decide whether the promise is kept."""
    scale: Fraction

    def __post_init__(self) -> None:
        _check_scale(self.scale, self.scale)

    @classmethod
    def of(
        cls,
        bounds: Bounds,
        sensitivity: Any,
        epsilon: Any,
        *,
        scale: Any,
        guarantee: str = "standard",
        pooling: Any = 0,
        trusted: bool = False,
    ) -> Claim:
        """Claim that this scale is enough.  `inbounds.certify` says whether that is true."""
        promise = Promise.of(bounds, sensitivity, epsilon, guarantee, pooling, trusted)
        noise = exact(scale, "scale", InvalidParameter)
        _check_scale(noise, scale)
        return cls.on(promise, promise.step_for(noise), noise)

    @classmethod
    def on(cls, promise: Promise, step: Fraction, scale: Fraction) -> Claim:
        """Claim that this scale keeps a promise on the lattice of this step."""
        lattice = Lattice.of(promise.bounds, step)
        pairs = deciding_pairs(lattice, promise.sensitivity, promise.guarantee, promise.trusted)
        return cls(promise, lattice, pairs, scale)

    def __reduce__(self) -> tuple[Any, ...]:
        return Claim.on, (self.promise, self.lattice.step, self.scale)

    def rescaled(self, scale: float) -> Claim:
        """Claim the same of another scale."""
        return replace(self, scale=Fraction(scale))

    @cached_property
    def law(self) -> Law:
        """The law of a release."""
        return Law(self.lattice, self.lattice.step / self.scale, self.promise.pooling)

    def state_law(self) -> dict[str, str]:
        """Return the law in exact numbers, for a certificate."""
        return {"kind": "laplace", "scale": str(self.scale), "pooling": str(self.promise.pooling)}


def _check_scale(scale: object, given: object) -> None:
    """Refuse a scale that is none, as it was given."""
    if not isinstance(scale, Fraction) or scale <= 0:
        raise InvalidParameter(f"scale must be positive, got {shown(given)}; it is about sensitivity / epsilon")


def checked_epsilon(epsilon: Any) -> Fraction:
    """Return epsilon as it was written; refuse one that promises nothing, or too much to be computed."""
    value = as_written(epsilon, "epsilon", InvalidParameter)
    if not LEAST_EPSILON <= value <= GREATEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be from 1e-9 to 1000, got {shown(epsilon)}; recommended is {RECOMMENDED_EACH} for a release"
        )
    return value


def _sensitivity(sensitivity: Any, bounds: Bounds) -> Fraction:
    if isinstance(sensitivity, timedelta):
        if not bounds.is_dates:
            raise InvalidParameter(
                f"sensitivity must be a number if the bounds are numbers, got {shown(sensitivity)}; give a number"
            )
        value = Fraction(sensitivity // timedelta(microseconds=1), 86_400_000_000)
    else:
        value = as_written(sensitivity, "sensitivity", InvalidParameter)
    if value <= 0:
        raise InvalidParameter(
            f"sensitivity must be positive, got {shown(sensitivity)}; "
            "it is the most that one person can change the answer"
        )
    return value


def _pooling(pooling: Any) -> Fraction:
    share = as_written(pooling, "pooling", InvalidParameter)
    if not 0 <= share <= 1:
        raise InvalidParameter(
            f"pooling must be from 0 to 1, got {shown(pooling)}; 0 normalises, 1 clamps to the bounds"
        )
    return share


def _trusted(trusted: bool) -> bool:
    if not isinstance(trusted, bool):
        raise InvalidParameter(f"trusted must be True or False, got {shown(trusted)}; leave it out if in doubt")
    return trusted


def _guarantee(guarantee: object) -> GuaranteeName:
    for name in get_args(GuaranteeName):
        if isinstance(guarantee, str) and guarantee == name:
            return name
    raise InvalidParameter(
        f"guarantee must be 'standard' or 'distance', got {shown(guarantee)}; use 'standard' if in doubt"
    )
