"""What is made of all rows of a unit: one value, with bounds or keys that follow from the contract alone.

    MAX(x), MIN(x), AVG(x)     the bounds of x; a mean is rounded to the step of x
    MAX(ward), MIN(ward)       the keys of ward, which have the order of texts, of numbers, or of false before true
    ARG_MIN(x, day)            what x was on the first day: the bounds or the keys of x
    COUNT(*), COUNT(x)         from 0 to c
    COUNT(DISTINCT clinic)     from 0 to the number of keys
    SUM(x)                     from the least sum of 1 to c rows to the greatest

`c` is the contract's max_rows_per_unit, and nothing but the usual end of a range: counts and sums are of all rows, and
are then clipped.  LEAST and GREATEST with a constant give other ends: LEAST(COUNT(*), 50).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Literal

from inbounds.bounds import Bounds
from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidQuestion, LatticeTooFine
from inbounds.query.columns.column import FARTHEST, Column, Key, Keys, Numbers, grain_of, refuse_column
from inbounds.query.columns.derived_column import DerivedNumbers
from inbounds.query.columns.integer_expression import LARGEST
from inbounds.query.expressions.node import Node
from inbounds.query.expressions.raw import Raw
from inbounds.query.tables.table import Table

Function = Literal["MAX", "MIN", "AVG", "SUM", "COUNT", "COUNT DISTINCT", "ARG_MIN", "ARG_MAX"]


CHOOSING = ("MAX", "MIN", "ARG_MIN", "ARG_MAX")
"""Functions whose value is that of one of the rows."""


@dataclass(frozen=True)
class UnitMeasure:
    """One value for each unit: a function of a column of its rows, or of the rows themselves."""

    function: Function
    column: Node | None = None
    """None counts rows."""
    least: Fraction | None = None
    """What a count or a sum is raised to, if GREATEST says so."""
    most: Fraction | None = None
    """What a count or a sum is lowered to, if LEAST says so."""
    by: Node | None = None
    """What says which row ARG_MIN and ARG_MAX take: the one with the least of it, or the greatest."""

    @property
    def nodes(self) -> list[Node]:
        """The columns that it looks at."""
        return [node for node in (self.column, self.by) if node is not None]

    @property
    def has_ends(self) -> bool:
        """Whether a limit on rows gives its ends, where nothing else does."""
        return self.function in ("COUNT", "SUM")

    def __str__(self) -> str:
        # An identifier is counted where it is there.
        name = "*" if self.column is None else self.column.text if isinstance(self.column, Raw) else str(self.column)
        by = "" if self.by is None else f", {self.by}"
        text = f"COUNT(DISTINCT {name})" if self.function == "COUNT DISTINCT" else f"{self.function}({name}{by})"
        if self.most is not None:
            text = f"LEAST({text}, {write_end(self.most)})"
        return text if self.least is None else f"GREATEST({text}, {write_end(self.least)})"


@dataclass(frozen=True)
class Ranks:
    """The codes of a column in the order of its values: keys are listed in any order, numbers in their own."""

    size: int
    """How many values there are."""
    numbers: tuple[int, ...] | None = None
    """The place of each code in that order, None if codes are in it."""

    @classmethod
    def of(cls, column: Column) -> Ranks:
        """Return the places of a column's codes; texts are compared by their characters' numbers, on every engine."""
        if isinstance(column, Numbers):
            return cls(column.size)
        places = {key: place for place, key in enumerate(in_order(column))}
        numbers = tuple(places[key] for key in column.keys)
        return cls(column.size, None if numbers == tuple(range(column.size)) else numbers)


def in_order(column: Keys) -> tuple[Key, ...]:
    """Return keys from the least to the greatest, as MIN and MAX have them."""
    return tuple(sorted(column.keys))  # all are of one type


@dataclass(frozen=True, eq=False)
class UnitColumn:
    """A measure of a unit's rows as a column: what it is made of, and what it can be."""

    name: str
    measure: UnitMeasure
    of: Table

    @cached_property
    def column(self) -> Column:
        """The column, as a question sees it."""
        if self.measure.function in CHOOSING:
            if self.measure.by is not None:
                self._refuse_long_order(self.of.column(self.measure.by))
            source = self.of.column(self.measure.column)
            return Keys(self.name, in_order(source)) if isinstance(source, Keys) else source.as_stored(self.name)
        return self.numbers

    @property
    def ranks(self) -> Ranks:
        """The order of the values that it is one of."""
        assert self.measure.column is not None
        return self.ranks_of(self.measure.column)

    def ranks_of(self, node: Node) -> Ranks:
        """Return the order of the values of a column."""
        return Ranks.of(self.of.column(node))

    def _refuse_long_order(self, by: Column) -> None:
        """Refuse to look for a row by more values than fit into one number together with what is taken there."""
        if by.size * self.of.column(self.measure.column).size >= LARGEST:
            raise InvalidQuestion(
                f"{self.measure} looks at more than 2^62 pairs of values; round one of them, as in ROUND(cost)"
            )

    @cached_property
    def numbers(self) -> Numbers:
        """The column, if it is one of numbers that are counted or added up."""
        measure = self.measure
        if measure.function == "COUNT":
            if measure.column is not None:
                self.of.column(measure.column)
            return self._column(self._between(Fraction(0), Fraction(self.of.limit), Fraction(1)))
        if measure.function == "COUNT DISTINCT":
            return Numbers(self.name, Bounds(0, len(self._keys.keys), step=1))
        if measure.function == "SUM":
            return self._column(self._sum())
        return self.source.as_stored(self.name)

    @property
    def source(self) -> Numbers:
        """The column that it is made of."""
        column = self.of.column(self.measure.column)
        if isinstance(column, Keys):
            raise InvalidQuestion(
                f"{column.name} is categorical and has no {self.measure.function}; take MAX, MIN or COUNT(DISTINCT "
                f"{column.node}), or choose one in WHERE"
            )
        return column

    @property
    def _keys(self) -> Keys:
        column = self.of.column(self.measure.column)
        if not isinstance(column, Keys):
            raise InvalidQuestion(
                f"{column.name} holds numbers or dates, and only categories are counted distinct; count its rows with "
                f"COUNT({column.node})"
            )
        return column

    @property
    def grain(self) -> Fraction:
        """What all sums are multiples of."""
        return grain_of(self.source)

    @property
    def _is_derived(self) -> bool:
        """Whether it is made of a column that is made of columns."""
        return self.measure.column is not None and isinstance(self.of.column(self.measure.column), DerivedNumbers)

    @property
    def _coarser(self) -> str:
        """Say how the values that are added up get a coarser step."""
        if self._is_derived:
            return f"round what is added up, as in {self.measure.function}(ROUND({self.measure.column}, 1))"
        return "give its bounds a coarser step"

    @property
    def coarseness(self) -> int:
        """How many grains a step of a sum has."""
        return int(self.numbers.step / self.grain)

    def _sum(self) -> Bounds:
        source = self.source
        if not source.kind.adds_up:
            raise InvalidQuestion(
                f"{source.name} holds {source.kind.plural}, which have no sum; ask for MAX, MIN or COUNT"
            )
        if max(abs(source.low), abs(source.high)) / self.grain > FARTHEST:
            raise InvalidQuestion(f"values of {source.name} are too fine to be added up; {self._coarser}")
        rows = self.of.limit  # of one row as well: a unit with a single row is not raised to the sum of many
        low, high = min(source.low, source.low * rows), max(source.high, source.high * rows)
        # A column without a step has a binary one, unless it is derived: then sums have steps of their own.
        has_binary_step = source.bounds.step is None and not self._is_derived
        return self._between(low, high, None if has_binary_step else self.grain)

    def _between(self, low: Fraction, high: Fraction, step: Fraction | None) -> Bounds:
        # The ends that the question gives go before those that the limit gives.  Without a step, ends go outwards to
        # the grain, and a step finer than that would tell nothing more.
        least, most = self.measure.least, self.measure.most
        low, high = low if least is None else least, high if most is None else most
        if step is None:
            grain = self.grain
            low, high = floor(low / grain) * grain, ceil(high / grain) * grain
            usual = Numbers(self.name, Bounds(low, high)) if low < high else None
            step = grain if usual is None or usual.step < grain else None
        if step is not None and (low / step).denominator * (high / step).denominator != 1:
            raise InvalidQuestion(
                f"{self.measure} is counted in steps of {write_end(step)}; take ends that are multiples of that"
                + (f", or {self._coarser}" if self._is_derived else "")
            )
        if low >= high:
            raise InvalidQuestion(
                f"{self.measure} has no room between {write_end(low)} and {write_end(high)}; take other ends"
            )
        return Bounds(low, high, step=step)

    def _column(self, bounds: Bounds) -> Numbers:
        numbers = Numbers(self.name, bounds)
        try:
            problem = refuse_column(numbers)
        except LatticeTooFine as too_fine:
            problem = str(too_fine)
        if problem is not None:
            raise InvalidQuestion(f"{self.measure} has too wide a range ({problem}); take LEAST({self.measure}, …)")
        return numbers

    @property
    def is_clipped_by_limit(self) -> bool:
        """Whether an end of the range is what the contract's limit of rows can give, and not what the question says."""
        measure = self.measure
        return measure.has_ends and (measure.most is None or (measure.least is None and measure.function == "SUM"))

    @property
    def description(self) -> str:
        """Say what the column is, and where it can be."""
        why = ""
        measure = self.measure
        if self.is_clipped_by_limit:
            why = f" (clamped to what {self.of.limit} rows can give, the contract's max_rows_per_unit)"
        elif measure.has_ends:
            why = " (clamped)"
        elif measure.function == "AVG":
            why = " (rounded to the step)"
        column = self.column
        of = f"{column.size} categories" if isinstance(column, Keys) else column.bounds.brief()
        return f"{self.name} = {measure} in {of}{why}"
