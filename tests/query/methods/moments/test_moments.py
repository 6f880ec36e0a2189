"""Variances, deviations, covariances and correlations: in bounds, of one mind, private, and within their intervals."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.moments.noise import mean_size
from inbounds.query.methods.moments.planning import parts_of
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Correlation, Count, Covariance, Mean, Measure, Sum, Variance
from inbounds.query.question.shared_measures import Moments, Shared, Totals
from tests.helpers.audit_losses import Losses, joint
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "b", "c"]
[columns.size]
bounds = "[-3, 7] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.yes]
bounds = "[0, 1] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
"""
TYPES = "who BIGINT, place VARCHAR, size BIGINT, weight DOUBLE, yes BIGINT, day DATE"
EVERYTHING = (
    "SELECT place, COUNT(*), SUM(size), AVG(size), VAR_POP(size), VARIANCE(size), STDDEV_POP(size), STDDEV(size), "
    "AVG(weight), VAR_POP(weight), STDDEV_POP(weight), COVAR_POP(size, weight), COVAR_SAMP(size, weight), "
    "CORR(size, weight) FROM visits WHERE size IS NOT NULL AND weight IS NOT NULL GROUP BY place"
)

X, Y, Z = map(ColumnRef, "xyz")


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


@pytest.fixture(scope="module", params=[("row", 1), ("who", 3)], ids=["rows", "units"])
def playground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table of 300 rows, none of them in place c."""
    unit, limit = request.param
    ledger = tmp_path_factory.mktemp("ledger") / "ledger.db"
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES, ledger) as found:
        draw = random.Random(1)
        found.fill(
            (i // 2, draw.choice("ab"), draw.randint(-5, 9), draw.uniform(0.4, 2.1), i % 2, f"2026-02-{i % 28 + 1:02}")
            for i in range(300)
        )
        yield found


def planned(dataset: Dataset, text: str, epsilon: Any = 1) -> Plan:
    """Return the one plan of a question."""
    (plan,) = dataset.sql(text).plans(epsilon, pooling=1)
    return plan


def shared(*measures: Measure) -> Shared:
    """Return what answers measures of columns that every row has."""
    return Shared.of(measures, lambda _: True)


def test_moments_of_the_same_columns_go_together() -> None:
    """What is asked of a column goes with its variance, and with the first pair that it is in; others stand alone."""
    variance, pair = Variance(X), Correlation(X, Y)
    assert shared(Count(), Mean(X), variance).measures == (Moments((X,), (Count(), Mean(X), variance)),)
    assert shared(variance).measures == (variance,)
    asked = (Mean(Y), Sum(X), pair, variance, Covariance(Y, X), Count())
    assert shared(*asked).measures == (Moments((X, Y), asked),)
    apart = shared(Mean(X), Sum(X), Variance(Y), Count())
    assert apart.measures == (
        Totals(X, (Mean(X), Sum(X))),
        Variance(Y),
        Count(),
    )
    assert shared(pair, Correlation(Y, Z), Mean(Y)).measures == (
        Moments((X, Y), (pair, Mean(Y))),
        Correlation(Y, Z),
    )


@pytest.mark.slow
def test_no_totals_contradict_the_answers(playground: Playground) -> None:
    """Whatever the totals are, answers are in bounds and fit each other: deviations are roots of variances, means are
    sums over counts, and a correlation is its covariance over both deviations."""
    plan = planned(playground.dataset, EVERYTHING)
    answering = plan.answering
    assert isinstance(answering, MomentsOfColumns)
    draw = random.Random(2)
    one = int(1 / answering.grain)
    totals = [[draw.choice([0, 0, 1, one, 5 * one, 90 * one]) for _ in range(9)] for _ in range(400)]
    none = 0
    for found in answering.answer_all(totals, 0.95, quiet):
        values: list[Any] = [one.value for one in found]
        count, total, mean, pop, samp, pop_root, samp_root, other_mean, other, other_root, *pair = values
        covar, covar_samp, corr = pair
        each: Any
        for each, of in zip(found, answering.statistics, strict=True):
            low, high = of.hull
            assert each.value is None or low <= each.value <= high
            assert each.interval is not None
            assert low <= each.interval[0] <= each.interval[1] <= high
            assert (each.noise is None) == (each.value is None)
            assert each.noise is None or 0 <= each.noise <= high - low
        if count == 0:
            none += 1
            assert [mean, pop, samp, corr, covar] == [None] * 5
            continue
        assert mean == pytest.approx(total / count)
        assert pop_root**2 == pytest.approx(pop)
        assert other_root**2 == pytest.approx(other)
        assert pop <= (mean + 3) * (7 - mean) + 1e-9
        assert other <= (other_mean - 0.5) * (2 - other_mean) + 1e-9
        if count == 1:
            assert (samp, samp_root, covar_samp) == (None, None, None)
        else:
            assert samp == pytest.approx(pop * count / (count - 1))
            assert samp_root**2 == pytest.approx(samp)
            assert covar_samp == pytest.approx(covar * count / (count - 1))
        if corr is None:
            assert pop * other == 0 == covar
        else:
            assert covar == pytest.approx(corr * pop_root * other_root)
    assert 0 <= none < 400


def test_answers_without_noise_are_the_statistics_of_the_rows(playground: Playground) -> None:
    """With hardly any noise the answers are what NumPy says of the rows, clipped to their bounds."""
    rows = [(i // 2, "ab"[i % 2], (i * i) % 13 - 4, 0.3 + i * 7 % 20 / 10, i % 2, "2026-02-01") for i in range(60)]
    dataset = playground.dataset
    for text in (EVERYTHING, "SELECT place, COVAR_POP(size, weight) FROM visits GROUP BY place"):
        plan = planned(dataset, text, 1000)
        totals = playground.totals(plan, rows)
        found = plan.answering.answer_all(totals, 0.95, quiet)
        for place, answers in zip("ab", found, strict=False):
            of_place = [row for row in rows if row[1] == place]
            x = np.clip([float(row[2]) for row in of_place], -3, 7)
            y = np.clip([float(row[3]) for row in of_place], 0.5, 2)
            both = np.cov(x, y, bias=True)[0, 1]
            values = [float(one.value) for one in answers]  # type: ignore[arg-type]
            if len(values) == 1:
                assert values == pytest.approx([both], abs=0.05)
                continue
            n = len(x)
            wanted = [n, x.sum(), x.mean(), x.var(), x.var(ddof=1), x.std(), x.std(ddof=1), y.mean(), y.var(), y.std(),
                      both, both * n / (n - 1), np.corrcoef(x, y)[0, 1]]  # fmt: skip
            assert values == pytest.approx(wanted, abs=0.1)


@pytest.mark.slow
def test_two_values_need_no_square(playground: Playground) -> None:
    """The variance of a column of 0 and 1 comes from two sums, and is p(1 - p)."""
    plan = planned(playground.dataset, "SELECT AVG(yes), VAR_POP(yes) FROM visits")
    assert isinstance(plan.answering, MomentsOfColumns)
    assert plan.answering.number == 2
    by_rows = playground.dataset.table.rows_are_units
    assert plan.answering.guarantee == ("standard" if by_rows else "distance")
    one = int(1 / plan.answering.grain)
    for ((mean, variance),) in (plan.answering.answer_all([[70 * one, 30 * one]], 0.95, quiet) for _ in range(20)):
        assert variance.value == pytest.approx(mean.value * (1 - mean.value))  # type: ignore[operator]


def test_days_have_a_variance(playground: Playground) -> None:
    """Days have a variance in days squared, beside a mean that is a day; their sum is refused by name."""
    answer = playground.dataset.sql("SELECT AVG(day), STDDEV(day), COVAR_POP(day, size) FROM visits").ask(
        50, analyst="a"
    )
    ((mean, deviation, covariance),) = answer.rows
    assert mean.month in (1, 2, 3)
    assert 0 <= deviation <= 364 / sqrt(2)
    assert abs(covariance) <= 364 * 10 / 4
    with pytest.raises(InvalidQuestion, match="dates, which have no sum"):
        playground.dataset.sql("SELECT SUM(day), VARIANCE(day) FROM visits").explain(1)


def test_a_mean_of_days_beside_their_deviation_is_theirs_where_units_are_public(tmp_path: Path) -> None:
    """With hardly any noise, the mean and the deviation of days are those of the rows, however few units there are."""
    with Playground(contract(COLUMNS, unit="who", limit=2, units=20), TYPES, tmp_path / "ledger.db") as playground:
        plan = planned(playground.dataset, "SELECT AVG(day), STDDEV_POP(day) FROM visits", 1000)
        totals = playground.totals(plan, [(i // 2, "a", 0, 1.0, 0, f"2026-0{i % 2 + 7}-11") for i in range(40)])
    ((mean, deviation),) = plan.answering.answer_all(totals, 0.95, quiet)
    assert isinstance(mean.value, date)
    assert abs(mean.value - date(2026, 7, 26)) <= timedelta(days=2)
    assert deviation.value == pytest.approx(15.5, abs=3)


@given(st.integers(1, 2**35), st.data())
def test_the_parts_of_a_value_add_up(steps: int, data: st.DataObject) -> None:
    """Parts are not negative, add up to the same for every value, and fit into 63 bits times the rows of a unit."""
    text = contract(f'[columns.x]\nbounds = "[0, {steps}] step 1"\n')
    with Dataset.parse(text) as dataset:
        column = dataset.table.numbers("x")
    value = data.draw(st.integers(0, steps))
    for squares in (False, True):
        for columns in (1, 2):
            parts = parts_of(column, squares=squares, columns=columns)
            found = _evaluated(parts, value)
            assert sum(found) == parts.whole
            assert min(found) >= 0
            assert 1 <= parts.whole <= 2 ** (35 if columns == 1 else 17)
            assert parts.steps**2 < 2**62
            u = value / steps
            exact = [1 - u, u] if len(found) == 2 else [(1 - u) ** 2, 2 * u * (1 - u), u**2]
            coarse = 2 / parts.whole + 2 / parts.steps * (parts.width > 1)
            assert [one / parts.whole for one in found] == pytest.approx(exact, abs=coarse)


def _evaluated(parts: Any, value: int) -> list[int]:
    """Return the parts of a value as the statement computes them, by DuckDB's grammar read in Python."""
    from sqlglot import exp  # noqa: PLC0415  beside its only use

    from inbounds.query.statement.partition import _parts  # noqa: PLC0415

    return [eval(one.sql(dialect="duckdb"), {"v": value}) for one in _parts(parts, exp.column("v"))]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_a_row_loses_epsilon_in_all_sums_together(epsilon: Fraction) -> None:
    """By definition, a row of any values loses at most epsilon in all sums together, and mechanisms of the standard
    guarantee would lose more."""
    columns = '[columns.x]\nbounds = "[0, 2] step 1"\n[columns.y]\nbounds = "[0, 2] step 1"\n'
    with Playground(contract(columns, unit="row"), "x BIGINT, y BIGINT") as playground:
        plans = [planned(playground.dataset, f"SELECT {one} FROM t".replace("t", "visits"), epsilon)
                 for one in ("VAR_POP(x)", "CORR(x, y)")]  # fmt: skip
        changes = [
            {tuple(sorted(playground.totals(plan, [(x, y)])[0])) for x in range(3) for y in range(3)} for plan in plans
        ]
    for plan, changed in zip(plans, changes, strict=True):
        answering = plan.answering
        assert isinstance(answering, MomentsOfColumns)
        assert answering.guarantee == "distance"
        assert {sum(one) for one in changed} == {answering.sensitivity / answering.grain}
        step = answering.grain
        whole = [i * step for i in range(40)]
        losses = Losses(answering.choice.mechanism, whole[:17], whole)
        found = [joint(losses, one) for one in changed]
        assert max(found) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_cover_what_they_say(confidence: float, tmp_path: Path) -> None:
    """Each statistic lies in its interval at least as often as was asked for; and intervals around answers of sums of
    which one is far off do not pass for it."""
    with Playground(contract(COLUMNS, unit="who", limit=3), TYPES, tmp_path / "ledger.db") as playground:
        draw = random.Random(5)
        rows = [(i // 3, "a", draw.choice([-3, -2, 0, 1, 7]), draw.uniform(0.5, 2), 1, None) for i in range(900)]
        plan = planned(playground.dataset, EVERYTHING.replace("place, ", "").split(" GROUP")[0])
        (truth,) = playground.totals(plan, rows)
    x, y = (np.array([row[i] for row in rows], dtype=np.float64) for i in (2, 3))
    both, n = np.cov(x, y, bias=True)[0, 1], len(x)
    wanted = [n, x.sum(), x.mean(), x.var(), x.var(ddof=1), x.std(), x.std(ddof=1), y.mean(), y.var(), y.std(), both,
              both * n / (n - 1), np.corrcoef(x, y)[0, 1]]  # fmt: skip
    runs = 600

    def covered(totals: list[int]) -> list[int]:
        found = plan.answering.answer_all([totals] * runs, confidence, quiet)
        return [sum(_inside(each[place].interval, true) for each in found) for place, true in enumerate(wanted)]

    assert stats.binom.cdf(min(covered(truth)), runs, confidence) > 1e-10  # of thirteen
    wrong = [round(total * (4 if i == 0 else 1)) for i, total in enumerate(truth)]
    assert stats.binom.cdf(max(covered(wrong)), runs, confidence) < 1e-9


def _inside(interval: Any, true: float) -> bool:
    """Return whether an interval holds a statistic, but for what cutting values into parts loses."""
    return bool(interval[0] - 1e-4 <= true <= interval[1] + 1e-4)


@pytest.mark.slow
def test_moments_that_share_are_nearer_than_moments_that_split(tmp_path: Path) -> None:
    """At the same epsilon, a variance from the shared sums is off by less than two thirds of one from a count, a sum
    and a sum of squares about the middle at a third of epsilon each."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        rows = [(i, "a", i * 7 % 11 - 3, 1.0, 0, None) for i in range(1100)]
        plan = planned(playground.dataset, "SELECT VAR_POP(size) FROM visits")
        (truth,) = playground.totals(plan, rows)
    true = np.var([row[2] for row in rows])
    runs = 2000
    shared = [abs(float(one.value) - true) for (one,) in plan.answering.answer_all([truth] * runs, 0.9, quiet)]  # type: ignore[arg-type]
    draw = np.random.default_rng(6)
    t = (np.array([row[2] for row in rows]) - 2) / 5
    count, first, second = (np.sum(t**i) + draw.laplace(0, 3, runs) for i in range(3))
    split = np.abs(25 * (second / count - (first / count) ** 2) - true)
    assert np.mean(shared) < 2 / 3 * np.mean(split)
    told = plan.answering.answer_all([truth], 0.9, quiet)[0][0].noise
    assert told == pytest.approx(np.mean(shared), rel=0.15)


def test_the_mean_size_of_a_sum_of_noises() -> None:
    """The mean size is exact for one noise, for two alike (3/4 of both), and for factors 1, 2, 3 by its closed form."""
    squares = np.array([1.0, 4.0, 9.0])
    closed = sum(squares[i] ** 2.5 / np.prod([squares[i] - squares[j] for j in range(3) if j != i]) for i in range(3))
    found = mean_size(np.array([[1.0, 0, 0], [1, 1, 0], [1, 2, 3]]), 2.0)
    assert found == pytest.approx([2, 3, 2 * closed], rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "factors"),
    [
        ("COUNT(yes), AVG(yes)", (1, 1)),
        ("COUNT(yes), VAR_POP(yes)", (1, 1)),
        ("SUM(few), AVG(few)", (Fraction(7, 4), Fraction(3, 4))),
        ("SUM(few), COUNT(few)", (Fraction(7, 4), Fraction(3, 4))),
    ],
)
def test_the_noise_of_two_sums_on_a_coarse_lattice_is_exact(asked: str, factors: tuple[Any, Any]) -> None:
    """The noise told beside a count and a sum is the exact mean size of both noises together, where Laplace noise would
    be less."""
    columns = '[columns.yes]\nbounds = "[0, 1] step 1"\n[columns.few]\nbounds = "[3, 7] step 1"\n'
    with Playground(contract(columns, unit="row"), "yes BIGINT, few BIGINT") as playground:
        answering = planned(playground.dataset, f"SELECT {asked} FROM visits", 4).answering
    assert isinstance(answering, MomentsOfColumns)
    law = np.array([float(answering.choice.mechanism.pmf(500 + i, 500)) for i in range(-40, 41)])
    noise = np.arange(-40, 41)
    exact = (np.outer(law, law) * np.abs(np.add.outer(float(factors[0]) * noise, float(factors[1]) * noise))).sum()
    told = answering.answer_all([[500, 500]], 0.95, quiet)[0][0].noise
    assert law.sum() == pytest.approx(1, abs=1e-9)
    assert told == pytest.approx(exact, rel=0.001)
    laplace = mean_size(np.array([[float(factor) for factor in factors]]), answering.noise.each)[0]
    assert laplace < exact * 0.99


def test_missing_values_leave_a_row_out(playground: Playground) -> None:
    """A row that misses either of two columns counts in neither."""
    plan = planned(playground.dataset, "SELECT CORR(size, weight), AVG(size) FROM visits")
    rows = [
        (1, "a", 3, 1.0, 0, None),
        (2, "a", None, 1.0, 0, None),
        (3, "a", 3, None, 0, None),
        (4, "a", 3, "nan", 0, None),
    ]
    both, one = playground.totals(plan, rows), playground.totals(plan, rows[:1])
    assert both == one != [[0] * 9]


def test_refusals_of_moments(playground: Playground) -> None:
    """Keys have no variance, a column has no correlation with itself, and totals of a table have none of these."""
    dataset = playground.dataset
    for text, told in (
        ("SELECT VARIANCE(place) FROM visits", "place is categorical"),
        ("SELECT CORR(size, place) FROM visits", "place is categorical"),
        ("SELECT CORR(size, size) FROM visits", "two different columns"),
        ("SELECT CORR(size) FROM visits", "two different columns"),
        ("SELECT place, VARIANCE(size) FROM visits GROUP BY ROLLUP(place)", "other totals need COUNT"),
        ("SELECT place, COUNT(DISTINCT size) FROM visits GROUP BY ROLLUP(place)", "other totals need COUNT"),
        ("SELECT place, COUNT(DISTINCT place) FROM visits GROUP BY place", "is also grouped by"),
        ("SELECT COUNT(DISTINCT weight) FROM visits", "no categories"),
        ("SELECT COUNT(DISTINCT nothing) FROM visits", "has no column 'nothing'"),
    ):
        with pytest.raises(InvalidQuestion, match=told):
            dataset.sql(text).explain(1)
    with pytest.raises(InvalidQuestion, match="two different columns"):
        dataset.correlation("size", "size")
