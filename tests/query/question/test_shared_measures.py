"""Several measures in one question: they share what they can, never contradict each other, and cost what was said."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.methods.moments.ratio import Ratio, TotalsOfColumn
from inbounds.query.question.among import count_values
from inbounds.query.question.measure import Correlation, Count, CountOf, Mean, Measure, Sum, Variance
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.shared_measures import Moments, Quantiles, Shared, Totals
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "b", "c"]
[columns.size]
bounds = "[-3, 7] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
"""
TYPES = "who BIGINT, place VARCHAR, size BIGINT, weight DOUBLE, day DATE"
ROWS = [(i // 2, "ab"[i % 2], i % 11 - 3, 0.5 + i % 4 / 4, f"2026-02-{i % 28 + 1:02}") for i in range(200)]


@pytest.fixture(params=[("row", 1), ("who", 3)], ids=["rows", "units"])
def playground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Playground]:
    """A table of 200 rows, none of them in place c."""
    unit, limit = request.param
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


X, Y = ColumnRef("x"), ColumnRef("y")


def of_all_rows(*measures: Measure) -> Shared:
    """Return what answers measures of columns that every row has."""
    return Shared.of(measures, lambda _: True)


def of_some_rows(*measures: Measure) -> Shared:
    """Return what answers measures of columns that may be missing."""
    return Shared.of(measures, lambda _: False)


def test_what_goes_together_is_answered_together() -> None:
    """Rows, sum and mean of one column share their totals, and so do quantiles of one column; nothing else does."""
    mean, total, median = Mean(X), Sum(X), Quantile(X, Fraction(1, 2))
    high = Quantile(X, Fraction(9, 10))
    shared = of_all_rows(high, mean, Count(), median, total, Mean(Y))
    assert shared.measures == (
        Quantiles(X, (Fraction(1, 2), Fraction(9, 10))),
        Totals(X, (mean, total)),
        Count(),
        Mean(Y),
    )
    assert shared.places == ((0, 1), (1, 0), (2, 0), (0, 0), (1, 1), (3, 0))
    assert of_all_rows(Count(), mean).measures == (Totals(X, (Count(), mean)),)
    assert of_all_rows(mean).measures == (mean,)
    assert of_all_rows(Count(), Mean(X), Mean(Y)).measures == (Count(), Mean(X), Mean(Y))


def test_all_rows_are_no_rows_with_a_value() -> None:
    """The number of rows stands alone where a column may be missing; that of its values goes with its sums."""
    mean, values = Mean(X), count_values(X)
    assert of_some_rows(Count(), mean).measures == (Count(), mean)
    shared = of_some_rows(Count(), values, mean)
    assert shared.measures == (Count(), Totals(X, (CountOf(X), mean)))
    assert shared.places == ((0, 0), (1, 0), (1, 1))
    assert of_all_rows(Count(), values, mean).measures == (Totals(X, (Count(), CountOf(X), mean)),)
    assert of_some_rows(values, Variance(X)).measures == (Moments((X,), (CountOf(X), Variance(X))),)
    assert of_some_rows(values, Mean(Y)).measures == (values, Mean(Y))
    assert of_some_rows(values, Correlation(X, Y)).measures == (values, Correlation(X, Y))


ALL_ROWS = [
    ("COUNT(*), AVG(size)", "", False),
    ("COUNT(*), SUM(size)", "WHERE place = 'a'", False),
    ("COUNT(*), AVG(size)", "WHERE size IS NOT NULL", True),
    ("COUNT(*), AVG(size)", "WHERE NOT size < 3", True),
    ("COUNT(*), AVG(size)", "WHERE size > 3 OR weight > 1", False),
    ("COUNT(*), AVG(COALESCE(size, 0))", "", True),
    ("COUNT(*), SUM(CASE WHEN size > 1 THEN 1 ELSE 0 END)", "", True),
    ("COUNT(*), AVG(CASE WHEN size > 1 THEN weight END)", "", False),
    ("COUNT(size), AVG(size)", "", True),
    ("COUNT(size), STDDEV(size)", "", True),
    ("COUNT(*), COUNT(size)", "", True),
    ("COUNT(size), AVG(weight)", "", False),
]


@pytest.mark.parametrize(("measures", "where", "is_one"), ALL_ROWS)
def test_rows_are_counted_as_sql_counts_them(playground: Playground, measures: str, where: str, is_one: bool) -> None:
    """COUNT(*) counts all rows, COUNT(x) those with x, whatever stands beside them, and sharing or not."""
    playground.fill([*ROWS, *((1000 + i, "a", None if i % 2 else 5, None if i % 3 else 1.5, None) for i in range(60))])
    sql = f"SELECT {measures} FROM visits {where}"
    query = playground.dataset.sql(sql)
    assert (len(query.questions) == 1) == is_one
    ((count, *_),) = query.ask(1000, analyst="ana", pooling=1).rows
    ((true, *_),) = playground.plainly(sql)
    assert abs(count - true) <= 1


def test_values_are_counted_in_python_too(playground: Playground) -> None:
    """`count("size")` is COUNT(size): beside a mean it shares what that costs."""
    dataset = playground.dataset
    python = dataset.together(dataset.count("size"), dataset.mean("size")).by("place")
    assert python == dataset.sql("SELECT place, COUNT(size), AVG(size) FROM visits GROUP BY place")
    assert len(python.questions) == 1
    assert python.ask(1, analyst="ana").columns == ("place", "count_size", "mean_size")
    assert dataset.count("size") == dataset.sql("SELECT COUNT(size) FROM visits")


@pytest.mark.slow
@pytest.mark.parametrize("column", ["size", "weight"])
def test_a_mean_is_its_sum_over_its_count(playground: Playground, column: str) -> None:
    """In every group the mean is the sum over the count, sums lie between the ends times the count, and no rows have
    no mean."""
    asked = f"SELECT place, COUNT({column}), AVG({column}), SUM({column}) FROM visits GROUP BY place"
    found = playground.dataset.sql(asked)
    (plan,) = found.plans(1, pooling=1)
    assert isinstance(plan.answering, TotalsOfColumn)
    (of,) = plan.answering.columns
    low, high = float(of.low), float(of.high)
    empty = 0
    for totals in ([0, 0], [1, 0], [0, 1], [2**14, 2**15], [2**40, 2**20]):
        for ((count, mean, total),) in (plan.answering.answer_all([totals], 0.95, quiet) for _ in range(40)):
            assert isinstance(count.value, int)
            assert isinstance(total.value, int | float)
            assert low * count.value - 1e-9 <= total.value <= high * count.value + 1e-9
            if count.value == 0:
                empty += 1
                assert (mean.value, total.value) == (None, 0)
            else:
                assert mean.value == pytest.approx(total.value / count.value, rel=1e-12)
    assert empty > 0
    answer = found.ask(100, analyst="ana", pooling=1)
    assert answer.columns == ("place", f"count_{column}", f"mean_{column}", f"sum_{column}")
    for _, count, mean, total in answer.rows:
        assert mean is None if count == 0 else mean == pytest.approx(total / count)


def test_days_have_counts_and_means(playground: Playground) -> None:
    """The count and the mean of days come from the same sums; a sum of days is refused by name."""
    answer = playground.dataset.sql("SELECT COUNT(*), AVG(day) FROM visits").ask(100, analyst="ana", pooling=1)
    ((count, mean),) = answer.rows
    assert abs(count - 200) < 50
    assert mean.month == 2
    with pytest.raises(InvalidQuestion, match="dates, which have no sum"):
        playground.dataset.sql("SELECT COUNT(*), SUM(day) FROM visits").explain(1)


def test_shared_measures_cost_no_more_than_one(playground: Playground) -> None:
    """Rows, sum and mean are all released by what a mean alone takes: the same totals, epsilon and sensitivity."""
    dataset = playground.dataset
    alone = dataset.mean("size").plan(1, pooling=1)
    (shared,) = dataset.together(dataset.count("size"), dataset.mean("size"), dataset.sum("size")).plans(1, pooling=1)
    assert isinstance(alone.answering, Ratio)
    assert isinstance(shared.answering, Ratio)
    assert (shared.sql, shared.request, shared.epsilon) == (alone.sql, alone.request, alone.epsilon)
    assert shared.answering.choice == alone.answering.choice
    assert shared.answering.sensitivity == alone.answering.sensitivity


def test_the_others_divide_epsilon(playground: Playground) -> None:
    """What shares nothing has an equal part of epsilon, or one by its weight; the parts add up to what is charged."""
    dataset = playground.dataset
    query = dataset.sql("SELECT COUNT(*), AVG(size), AVG(weight), PROPORTION(size > 1) FROM visits")
    costs = [plan.epsilon for plan in query.plans(1, pooling=1)]
    assert costs == [Fraction(1, 4)] * 4
    weighed = [plan.epsilon for plan in query.plans(1, pooling=1, weights=[1, 1, 1, 5])]
    assert weighed == [Fraction(1, 8)] * 3 + [Fraction(5, 8)]
    before = dataset.ledger.balance("visits").spent
    answer = query.ask(1, analyst="ana", pooling=1, weights=[1, 1, 1, 5])
    assert dataset.ledger.balance("visits").spent - before == 1 == answer.epsilon
    shared = dataset.sql("SELECT COUNT(size), AVG(size), PROPORTION(size > 1) FROM visits")
    assert [plan.epsilon for plan in shared.plans(1, pooling=1, weights=[1, 1, 2])] == [Fraction(1, 2)] * 2
    for weights in ([1], [1, 2, 0], [1, 2, -1], [1, 2, float("nan")]):
        with pytest.raises(InvalidParameter):
            shared.explain(1, pooling=1, weights=weights)


def test_an_explanation_names_each_part(playground: Playground) -> None:
    """Several measures are explained part by part, each with its cost, in 80 columns."""
    found = playground.dataset.sql("SELECT COUNT(size), AVG(size), MEDIAN(weight) FROM visits").explain(1)
    assert [part.measures for part in found.parts] == ["COUNT(size), AVG(size)", "MEDIAN(weight)"]
    assert [part.epsilon for part in found.parts] == [Fraction(1, 2)] * 2
    above = str(found).split("\nstatement\n")[0]
    assert "part 1          COUNT(size), AVG(size)" in above
    assert "0.5 for this part" in above
    assert max(map(len, above.splitlines())) <= 80
    assert found.statement.count(";") == 1


def test_both_ways_of_asking_are_one(playground: Playground) -> None:
    """Measures put together in Python are the question that SQL asks, and come back under the same names."""
    dataset: Dataset = playground.dataset
    python = dataset.together(dataset.mean("size"), dataset.count()).where("size > 0").by("place")
    sql = dataset.sql("SELECT place, AVG(size), COUNT(*) FROM visits WHERE size > 0 GROUP BY place")
    assert python == sql
    assert str(python) == str(sql)
    for queries in ([dataset.count(), dataset.count()], []):
        with pytest.raises(InvalidQuestion, match="each once"):
            dataset.together(*queries)
    with pytest.raises(InvalidQuestion, match="add where and by afterwards"):
        dataset.together(dataset.count().by("place"), dataset.mean("size"))


def test_a_kept_answer_is_the_same_again(playground: Playground) -> None:
    """Asked again by its request id, an answer has the same numbers and intervals, and nothing is charged."""
    query = playground.dataset.sql("SELECT place, COUNT(*), AVG(size), MEDIAN(size) FROM visits GROUP BY place")
    first = query.ask(1, analyst="ana", request_id="one")
    spent = playground.dataset.ledger.balance("visits").spent
    assert query.ask(1, analyst="ana", request_id="one") == first
    assert playground.dataset.ledger.balance("visits").spent == spent
    frame = first.to_pandas()
    rider = "" if playground.dataset.table.rows_are_units else "_noise_only"
    ends = {f"low_count{rider}", f"high_count{rider}"}
    assert ends | {"expected_noise_mean_size", "median_size"} <= set(frame.columns)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_cover_what_they_say(confidence: float, tmp_path: Path) -> None:
    """Count, sum and mean each lie in their interval at least as often as was asked for; and intervals for less
    confidence do not pass for it."""
    with Playground(contract(COLUMNS, unit="who", limit=3), TYPES, tmp_path / "ledger.db") as playground:
        (plan,) = playground.dataset.sql("SELECT COUNT(size), SUM(size), AVG(size) FROM visits").plans(1, pooling=1)
    answering = plan.answering
    assert isinstance(answering, TotalsOfColumn)
    rows, mean = 60, 1.5
    one = 1 / float(answering.grain)
    truth = [round(rows * (mean + 3) * one), round(rows * (7 - mean) * one)]
    wanted = (rows, rows * mean, mean)
    runs = 1500

    def covered(sure: float) -> list[int]:
        found = answering.answer_all([truth] * runs, sure, quiet)
        inside = [
            [
                one.interval is not None and float(one.interval[0]) - 1e-9 <= true <= float(one.interval[1]) + 1e-9  # type: ignore[arg-type]
                for one, true in zip(each, wanted, strict=True)
            ]
            for each in found
        ]
        return [int(count) for count in np.sum(inside, axis=0)]

    assert stats.binom.cdf(min(covered(confidence)), runs, confidence) > 1e-10  # of three
    assert stats.binom.cdf(max(covered(confidence / 2)), runs, confidence) < 1e-9


def test_a_shared_count_is_possible_and_says_what_it_counts(tmp_path: Path) -> None:
    """Where the number of units is public no shared count or sum, nor an interval of one, is beyond it, and days keep
    their mean; an explanation says that rows without a value are not counted."""
    text = contract(COLUMNS, unit="who", limit=1, units=20)
    with Playground(text, TYPES, tmp_path / "ledger.db") as playground:
        asked = playground.dataset.sql("SELECT place, COUNT(size), SUM(size) FROM visits GROUP BY place")
        (plan,) = asked.plans(1, pooling=1)
        assert "rows without a value of size are left out" in asked.explain(1, pooling=1).parts[0].mechanism
        one = plan.request.weights.one
        for count, total in plan.answering.answer_all([[200 * one, 0], [0, 200 * one]] * 200, 0.95, quiet):
            assert 0 <= count.value <= 20  # type: ignore[operator]
            assert -60 <= total.value <= 140  # type: ignore[operator]
            assert count.interval is not None
            assert count.interval[1] <= 20  # type: ignore[operator]
            assert total.interval is not None
            assert -60 <= total.interval[0] <= total.interval[1] <= 140  # type: ignore[operator]
        playground.fill(ROWS)
        ((count, mean),) = playground.dataset.sql("SELECT COUNT(day), AVG(day) FROM visits").ask(500, analyst="a").rows
        assert (count, mean.month) == (20, 2)


@pytest.mark.parametrize("epsilon", [1, 50, 500])
def test_sums_of_vast_numbers_have_intervals(tmp_path: Path, epsilon: int) -> None:
    """Sums and counts of numbers near the greatest that a column may have are answered, with ends that are numbers."""
    text = contract('[columns.size]\nbounds = "[0, 1e145] step 1e145"\n', unit="row")
    with Playground(text, "who BIGINT, size DOUBLE", tmp_path / "ledger.db") as playground:
        playground.fill([(number, 1e145 * (number % 2)) for number in range(40)])
        answer = playground.dataset.sql("SELECT SUM(size), COUNT(*) FROM visits").ask(epsilon, analyst="ana")
        for ends in answer.intervals[0]:
            assert ends is not None
            assert all(math.isfinite(end) for end in ends)
            assert ends[0] <= ends[1]
