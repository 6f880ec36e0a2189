"""The same values have the same totals in every type that pandas, polars and Arrow can make of them, and in a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.query import Dataset
from inbounds.query.engines.by_contract import LARGEST
from tests.helpers import oracle
from tests.helpers.engine_places import totals_of
from tests.helpers.sparing import sparing

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Values = list[Any]
Form = Callable[[Values], Any]

CONTRACT = """
[dataset]
name = "visits"
unit = "UNIT"
[columns.x]
SAID
[budget]
total = 1
"""
WHOLE_KEYS, TEXT_KEYS, TRUTHS = (
    "keys = [-1, 0, 7, 300]",
    'keys = ["-1", "0", "7", "1.5", "0.5", "true", "2026-01-05"]',
    "keys = [true, false]",
)
WHOLE, SMOOTH, STEPS = 'bounds = "[-2, 9] step 1"', 'bounds = "[-2, 9]"', 'bounds = "[0, 8] step 0.25"'
DAYS = 'bounds = "[2026-01-01, 2026-01-31]"'
UNIT = 'bounds = "[0, 5] step 1"'


def pandas_form(kind: Any) -> Form:
    """Return what makes a pandas frame with a column of a type."""
    return lambda values: pandas.DataFrame({"x": pandas.Series(values, dtype=kind)})


def arrow_form(kind: Any) -> Form:
    """Return what makes an Arrow table with a column of a type."""
    return lambda values: pyarrow.table({"x": pyarrow.array(values, kind)})


def polars_form(kind: Any) -> Form:
    """Return what makes a polars frame with a column of a type."""
    return lambda values: polars.DataFrame({"x": polars.Series(values, dtype=kind)})


def category(values: Values) -> Any:
    """Return a frame with a column of categories."""
    return pandas.DataFrame({"x": pandas.Series(values, dtype=object).astype("category")})


def dictionary(values: Values) -> Any:
    """Return an Arrow table with an encoded column."""
    return pyarrow.table({"x": pyarrow.array(values).dictionary_encode()})


OBJECTS: dict[str, Form] = {
    "pandas object": pandas_form(object),
    "pandas object, NaN": lambda values: pandas_form(object)([math.nan if one is None else one for one in values]),
    "pandas object, NA": lambda values: pandas_form(object)([pandas.NA if one is None else one for one in values]),
    "pandas category": category,
    "polars Object": polars_form(polars.Object),
}
FLOATS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(kind) for kind in ("float64", "Float64", "double[pyarrow]", "longdouble")},
    "arrow double": arrow_form(pyarrow.float64()),
    "polars Float64": polars_form(polars.Float64),
    "pandas float objects": lambda values: pandas_form(object)([one if one is None else float(one) for one in values]),
}
SMALL_FLOATS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(kind) for kind in ("float16", "float32", "Float32", "float[pyarrow]")},
    "arrow float": arrow_form(pyarrow.float32()),
    "arrow halffloat": lambda values: arrow_form(pyarrow.float16())([one and _half(one) for one in values]),
    "polars Float32": polars_form(polars.Float32),
}
DECIMALS: dict[str, Form] = {
    **{
        f"arrow {kind}": lambda values, kind=kind: arrow_form(kind)([_decimal(one) for one in values])  # type: ignore[misc]
        for kind in (pyarrow.decimal128(9, 2), pyarrow.decimal128(38, 9), pyarrow.decimal256(60, 9))
    },
    "arrow decimal, inferred": lambda values: pyarrow.table({"x": [_decimal(one) for one in values]}),
    "polars Decimal": lambda values: polars_form(polars.Decimal(38, 4))([_decimal(one) for one in values]),
    "pandas Decimal objects": lambda values: pandas_form(object)([_decimal(one) for one in values]),
}
INTEGERS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(kind) for kind in ("Int16", "Int64", "int32[pyarrow]", "int64[pyarrow]")},
    **{f"arrow {kind}": arrow_form(kind) for kind in (pyarrow.int16(), pyarrow.int64())},
    **{f"polars {kind}": polars_form(kind) for kind in (polars.Int16, polars.Int64, polars.Int128)},
    "arrow dictionary": dictionary,
}
TEXTS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(kind) for kind in ("object", "str", "string[python]", "large_string[pyarrow]")},
    **{f"arrow {kind}": arrow_form(kind) for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())},
    "arrow dictionary": dictionary,
    **{
        f"arrow {kind}, of bytes": lambda values, kind=kind: arrow_form(kind)(_bytes(values))  # type: ignore[misc]
        for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.dictionary(pyarrow.int8(), pyarrow.binary()))
    },
    "pandas bytes": lambda values: pandas_form("object")(_bytes(values)),
    "polars Binary": lambda values: polars_form(polars.Binary)(_bytes(values)),
    "polars String": polars_form(polars.String),
    "polars Categorical": polars_form(polars.Categorical),
    "pandas category": category,
}
TRUTH_FORMS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(kind) for kind in ("boolean", "bool[pyarrow]", "float64", "Int64")},
    "arrow bool": arrow_form(pyarrow.bool_()),
    "polars Boolean": polars_form(polars.Boolean),
}
DAY_FORMS: dict[str, Form] = {
    **{f"pandas {kind}": pandas_form(f"datetime64[{kind}]") for kind in ("s", "ms", "us", "ns")},
    "pandas zone": lambda values: pandas.DataFrame(
        {"x": pandas.to_datetime(pandas.Series(values)).dt.tz_localize("Asia/Tokyo")}
    ),
    "pandas datetimes of several zones": lambda values: pandas_form(object)(
        [_zoned(i, one) for i, one in enumerate(values)]
    ),
    **{f"arrow {kind}": arrow_form(kind) for kind in (pyarrow.date32(), pyarrow.date64())},
    "arrow timestamp": lambda values: pyarrow.table(
        {"x": pyarrow.array(values, pyarrow.date32()).cast(pyarrow.timestamp("ns"))}
    ),
    "arrow zone": lambda values: arrow_form(pyarrow.timestamp("us", "Asia/Tokyo"))([_zoned(9, one) for one in values]),
    "polars Date": polars_form(polars.Date),
    "polars Datetime": polars_form(polars.Datetime("us")),
    "polars zone": lambda values: polars.DataFrame(
        {"x": polars.Series(values, dtype=polars.Datetime("us")).dt.replace_time_zone("Asia/Tokyo")}
    ),
    "texts": lambda values: pandas_form("str")([one and one.isoformat() for one in values]),
}
MIDNIGHTS = {
    name: form for name, form in DAY_FORMS.items() if name not in ("arrow zone", "pandas datetimes of several zones")
}
NOTHING: dict[str, Form] = {
    "arrow null": arrow_form(pyarrow.null()),
    "polars Null": polars_form(polars.Null),
    "pandas null": pandas_form(pandas.ArrowDtype(pyarrow.null())),
    "pandas all NaN": lambda values: pandas.DataFrame({"x": [math.nan] * len(values)}),
}


def _bytes(values: Values) -> Values:
    return [one.encode() if isinstance(one, str) else one for one in values]


def _half(value: float) -> Any:
    return np.float16(value)


def _decimal(value: Any) -> Decimal | None:
    return None if value is None else Decimal(repr(value) if isinstance(value, float) else value)


def _zoned(hours: int, day: date | None) -> datetime | None:
    zone = timezone(timedelta(hours=hours % 12))
    return None if day is None else datetime(day.year, day.month, day.day, 1, 30, tzinfo=zone)


def totals(frame: Any, said: str) -> list[list[int]]:
    """Return how many rows hold each key, or the totals of a mean and of a condition."""
    text = CONTRACT.replace("UNIT", "row").replace("SAID", said)
    with Dataset.parse(text, frame=frame) as dataset:
        return asked(dataset, said)


def asked(dataset: Dataset, said: str) -> list[list[int]]:
    """Return the totals of what can be asked of a column, with those of what is missing."""
    gone = totals_of(dataset.count().where("x IS NULL"))
    return (totals_of(dataset.count().by("x")) if "keys" in said else totals_of(dataset.mean("x"))) + gone


def as_parquet(table: Any, said: str, folder: Path) -> list[list[int]]:
    """Return the totals of a frame that was written to a file."""
    path = folder / "x.parquet"
    if hasattr(table, "write_parquet"):
        table.write_parquet(path)
    elif hasattr(table, "to_parquet"):
        table.to_parquet(path)
    else:
        parquet.write_table(table, path)
    text = CONTRACT.replace("UNIT", "row").replace("SAID", said)
    with Dataset.parse(text.replace("[dataset]\n", f"[dataset]\nsource = '{path}'\n")) as dataset:
        return asked(dataset, said)


def expected(values: Values, said: str) -> list[list[int]]:
    """Return the totals in plain Python."""
    text = CONTRACT.replace("UNIT", "row").replace("SAID", said)
    with Dataset.parse(text) as dataset:
        query = dataset.count().by("x") if "keys" in said else dataset.mean("x")
        gone = dataset.count().where("x IS NULL")
        rows = [{"x": one} for one in values]
        return oracle.totals(query.question, rows) + oracle.totals(gone.question, rows)


SMALL = st.integers(-3, 300)
HALVES = st.sampled_from([0.5, -1.5, 8.5, 9.4, -2.6, 3.25])
ALL_FLOATS = FLOATS | SMALL_FLOATS | OBJECTS
WRITTEN = INTEGERS | FLOATS | DECIMALS | OBJECTS
LARGE_FLOATS = {name: one for name, one in (FLOATS | OBJECTS).items() if "long" not in name}


def same(value: Any) -> Any:
    """Return a value as it is."""
    return value


CASES: dict[str, tuple[str, Any, dict[str, Form], Callable[[Any], Any]]] = {
    "whole keys": (WHOLE_KEYS, SMALL, WRITTEN, same),
    "whole keys as texts": (WHOLE_KEYS, SMALL.map(str), TEXTS, int),
    "fractions are no whole keys": (WHOLE_KEYS, st.sampled_from([7.5, -0.5, 0.25, 7.0, -0.0]), ALL_FLOATS,
                                    lambda one: int(one) if one == int(one) else None),
    "text keys": (TEXT_KEYS, st.sampled_from(["7", "07", "true", "", "x", "1.5", "1.50"]), TEXTS, same),
    "numbers as text keys": (TEXT_KEYS, SMALL, WRITTEN, str),
    "fractions as text keys": (TEXT_KEYS, st.sampled_from([1.5, 7.0, -0.0, 2.5, 0.5]), ALL_FLOATS | DECIMALS,
                               lambda one: str(int(one)) if one == int(one) else str(one)),
    "days as text keys": (TEXT_KEYS, st.dates(date(2026, 1, 4), date(2026, 1, 6)), MIDNIGHTS | OBJECTS, str),
    "truths": (TRUTHS, st.booleans(), TRUTH_FORMS | OBJECTS, same),
    "whole numbers": (WHOLE, SMALL, WRITTEN, same),
    "halves to whole numbers": (WHOLE, HALVES, ALL_FLOATS | DECIMALS, same),
    "numbers": (SMOOTH, st.floats(-10, 10, width=16), ALL_FLOATS, same),
    "far numbers": (STEPS, st.floats(allow_nan=False), LARGE_FLOATS, same),
    "numbers as texts": (STEPS, st.floats(-10, 10).map(repr), TEXTS, float),
    "days": (DAYS, st.dates(date(1990, 1, 1), date(2050, 1, 1)), DAY_FORMS | OBJECTS, same),
}  # fmt: skip


EVERY_TIME = ("whole keys", "text keys", "truths", "halves to whole numbers", "days")


@pytest.mark.slow
@pytest.mark.parametrize("case", sparing(sorted(CASES, key=lambda one: one not in EVERY_TIME), len(EVERY_TIME)))
def test_the_same_values_have_the_same_totals(case: str) -> None:
    """What a column holds is what the contract says, in every type that holds the same values."""
    said, values, forms, meant = CASES[case]

    @settings(max_examples=2, deadline=None)  # the simplest of all lists, and a random one
    @given(st.lists(values | st.none(), min_size=8, max_size=24))
    def holds(rows: Values) -> None:
        right = expected([None if one is None else meant(one) for one in rows], said)
        for name, make in forms.items():
            assert totals(make(rows), said) == right, (name, rows)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("form", NOTHING)
@pytest.mark.parametrize("said", [WHOLE_KEYS, TEXT_KEYS, TRUTHS, WHOLE, SMOOTH, DAYS])
def test_a_column_without_values_fits(form: str, said: str) -> None:
    """A column that has no type, for it has no value, is one whose values are missing."""
    assert totals(NOTHING[form]([None, None]), said) == expected([None, None], said)


@pytest.mark.slow
@pytest.mark.parametrize("case", sparing(["text keys", "whole numbers", "days", "whole keys", "truths", "numbers"], 3))
def test_files_of_frames_have_the_totals_of_frames(tmp_path: Path, case: str) -> None:
    """A parquet file that was written of a frame has the totals of the frame, whatever types that made of it."""
    said, _, forms, meant = CASES[case]
    some: dict[str, Values] = {
        "whole keys": [7, None, 0], "text keys": ["7", None, "x"], "truths": [True, None],
        "whole numbers": [5, None, 12], "numbers": [1.5, None], "days": [date(2026, 1, 5), None, date(2030, 1, 1)],
    }  # fmt: skip
    rows = some[case]
    right = expected([None if one is None else meant(one) for one in rows], said)
    tested = 0
    for name, make in forms.items():
        if any(told in name for told in ("bject", "long", "zone", "256", "128")):  # not written, or as a moment
            continue
        assert as_parquet(make(rows), said, tmp_path) == right, name
        tested += 1
    assert tested > 2


UNITS: dict[str, tuple[Values, list[Form]]] = {
    "numbers": ([1, 2, None, 1, -5], list((INTEGERS | FLOATS | DECIMALS | OBJECTS).values())),
    "texts": (["1", "01", None, "", "a", "A", "a"], list(TEXTS.values())),
    "fractions": ([1.5, 2.0, None, 1.5], list((FLOATS | OBJECTS).values())),
    "identifiers": ([UUID(int=5), None, UUID(int=6), UUID(int=5)], [OBJECTS["pandas object"]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", UNITS)
def test_units_are_told_apart_alike_in_every_type(case: str) -> None:
    """Rows of one unit are of one unit in every type, and a row without a unit is nobody's."""
    values, forms = UNITS[case]
    text = (
        CONTRACT.replace('"UNIT"', '"x"\nmax_rows_per_unit = 1').replace("columns.x", "columns.y").replace("SAID", UNIT)
    )
    ones = [1] * len(values)
    rows = [{"x": one, "y": 1} for one in values]
    for make in forms:
        frame = make(values)
        frame = frame.append_column("y", [ones]) if hasattr(frame, "append_column") else _with(frame, ones)
        with Dataset.parse(text, frame=frame) as dataset:
            for query in (dataset.count_units(), dataset.count(), dataset.count_units().by("y")):
                assert totals_of(query) == oracle.totals(query.question, rows, ["y"])


