"""How a frame is read follows from the types of its columns: never from the values in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from inbounds.query import Dataset
from tests.helpers.engine_places import totals_of

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

CONTRACT = """
[dataset]
name = "visits"
UNIT
[columns]
clinic.keys = ["north", "south"]
age.bounds = "[0, 120] step 1"
day.bounds = "[2026-01-01, 2026-12-31]"
[budget]
total = 1
"""
BY_ROW, BY_UNIT = 'unit = "row"', 'unit = "who"\nmax_rows_per_unit = 1'

Values = list[str | None]


def totals(clinic: Any, as_frame: Callable[[dict[str, Any]], Any], unit: str = BY_ROW) -> list[list[int]]:
    """Return how many rows each clinic has, in a frame with this column."""
    count = len(clinic)
    columns = {"clinic": clinic, "age": [5.0] * count, "day": pandas.to_datetime(["2026-01-01"] * count)}
    with Dataset.parse(CONTRACT.replace("UNIT", unit), frame=as_frame(columns | {"who": clinic})) as dataset:
        return totals_of(dataset.count().by("clinic"))


def categorical(values: Values) -> Any:
    """Return a Categorical of objects, as those who read files of old pandas have it."""
    known = pandas.Index(sorted({value for value in values if value is not None}), dtype=object)
    return pandas.Series(pandas.Categorical(pandas.Series(values, dtype=object), categories=known))


PANDAS: dict[str, Callable[[Values], Any]] = {
    **{
        name: lambda values, name=name: pandas.Series(values, dtype=name)  # type: ignore[misc]
        for name in ("object", "string[python]", "string[pyarrow]", "str", "large_string[pyarrow]")
    },
    "str, in Python": lambda values: pandas.Series(values, dtype=pandas.StringDtype("python", na_value=float("nan"))),
    "objects, NaN where missing": lambda values: pandas.Series(
        [float("nan") if value is None else value for value in values], dtype=object
    ),
    "category": categorical,
    "dictionary": lambda values: pandas.Series(
        values, dtype=pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    ),
}
ARROW: dict[str, Callable[[Values], Any]] = {
    str(kind): lambda values, kind=kind: pyarrow.array(values, kind)
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())
} | {"dictionary": lambda values: pyarrow.array(values, pyarrow.string()).dictionary_encode()}
POLARS: dict[str, Callable[[Values], Any]] = {
    str(kind): lambda values, kind=kind: polars.Series(values, dtype=kind)  # type: ignore[misc]
    for kind in (polars.String, polars.Categorical, polars.Enum(["north", "south", "east"]))
}
FORMS = {
    **{f"pandas {name}": (make, pandas.DataFrame) for name, make in PANDAS.items()},
    **{f"arrow {name}": (make, pyarrow.table) for name, make in ARROW.items()},
    **{f"polars {name}": (make, polars.DataFrame) for name, make in POLARS.items()},
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_text_is_read_as_text(form: str) -> None:
    """A column of text of any kind has the same totals, with values, with none but missing ones, and without rows."""
    make, as_frame = FORMS[form]
    assert totals(make(["north", None, "south", "east", "north"]), as_frame) == [[2], [1]]
    assert totals(make([None, None]), as_frame) == [[0], [0]]
    assert totals(make([]), as_frame) == [[0], [0]]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [BY_ROW, BY_UNIT], ids=["row", "unit"])
@pytest.mark.parametrize("form", ["object", "string[python]", "str, in Python", "category"])
def test_a_lone_surrogate_is_no_key(form: str, unit: str) -> None:
    """What is no valid text in one row of a pandas frame leaves the totals of the others as they were."""
    found = totals(PANDAS[form](["north", "\ud800", "south"]), pandas.DataFrame, unit)
    assert found == totals(PANDAS[form](["north", "south"]), pandas.DataFrame, unit)


def test_what_python_refuses_to_write_is_no_key() -> None:
    """An integer of thousands of digits in one row leaves the totals of the others as they were."""
    column = pandas.Series(["north", 10**5000, "south"], dtype=object)
    assert totals(column, pandas.DataFrame) == [[1], [1]]


def test_a_category_that_no_row_has_does_no_harm() -> None:
    """Categories that are no valid text, or no text, do not matter to rows that have others."""
    known = pandas.Index(["north", "\ud800", 5], dtype=object)
    column = pandas.Series(pandas.Categorical(pandas.Series(["north"], dtype=object), categories=known))
    assert totals(column, pandas.DataFrame) == [[1], [0]]


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["clinic", "age", "day", "who"])
@pytest.mark.parametrize("unit", [BY_ROW, BY_UNIT], ids=["row", "unit"])
def test_a_column_of_nothing_but_missing_values_fits(missing: str, unit: str) -> None:
    """Where Arrow and polars say that a column holds nothing, questions are answered as if all values were missing."""
    day = pyarrow.array([738_000], pyarrow.int32()).cast(pyarrow.date32())
    columns = {"clinic": ["north"], "age": [5], "day": day, "who": ["ana"]} | {missing: pyarrow.nulls(1)}
    with Dataset.parse(CONTRACT.replace("UNIT", unit), frame=pyarrow.table(columns)) as dataset:
        nobody = unit == BY_UNIT and missing == "who"
        (north,), (south,) = totals_of(dataset.count().by("clinic"))
        assert (north > 0, south) == (not nobody and missing != "clinic", 0)
        assert any(map(sum, totals_of(dataset.mean("age")))) == (not nobody and missing != "age")
        assert any(map(sum, totals_of(dataset.median("day")))) == (not nobody and missing != "day")


def test_a_stream_of_batches_can_be_asked_twice() -> None:
    """A reader of Arrow batches is a table like any other, also for the second question."""
    table = pyarrow.table({"clinic": ["north"], "age": [5], "day": pyarrow.nulls(1)})
    with Dataset.parse(CONTRACT.replace("UNIT", BY_ROW), frame=table.to_reader()) as dataset:
        assert [totals_of(dataset.count().by("clinic")) for _ in range(2)] == [[[1], [0]]] * 2


class Capsule:
    """What is nothing but a table that Arrow can read."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def from_duckdb(columns: dict[str, Any]) -> Any:
    """Return a relation of a database of its own."""
    connection = duckdb.connect()
    connection.register("given", pyarrow.table(columns))
    return connection.sql("SELECT * FROM given")


