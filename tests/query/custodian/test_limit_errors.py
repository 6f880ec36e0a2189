"""What limits do to a count and a mean: what is cut as the statements of questions cut it, the noise as it is told."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars
import pytest

from inbounds.errors import EngineFailed, InvalidParameter
from inbounds.query import Dataset, Inspection
from inbounds.query.columns.column import Numbers
from inbounds.query.custodian.limit_errors import LimitError, find_limit_errors, means_of
from inbounds.query.engines.duckdb import DuckDB
from tests.helpers.engine_places import Place

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 4
[columns.age]
bounds = "[0, 110] step 1"
[columns.cost]
bounds = "[-5, 99.99] step 0.01"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.ward]
keys = ["a", "b"]
[columns.dear]
from = "cost * 2"
[budget]
total = 1
"""
TYPES = {"patient": "bigint", "age": "integer", "cost": "float8", "day": "date", "ward": "text"}


def made_up(seed: int, count: int = 400) -> list[dict[str, Any]]:
    """Return rows of few patients, of whom those with many rows are older, with missing and impossible values."""
    random = Random(seed)
    patients = [None, *range(40), *([5] * 20), *([6] * 40)]
    rows = []
    for _ in range(count):
        patient = random.choice(patients)
        age = random.choice([None, -4, 130, 90 if patient in (5, 6) else random.randrange(80)])
        cost = random.choice([None, 5.25, 1e9, 42.0, -5.0])
        rows.append({"patient": patient, "age": age, "cost": cost, "day": None, "ward": "a"})
    return rows


def weighed(rows: list[dict[str, Any]], limit: int | None) -> tuple[float, float]:
    """Return the number of rows with an age, and the mean of them, as they weigh under a limit, in plain Python."""
    ages = defaultdict(list)
    for row in rows:
        if row["patient"] is not None and row["age"] is not None:
            ages[row["patient"]].append(min(110, max(0, row["age"])))
    weights = {patient: 1 if limit is None else min(1, limit / len(of)) for patient, of in ages.items()}
    left = sum(weights[patient] * len(of) for patient, of in ages.items())
    return left, sum(weights[patient] * sum(of) for patient, of in ages.items()) / left


def errors_of(dataset: Dataset, name: str | None, epsilon: Any = "0.5") -> dict[int, LimitError]:
    """Return what each limit does, by limits."""
    found = Inspection.of(dataset, beside={dataset.name: 7})
    assert found.units is not None
    column = None if name is None else dataset.table.columns[name]
    assert column is None or isinstance(column, Numbers)
    return {error.figures.limit: error for error in find_limit_errors(dataset, found.units, column, epsilon)}


def test_what_is_cut_is_that_of_plain_python(engine_place: Place) -> None:
    """On every engine a count is too low by the rows over the limit, and a mean is shifted by how rows weigh."""
    rows = made_up(1)
    errors = errors_of(engine_place.dataset(rows, TYPES, CONTRACT), "age")
    of_each = Counter(row["patient"] for row in rows if row["patient"] is not None)
    _, mean = weighed(rows, None)
    assert {4, 7} <= set(errors)
    for limit, error in errors.items():
        assert error.count.cut == error.figures.rows == sum(max(0, n - limit) for n in of_each.values())
        assert error.mean is not None
        assert error.mean.cut == pytest.approx(weighed(rows, limit)[1] - mean, abs=1e-9)
    assert abs(errors[1].mean.cut) > 1  # type: ignore[union-attr]  # so that there is something to find


@pytest.mark.parametrize("name", ["age", "cost", "dear"])
def test_a_shift_is_what_the_statement_of_the_question_shows(files: Any, name: str) -> None:
    """The mean that a question under the limit would put noise on is the mean of all rows and the shift."""
    dataset = files.dataset(made_up(2), TYPES, CONTRACT)
    errors = errors_of(dataset, name)
    column = dataset.table.columns[name]
    assert isinstance(column, Numbers)

    def exact(limit: int) -> float:
        text = CONTRACT.replace("max_rows_per_unit = 4", f"max_rows_per_unit = {limit}")
        plan = files.dataset(made_up(2), TYPES, text).mean(name).plan(1)
        ((above, below),) = plan.totals(files.opened[-1].engine.run(plan.sql))
        return float(column.low + (column.high - column.low) * Fraction(above, above + below))

    whole = exact(1000)
    for limit in (1, 2, 3, 7):
        shift = errors[limit].mean
        assert shift is not None
        assert shift.cut == pytest.approx(exact(limit) - whole, abs=1e-6 * float(column.high - column.low))


