"""Data frames, made so that no value in them decides how they are read, or whether.

DuckDB reads most columns by their type, and the macros of `by_contract` make of any type what the contract says.  What
is left to do here: columns of Python objects and of categories, which can hold anything, become texts, value by value
(`object_text`); times with a zone become what their own clock shows, or UTC if the contract names a zone; and what
DuckDB has no type for, a column that nobody asks about included, does not reach it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.bounds.times import UNITS
from inbounds.errors import InvalidContract
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.engines.by_contract import zone_of
from inbounds.query.engines.object_text import object_text

Wanted = Mapping[str, Column | None]
"""The columns that are read, and what the contract says of them; None for the unit."""

POLARS = frozenset(
    ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean",
     "String", "Categorical", "Enum", "Date", "Datetime", "Time", "Decimal", "Null", "Binary")
)  # fmt: skip
"""What DuckDB reads of polars, by the names of types without their parameters."""

UNITS_OF_FRAMES = {**UNITS, "ns": Fraction(1, 10**9)}
"""The units of durations in frames, in seconds."""

DAY_NS = 86_400 * 10**9
"""A day in nanoseconds: no clock is farther from that of another zone."""

POLARS_NUMBERS = frozenset(("Int128", "UInt128", "Float16", "Object"))
"""What it does not read, and may hold what fits."""


def to_readable(frame: Any, wanted: Wanted) -> Any:
    """Return a frame that DuckDB reads by the types of its columns alone, as often as it is asked to."""
    library = type(frame).__module__.partition(".")[0]
    if library == "polars":
        return _read_polars(frame.collect() if hasattr(frame, "collect") else frame, wanted)
    if hasattr(frame, "select_dtypes") and not library.endswith("duckdb"):
        return _read_pandas(frame, wanted)
    if hasattr(frame, "read_all"):  # a stream of Arrow batches, which could be read only once
        frame = frame.read_all()
    if library != "pyarrow" and hasattr(frame, "__arrow_c_stream__"):  # such as a relation of DuckDB
        import pyarrow  # noqa: PLC0415

        frame, library = pyarrow.table(frame), "pyarrow"
    return _read_arrow(frame, wanted) if library == "pyarrow" else frame


def ends_in(unit: str) -> tuple[int, int]:
    """Return the first and the last moment that every clock can show, counted in a unit since 1970.

    What is before or after goes there: libraries fail on a moment that the clock of a zone cannot show.
    """
    steps = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    first, last = (int(np.datetime64(day, "s").astype("i8")) * steps for day in ("0001-01-02", "9999-12-31"))
    return max(first, DAY_NS - 2**63), min(last, 2**63 - DAY_NS)


def _pick_names(names: Iterable[Any], wanted: Wanted) -> list[str]:
    """Return which of the columns are there; refuse a frame that has one of them twice."""
    present = list(names)
    if twice := next((name for name in wanted if present.count(name) > 1), None):
        raise InvalidContract(f"the frame has a column {twice!r} more than once; name each column once")
    return [name for name in wanted if name in present]


# pandas


def _read_pandas(frame: Any, wanted: Wanted) -> Any:
    names = _pick_names(frame.columns, wanted)
    changed = {
        name: _read_pandas_column(frame[name], wanted[name]) for name in names if not _is_plain(frame[name].dtype)
    }
    if len(set(frame.columns)) < len(frame.columns) or not all(map(_is_plain, frame.dtypes)):
        frame = frame[names]
    return frame.assign(**changed) if changed else frame


def _is_plain(kind: Any) -> bool:
    """Return whether DuckDB reads a column of pandas by its type."""
    if (arrow := getattr(kind, "pyarrow_dtype", None)) is not None:
        return _is_plain_arrow(arrow)
    if getattr(kind, "storage", None) is not None:
        return bool(kind.storage == "pyarrow")
    number = getattr(kind, "numpy_dtype", kind)  # integers and truth values that can be missing
    if not isinstance(number, np.dtype) or not number.isnative:
        return False
    return number.kind in "iubMm" or (number.kind == "f" and number.itemsize <= 8)


def _read_pandas_column(column: Any, spec: Column | None) -> Any:  # noqa: PLR0911  one for each kind
    """Return a column that DuckDB does not read by its type as one that it does."""
    kind = column.dtype
    if hasattr(kind, "categories") and hasattr(column, "cat"):
        texts = [object_text(name, spec) for name in column.cat.categories]
        return _to_objects(column, (None if code < 0 else texts[code] for code in column.cat.codes))
    arrow = getattr(kind, "pyarrow_dtype", None)
    if getattr(arrow, "tz", None) is not None or _is_duration(arrow):
        local = _read_arrow_column(column.array.__arrow_array__(), spec)
        return type(column)(type(column.array)(local), index=column.index, name=column.name)
    if getattr(kind, "tz", None) is not None:
        return _to_utc(column) if zone_of(spec) is not None else _to_local(column)
    if hasattr(kind, "subtype") and hasattr(column, "sparse"):
        dense = column.sparse.to_dense()
        return dense if _is_plain(dense.dtype) else _read_pandas_column(dense, spec)
    if isinstance(kind, np.dtype) and not kind.isnative:  # as files of other machines have it
        native = column.astype(kind.newbyteorder("="))
        return native if _is_plain(native.dtype) else _read_pandas_column(native, spec)
    if isinstance(kind, np.dtype) and kind.kind == "f":
        return column.astype("float64")
    if str(kind) == "object" or hasattr(kind, "storage") or _is_written(getattr(kind, "pyarrow_dtype", None)):
        return _to_objects(column, (object_text(value, spec) for value in column.astype(object)))
    return _to_objects(column, (None for _ in range(len(column))))


def _to_utc(column: Any) -> Any:
    """Return times with a zone as what a clock in UTC shows."""
    return column.dt.tz_convert("UTC").dt.tz_localize(None)


def _to_local(column: Any) -> Any:
    """Return times with a zone as what their own clock shows."""
    # To UTC, clipped to moments that every clock can show, and back: pandas fails on one that a clock cannot show.
    moments, kind = np.asarray(column.dt.tz_convert("UTC").dt.tz_localize(None)), column.dtype
    near = np.clip(moments.view("i8"), *ends_in(kind.unit)).view(moments.dtype)
    known = np.where(np.isnat(moments), moments, near)
    local = type(column)(known, index=column.index, name=column.name).dt.tz_localize("UTC").dt.tz_convert(kind.tz)
    return local.dt.tz_localize(None)


def _to_objects(like: Any, texts: Iterable[str | None]) -> Any:
    """Return a column of texts; objects, of which pandas guesses nothing."""
    return type(like)(list(texts), index=like.index, dtype=object, name=like.name)


# polars


def _read_polars(frame: Any, wanted: Wanted) -> Any:
    import polars  # noqa: PLC0415  whoever has such a frame has it

    names = _pick_names(frame.columns, wanted)
    columns = [_read_polars_column(polars, frame.get_column(name), wanted[name]) for name in names]
    return polars.DataFrame(columns or {"nothing": []})


def _read_polars_column(polars: Any, column: Any, spec: Column | None) -> Any:
    kind = str(column.dtype.base_type())
    if (zone := getattr(column.dtype, "time_zone", None)) is not None:
        unit = column.dtype.time_unit
        if zone_of(spec) is not None:
            return column.to_physical().cast(polars.Datetime(unit))  # what a clock in UTC shows
        near = column.to_physical().clip(*ends_in(unit)).cast(polars.Datetime(unit, "UTC"))
        return near.dt.convert_time_zone(zone).dt.replace_time_zone(None)  # what its own clock shows
    if kind in POLARS:
        return column
    if kind == "Duration":
        numbers = column.to_physical().cast(polars.Float64)
        times, by = _per_unit(column.dtype.time_unit, spec)
        return numbers * times / by
    texts = map(object_text, column.to_list(), [spec] * len(column)) if kind in POLARS_NUMBERS else [None] * len(column)
    return polars.Series(column.name, list(texts), dtype=polars.String)


# Arrow


def _read_arrow(frame: Any, wanted: Wanted) -> Any:
    import pyarrow  # noqa: PLC0415

    names = _pick_names(frame.schema.names, wanted)
    kinds = frame.schema.types
    if all(map(_is_plain_arrow, kinds)) and len(set(frame.schema.names)) == len(kinds):
        return frame
    table = frame.to_table(columns=names) if hasattr(frame, "to_table") else frame.select(names)
    columns = {name: _read_arrow_column(table.column(name), wanted[name]) for name in names}
    return pyarrow.table(columns or {"nothing": []})


def _read_arrow_column(column: Any, spec: Column | None) -> Any:
    import pyarrow  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    if _is_plain_arrow(column.type):
        return column
    if getattr(column.type, "tz", None) is not None:
        if zone_of(spec) is not None:
            return column.cast(pyarrow.timestamp(column.type.unit))  # what a clock in UTC shows
        return compute.local_timestamp(column)  # what its own clock shows
    if _is_duration(column.type):
        numbers = compute.cast(column.cast(pyarrow.int64()), pyarrow.float64(), safe=False)
        times, by = _per_unit(column.type.unit, spec)
        return compute.divide(compute.multiply(numbers, times), by)
    if _is_written(column.type):
        return pyarrow.array([object_text(value, spec) for value in column.to_pylist()], pyarrow.string())
    return pyarrow.nulls(len(column))


def _is_plain_arrow(kind: Any) -> bool:
    """Return whether DuckDB reads a type of Arrow."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _is_plain_arrow(kind.value_type)
    if types.is_decimal(kind):
        return 0 <= kind.scale <= kind.precision <= 38
    if types.is_timestamp(kind):
        return kind.tz is None
    if types.is_floating(kind):
        return not types.is_float16(kind)
    tests = [types.is_integer, types.is_boolean, types.is_date, types.is_null, types.is_string, types.is_large_string]
    tests += (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_time)
    return any(test(kind) for test in tests) or str(kind) in ("string_view", "binary_view")


def _is_duration(kind: Any) -> bool:
    """Return whether a type of Arrow holds durations, of which DuckDB cannot read those of many seconds."""
    return kind is not None and str(kind).startswith("duration[")


def _per_unit(unit: str, spec: Column | None) -> tuple[float, float]:
    """Return what durations of a frame are multiplied with, then divided by: units of a column, with one rounding.

    Where a column holds none, that is NaN, and so missing.
    """
    duration = spec.duration if isinstance(spec, Numbers) else None
    if duration is None:
        return math.nan, 1.0
    ratio = UNITS_OF_FRAMES[unit] / UNITS[duration]
    return float(ratio.numerator), float(ratio.denominator)


def _is_written(kind: Any) -> bool:
    """Return whether a type of Arrow that DuckDB does not read holds numbers or texts, which Python writes."""
    if kind is None:
        return False
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return types.is_dictionary(kind) and (_is_written(kind.value_type) or _is_plain_arrow(kind.value_type))
    return bool(types.is_decimal(kind) or types.is_float16(kind) or str(kind) == "extension<arrow.uuid>")
