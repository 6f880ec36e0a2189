"""Rho: what releases have of it, by the definition; what a budget allows of it; and that sums of it are a filter."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.privacy.rho import bounded_range, greatest_rho, pure
from tests.helpers.renyi import greatest_rho_of

ROUNDING = 1e-9
"""What doubles may be off by, at orders near 1."""

EPSILONS = [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(8)]


def response(epsilon: float) -> tuple[list[float], list[float]]:
    """Return the two laws of randomised response, which loses epsilon either way."""
    high = 1 / (1 + math.exp(-epsilon))
    return [high, 1 - high], [1 - high, high]


def geometric(epsilon: float, steps: int) -> tuple[list[float], list[float]]:
    """Return two-sided geometric noise around 0 and around as many steps as are worth epsilon, far enough out."""
    ratio = epsilon / steps
    reach = math.ceil(30 / ratio)
    points = range(-reach, reach + steps + 1)
    weight = math.log(math.tanh(ratio / 2))
    first, second = ([math.exp(weight - ratio * abs(x - at)) for x in points] for at in (0, steps))
    return first, second


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomised_response_has_the_rho_of_epsilon_and_no_less(epsilon: Fraction) -> None:
    """The bound is the least one for releases of which only epsilon is known."""
    found = greatest_rho_of(*response(float(epsilon)))
    assert found <= float(pure(epsilon)) + ROUNDING
    assert found > float(pure(epsilon)) * 0.999 - ROUNDING


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=6),
    st.lists(st.floats(-1, 1), min_size=6, max_size=6),
    st.floats(0.05, 4),
)
def test_whatever_loses_epsilon_has_its_rho(weights: list[float], tilts: list[float], epsilon: float) -> None:
    """Any two laws, by the greatest loss between them; by the range of it, an exponential mechanism's rho holds."""
    moved = [weight * math.exp(epsilon * tilt) for weight, tilt in zip(weights, tilts, strict=False)]
    first, second = ([one / math.fsum(law) for one in law] for law in (weights, moved))
    losses = [math.log(p / q) for p, q in zip(first, second, strict=True)]
    loss, spread = max(map(abs, losses)), max(losses) - min(losses)
    found = greatest_rho_of(first, second)
    assert found <= float(pure(Fraction(loss + 1e-12))) + ROUNDING
    assert found <= float(bounded_range(Fraction(spread + 1e-12))) + ROUNDING


@pytest.mark.slow
def test_laplace_has_less_and_geometric_noise_may_not() -> None:
    """On fine steps it is that of Laplace noise, `epsilon + exp(-epsilon) - 1`; on one step, that of anything."""
    for epsilon in (0.1, 0.5, 1.0):
        laplace = epsilon + math.exp(-epsilon) - 1
        assert greatest_rho_of(*geometric(epsilon, 40)) == pytest.approx(laplace, rel=1e-3)
        one_step = greatest_rho_of(*geometric(epsilon, 1))
        assert one_step == pytest.approx(float(pure(Fraction(epsilon))), rel=1e-3)
        assert one_step > 1.02 * laplace


def test_a_range_of_epsilon_is_a_quarter_of_a_loss_of_epsilon() -> None:
    """For small epsilons; for large ones the loss is known better than the range."""
    assert bounded_range(Fraction(1, 100)) == Fraction(1, 80_000)
    assert bounded_range(Fraction(20)) == pure(Fraction(20)) < 50


def converted(rho: Fraction, epsilon: Fraction) -> float:
    """Return the least delta that the conversion gives over orders, by another road and in other arithmetic."""
    with mpmath.workdps(60):
        r, e = (mpmath.mpf(x.numerator) / x.denominator for x in (rho, epsilon))

        def slope(order: mpmath.mpf) -> mpmath.mpf:
            return (2 * order - 1) * r - e + mpmath.log1p(-1 / order)

        low, high = mpmath.mpf(0), mpmath.mpf(1)
        while slope(1 + high) < 0:
            high *= 2
        for _ in range(180):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(1 + middle) < 0 else (low, middle)
        order = 1 + high
        return (order - 1) * (order * r - e) + order * mpmath.log1p(-1 / order) - mpmath.log(order - 1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(3), Fraction(40)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 3)])
def test_a_budget_allows_the_greatest_rho_that_implies_it(epsilon: Fraction, delta: Fraction) -> None:
    """Never more, and not a unit of the ledger less."""
    rho = greatest_rho(epsilon, delta)
    with mpmath.workdps(60):
        wanted = mpmath.log(mpmath.mpf(delta.numerator) / delta.denominator)
        assert converted(rho, epsilon) <= wanted
        assert converted(rho * (1 + Fraction(1, 10**13)), epsilon) > wanted
    assert rho > greatest_rho(epsilon * Fraction(9, 10), delta)
    assert rho > greatest_rho(epsilon, delta / 2)