def test_noise_is_what_an_explanation_tells(files: Any) -> None:
    """The noise of a count and of a mean is what a contract with the limit predicts, for the rows that are left."""
    rows = made_up(3)
    dataset = files.dataset(rows, TYPES, CONTRACT)
    errors = errors_of(dataset, "age", "0.25")
    for limit in (1, 4, 7, 10):
        other = files.dataset(rows, TYPES, CONTRACT.replace("max_rows_per_unit = 4", f"max_rows_per_unit = {limit}"))
        mean = errors[limit].mean
        assert mean is not None
        assert errors[limit].count.noise == other.count().plan("0.25").answering.predicted_error(0, None)
        left = round(weighed(rows, limit)[0])
        assert mean.noise == pytest.approx(other.mean("age").plan("0.25").answering.predicted_error(0, left), rel=0.01)
        assert mean.together == pytest.approx(abs(mean.cut) + (mean.noise or 0))


def test_means_are_of_numbers(files: Any) -> None:
    """Columns of numbers, derived ones too, have a mean to look at; days and categories do not."""
    dataset = files.dataset(made_up(4), TYPES, CONTRACT)
    assert [column.name for column in means_of(dataset.table)] == ["age", "cost", "dear"]
    assert all(error.mean is None for error in errors_of(dataset, None).values())


def test_a_column_without_values_has_no_mean(files: Any) -> None:
    """Where no row has a value, or there is no row, a count has its errors and a mean has none."""
    empty = [{**row, "age": None} for row in made_up(5)]
    assert all(error.mean is None for error in errors_of(files.dataset(empty, TYPES, CONTRACT), "age").values())
    nobody = errors_of(files.dataset([], TYPES, CONTRACT), "age")
    assert [error.count.cut for error in nobody.values()] == [0] * len(nobody)


def test_a_limit_beyond_what_can_be_computed_has_no_noise(files: Any) -> None:
    """Under a very high limit what is cut is told, whatever becomes of the noise; what is no epsilon is refused."""
    text = CONTRACT.replace("max_rows_per_unit = 4", "max_rows_per_unit = 1000000")
    errors = errors_of(files.dataset(made_up(6), TYPES, text), "age", "0.000001")
    assert errors[1].count.noise is not None
    assert all(error.count.cut >= 0 for error in errors.values())
    with pytest.raises(InvalidParameter, match="epsilon must"):
        errors_of(files.dataset(made_up(6), TYPES, text), "age", -1)


def test_public_facts_about_a_limit_do_not_stand_in_the_way(files: Any) -> None:
    """A contract that says what is over its limit can be looked at under lower ones."""
    text = CONTRACT.replace("[budget]", "[known.over_limit]\nlimit = 4\nunits = 40\nrows = 900\n[budget]")
    errors = errors_of(files.dataset(made_up(7), TYPES, text), "age")
    assert errors[1].count.noise is not None


def test_rows_of_another_table_are_followed_to_their_units(tmp_path: Path) -> None:
    """Of a table whose rows belong to those of another, a unit's rows are weighed together."""
    orders = polars.DataFrame({"customer": [1, 1, 2], "order": ["a", "b", "c"]})
    lines = polars.DataFrame({"no": ["a", "a", "b", "c", "x"], "price": [10, 20, 30, 80, 99]})
    orders.write_parquet(tmp_path / "orders.parquet")
    lines.write_parquet(tmp_path / "lines.parquet")
    text = """
        [dataset]
        name = "orders"
        source = "orders.parquet"
        unit = "customer"
        key = "order"
        max_rows_per_unit = 5
        [tables.lines]
        source = "lines.parquet"
        belongs_to = "orders"
        on = { no = "order" }
        max_rows_per_unit = 2
        [tables.lines.columns.price]
        bounds = "[0, 100] step 1"
        [budget]
        total = 1
    """
    (tmp_path / "orders.toml").write_text(text, encoding="utf-8")
    with Dataset.load(tmp_path / "orders.toml") as dataset:
        rows = dataset.rows_of("lines")
        found = Inspection.of(rows)
        column = rows.table.columns["price"]
        assert found.units is not None
        assert isinstance(column, Numbers)
        errors = {one.figures.limit: one for one in find_limit_errors(rows, found.units, column, 1)}
    # 10 + 20 + 30 of one customer, 80 of the other: 140 / 4, and 20 + 80 over 2 rows where one row of each counts.
    assert errors[1].count.cut == 2
    assert errors[1].mean is not None
    assert errors[1].mean.cut == pytest.approx((20 + 80) / 2 - 140 / 4)


def test_a_database_that_fails_says_that_nothing_was_charged(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that is stopped is told as one that cost nothing."""
    dataset = files.dataset(made_up(8), TYPES, CONTRACT)
    found = Inspection.of(dataset)
    column = dataset.table.columns["age"]
    assert found.units is not None
    assert isinstance(column, Numbers)

    def fail(*_: object) -> None:
        raise EngineFailed("OutOfMemoryException")

    monkeypatch.setattr(DuckDB, "run", fail)
    with pytest.raises(EngineFailed) as failure:
        find_limit_errors(dataset, found.units, column, 1)
    assert not failure.value.charged
