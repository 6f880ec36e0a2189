"""Which measures of one question are answered from the same noisy totals, so that they cost epsilon once and agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.query.expressions.node import Node, literal
from inbounds.query.question.measure import WEIGHED_MOMENTS, Count, Mean, Measure, Moment, OfColumn, Sum
from inbounds.query.question.quantile import EXTREMES, Extreme, Quantile, as_decimal_text, instead_of


class _OfSeveral(Measure):
    """What measures share that are several, answered from the same: they never contradict each other."""

    of: tuple[Any, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The columns that they are about."""
        return tuple(dict.fromkeys(node for measure in self.of for node in measure.nodes))

    @property
    def answer_names(self) -> tuple[str, ...]:
        return tuple(measure.answer_name for measure in self.of)

    def place(self, measure: Measure) -> int:
        return self.of.index(measure)

    def __str__(self) -> str:
        return ", ".join(map(str, self.of))


@dataclass(frozen=True)
class Totals(_OfSeveral):
    """Rows, sum and mean of a column, two or three of them, from the same two sums: they never contradict each other.

    All of them are about the rows in which the column is not missing.
    """

    column: Node
    of: tuple[Count | Sum | Mean, ...]
    title = "total"
    under_limit = "So counts, sums and means are off by an unknown amount."

    @classmethod
    def join(cls, measures: Sequence[Any]) -> Totals:
        """Return what answers measures of one column."""
        return cls(_columns(measures)[0], tuple(measures))


@dataclass(frozen=True)
class Moments(_OfSeveral):
    """Rows, sums, means, variances and covariances of one or two columns, from the same sums: they never contradict
    each other.

    All of them are about the rows in which none of the columns is missing.
    """

    columns: tuple[Node, ...]
    of: tuple[Count | Sum | Mean | Moment, ...]
    title = "moment"
    under_limit = WEIGHED_MOMENTS

    @classmethod
    def join(cls, measures: Sequence[Any]) -> Moments:
        """Return what answers measures of one or two columns; they are in the order of the first that has all."""
        return cls(_columns(measures), tuple(measures))


@dataclass(frozen=True)
class Quantiles(OfColumn):
    """Several quantiles of a column, in the order of their levels: none is released below the one before."""

    levels: tuple[Fraction, ...]
    extremes: tuple[str, ...] = ()
    """Which of MIN and MAX are among them, by their levels."""
    title = "quantile"
    has_noise = False

    @classmethod
    def join(cls, measures: Sequence[Any]) -> Quantiles:
        """Return what answers quantiles of one column."""
        extremes = sorted({measure.function for measure in measures if isinstance(measure, Extreme)}, reverse=True)
        return cls(measures[0].column, tuple(sorted({measure.level for measure in measures})), tuple(extremes))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say which of them stand in for what."""
        return tuple(instead_of(function, self.column) for function in self.extremes)

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called: by their levels."""
        return tuple(f"quantile_{as_decimal_text(level)}_{self.column.name}" for level in self.levels)

    def place(self, measure: Measure) -> int:
        """Return which of its answers is that to one quantile."""
        assert isinstance(measure, Quantile)
        return self.levels.index(measure.level)

    def __str__(self) -> str:
        extreme = {EXTREMES[function]: f"{function}({self.column})" for function in self.extremes}
        others = [literal(level) for level in self.levels if level not in extreme]
        listed = [f"QUANTILES({self.column}, {', '.join(others)})"] if others else []
        return ", ".join([*listed, *extreme.values()])


def _columns(measures: Sequence[Measure]) -> tuple[Node, ...]:
    """Return the columns of several measures, which are all in the one of them that has most."""
    return max((measure.nodes for measure in measures), key=len)


JOINT: dict[str, type[Totals | Moments | Quantiles]] = {"totals": Totals, "moments": Moments, "quantiles": Quantiles}
"""What answers several measures at once, by what they are answered from."""

Source = tuple[str, frozenset[Node] | int]
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
        bundles = _bundle(asked, with_totals=with_totals)
        measures = tuple(_join(source, [asked[i] for i in bundle]) for (source, _), bundle in bundles.items())
        places: dict[int, tuple[int, int]] = {}
        for number, (bundle, measure) in enumerate(zip(bundles.values(), measures, strict=True)):
            places |= {i: (number, 0 if len(bundle) == 1 else measure.place(asked[i])) for i in bundle}
        return cls(measures, tuple(places[i] for i in range(len(asked))))


def _join(source: str, bundle: list[Measure]) -> Measure:
    """Return what answers a bundle."""
    return bundle[0] if len(bundle) == 1 else JOINT[source].join(bundle)


def _bundle(asked: tuple[Measure, ...], *, with_totals: bool) -> dict[Source, list[int]]:
    """Return which measures go together, by their places, in the order of the first of each."""
    moments = list(dict.fromkeys(frozenset(measure.nodes) for measure in asked if measure.shared == "moments"))
    keys = [None if with_totals and measure.shared != "quantiles" else _key(measure, moments) for measure in asked]
    summed = {key for key in keys if key is not None and key[0] != "quantiles"}
    # A count of rows goes with the sums, if all of them are of the same columns: else it would agree with some only.
    bundles: dict[Source, list[int]] = {}
    for i, (measure, key) in enumerate(zip(asked, keys, strict=True)):
        source = next(iter(summed)) if isinstance(measure, Count) and len(summed) == 1 else key
        bundles.setdefault(source or ("alone", i), []).append(i)
    return bundles


def _key(measure: Measure, moments: list[frozenset[Node]]) -> Source | None:
    """Return what a measure is answered from, if others can be answered from it as well.

    What is asked of one column goes with the first pair of columns that it is in.
    """
    columns = frozenset(measure.nodes)
    if measure.shared is None or measure.shared == "quantiles":
        return measure.shared and (measure.shared, columns)
    columns = next((pair for pair in moments if len(pair) == 2 and columns <= pair), columns)
    return "moments" if columns in moments else "totals", columns
