"""MIN and MAX: quantiles near the ends, called what they are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.query import Dataset
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.question.quantile import Extreme, Quantile
from inbounds.query.question.shared_measures import Quantiles, Shared
from tests.helpers.audit_tables import Playground, contract

TOLD = (
    "MIN(size) would reveal one row, so the answer is the quantile at 0.01: about one row in a hundred lies below it."
)


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    """A table of 2,000 rows from 0 to 99."""
    columns = '[columns.size]\nbounds = "[0, 120] step 1"\n'
    with Playground(contract(columns, unit="row"), "size BIGINT", tmp_path / "ledger.db") as playground:
        playground.fill([(i % 100,) for i in range(2000)])
        yield playground.dataset


def test_an_extreme_is_called_by_its_level(dataset: Dataset) -> None:
    """MIN and MAX come back as quantiles, by name, and both the answer and the explanation say so."""
    query = dataset.sql("SELECT MIN(size) FROM visits")
    answer = query.ask(20, analyst="ana")
    assert answer.columns == ("quantile_0.01_size",)
    assert answer.value <= 3
    assert answer.warnings == (TOLD,)
    assert "".join(TOLD.split()) in "".join(str(answer).split())
    assert query.explain(1).warnings == (TOLD,)
    assert "warning         MIN(size) would reveal one row" in str(query.explain(1))
    assert dataset.maximum("size").ask(20, analyst="ana").value >= 96
    assert dataset.median("size").ask(1, analyst="ana").warnings == ()


@pytest.mark.slow
def test_extremes_are_in_order_with_other_quantiles(dataset: Dataset) -> None:
    """MIN, MAX and quantiles of a column are released together, none below the one before."""
    query = dataset.sql("SELECT MAX(size), MEDIAN(size), MIN(size) FROM visits")
    (measure,) = (question.measure for question in query.questions)
    assert measure == Quantiles(
        ColumnRef("size"), (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)), ("MIN", "MAX")
    )
    assert str(measure) == "QUANTILES(size, 0.5), MIN(size), MAX(size)"
    for _ in range(20):
        answer = query.ask("0.01", analyst="ana")
        ((most, middle, least),) = answer.rows
        assert least <= middle <= most
    assert answer.columns == ("quantile_0.99_size", "quantile_0.5_size", "quantile_0.01_size")
    assert len(answer.warnings) == 2
    again = dataset.sql(f"SELECT {measure} FROM visits")
    assert [question.measure for question in again.questions] == [measure]


def test_an_extreme_beside_its_own_level() -> None:
    """MIN and the quantile at its level are one release with two names."""
    level = Fraction(1, 100)
    shared = Shared.of((Extreme.of("MIN", ColumnRef("x")), Quantile(ColumnRef("x"), level)), lambda _: False)
    assert shared.measures == (Quantiles(ColumnRef("x"), (level,), ("MIN",)),)
    assert shared.places == ((0, 0), (0, 0))
