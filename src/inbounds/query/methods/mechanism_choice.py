"""Which mechanism answers: the one recommended for these bounds, or the pooling that the user fixed.

Only those are considered whose draws do the same work for every true value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from inbounds.accuracy.window import stated_window
from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import tuned_choice
from inbounds.choosing.recommendation import recommend
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.published.ghosh2009 import Geometric


@dataclass(frozen=True)
class Choice:
    """A mechanism, and why this one."""

    mechanism: Mechanism
    reason: str
    error: float
    """Its expected absolute error: the mean over true answers."""

    @property
    def proof(self) -> str:
        """What was proved of it, in ball arithmetic."""
        return " ".join(str(self.mechanism.certificate).split())


@dataclass(frozen=True)
class Noise(Choice):
    """Noise that is added, wherever the answer is."""

    mechanism: Geometric


@lru_cache(maxsize=1024)
def choose(
    bounds: Bounds, sensitivity: Fraction, epsilon: Fraction, guarantee: GuaranteeName, pooling: Fraction | None
) -> Choice:
    """Return the mechanism for answers in these bounds; the same question again costs nothing."""
    if pooling is None:
        best = recommend(bounds, sensitivity, epsilon, guarantee=guarantee, even_timing=True, optimum=False)
        return Choice(best.mechanism, _reason(best.mechanism, len(best.considered)), best.error)
    mechanism = BoundedLaplace(bounds, sensitivity, epsilon, guarantee=guarantee, pooling=pooling)
    error = mechanism.mean_error(stated_window(bounds, sensitivity / epsilon))
    return Choice(mechanism, f"bounded Laplace with the requested pooling, {float(pooling):g}", error)


@lru_cache(maxsize=1024)
def choose_noise(step: Fraction, sensitivity: Fraction, epsilon: Fraction, guarantee: GuaranteeName) -> Noise:
    """Return the noise for numbers that are put in bounds afterwards, so that its law is the same everywhere."""
    mechanism = Geometric(Bounds(None, None, step=step), sensitivity, epsilon, guarantee=guarantee)
    return Noise(mechanism, "two-sided geometric noise", float(mechanism.error(0)))


def _reason(mechanism: Mechanism, considered: int) -> str:
    pooling = f" with pooling {float(mechanism.pooling):g}" if tuned_choice(mechanism) == "pooling" else ""
    return (
        f"{mechanism.name}{pooling}, which has the least mean error of {considered} settings that are private, "
        "stay in bounds and do the same work for every true value"
    )
