"""Which measures of one question are answered from the same noisy totals, so that they cost epsilon once and agree."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.query.question.measure import (
    Correlation,
    Count,
    Covariance,
    Deviation,
    Extreme,
    Mean,
    Measure,
    Moment,
    Moments,
    Quantile,
    Quantiles,
    Sum,
    Totals,
    Variance,
)


@dataclass(frozen=True)
class Shared:
    """The measures to be answered, and for each that was asked for: by which of them, and in which of its columns."""

    measures: tuple[Measure, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, asked: tuple[Measure, ...], *, with_totals: bool = False) -> Shared:
        """Put together what goes together: rows, sums, means and moments of one or two columns, and quantiles of one.

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
    pairs = list(dict.fromkeys(_columns(one) for one in asked if isinstance(one, Covariance | Correlation)))
    spread = {one.column for one in asked if isinstance(one, Variance | Deviation)}
    alone = Sum | Mean | Moment if with_totals else ()
    keys = [None if isinstance(one, alone) else _key(one, pairs, spread) for one in asked]
    summed = {key for key in keys if key is not None and key[0] != "quantiles"}
    found: dict[object, list[int]] = {}
    for i, (one, key) in enumerate(zip(asked, keys, strict=True)):
        if isinstance(one, Count) and len(summed) == 1:
            found.setdefault(next(iter(summed)), []).append(i)
        else:
            found.setdefault(i if key is None else key, []).append(i)
    return list(found.values())


def _key(one: Measure, pairs: list[frozenset[str]], spread: set[str]) -> tuple[str, frozenset[str]] | None:
    """Return what a measure is answered from, if others can be answered from it as well.

    What is asked of one column goes with the first pair of columns that it is in.
    """
    if isinstance(one, Quantile):
        return "quantiles", frozenset({one.column})
    if isinstance(one, Covariance | Correlation):
        return "moments", _columns(one)
    if not isinstance(one, Sum | Mean | Variance | Deviation):
        return None
    pair = next((pair for pair in pairs if one.column in pair), frozenset({one.column}))
    return "moments" if len(pair) == 2 or one.column in spread else "totals", pair


def _columns(one: Covariance | Correlation) -> frozenset[str]:
    return frozenset({one.column, one.other})


def _measure(bundle: list[Measure]) -> Measure:
    """Return what answers a bundle."""
    first = bundle[0]
    if len(bundle) == 1:
        return first
    if isinstance(first, Quantile):
        quantiles = [one for one in bundle if isinstance(one, Quantile)]
        extremes = sorted({one.asked for one in quantiles if isinstance(one, Extreme)}, reverse=True)
        return Quantiles(first.column, tuple(sorted({one.level for one in quantiles})), tuple(extremes))
    of = tuple(one for one in bundle if isinstance(one, Count | Sum | Mean | Moment))
    pair = next((one for one in of if isinstance(one, Covariance | Correlation)), None)
    if pair is not None:
        return Moments((pair.column, pair.other), of)
    column = next(one.column for one in of if isinstance(one, Sum | Mean | Variance | Deviation))
    if any(isinstance(one, Moment) for one in of):
        return Moments((column,), of)
    return Totals(column, tuple(one for one in of if isinstance(one, Count | Sum | Mean)))


def _column(measure: Measure, asked: Measure) -> int:
    """Return in which column of an answer to `measure` that to `asked` is."""
    if isinstance(measure, Totals | Moments) and measure != asked:
        return measure.of.index(asked)
    if isinstance(measure, Quantiles) and isinstance(asked, Quantile):
        return measure.levels.index(asked.level)
    return 0
