"""Exact answers are released by one law, which no answer and no way of writing it chooses."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inbounds import Bounds
from inbounds.cli.commands.numbers.release import _Asked, _release_one
from inbounds.mechanisms.exact_release import release_all
from inbounds.published import Laplace

HALF_LINE = Bounds.parse("[0, 0.000000000001] | [1, inf)")
"""Their step is so fine that noise goes where doubles hold every other release only."""

TYPED = {"sensitivity": "1", "epsilon": "1", "guarantee": "standard", "trusted": False}


def beyond_doubles(released: list[Fraction], step: Fraction) -> int:
    """Count the releases that no double is."""
    return sum(float(one) != Fraction(one) for one in released if one > 2**53 * step)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [Fraction(39, 10), Fraction(41, 10)], ids=["near", "far"])
def test_what_no_double_holds_is_released_for_near_answers_too(answer: Fraction) -> None:
    """Two neighbours on either side of 2**52 steps have the same releases: 8,000 miss them once in 10**10."""
    mechanism = Laplace(HALF_LINE, 1, 1, ends="snap")
    assert mechanism.step * 2**52 == 4
    assert beyond_doubles(release_all(mechanism, [answer] * 8_000), mechanism.step)


@pytest.mark.parametrize("answer", [7, Fraction(15, 2)], ids=["whole", "decimal"])
def test_a_whole_number_is_released_as_a_decimal_is(answer: Fraction) -> None:
    """One answer typed without decimals has the same releases as one with: 250 miss them once in 10**10."""
    asked = _Asked(Laplace(HALF_LINE, 1, 1, ends="snap"), TYPED)
    found = [_release_one(asked, answer)[0]["released"] for _ in range(250)]
    assert beyond_doubles([Fraction(one) for one in found], asked.mechanism.step)


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(0, 100),
        Bounds(0, 100, step=1),
        Bounds(0, 100, step=0.25),
        Bounds(0, None),
        Bounds(None, None, step=1),
        Bounds(0, 2**58, step=1),
        HALF_LINE,
    ],
    ids=str,
)
def test_the_kind_of_a_release_does_not_depend_on_the_answer(bounds: Bounds) -> None:
    """Near, far, whole, broken, and beyond the ends, alone or together: the releases are of one kind."""
    mechanism = Laplace(bounds, 1, 1, ends="snap")
    answers = [0, Fraction(7, 2), 2**51, 2**52, 2**70, Fraction(10**400, 3), -1]
    alone = {type(release_all(mechanism, [answer])[0]) for answer in answers}
    assert len(alone | set(map(type, release_all(mechanism, answers)))) == 1
