"""How many people's data an error of 1 % takes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from inbounds import Bounds
from inbounds.choosing.recommendation import recommend
from inbounds.server.pages.parts.people_needed import people_needed
from tests.helpers.sparing import sparing


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("text", sparing(["[0, 100]", "[0, 5] | [7, 20]", "[-1, 1]"]))
def test_with_so_many_people_the_error_is_small_enough(text: str, epsilon: str) -> None:
    """A mean of so many people is off by at most 1 % of the range, and with a third of them it is not."""
    bounds, spent = Bounds.parse(text), Decimal(epsilon)
    people = people_needed(bounds, spent)
    assert people is not None
    assert bounds.least is not None
    assert bounds.greatest is not None
    spread = bounds.greatest - bounds.least

    def error(count: int) -> float:
        made = recommend(bounds, spread / count, spent, even_timing=True, optimum=False, progress=lambda _: None)
        return made.error / float(spread)

    assert error(people) <= 0.01 < error(people // 3)


@pytest.mark.parametrize("text", ["[0, inf)", "(-inf, inf)", "[0, 10] step 1"])
def test_without_two_ends_there_is_no_number(text: str) -> None:
    """Where there is no range, or not all of its values are possible, nothing is said."""
    assert people_needed(Bounds.parse(text), Decimal(1)) is None