def _with(frame: Any, ones: list[int]) -> Any:
    if hasattr(frame, "with_columns"):
        return frame.with_columns(polars.Series("y", ones))
    return frame.assign(y=ones)


HUGE = [2**53, -(2**53), 2**53 + 2, LARGEST]


@pytest.mark.slow
@pytest.mark.parametrize("said", [f"keys = {HUGE}", f"keys = {[str(one) for one in HUGE]}"])
def test_no_number_that_a_float_cannot_tell_is_a_key(said: str) -> None:
    """Whole numbers from 2**53 on are no keys, as integers or as floats: one missing value must not change that."""
    right = [[0], [0], [0], [1], [3]]
    for make in (INTEGERS["arrow int64"], FLOATS["pandas float64"], OBJECTS["pandas object"], FLOATS["polars Float64"]):
        assert totals(make(HUGE), said) == right


def forms_of_anything() -> Iterator[tuple[str, Any]]:
    """Yield frames of types that fit nothing, or only some of what a contract can say."""
    moment = timedelta(1)
    for values, kind in (
        ([moment], pyarrow.duration("us")), ([[1]], pyarrow.list_(pyarrow.int8())), ([b"\xff"], pyarrow.binary()),
        ([{"a": 1}], pyarrow.struct({"a": pyarrow.int8()})), ([1], pyarrow.time64("ns")), ([b"x" * 16], pyarrow.uuid()),
    ):  # fmt: skip
        yield str(kind), pyarrow.table({"x": pyarrow.array(values, kind)})
    yield "period", pandas.DataFrame({"x": pandas.period_range("2026-01", periods=1, freq="M")})
    yield "interval", pandas.DataFrame({"x": pandas.interval_range(0, 1)})
    yield "sparse", pandas.DataFrame({"x": pandas.arrays.SparseArray([7])})
    yield "complex", pandas.DataFrame({"x": [1j]})
    yield "timedelta", pandas.DataFrame({"x": [moment]})
    yield "strange objects", pandas.DataFrame({"x": pandas.Series([object()], dtype=object)})
    yield "polars time", polars.DataFrame({"x": [datetime(2026, 1, 1).time()]})
    yield "polars list", polars.DataFrame({"x": [[1]]})


