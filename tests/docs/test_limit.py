"""The page about the limit shows what was measured, and what was measured agrees with what is found."""

from __future__ import annotations

import runpy
from typing import Any, Literal

import pytest

from inbounds import Bounds, Optimal
from tests.helpers.programs import ROOT

LIMITS: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "pictures" / "limits.py"))
MEASURED: list[dict[str, Any]] = LIMITS["measured_before"]()
GOALS: tuple[Literal["mean", "worst"], ...] = ("mean", "worst")


@pytest.mark.parametrize("minimise", GOALS)
def test_the_tables_of_limits_are_those_that_were_measured(minimise: str) -> None:
    """Every figure of the page is in the file of measurements, limits rounded down and ratios up."""
    assert LIMITS["table"](minimise) in (ROOT / "docs" / "limit.md").read_text("utf-8")


@pytest.mark.parametrize("minimise", GOALS)
def test_no_mechanism_that_was_measured_is_below_the_limit(minimise: str) -> None:
    """Whatever keeps epsilon has an error of at least the limit, the optimum of at most 1.05 times the limit."""
    for errors in (dict(cell[key]) for cell in MEASURED for key in (minimise, f"local {minimise}") if key in cell):
        limit = errors.pop("limit")
        assert min(errors.values()) >= limit * (1 - 1e-9)
        assert errors["Optimal"] <= 1.05 * limit


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "width"), [(0.1, 50), (1, 2), (5, 10)])
@pytest.mark.parametrize("minimise", GOALS)
def test_what_is_found_agrees_with_what_was_measured(
    minimise: Literal["mean", "worst"], epsilon: float, width: int
) -> None:
    """However short a search, its error is not below the limit measured, nor its limit above the error measured."""
    (cell,) = [cell[minimise] for cell in MEASURED if (cell["epsilon"], cell["width"]) == (epsilon, width)]
    found = Optimal(Bounds(0, width), 1, epsilon, minimise=minimise, time_limit=0.2).optimality
    assert found.error >= cell["limit"] * (1 - 1e-9)
    assert found.limit <= cell["Optimal"] * (1 + 1e-9)
