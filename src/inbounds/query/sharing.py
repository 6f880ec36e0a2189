"""Which measures of one question are answered from the same noisy totals, so that they cost epsilon once and agree."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.query.measure import Count, Mean, Measure, Quantile, Quantiles, Sum, Totals


@dataclass(frozen=True)
class Shared:
    """The measures to be answered, and for each that was asked for: by which of them, and in which of its columns."""

    measures: tuple[Measure, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, asked: tuple[Measure, ...], *, with_totals: bool = False) -> Shared:
        """Put together what goes together: rows, sum and mean of one column, and the quantiles of one column.

        Where totals are asked for, rows and sums are tables of their own, each of which adds up.
        """
        bundles = _bundles(asked, with_totals=with_totals)
        measures = tuple(_measure([asked[i] for i in bundle]) for bundle in bundles)
        places = {}
        for number, (bundle, measure) in enumerate(zip(bundles, measures, strict=True)):
            for i in bundle:
                places[i] = number, _column(measure, asked[i])
        return cls(measures, tuple(places[i] for i in range(len(asked))))


def _bundles(asked: tuple[Measure, ...], *, with_totals: bool) -> list[list[int]]:
    """Return which measures go together, by their places, in the order of the first of each."""
    columns = {one.column for one in asked if isinstance(one, Sum | Mean)}
    found: dict[object, list[int]] = {}
    for i, one in enumerate(asked):
        if with_totals and not isinstance(one, Quantile):
            key: object = i
        elif isinstance(one, Sum | Mean) or (isinstance(one, Count) and len(columns) == 1):
            key = ("totals", one.column if isinstance(one, Sum | Mean) else next(iter(columns)))
        elif isinstance(one, Quantile):
            key = ("quantiles", one.column)
        else:
            key = i
        found.setdefault(key, []).append(i)
    return list(found.values())


def _measure(bundle: list[Measure]) -> Measure:
    """Return what answers a bundle."""
    first = bundle[0]
    if len(bundle) == 1:
        return first
    if isinstance(first, Quantile):
        levels = sorted({one.level for one in bundle if isinstance(one, Quantile)})
        return Quantiles(first.column, tuple(levels))
    of = tuple(one for one in bundle if isinstance(one, Count | Sum | Mean))
    return Totals(next(one.column for one in of if isinstance(one, Sum | Mean)), of)


def asked_of(measure: Measure, column: int) -> Measure:
    """Return what was asked for that one column of an answer to `measure` tells."""
    if isinstance(measure, Totals):
        return measure.of[column]
    return Quantile(measure.column, measure.levels[column]) if isinstance(measure, Quantiles) else measure


def _column(measure: Measure, asked: Measure) -> int:
    """Return in which column of an answer to `measure` that to `asked` is."""
    if isinstance(measure, Totals):
        return measure.of.index(asked)
    if isinstance(measure, Quantiles) and isinstance(asked, Quantile):
        return measure.levels.index(asked.level)
    return 0
