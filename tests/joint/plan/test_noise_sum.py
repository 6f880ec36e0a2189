"""How far a sum of noises goes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.joint.plan.noise_sum import EXACT_COUNTS, SLACK, _chernoff, reach

RATES = (0.05, 0.3, 1.0, 4.0)
COUNTS = (1, 2, 3, 7, 40)


def law(count: int, rate: float) -> NDArray[np.float64]:
    """Return the probabilities of a sum, added up one noise after the other; zero is in the middle."""
    far = int(40 / rate) + 2
    one = np.exp(-rate * np.abs(np.arange(-far, far + 1)))
    one /= one.sum()
    found = one
    for _ in range(count - 1):
        found = np.convolve(found, one)
        spare = (len(found) - len(one)) // 2
        keep = max(0, spare - int(6 * far * math.sqrt(count)))
        found = found[keep : len(found) - keep]
    return found


def beyond(found: NDArray[np.float64], far: int) -> float:
    """Return the odds of a sum farther from zero than this."""
    middle = len(found) // 2
    return float(found[: middle - far].sum() + found[middle + far + 1 :].sum())


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_reach_of_a_sum_is_the_least_that_covers(count: int, rate: float, confidence: float) -> None:
    """A sum of noises stays within its reach with the confidence, and within one less it does not."""
    exact, far = law(count, rate), reach(count, rate, confidence)
    assert beyond(exact, far) <= 1 - confidence
    assert far == 0 or beyond(exact, far - 1) > 1 - confidence - 3 * SLACK


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("count", COUNTS[1:])
def test_chernoffs_bound_holds(count: int, rate: float) -> None:
    """Where odds are too small for sums of doubles, the reach is a bound that is proved, and not absurd."""
    exact = law(count, rate)
    for odds in (0.1, 1e-3, 1e-8):
        assert beyond(exact, _chernoff(count, rate, odds)) <= odds
    assert reach(count, rate, 1 - 1e-8) == _chernoff(count, rate, 1 - (1 - 1e-8))
    assert _chernoff(count, rate, 0.05) <= 3 * reach(count, rate, 0.95) + 3


def test_more_noises_go_farther() -> None:
    """The reach grows with the number of noises, where that is rounded up too, and about as its square root."""
    found = [reach(count, 0.1, 0.95) for count in range(300)]
    assert found == sorted(found)
    assert found[0] == 0
    assert reach(1000, 0.1, 0.95) == pytest.approx(1.96 * math.sqrt(1000 * 200), rel=0.01)
    assert reach(EXACT_COUNTS * 100 + 1, 0.1, 0.95) >= reach(EXACT_COUNTS * 100, 0.1, 0.95)


def test_the_finest_grains_are_not_too_fine() -> None:
    """A reach in grains is the same length however fine the grains are, and nothing overflows."""
    coarse, fine = reach(10, 0.001, 0.95), reach(10, 0.001 / 2**40, 0.95)
    assert fine / 2**40 == pytest.approx(coarse, abs=1.5)
    assert reach(10, 1000.0, 0.95) == 0
