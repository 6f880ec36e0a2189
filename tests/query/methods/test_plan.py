"""A plan puts what a statement found into the cells that it was for, and nowhere else."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest

from inbounds.errors import EngineFailed
from inbounds.query import Dataset
from inbounds.query.methods.plan import OUT_OF_RANGE
from tests.helpers.engine_places import planned

CONTRACT = """
[dataset]
name = "visits"
UNIT
[columns.age]
bounds = "[0, 9] step 1"
[columns.region]
keys = ["city", "land"]
[columns.district]
keys = ["harbour", "hills"]
within = "region"
map = { harbour = "city", hills = "land" }
[columns.clinic]
keys = ["old", "new"]
within = "region"
map = { old = "city", new = "land" }
[budget]
total = 1
"""
ROWS, PEOPLE = 'unit = "row"', 'unit = "who"\nmax_rows_per_unit = 2'


def dataset(unit: str) -> Dataset:
    """Return a dataset without rows: what a statement would find is made up."""
    columns = ("who", "age", "region", "district", "clinic")
    frame = pyarrow.table({name: pyarrow.array([], "string") for name in columns})
    return Dataset.parse(CONTRACT.replace("UNIT", unit), frame=frame)


@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("code", [2, -1, 10**30, 0.5, None])
def test_a_code_out_of_range_is_a_failure(unit: str, code: Any) -> None:
    """A group that is none is never passed over, nor counted from the end; only rows have no group by right."""
    with dataset(unit) as asked:
        plan = planned(asked.count().by("district"))
        assert plan.totals([(1, 7)]) == [[0], [7]]
        if code is None and unit == ROWS:
            assert plan.totals([(1, 7), (None, 5)]) == [[0], [7]]
            return
        with pytest.raises(EngineFailed) as failed:
            plan.totals([(1, 7), (code, 5)])
        assert failed.value.kind == OUT_OF_RANGE


@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("bucket", [10, -1, None])
def test_a_bucket_out_of_range_is_a_failure(unit: str, bucket: Any) -> None:
    """A value beyond the bounds that a statement should have clipped is never counted at the other end."""
    with dataset(unit) as asked:
        plan = planned(asked.median("age"))
        assert plan.totals([(9, 7)]) == [[0] * 9 + [7]]
        with pytest.raises(EngineFailed):
            plan.totals([(9, 7), (bucket, 5)])


def test_keys_that_never_meet_are_no_cell() -> None:
    """A row whose keys the contract says never meet is of no cell, which is no failure: rows decide that."""
    with dataset(ROWS) as asked:
        plan = planned(asked.count().by("region", "district", "clinic"))
        assert plan.totals([(0, 0, 0, 7), (0, 0, 1, 5)]) == [[7], [0]]
