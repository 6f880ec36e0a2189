"""The ten questions of the demonstration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inbounds.cli.clinic.clinic import LIMIT, OPEN, YEAR
from inbounds.cli.clinic.plain_noise import WEIGHED, NoisyMean, NoisyMedian, NoisyTotal, PlainNoise


@dataclass(frozen=True)
class Ask:
    """One question of the story."""

    title: str
    measure: str
    epsilon: float
    plain: PlainNoise
    """How plain noise answers it."""
    possible: Callable[[Any], bool]
    where: str | None = None
    by: str | None = None
    percent: int | None = None
    """What to multiply with for per cent, if it is such."""
    totals: bool = False
    """Whether the total is asked for too; everyone knows what it must be: the sum of the others."""

    def sql(self) -> str:
        """Return the question."""
        return self._select(self.measure, f"visits{self._where}")

    def counting_sql(self) -> str:
        """Return what has to be known for plain noise: sums over the visits that it is about, weighed."""
        return self._select(", ".join(self.plain.sums), WEIGHED.format(limit=LIMIT, where=self._where))

    @property
    def _where(self) -> str:
        return "" if self.where is None else f" WHERE {self.where}"

    def _select(self, what: str, source: str) -> str:
        if self.by is None:
            return f"SELECT {what} FROM {source}"
        return f"SELECT {self.by}, {what} FROM {source} GROUP BY {f'ROLLUP({self.by})' if self.totals else self.by}"

    def shown(self, value: Any) -> str:
        """Return an answer at a length for reading."""
        if value is None:
            return "none"
        if self.percent is not None:
            return f"{float(value) * self.percent:.1f} %"
        return f"{value:.1f}" if isinstance(value, float) else str(value)

    def shown_error(self, error: float) -> str:
        """Return how far off answers are, at the same length."""
        error *= self.percent or 1
        unit = " %" if self.percent is not None else " days" if isinstance(self.plain, NoisyMedian) else ""
        return f"{error:.1f}{unit}" if error < 100 else f"{error:,.0f}{unit}"


def between(low: int, high: int | None = None) -> Callable[[Any], bool]:
    """Return what says whether an answer is in a range."""
    return lambda answer: answer is None or bool(answer >= low and (high is None or answer <= high))


VISITS = NoisyTotal("sum(weight)", LIMIT)
PATIENTS = NoisyTotal("sum(share_of_patient)", 1)
MINUTES = NoisyTotal("sum(weight * minutes)", LIMIT * 240)
SATISFIED = NoisyMean("satisfied", 0, 100, LIMIT)
SHORT = NoisyMean("CAST(minutes <= 60 AS INT)", 0, 1, LIMIT)
AGE = NoisyMean("age", 0, 110, LIMIT)
DAY = NoisyMedian("day", YEAR.low, YEAR.high)

QUESTIONS = (
    Ask("rare findings", "COUNT(*)", 0.2, VISITS, between(0), "finding = 'rare'"),
    Ask("", "COUNT(*)", 0.2, VISITS, between(0), "finding = 'rare'", "clinic"),
    Ask("", "COUNT(DISTINCT patient)", 0.2, PATIENTS, between(0), None, "clinic", totals=True),
    Ask("patients", "COUNT(DISTINCT patient)", 0.2, PATIENTS, between(0), "age >= 86"),
    Ask("", "AVG(satisfied)", 0.8, SATISFIED, between(0, 100), None, "clinic", 1),
    Ask("share", "PROPORTION(minutes <= 60)", 0.1, SHORT, between(0, 1), percent=100),
    Ask("day", "MEDIAN(day)", 0.3, DAY, OPEN.__contains__),
    Ask("day", "MEDIAN(day)", 0.4, DAY, OPEN.__contains__, "clinic = 'south'"),
    Ask("years", "AVG(age)", 0.2, AGE, between(0, 110)),
    Ask("minutes", "SUM(minutes)", 0.4, MINUTES, between(0), "finding = 'rare'"),
)