@pytest.mark.slow
@pytest.mark.parametrize("said", sparing([TEXT_KEYS, WHOLE, DAYS, WHOLE_KEYS, TRUTHS, SMOOTH], 3))
def test_no_type_is_refused(said: str) -> None:
    """Whatever type a frame has made of a column, questions are answered: what does not fit is missing."""
    for name, frame in forms_of_anything():
        assert sum(map(sum, totals(frame, said))) > 0, name


@pytest.mark.parametrize("with_missing", [False, True])
def test_one_missing_value_changes_nothing_that_is_public(with_missing: bool) -> None:
    """The statement that is shown is the same, whether a column of whole numbers became floats or not."""
    values = [7, None] if with_missing else [7, 0]
    text = CONTRACT.replace('"UNIT"', '"who"\nmax_rows_per_unit = 1').replace("SAID", WHOLE_KEYS)
    text = text.replace("[budget]", f"[columns.y]\n{WHOLE}\n[budget]")
    found = set()
    for rows in (values, [7, 0]):
        frame = pandas.DataFrame({"x": rows, "y": rows, "who": rows})
        with Dataset.parse(text, frame=frame) as dataset:
            found.add(dataset.count().by("x").where("y > 0").plan(1).sql)
    assert len(found) == 1


@pytest.mark.parametrize("kind", [">i4", ">u8", ">f4", ">f8", ">f2", "<i8"])
def test_numbers_of_another_machine_are_the_same(kind: str) -> None:
    """A column whose bytes are in the other order holds the same numbers, and so do those beside it."""
    frame = pandas.DataFrame({"x": np.array([7, 0, 7], kind), "other": np.array([1, 2, 3], ">i8")})
    assert totals(frame, WHOLE_KEYS) == expected([7, 0, 7], WHOLE_KEYS)


def test_days_of_another_machine_are_the_same() -> None:
    """A column of days whose bytes are in the other order holds the same days."""
    days = [date(2026, 1, 5), date(2026, 1, 7)]
    frame = pandas.DataFrame({"x": np.array(days, ">M8[ns]")})
    assert totals(frame, DAYS) == expected(days, DAYS)


def test_a_column_twice_is_refused() -> None:
    """A frame that has a column of the contract twice is refused, whatever is in it."""
    from inbounds.errors import InvalidContract  # noqa: PLC0415

    frame = pandas.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(InvalidContract, match="more than once"):
        totals(frame, WHOLE)
