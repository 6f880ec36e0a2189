"""The ten questions of the demonstration, and what plain noise says to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from inbounds.bounds import Bounds
from inbounds.cli.clinic.clinic import LIMIT, OPEN
from inbounds.published import Geometric, Laplace

EVERYTHING, ALL_INTEGERS = Bounds.everything(), Bounds(None, None, step=1)

Noise = Callable[[Any, int, float], Any]
"""Takes the truth, over how many rows it is, and epsilon."""


@dataclass(frozen=True)
class Ask:
    """One question of the story."""

    title: str
    measure: str
    epsilon: float
    plain: Noise
    possible: Callable[[Any], bool]
    where: str | None = None
    by: str | None = None
    percent: int | None = None
    """What to multiply with for per cent, if it is such."""
    totals: bool = False
    """Whether the total is asked for too; everyone knows what it must be: the sum of the others."""

    def sql(self, measure: str | None = None) -> str:
        """Return the question, or the same about something else."""
        parts = [
            "SELECT " + ("" if self.by is None else f"{self.by}, ") + (measure or self.measure) + " FROM visits",
            "" if self.where is None else f"WHERE {self.where}",
            "" if self.by is None else f"GROUP BY ROLLUP({self.by})" if self.totals else f"GROUP BY {self.by}",
        ]
        return " ".join(part for part in parts if part)

    def shown(self, value: Any) -> str:
        """Return an answer at a length for reading."""
        if self.percent is not None:
            return f"{float(value) * self.percent:.1f} %"
        return f"{value:.1f}" if isinstance(value, float) else str(value)


def whole_noise(sensitivity: int) -> Noise:
    """Return what adds plain noise to a whole number."""
    return lambda truth, rows, epsilon: (
        int(truth) + int(Geometric(ALL_INTEGERS, sensitivity, epsilon, ends="leave").release(0))
    )


def mean_noise(spread: int) -> Noise:
    """Return what adds plain noise to a mean; that its number of rows is secret too is forgiven."""
    return lambda truth, rows, epsilon: (
        float(truth) + float(Laplace(EVERYTHING, LIMIT * spread / rows, epsilon, ends="leave").release(0.0))
    )


def day_noise(truth: date, rows: int, epsilon: float) -> date:
    """Return a day with plain noise, as if no patient could move it by more than three days."""
    return truth + timedelta(days=whole_noise(3)(0, rows, epsilon))


def between(low: int, high: int | None = None) -> Callable[[Any], bool]:
    """Return what says whether an answer is in a range."""
    return lambda answer: bool(answer >= low and (high is None or answer <= high))


QUESTIONS = (
    Ask("rare findings", "COUNT(*)", 0.2, whole_noise(LIMIT), between(0), "finding = 'rare'"),
    Ask("", "COUNT(*)", 0.3, whole_noise(LIMIT), between(0), "finding = 'rare'", "clinic"),
    Ask("", "COUNT(*)", 0.3, whole_noise(LIMIT), between(0), None, "clinic", totals=True),
    Ask("patients", "COUNT(DISTINCT patient)", 0.2, whole_noise(1), between(0), "age >= 86"),
    Ask("", "AVG(satisfied)", 0.4, mean_noise(100), between(0, 100), None, "clinic", 1),
    Ask("", "PROPORTION(minutes <= 60)", 0.3, mean_noise(1), between(0, 1), None, "clinic", 100),
    Ask("day", "MEDIAN(day)", 0.4, day_noise, OPEN.__contains__),
    Ask("day", "MEDIAN(day)", 0.4, day_noise, OPEN.__contains__, "clinic = 'south'"),
    Ask("years", "AVG(age)", 0.2, mean_noise(110), between(0, 110)),
    Ask("minutes", "SUM(minutes)", 0.3, whole_noise(LIMIT * 240), between(0), "finding = 'rare'"),
)
