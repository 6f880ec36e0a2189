"""What is made of noisy totals: always a possible answer, with an estimate of the noise that is true."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.query import Query
from inbounds.query.columns.column import Numbers, grain_of
from inbounds.query.methods.method import OneNumber, on_step, release, write_value
from inbounds.query.methods.moments.ratio import Ratio
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.sampling.entropy import system
from tests.helpers.audit_tables import Playground, contract, measures
from tests.helpers.sparing import sparing

COLUMNS = """
[columns.place]
keys = ["a", "b"]
[columns.size]
bounds = "[-3, 7] step 1"
[columns.tenth]
bounds = "[0.1, 0.9] step 0.1"
[columns.weight]
bounds = "[-0.3, 2.7]"
[columns.day]
bounds = "[2026-01-01, 2026-02-05]"
weekdays = "Mon-Fri"
"""
TYPES = "who BIGINT, place VARCHAR, size BIGINT, tenth DOUBLE, weight DOUBLE, day DATE"


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


def questions(playground: Playground) -> list[Query]:
    """Return a question for every measure of every kind of column."""
    dataset = playground.dataset
    found = measures(dataset, "size", "size >= 1")
    for name in ("tenth", "weight"):
        found += [dataset.sum(name), dataset.mean(name), dataset.median(name)]
    found += [dataset.mean("day"), dataset.median("day")]
    return [*found, *(query.by("place") for query in found)]


@cache
def every_plan() -> list[Plan]:
    """Return plans for tables with and without units, whose number is public or not."""
    found = []
    for unit, limit, units in (("row", 1, None), ("row", 1, 5), ("who", 3, None), ("who", 1, 5)):
        with Playground(contract(COLUMNS, unit=unit, limit=limit, units=units), TYPES) as playground:
            for query in questions(playground):
                ranked = "quantile" in query.question.measure.title or "median" in query.question.measure.title
                found += [
                    query.plan(1, pooling=None if ranked else pooling) for pooling in ((0,) if ranked else (0, 1))
                ]
    return found


def is_possible(plan: Plan, value: Any) -> bool:
    """Return whether an answer is one that the plan calls possible, of the kind that people write."""
    bounds = plan.answering.bounds
    if bounds.is_dates:
        return type(value) is date and value in bounds
    wanted = int if bounds.step is not None and (bounds.step.denominator == bounds.offset.denominator == 1) else float
    if bounds.step is None:  # an end that is no double, such as 0.9, is written as the nearest one
        low, high = (None if end is None else float(bounds.offset + end * bounds.unit) for end in bounds.ends)
        return type(value) is wanted and (low is None or low <= value) and (high is None or value <= high)
    return type(value) is wanted and value in bounds


@pytest.mark.slow
@pytest.mark.parametrize("size", sparing([0, 10, 2**70, 1, 2**20, 2**40], 3))
def test_every_answer_is_possible(size: int) -> None:
    """Whatever the totals are, also those that no table can have, every answer is possible, and its noise is finite."""
    for plan in every_plan():
        ranked = isinstance(plan.answering, QuantileByRank)
        width = plan.answering.buckets.count if isinstance(plan.answering, QuantileByRank) else len(plan.request.totals)
        tried = [[size, 0, size // 3], [0, size, 1]] + ([[-size]] if isinstance(plan.answering, OneNumber) else [])
        for totals in tried:
            ((answered,),) = plan.answering.answer_all([(totals * width)[:width]], 0.95, quiet)
            assert is_possible(plan, answered.value), str(plan.question)
            assert (answered.noise is None) == ranked
            assert answered.noise is None or 0 <= answered.noise < np.inf


@pytest.mark.slow
def test_no_rows_and_extreme_rows_give_possible_means() -> None:
    """A mean of no rows, or of rows that are all at an end, is within the bounds, however much noise there is."""
    with Playground(contract(COLUMNS), TYPES) as playground:
        plan = playground.dataset.mean("size").plan(Fraction(1, 10**6))
    for totals in ([0, 0], [1, 0], [0, 1], [10**12, 0]):
        for _ in range(200):
            ((answered,),) = plan.answering.answer_all([totals], 0.95, quiet)
            assert is_possible(plan, answered.value)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_noise_of_a_mean_is_what_it_says(share: float, epsilon: Fraction) -> None:
    """At many rows, the noise that is told beside a mean is the mean distance of answers from the truth, within 3 %;
    at an end half of it stays at the end, and a release that is not there tells more."""
    with Playground(contract(COLUMNS, limit=2), TYPES) as playground:
        answering = playground.dataset.mean("weight").plan(epsilon).answering
    assert isinstance(answering, Ratio)
    rows, count = 20_000, 60_000
    (column,) = answering.columns
    spread = column.spread
    truths = [rows * share * spread, rows * (1 - share) * spread]
    measured = (answering.choice.mechanism.release(np.full(count, truth)) for truth in truths)
    above, below = (np.maximum(sums, 0) for sums in measured)
    means = float(column.low) + spread * above / (above + below)
    simulated = np.abs(means - (float(column.low) + spread * share))
    totals = [int(Fraction(truth) / answering.grain) for truth in truths]
    runs, above_truth = (4000, 1.25) if share == 0.0 else (20, 1.0)
    told = np.mean([answered.noise for (answered,) in answering.answer_all([totals] * runs, 0.95, quiet)])
    assert told == pytest.approx(simulated.mean() * above_truth, rel=0.1 if share == 0.0 else 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "3", "5"])
def test_the_noise_of_a_proportion_is_what_it_says(share: float, epsilon: str) -> None:
    """The noise told beside a proportion of rows is the exact mean distance of answers from the truth, within 2 %."""
    with Playground(contract(COLUMNS, unit="row"), TYPES) as playground:
        answering = playground.dataset.proportion("weight > 1").plan(epsilon, pooling=1).answering
    assert isinstance(answering, Ratio)
    rows = 10_000
    above = round(rows * share)
    reach = int(20 / float(epsilon)) + 2
    law = np.array([answering.choice.mechanism.pmf(above + i, above) for i in range(-reach, reach + 1)])
    noise = np.arange(-reach, reach + 1)
    released = (above + noise[:, None]) / (rows + noise[:, None] + noise[None, :])
    exact = float((np.outer(law, law) * np.abs(released - share)).sum())
    assert law.sum() == pytest.approx(1, abs=1e-6)
    assert answering.noise.at(share) / rows == pytest.approx(exact, rel=0.02)
    if share == 0.5 and epsilon != "0.5":  # Laplace noise would be less than that
        assert answering.noise.each * 0.75 / rows < exact * 0.95


def test_the_noise_of_a_count_is_what_it_says() -> None:
    """The noise that is told beside a count is that of the mechanism, were the answer the truth."""
    with Playground(contract(COLUMNS, unit="row"), TYPES) as playground:
        answering = playground.dataset.count().plan(1).answering
    assert isinstance(answering, OneNumber)
    for (answered,) in answering.answer_all([[3]] * 50, 0.95, quiet):
        assert isinstance(answered.value, int)
        assert answered.noise == answering.choice.mechanism.error(answered.value)


@given(
    low=st.fractions(-50, 50, max_denominator=20),
    step=st.fractions(Fraction(1, 20), 5, max_denominator=20),
    steps=st.integers(1, 30),
)
def test_every_value_is_a_multiple_of_the_grain(low: Fraction, step: Fraction, steps: int) -> None:
    """All values of a column, and so all sums of them, are multiples of its grain, which is the largest such number."""
    column = Numbers("x", Bounds(low, low + steps * step, step=step, offset=low))
    grain = grain_of(column)
    multiples = [column.value(i) / grain for i in range(column.steps + 1)]
    assert all(multiple.denominator == 1 for multiple in multiples)
    assert np.gcd.reduce([int(multiple) for multiple in multiples]) == 1


@given(
    st.fractions(-100, 100, max_denominator=1000), st.sampled_from(["[-7, 9] step 1", "[0, inf) step 0.1", "[0, 1]"])
)
def test_rounding_a_release_moves_it_by_half_a_step_at_most(value: Fraction, text: str) -> None:
    """What is released is rounded to the nearest possible answer, and left alone where bounds have no step."""
    bounds = Bounds.parse(text)
    rounded = on_step(bounds, value)
    assert bounds.least is not None
    possible = max(bounds.least, value if bounds.greatest is None else min(value, bounds.greatest))
    assert rounded == value if bounds.step is None else abs(rounded - possible) <= bounds.step / 2
    assert on_step(bounds, rounded) == rounded


def test_releases_are_exact_fractions_on_the_lattice() -> None:
    """A release is computed in fractions, not in floats: it is exactly on the mechanism's lattice."""
    with Playground(contract(COLUMNS, limit=3), TYPES) as playground:
        answering = playground.dataset.sum("tenth").by("place").alone().plan(1).answering
    assert isinstance(answering, OneNumber)
    truth = answering.grain * (2**60 + 1)
    for _ in range(100):
        found = release(answering.choice, truth, system)
        assert type(found) is Fraction
        assert (found / answering.choice.mechanism.step).denominator == 1


@pytest.mark.parametrize(
    ("bounds", "value", "wanted"),
    [
        (Bounds(0, 9, step=1), Fraction(3), 3),
        (Bounds(0, 9), Fraction(3), 3.0),
        (Bounds(0, 9, step=Fraction(1, 4)), Fraction(3, 4), 0.75),
        (Bounds.dates("2026-01-01", "2026-01-09"), Fraction(date(2026, 1, 3).toordinal()), date(2026, 1, 3)),
    ],
)
def test_answers_are_written_as_people_do(bounds: Bounds, value: Fraction, wanted: Any) -> None:
    """An answer is an int on whole numbers, a date among days, and a float elsewhere."""
    found = write_value(bounds, value)
    assert found == wanted
    assert type(found) is type(wanted)
