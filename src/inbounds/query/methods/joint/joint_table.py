"""A table of counts or sums that adds up: every grouping is measured, and one possible table is made of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress
from inbounds.errors import ProjectionFailed
from inbounds.joint.joint_release import JointRelease
from inbounds.joint.measured.interval import intervals
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.rho import pure_in_parts
from inbounds.query.methods.method import (
    Answered,
    Answering,
    Foreseen,
    Interval,
    Value,
    guess_error,
    one_of,
    within_64_bits,
    write_value,
)
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray


GEOMETRIC = (
    "two-sided geometric noise: one unit changes the counts of a grouping by at most the sensitivity in total, so each "
    "grouping uses its share of epsilon; the shares add up to epsilon, and the table is computed from nothing else"
)


def clamped_error(predicted: float, value: float) -> float:
    """Return the expected error of a number that is never below 0, given what was predicted before it was clamped."""
    return predicted * (1 - exp(-value / predicted) / 2) if predicted > 0 else predicted


class Unprojected(Exception):
    """No possible table was found for what was measured and paid for; whoever asked keeps it, to try again."""

    def __init__(self, measured: Measurements) -> None:
        super().__init__("no consistent table was found in time")
        self.measured = measured


@dataclass(frozen=True)
class Rows:
    """The rows of an answer that one grouping has: where each of them stands in the flattened grouping."""

    grouping: Grouping
    places: tuple[int, ...]
    title: str
    """What the grouping is called."""


@dataclass(frozen=True)
class JointTable(Answering):
    """Counts or sums whose totals add up, from unclamped measurements of each grouping."""

    plan: JointPlan
    rows: tuple[Rows, ...]
    bounds: Bounds
    step: Fraction
    """What 1 in a released cell is worth."""
    sign: int = 1
    """-1 where sums cannot be positive: they are measured the other way round."""
    places: tuple[int, ...] | None = None
    """Where the cells that the condition leaves stand among all of them, which are empty elsewhere; None if all are."""
    has_rest: bool = False
    """Whether rows count that have no category of what is added up: they have cells, which are in no row."""
    guarantee: GuaranteeName = "distance"

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that one unit changes all cells together."""
        return self.plan.sensitivity * self.step

    @property
    def divided(self) -> str:
        """Over how many groupings epsilon is divided."""
        measured = len(self.plan.measured)
        return f", split over {measured} measured groupings" if measured > 1 else ""

    @property
    def farthest(self) -> Fraction:
        """How far from 0 a cell, a sum of cells or the end of an interval is at most: 64 bits hold them, in steps."""
        return 2**63 * self.step

    @property
    def widest_measured(self) -> Measurements:
        """Measurements that take as many characters as any."""
        sizes = {grouping: self.plan.layout.sizes(grouping) for grouping in self.plan.measured}
        return Measurements(
            self.plan, {grouping: np.full(size, -(2**63), dtype=np.int64) for grouping, size in sizes.items()}
        )

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the rows of every grouping."""
        report(f"measuring {len(self.plan.measured)} groupings of {len(totals)} cells")
        measured = self.measure(totals, entropy)
        report("making a table that adds up")
        return self.made_of(measured, confidence)

    def measure(self, totals: Sequence[list[int]], entropy: Entropy = system) -> Measurements:
        """Return what the table is made of: every grouping with its noise."""
        counted = np.array([within_64_bits(total) * self.sign for (total,) in totals], dtype=np.int64)
        cells = np.zeros(self.plan.layout.cells, dtype=np.int64)
        cells[slice(None) if self.places is None else list(self.places)] = counted
        return measure(self.plan, cells.reshape(self.plan.layout.shape), entropy)

    def made_of(self, measured: Measurements, confidence: float) -> list[tuple[Answered, ...]]:
        """Return the rows of every grouping from what was measured; costs nothing, however often it is done."""
        # The nearest possible table; sums of it for each grouping, with intervals from its measurements; row by row.
        answers: list[tuple[Answered, ...]] = []
        write = cache(self._write)  # small counts come again and again
        for rows, values in zip(self.rows, self.steps_of(measured), strict=True):
            noise = cache(partial(self._noise, measured.plan.error(rows.grouping)))  # by the split of then
            at = lru_cache(2)(partial(self._intervals, measured, rows))
            answers += [
                (Answered(write(value), noise(value), ends, surer=partial(one_of, at, place)),)
                for place, (value, ends) in enumerate(zip(values, at(confidence), strict=True))
            ]
        return answers

    def _noise(self, predicted: float, steps: int) -> float:
        """Return the expected noise of a number of steps, given that of its grouping before anything is clamped at 0.

        Where nothing is below 0, what noise would take there stays at 0: of an empty group half of the noise is left.
        """
        return (clamped_error(predicted, steps) if self.plan.nonnegative else predicted) * float(self.step)

    def _intervals(self, measured: Measurements, rows: Rows, confidence: float) -> list[Interval]:
        """Return the intervals of the rows of one grouping."""
        write_end = cache(self._write_end)
        lows, highs = (ends.ravel() for ends in intervals(measured, rows.grouping, confidence))
        ends = (lows, highs) if self.sign > 0 else (highs, lows)
        pairs = zip(*(part[list(rows.places)].tolist() for part in ends), strict=True)
        return [(write_end(low), write_end(high)) for low, high in pairs]

    def steps_of(self, measured: Measurements) -> list[list[int]]:
        """Return the rows of every grouping without their intervals, in steps, of the nearest possible table."""
        if not self._is_of(measured.plan.layout):  # of when groups that cannot be were measured, too
            raise Unprojected(measured)
        try:
            cells = self._possible(JointRelease.of(measured).cells)
        except ProjectionFailed:
            raise Unprojected(measured) from None
        sums = (np.asarray(self.plan.layout.sum(cells, rows.grouping)).ravel() for rows in self.rows)
        return [values[list(rows.places)].tolist() for rows, values in zip(self.rows, sums, strict=True)]

    def _is_of(self, layout: Layout) -> bool:
        return layout == self.plan.layout

    def _possible(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return cells of which no sum is beyond the bounds: brought nearer to zero, all of them alike, if one is."""
        # Shrink all cells by how far the farthest sum is beyond its end, and a little more for what rounding leaves.
        nearer, part = cells, Fraction(1)
        while (past := max(self._past(nearer, rows.grouping) for rows in self.rows)) > 1:
            part = part / past * Fraction(99, 100)
            nearer = np.trunc(cells * float(part)).astype(np.int64)
        return nearer

    def _past(self, cells: NDArray[np.int64], grouping: Grouping) -> Fraction:
        """Return how many times as far as it may be the farthest sum of a grouping is, 1 if none is too far."""
        sums = np.asarray(self.plan.layout.sum(cells, grouping)) * self.sign
        ends = (int(sums.min()), self.bounds.least), (int(sums.max()), self.bounds.greatest)
        return max([Fraction(1), *(far * self.step / end for far, end in ends if end is not None and end != 0)])

    def _write(self, steps: int) -> Value:
        return write_value(self.bounds, self.sign * steps * self.step)

    def _write_end(self, steps: int) -> Value:
        """Return the end of an interval, where an answer can be."""
        value, (least, greatest) = self.sign * steps * self.step, self._ends
        value = value if least is None else max(value, least)
        return write_value(self.bounds, value if greatest is None else min(value, greatest))

    @cached_property
    def _ends(self) -> tuple[Fraction | None, Fraction | None]:
        return self.bounds.least, self.bounds.greatest

    def rho(self, epsilon: Fraction) -> Fraction:
        """Return at least the rho of all measurements: those of each grouping lose their part of epsilon."""
        return pure_in_parts(epsilon, self.plan.split.values())

    def mechanism(self) -> str:
        split = "; ".join(f"{self._title(grouping)} at {float(part):.4g}" for grouping, part in self.plan.split.items())
        others = ", ".join(self._title(grouping) for grouping in self.plan.asked if grouping not in self.plan.split)
        added = f". Added up from these, not measured: {others}" if others else ""
        added += ". Rows without a category are measured like one more, which is not shown" if self.has_rest else ""
        return (
            f"two-sided geometric noise on every group, epsilon split for the least predicted error: {split}{added}. "
            f"Then the nearest table of whole numbers that adds up, for free{self._public()}"
        )

    def proof(self) -> str:
        """Say by which law the loss is at most epsilon."""
        return GEOMETRIC

    @property
    def certificate(self) -> Certificate:
        return self.plan.certificate

    def _public(self) -> str:
        """Say which groupings the contract makes public, in part or whole."""
        layout = self.plan.layout
        known = [", ".join(map(str, layout.names(grouping))) or "the total" for grouping in self.plan.facts.known]
        return f". Public by contract, and so not protected: {'; '.join(known)}" if known else ""

    def _title(self, grouping: Grouping) -> str:
        named = {rows.grouping: rows.title for rows in self.rows}
        return named.get(grouping, "the total" if grouping == self.plan.layout.total else "cells")

    def expected_noise(self) -> str:
        (errors,) = self.foreseen().values()
        figures = ", ".join(f"{format_error(error)} in {title}" for title, error in errors.items())
        return f"{figures}, on average, as predicted"

    def foreseen(self) -> Foreseen:
        """Return the error that is predicted in each grouping."""
        errors = {rows.title: self.plan.error(rows.grouping) * float(self.step) for rows in self.rows}
        total = self.plan.layout.total
        if total not in {rows.grouping for rows in self.rows} and not self.has_rest:  # else it is of other rows
            errors["the sum of all"] = self.plan.error(total) * float(self.step)
        return {"on average": errors}

    def predicted_error(self, place: int, rows: int | None) -> float:
        """Return the error of the grouping that has most, of those that are asked for."""
        return max(self.plan.error(asked.grouping) for asked in self.rows) * float(self.step)

    def is_guess(self, rows: int | None) -> bool:
        """Return whether no grouping is expected to be nearer than a guess."""
        guess, (errors,) = guess_error(self.bounds), self.foreseen().values()
        return min(errors.values()) >= guess