def test_the_figures_of_a_budget_are_fixed() -> None:
    """A ledger is verified with these numbers for ever, so they may not change by a unit."""
    found = [
        int(greatest_rho(Fraction(e), Fraction(d)) * 10**12) for e, d in (("3", "1e-6"), ("1", "1e-9"), ("0.5", "0.1"))
    ]
    assert found == [185069840653, 14973057673, 121010499598]
    assert int(pure(Fraction(1, 10)) * 10**12) == 4995837495
    assert greatest_rho(Fraction(0), Fraction(1, 2)) == 0


MENUS = [((1, 3), 0.1, 1.0, 0.01), ((1, 5), 0.2, 1.5, 0.02)]
"""Losses that questions may have, in steps of so much; and a budget."""


def worst_delta(steps: tuple[int, ...], size: float, epsilon: float, fits: Callable[[tuple[int, ...]], bool]) -> float:
    """Return the delta that whoever asks next by what was answered can come to, at most, where a charge must fit.

    Each question is randomised response, the worst release of its loss.  What is known of the secret is the sum of
    losses; the value of a state is the greatest mean of `1 - exp(epsilon - loss)` that can still be reached.
    """

    @cache
    def value(asked: tuple[int, ...], loss: int) -> float:
        best = max(0.0, 1 - math.exp(epsilon - loss * size))
        for at, step in enumerate(steps):
            after = tuple(count + (at == place) for place, count in enumerate(asked))
            if fits(after):
                up = 1 / (1 + math.exp(-step * size))
                best = max(best, up * value(after, loss + step) + (1 - up) * value(after, loss - step))
        return best

    return value(tuple(0 for _ in steps), 0)


def delta_in_advance(asked: tuple[int, ...], steps: tuple[int, ...], size: float, epsilon: float) -> float:
    """Return the delta of questions that are fixed in advance, from the law of their loss."""
    law = {0: 1.0}
    for count, step in zip(asked, steps, strict=True):
        up = 1 / (1 + math.exp(-step * size))
        for _ in range(count):
            moved: dict[int, float] = {}
            for loss, mass in law.items():
                moved[loss + step] = moved.get(loss + step, 0.0) + mass * up
                moved[loss - step] = moved.get(loss - step, 0.0) + mass * (1 - up)
            law = moved
    return math.fsum(mass * max(0.0, 1 - math.exp(epsilon - loss * size)) for loss, mass in law.items())


@pytest.mark.parametrize(("steps", "size", "epsilon", "delta"), MENUS)
def test_questions_chosen_by_the_answers_stay_within_the_budget(
    steps: tuple[int, ...], size: float, epsilon: float, delta: float
) -> None:
    """Whoever knows every answer and picks the next question to do most harm comes to no more than delta."""
    losses = [Fraction(str(size)) * step for step in steps]
    most = greatest_rho(Fraction(str(epsilon)), Fraction(str(delta)))

    def fits(asked: tuple[int, ...]) -> bool:
        spent = sum(count * loss for count, loss in zip(asked, losses, strict=True))
        rho = sum(count * pure(loss) for count, loss in zip(asked, losses, strict=True))
        return spent <= Fraction(str(epsilon)) or rho <= most

    assert 0 < worst_delta(steps, size, epsilon, fits) <= delta


@pytest.mark.parametrize(("steps", "size", "epsilon", "delta"), MENUS)
def test_stopping_by_loss_distributions_is_no_filter(
    steps: tuple[int, ...], size: float, epsilon: float, delta: float
) -> None:
    """The negative control: asked as long as a batch fixed in advance would fit, adaptive questions go beyond delta."""

    @cache
    def fits(asked: tuple[int, ...]) -> bool:
        return delta_in_advance(asked, steps, size, epsilon) <= delta

    assert worst_delta(steps, size, epsilon, fits) > 1.3 * delta


@pytest.mark.slow
def test_another_library_agrees() -> None:
    """dp_accounting converts the rho of a budget to no more than its epsilon, and composes what fits within delta."""
    accounting = pytest.importorskip("dp_accounting")
    common = pytest.importorskip("dp_accounting.pld.common")
    distribution = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")

    for budget, delta in ((3.0, 1e-6), (1.0, 1e-9)):
        rho = greatest_rho(Fraction(budget), Fraction(str(delta)))
        accountant = rdp.RdpAccountant([1 + 2 ** (k / 8) for k in range(-24, 96)])
        accountant.compose(accounting.dp_event.ZCDpEvent(float(rho)))
        assert accountant.get_epsilon(delta) == pytest.approx(budget, rel=1e-3)
    rho = greatest_rho(Fraction(3), Fraction(1, 10**6))
    for epsilon in (0.01, 0.05, 0.1):
        count = int(rho / pure(Fraction(str(epsilon))))
        one = distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(epsilon, 0), value_discretization_interval=epsilon / 10
        )
        assert one.self_compose(count).get_delta_for_epsilon(3) <= 1e-6
        assert one.self_compose(2 * count).get_delta_for_epsilon(3) > 1e-6
