"""What a benchmark found, as a table that fits 80 columns and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill

WIDTH = 80


@dataclass(frozen=True)
class Report:
    """A titled table with notes below it; `measured` holds the same figures in full."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: list[str] = field(default_factory=list)
    measured: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = [self.title, "=" * len(self.title), ""]
        for row in (self.columns, tuple("-" * width for width in widths), *self.rows):
            first, *others = (
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *others]).rstrip())
        return "\n".join([*lines, "", *(fill(note, WIDTH) for note in self.notes), ""])


@dataclass(frozen=True)
class Series:
    """Several tables of one run, with notes below them all."""

    reports: tuple[Report, ...]
    notes: list[str] = field(default_factory=list)

    @property
    def measured(self) -> dict[str, float]:
        """The figures of all of them."""
        return {name: value for report in self.reports for name, value in report.measured.items()}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.reports), *(fill(note, WIDTH) for note in self.notes), ""])


def duration(seconds: float) -> str:
    """Return a duration with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(value: float) -> str:
    """Return a ratio to a sensible number of digits."""
    return f"{value:.0f}x" if value >= 100 else f"{value:.3g}x"


def at_least(goal: float, value: float) -> str:
    """Return the goal and whether `value` meets it."""
    return f">= {goal:g}x {'met' if value >= goal else 'MISSED'}"


def times_at_most(goal: float, value: float) -> str:
    """Return how many times as long something takes, the goal, and whether it is met."""
    return f"{value:.3g} <= {goal:g}x {'met' if value <= goal else 'MISSED'}"


def at_most(goal: float, value: float) -> str:
    """Return the goal, a duration in seconds, and whether `value` meets it."""
    return f"<= {duration(goal)} {'met' if value <= goal else 'MISSED'}"
