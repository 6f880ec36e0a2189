"""Which measures of one question are answered from the same noisy totals, so that they cost epsilon once and agree."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.query.question.measure import Count, Measure, Moments, Quantiles, Totals

JOINT: dict[str, type[Totals | Moments | Quantiles]] = {"totals": Totals, "moments": Moments, "quantiles": Quantiles}
"""What answers several measures at once, by what they are answered from."""

Source = tuple[str, frozenset[str] | int]
"""What measures are answered from, and of which columns; or the place of one that is answered alone."""


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
        measures = tuple(_joined(source, [asked[i] for i in bundle]) for (source, _), bundle in bundles.items())
        places: dict[int, tuple[int, int]] = {}
        for number, (bundle, measure) in enumerate(zip(bundles.values(), measures, strict=True)):
            places |= {i: (number, 0 if len(bundle) == 1 else measure.place(asked[i])) for i in bundle}
        return cls(measures, tuple(places[i] for i in range(len(asked))))


def _joined(source: str, bundle: list[Measure]) -> Measure:
    """Return what answers a bundle."""
    return bundle[0] if len(bundle) == 1 else JOINT[source].joining(bundle)


def _bundles(asked: tuple[Measure, ...], *, with_totals: bool) -> dict[Source, list[int]]:
    """Return which measures go together, by their places, in the order of the first of each."""
    moments = list(dict.fromkeys(frozenset(one.column_names) for one in asked if one.shared == "moments"))
    keys = [None if with_totals and one.shared != "quantiles" else _key(one, moments) for one in asked]
    summed = {key for key in keys if key is not None and key[0] != "quantiles"}
    found: dict[Source, list[int]] = {}
    for i, (one, key) in enumerate(zip(asked, keys, strict=True)):
        source = next(iter(summed)) if isinstance(one, Count) and len(summed) == 1 else key
        found.setdefault(source or ("alone", i), []).append(i)
    return found


def _key(one: Measure, moments: list[frozenset[str]]) -> Source | None:
    """Return what a measure is answered from, if others can be answered from it as well.

    What is asked of one column goes with the first pair of columns that it is in.
    """
    columns = frozenset(one.column_names)
    if one.shared is None or one.shared == "quantiles":
        return one.shared and (one.shared, columns)
    columns = next((pair for pair in moments if len(pair) == 2 and columns <= pair), columns)
    return "moments" if columns in moments else "totals", columns
