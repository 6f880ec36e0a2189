"""Made-up values of a column: every one is possible by the contract, and none is missing."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.kind import CLOCK, DAY, TIME, TRUTH_KEY, WHOLE_KEY
from inbounds.query.practice.picker import Picker

NOON = time(12)
"""When a moment is on a day, whose column is read by a clock: no clock is changed then."""

ATTEMPTS = 20
"""A time that a clock jumps over is picked anew so often."""


def sql_type(column: Column) -> str:
    """Return the type of a column in DuckDB."""
    if isinstance(column, Keys):
        return {TRUTH_KEY: "BOOLEAN", WHOLE_KEY: "BIGINT"}.get(column.kind, "VARCHAR")
    if column.zone is not None:
        return "TIMESTAMPTZ"
    if column.kind == DAY:
        return "DATE"
    if column.kind == TIME:
        return "TIMESTAMP"
    if column.kind == CLOCK:
        return "TIME"
    return "BIGINT" if _is_whole(column) else "DOUBLE"


def make_value(column: Numbers, picker: Picker) -> Any:
    """Return a possible value, as a database takes it: of those that are listed, if some are."""
    if column.listed:
        return picker.one_of(column.listed)
    if column.zone is not None:
        return _make_moment(column, ZoneInfo(column.zone), picker)
    value = _pick(column, picker)
    if column.kind.adds_up:
        return int(value) if _is_whole(column) else float(value)
    return column.kind.constant(value)


def _pick(column: Numbers, picker: Picker) -> Any:
    index = column.first + picker.below(column.steps + 1)
    return column.lattice.value(column.lattice.project(index)[0])


def _make_moment(column: Numbers, zone: ZoneInfo, picker: Picker) -> datetime:
    """Return a moment at which the clock of a zone shows a possible value, in UTC."""
    for attempt in range(ATTEMPTS):
        shown = column.kind.constant(_pick(column, picker.at(attempt)))
        assert isinstance(shown, date)
        local = shown if isinstance(shown, datetime) else datetime.combine(shown, NOON)
        moment = local.replace(tzinfo=zone).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == local:  # else the clock jumps over it
            break
    return moment


def _is_whole(column: Numbers) -> bool:
    """Return whether all values are whole numbers that 64 bits hold."""
    is_whole = column.bounds.step is not None and column.step.denominator == column.low.denominator == 1
    return is_whole and max(abs(column.low), abs(column.high)) < 2**63
