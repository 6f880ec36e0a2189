"""A released table: cells that are possible together, with everything that is known of their accuracy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display import frame_export
from inbounds.display.figures import format_error
from inbounds.display.table import TextTable
from inbounds.errors import InvalidParameter
from inbounds.exact.surroundings import sheltered
from inbounds.joint.measured.estimate import Estimate
from inbounds.joint.measured.interval import intervals
from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.measured.stored import load_measurements, to_document
from inbounds.joint.solve.solve import solve
from inbounds.joint.solve.verification import verify
from inbounds.joint.table.axis import Name
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.public_groups import is_public
from inbounds.joint.table.text import table_of, title_of
from inbounds.privacy.certificate import Certificate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Names = Name | Iterable[Name]

SECONDS = 60.0
"""How long a projection may take before a quicker one answers."""

FIRST = 0.3
"""The share of that time in which measurements are reconciled, before signs are looked at."""


@dataclass(frozen=True, eq=False)
class JointRelease:
    """A private table whose cells are whole numbers, not negative, and add up to everything that is shown of it.

    Cells and their sums are least squares from what was measured, made possible: sums over many small cells that were
    not asked for come out too high.  `measured` is what was measured: right on average, and often impossible.
    Intervals are made of that.

    A grouping is named by its axes, or by levels of them: `("region", "sex")`, `()` for the total.
    """

    source: Measurements
    cells: NDArray[np.int64]
    """The cells, in the shape of the table."""
    kept_groupings: tuple[Grouping, ...]
    method: str
    """How the cells were made of what was measured."""

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)

    @classmethod
    @sheltered()
    def of(cls, measured: Measurements, *, seconds: float = SECONDS) -> JointRelease:
        """Make a table of measurements.  Costs nothing, however often it is done."""
        plan, near = measured.plan, Estimate.of(measured, seconds * FIRST)
        solved = solve(
            plan.layout,
            near.values,
            near.weights,
            plan.asked,
            plan.facts,
            nonnegative=plan.nonnegative,
            seconds=seconds * (1 - FIRST),
        )
        return cls(measured, solved.cells, tuple(solved.kept_groupings), solved.method)

    def again(self, *, seconds: float = SECONDS) -> JointRelease:
        """Make the table once more of the same measurements, with another time limit.  Costs nothing."""
        return JointRelease.of(self.source, seconds=seconds)

    @property
    def layout(self) -> Layout:
        """The axes, and what can be added up along them."""
        return self.source.plan.layout

    @property
    def spent(self) -> Fraction:
        """The total cost (epsilon)."""
        return self.source.plan.epsilon

    @property
    def split(self) -> dict[tuple[Name, ...], Fraction]:
        """The cost of each measured grouping; together they add up to what was spent.  Others cost nothing."""
        return {self.layout.names(grouping): part for grouping, part in self.source.plan.split.items()}

    @property
    def asked(self) -> tuple[tuple[Name, ...], ...]:
        """The groupings asked for that are not public: each is measured, or a sum of what is."""
        return tuple(self.layout.names(grouping) for grouping in self.source.plan.asked)

    @property
    def kept(self) -> tuple[tuple[Name, ...], ...]:
        """The groupings asked for that rounding to whole numbers moved by less than 1: all of them, unless three or
        more of them cross each other."""
        return tuple(self.layout.names(grouping) for grouping in self.kept_groupings)

    # Groupings.

    def grouping(self, axes: Names) -> NDArray[np.int64]:
        """Return the sums of the cells in each group."""
        return np.asarray(self.layout.sum(self.cells, self.layout.grouping(axes)))

    def measured(self, axes: Names) -> NDArray[Any]:
        """Return what was measured of a grouping: right on average, with noise by an exact law, and often impossible.

        Groups that are public have the value that is known.  In doubles where rows are weighed.
        """
        return self.source.in_steps(self._measured_grouping(axes))

    @sheltered()
    def error(self, axes: Names) -> float:
        """Return how far off a group of any grouping was predicted to be on average, before it was made possible.

        Infinite if nothing that was measured tells its groups apart.  A sum over many small cells that was not asked
        for is off by more, for cells near zero are pushed up.
        """
        return self.source.plan.error(self.layout.grouping(axes))

    @sheltered()
    def interval(self, axes: Names, confidence: float = CONFIDENCE) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of an interval for each group of a grouping; each holds its truth with this confidence.

        Made of the raw measurement of the group, or of a sum of finer ones, whichever is narrower; the plan decides
        that.  What is covered is the noise: that rows of a unit were left out or weighed is not, and public facts are
        taken to be true.  Each interval holds by itself, not all of them at once, and a cell of the table may lie
        outside of its own.  Costs nothing.
        """
        return intervals(self.source, self.layout.grouping(axes), confidence)

    def certificate(self, axes: Names | None = None) -> Certificate:
        """Return what was proved of the noise of a measured grouping, or of all of them together, in grains."""
        if axes is None:
            return self.source.plan.certificate
        return self.source.plan.mechanism(self._measured_grouping(axes)).certificate

    def _measured_grouping(self, axes: Names) -> Grouping:
        grouping = self.layout.grouping(axes)
        if grouping not in self.source.plan.split:
            measured = ", ".join(map(str, self.split))
            raise InvalidParameter(f"{self.layout.names(grouping)} was not measured; choose one of {measured}")
        return grouping

    # For people and for data frames.

    def _table(self) -> TextTable:
        plan, layout = self.source.plan, self.layout
        notes = [f"epsilon {float(self.spent):.6g} in all, by grouping and with the error predicted for a group:"]
        notes += [
            f"  {self._title(grouping)}: {self._cost(grouping)}, error {format_error(plan.error(grouping))}"
            for grouping in plan.asked
        ]
        if plan.facts.known:
            notes.append(f"public, and not protected: {', '.join(map(self._public, plan.facts.known))}")
        lost = [self._title(grouping) for grouping in plan.asked if grouping not in self.kept_groupings]
        if lost:
            notes.append(f"moved by 1 or more to be whole numbers: {', '.join(lost)}")
        return table_of(self.cells, tuple(axis.name for axis in layout.axes), notes)

    def _cost(self, grouping: Grouping) -> str:
        part = self.source.plan.split.get(grouping)
        return "added up from finer groups" if part is None else f"epsilon {float(part):.4g}"

    def _title(self, grouping: Grouping) -> str:
        if grouping == self.layout.finest:
            return "cells"
        return ", ".join(map(title_of, self.layout.names(grouping))) or "total"

    def _public(self, grouping: Grouping) -> str:
        known = self.source.plan.facts.known[grouping][1]
        part = "" if known.all() else f"{np.count_nonzero(known):,} of {known.size:,} "
        return part + self._title(grouping)

    def __str__(self) -> str:
        return str(self._table())

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.layout.shape)) or "1"
        return f"<JointRelease of {shape} cells, epsilon={float(self.spent):.6g}, {len(self.split)} groupings measured>"

    def _repr_html_(self) -> str:
        return self._table().html()

    def to_pandas(self, axes: Names | None = None, confidence: float = CONFIDENCE) -> Any:
        """Return a grouping, the cells unless another is named, as a pandas DataFrame with intervals."""
        return frame_export.to_pandas(self._columns(axes, confidence))

    def to_polars(self, axes: Names | None = None, confidence: float = CONFIDENCE) -> Any:
        """Return a grouping, the cells unless another is named, as a polars DataFrame with intervals."""
        return frame_export.to_polars(self._columns(axes, confidence))

    def to_arrow(self, axes: Names | None = None, confidence: float = CONFIDENCE) -> Any:
        """Return a grouping, the cells unless another is named, as an Arrow table with intervals."""
        return frame_export.to_arrow(self._columns(axes, confidence))

    def _columns(self, axes: Names | None, confidence: float) -> dict[str, list[Any]]:
        layout = self.layout
        grouping = layout.finest if axes is None else layout.grouping(axes)
        keys = np.indices(layout.sizes(grouping)).reshape(len(layout.sizes(grouping)), -1)
        names = map(title_of, layout.names(grouping))
        columns = dict(zip(names, (key.tolist() for key in keys), strict=True))
        columns["count"] = np.asarray(layout.sum(self.cells, grouping)).ravel().tolist()
        if self._has_interval(grouping):
            low, high = intervals(self.source, grouping, confidence)
            columns |= {"low": low.ravel().tolist(), "high": high.ravel().tolist()}
        return columns

    def _has_interval(self, grouping: Grouping) -> bool:
        plan = self.source.plan
        return any(self.layout.is_within(measured, grouping) for measured in plan.split) or is_public(
            plan.facts, grouping
        )

    # What is kept.

    def dump(self) -> str:
        """Write measurements and cells as JSON: `load` reads it, and `again` makes another table of it for free."""
        document = {
            **to_document(self.source),
            "cells": self.cells.ravel().tolist(),
            "kept": [list(grouping) for grouping in self.kept_groupings],
            "method": self.method,
        }
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> JointRelease:
        """Read what `dump` wrote; that the cells are possible, and what the facts say, is checked again.

        Of measurements alone, as an error may hold them, a table is made.
        """
        source, rest = load_measurements(text)
        if not rest:
            return cls.of(source)
        try:
            cells = np.array(rest["cells"], dtype=np.int64).reshape(source.plan.layout.shape)
            groupings = tuple(tuple(grouping) for grouping in rest["kept"])
            method = str(rest["method"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InvalidParameter("a stored table must be unchanged, got another; load the original text") from None
        verify(source.plan.layout, cells, source.plan.facts, nonnegative=source.plan.nonnegative)
        return cls(source, cells, groupings, method)