def from_duckdb_computed(columns: dict[str, Any]) -> Any:
    """Return a relation of the database that everybody shares, with a type that nobody reads beside the columns."""
    given = pyarrow.table(columns)  # noqa: F841  which DuckDB finds by its name
    return duckdb.sql("SELECT *, INTERVAL 1 DAY AS other FROM given")


OTHERS = {
    "relation": from_duckdb,
    "relation of all": from_duckdb_computed,
    "capsule": lambda columns: Capsule(pyarrow.table(columns)),
    "stream": lambda columns: Capsule(pyarrow.table(columns).to_reader()),
    "capsule of polars": lambda columns: Capsule(polars.from_arrow(pyarrow.table(columns))),
}


@pytest.mark.parametrize("form", OTHERS)
@pytest.mark.parametrize("unit", [BY_ROW, BY_UNIT], ids=["row", "unit"])
def test_what_arrow_can_read_is_a_frame(form: str, unit: str) -> None:
    """A relation of DuckDB, and whatever offers rows to Arrow, has the totals of an Arrow table, as often as asked."""
    values = ["north", None, "south", "east", "north"]
    columns = {"clinic": values, "age": [5, 7, None, 200, -1], "day": ["2026-01-01"] * 5, "who": [*"abcd", None]}
    found = []
    for as_frame in (pyarrow.table, OTHERS[form]):
        with Dataset.parse(CONTRACT.replace("UNIT", unit), frame=as_frame(columns)) as dataset:
            queries = (dataset.count().by("clinic"), dataset.sum("age"), dataset.median("day"))
            found.append([totals_of(query) for query in queries * 2])
    assert found[0] == found[1]
    assert found[1][0] != [[0], [0]]
