"""Plain Python that says what is true: rows in groups, and what is measured of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Key = str | Callable[[Any], Any]
Measure = Callable[[Sequence[Any]], Any]
Condition = Callable[[Any], bool | None]


@dataclass(frozen=True)
class Between:
    """A number that may lie anywhere between two: as a quantile may, between two rows that are next to it."""

    low: float
    high: float


def value_of(key: Key, row: Any) -> Any:
    """Return what a row has under a name, or what a function makes of it."""
    return getattr(row, key) if isinstance(key, str) else key(row)


def where(rows: Iterable[Any], condition: Condition) -> list[Any]:
    """Return the rows for which a condition is true."""
    return [row for row in rows if condition(row)]


def groups(rows: Iterable[Any], keys: Sequence[Key]) -> dict[tuple[Any, ...], list[Any]]:
    """Return the rows by their keys, in order of the keys; rows that lack one are in no group."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        key = tuple(value_of(one, row) for one in keys)
        if None not in key:
            found.setdefault(key, []).append(row)
    return dict(sorted(found.items()))


def table(rows: Iterable[Any], keys: Key | Sequence[Key], *measures: Measure) -> list[tuple[Any, ...]]:
    """Return the keys and the measures of each group, in order of the keys."""
    several = keys if isinstance(keys, tuple | list) else (keys,)
    return [(*key, *(measure(some) for measure in measures)) for key, some in groups(rows, several).items()]


def line(rows: Iterable[Any], *measures: Measure) -> list[tuple[Any, ...]]:
    """Return the measures of all rows, in one row."""
    every = list(rows)
    return [tuple(measure(every) for measure in measures)]


def present(key: Key, rows: Iterable[Any]) -> list[Any]:
    """Return the values that are there."""
    return [value for value in (value_of(key, row) for row in rows) if value is not None]


def n(rows: Sequence[Any]) -> int:
    """Return how many rows there are."""
    return len(rows)


def count(condition: Condition) -> Measure:
    """Return what counts the rows for which a condition is true."""
    return lambda rows: len(where(rows, condition))


def filled(key: Key) -> Measure:
    """Return what counts the rows that have a value."""
    return lambda rows: len(present(key, rows))


def total(key: Key) -> Measure:
    """Return what adds up a value."""
    return lambda rows: math.fsum(present(key, rows))


def mean(key: Key) -> Measure:
    """Return what averages a value."""
    return lambda rows: math.fsum(present(key, rows)) / len(present(key, rows))


def share(condition: Condition) -> Measure:
    """Return the part of rows for which a condition is true."""
    return lambda rows: len(where(rows, condition)) / len(rows)


def distinct(key: Key) -> Measure:
    """Return how many different values there are."""
    return lambda rows: len(set(present(key, rows)))


def commonest(key: Key) -> Measure:
    """Return the value that occurs most often."""
    return lambda rows: Counter(present(key, rows)).most_common(1)[0][0]


def quantile(key: Key, level: float, *, grain: float = 0.0) -> Measure:
    """Return between which values a quantile lies: two ranks to either side, and a grain that cannot be told apart."""

    def measure(rows: Sequence[Any]) -> Between:
        values = sorted(present(key, rows))
        place = level * (len(values) - 1)
        low, high = max(math.floor(place) - 2, 0), min(math.ceil(place) + 2, len(values) - 1)
        return Between(values[low] - grain, values[high] + grain)

    return measure


def variance(key: Key, *, sample: bool = True) -> Measure:
    """Return the variance of a value."""

    def measure(rows: Sequence[Any]) -> float:
        values = present(key, rows)
        middle = math.fsum(values) / len(values)
        return math.fsum((value - middle) ** 2 for value in values) / (len(values) - sample)

    return measure


def deviation(key: Key, *, sample: bool = True) -> Measure:
    """Return the standard deviation of a value."""
    return lambda rows: math.sqrt(variance(key, sample=sample)(rows))


def covariance(one: Key, other: Key, *, sample: bool = True) -> Measure:
    """Return the covariance of two values, both of which are there."""

    def measure(rows: Sequence[Any]) -> float:
        pairs = [(value_of(one, row), value_of(other, row)) for row in rows]
        pairs = [pair for pair in pairs if None not in pair]
        a, b = (math.fsum(values) / len(pairs) for values in zip(*pairs, strict=True))
        return math.fsum((x - a) * (y - b) for x, y in pairs) / (len(pairs) - sample)

    return measure


def correlation(one: Key, other: Key) -> Measure:
    """Return the correlation of two values."""
    return lambda rows: covariance(one, other)(rows) / deviation(one)(rows) / deviation(other)(rows)


def slope(y: Key, x: Key) -> Measure:
    """Return the slope of the line of least squares."""
    return lambda rows: covariance(y, x)(rows) / variance(x)(rows)


def intercept(y: Key, x: Key) -> Measure:
    """Return where the line of least squares begins."""
    return lambda rows: mean(y)(rows) - slope(y, x)(rows) * mean(x)(rows)


def ratio(above: Measure, below: Measure, times: float = 1.0) -> Measure:
    """Return a quotient of two measures."""
    return lambda rows: times * above(rows) / below(rows)


def of_units(rows: Iterable[Any], *measures: Measure) -> list[tuple[Any, ...]]:
    """Return for each patient, without the name, what is measured of their rows."""
    return [row[1:] for row in table(rows, "patient_id", *measures)]


def column(place: int) -> Callable[[Any], Any]:
    """Return what takes the value at a place of a row that is a tuple."""
    return lambda row: row[place]
