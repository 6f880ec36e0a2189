"""Which measures of one question are answered from the same noisy totals, so that they cost epsilon once and agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.query.expressions.node import Node, literal
from inbounds.query.question.among import counted_column
from inbounds.query.question.measure import WEIGHED_MOMENTS, Count, CountOf, Mean, Measure, Moment, OfColumn, Sum
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
        return tuple(name for measure in self.of for name in answer_names(measure))

    def place(self, measure: Measure) -> int:
        return self.of.index(measure)

    def __str__(self) -> str:
        return ", ".join(map(str, self.of))


def answer_names(measure: Measure) -> tuple[str, ...]:
    """Return what the columns of its answers are called: a number of values as it is asked for, not as it is summed."""
    counted = counted_column(measure)
    return measure.answer_names if counted is None else (CountOf(counted).answer_name,)


@dataclass(frozen=True)
class Totals(_OfSeveral):
    """Rows, sum and mean of a column, two or three of them, from the same two sums: they never contradict each other.

    All of them are about the rows in which the column is not missing.
    """

    column: Node
    of: tuple[Count | CountOf | Sum | Mean, ...]
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
    of: tuple[Count | CountOf | Sum | Mean | Moment, ...]
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

IsThere = Callable[[Node], bool]
"""Tells whether all rows have a value of a column, by the contract and the question."""


@dataclass(frozen=True)
class Shared:
    """The measures to be answered, and for each that was asked for: by which of them, and in which of its columns."""

    measures: tuple[Measure, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, asked: tuple[Measure, ...], is_there: IsThere, *, with_totals: bool = False) -> Shared:
        """Put together what goes together: rows, sums, means and moments of one or two columns, and quantiles of one.

        The rows of a column are those that have a value of it.  All rows go with these only if there are no others.
        Where totals are asked for, rows and sums are tables of their own, each of which adds up.
        """
        bundles = _Bundles(asked, is_there, with_totals).by_source
        joined = [_join(source, [asked[i] for i in bundle]) for (source, _), bundle in bundles.items()]
        places: dict[int, tuple[int, int]] = {}
        for number, bundle in enumerate(bundles.values()):
            places |= {i: (number, place) for i, place in zip(bundle, joined[number][1], strict=True)}
        return cls(tuple(measure for measure, _ in joined), tuple(places[i] for i in range(len(asked))))


def _join(source: str, bundle: list[Measure]) -> tuple[Measure, list[int]]:
    """Return what answers a bundle, and which of its answers is that to each measure."""
    if len(bundle) == 1:
        return bundle[0], [0]
    counted = [None if source == "quantiles" else counted_column(measure) for measure in bundle]
    columns = {node for measure, of in zip(bundle, counted, strict=True) if of is None for node in measure.nodes}
    measures = [
        CountOf(of) if of is not None and of in columns else measure
        for measure, of in zip(bundle, counted, strict=True)
    ]
    joined = JOINT[source].join(tuple(dict.fromkeys(measures)))
    return joined, [joined.place(measure) for measure in measures]


@dataclass(frozen=True)
class _Bundles:
    """Which measures go together."""

    asked: tuple[Measure, ...]
    is_there: IsThere
    with_totals: bool

    @property
    def by_source(self) -> dict[Source, list[int]]:
        """The places of measures that go together, in the order of the first of each."""
        sources = list(map(self._source, self.asked))
        sources = [self._follow(measure, sources) or own for measure, own in zip(self.asked, sources, strict=True)]
        of_all_rows = self._source_of_all_rows(sources)
        bundles: dict[Source, list[int]] = {}
        for i, (measure, own) in enumerate(zip(self.asked, sources, strict=True)):
            source = of_all_rows if isinstance(measure, Count) else own
            bundles.setdefault(source or ("alone", i), []).append(i)
        return bundles

    def _source(self, measure: Measure) -> Source | None:
        """Return what a measure is answered from, if others can be answered from it as well.

        What is asked of one column goes with the first pair of columns that it is in.
        """
        columns = frozenset(measure.nodes)
        if measure.shared == "quantiles":
            return measure.shared, columns
        if measure.shared is None or self.with_totals:
            return None
        moments = list(dict.fromkeys(frozenset(one.nodes) for one in self.asked if one.shared == "moments"))
        columns = next((pair for pair in moments if len(pair) == 2 and columns <= pair), columns)
        return "moments" if columns in moments else "totals", columns

    def _follow(self, measure: Measure, sources: Sequence[Source | None]) -> Source | None:
        """Return the sums that a number of values follows from: those of the same column, if any."""
        column = counted_column(measure)
        return next((source for source in _summed(sources) if source[1] == frozenset({column})), None)

    def _source_of_all_rows(self, sources: Sequence[Source | None]) -> Source | None:
        """Return the sums that the number of all rows follows from: if some had no value, it would be another one.

        All sums have to be of the same columns, else it would agree with some only.
        """
        summed = _summed(sources)
        if len(summed) != 1 or not isinstance(columns := summed[0][1], frozenset):
            return None
        return summed[0] if all(map(self.is_there, columns)) else None


def _summed(sources: Sequence[Source | None]) -> list[Source]:
    """Return the sums that some measures are answered from, each once."""
    return list(dict.fromkeys(source for source in sources if source is not None and source[0] != "quantiles"))
