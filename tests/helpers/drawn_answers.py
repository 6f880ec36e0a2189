"""Many answers to one question over rows that are known: drawn from its plan, beside the answer without noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import nan
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from inbounds.query import Answer, Query
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.scripted_entropy import Script

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

KINDS = ("normal", "skewed", "bimodal")
CONFIDENCE = 0.95
MOST = 1000
"""Values go from 0 to this in whole steps."""
LIMIT = 3
"""Where units have several rows, so many of them count in full."""

PLACES, SORTS = "abcd", "xy"
COLUMNS = f"""
[columns.x]
bounds = "[0, {MOST}] step 1"
[columns.y]
bounds = "[0, {MOST}] step 1"
[columns.place]
keys = {[*PLACES]}
[columns.sort]
keys = {[*SORTS]}
"""
TYPES = "who BIGINT, x BIGINT, y BIGINT, place VARCHAR, sort VARCHAR"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of two columns and a category, each with its unit and what it counts."""

    who: NDArray[np.int64]
    x: Numbers
    y: Numbers
    weights: Numbers

    @classmethod
    def of(cls, kind: str, number: int, *, several: bool) -> Rows:
        """Make rows with normal, skewed or two-peaked values; units have one row each, or several and some too many."""
        draw = np.random.default_rng(7)
        if kind == "normal":
            x = draw.normal(0.5, 0.15, number)
            y = 0.5 + 0.5 * (x - 0.5) + draw.normal(0, 0.15, number)
        elif kind == "skewed":
            x = draw.lognormal(-2.3, 0.8, number)
            y = 0.6 * x + draw.exponential(0.1, number)
        else:
            first = draw.random(number) < 0.4
            x = np.where(first, draw.normal(0.12, 0.04, number), draw.normal(0.83, 0.05, number))
            y = np.where(first, draw.normal(0.7, 0.08, number), draw.normal(0.2, 0.08, number))
        who = np.arange(number)
        if several:
            who = np.sort(draw.choice([*range(number // 3)], number))
        each = np.bincount(who)[who]
        x, y = (np.round(np.clip(one, 0, 1) * MOST) for one in (x, y))
        return cls(who, x, y, np.minimum(1, LIMIT / each) if several else np.ones(number))

    @property
    def places(self) -> list[str]:
        """The category of each row: by its place in the table, some of them far more frequent than others."""
        return ["aaaaaaaabbbbccdd"[i * 7 % 16] for i in range(len(self.x))]

    @property
    def sorts(self) -> list[str]:
        """Another one."""
        return ["xxxy"[i % 4] for i in range(len(self.x))]

    def table(self) -> list[tuple[Any, ...]]:
        """Return them as a table has them."""
        return [
            (int(who), int(x), int(y), place, sort)
            for who, x, y, place, sort in zip(self.who, self.x, self.y, self.places, self.sorts, strict=True)
        ]

    def mean(self, values: Numbers) -> float:
        """Return the mean of values of these rows, weighed."""
        return float(np.average(values, weights=self.weights))

    def covariance(self, x: Numbers, y: Numbers) -> float:
        """Return the covariance of a sample of so many rows as these count."""
        count = self.weights.sum()
        return self.mean((x - self.mean(x)) * (y - self.mean(y))) * count / (count - 1)

    def correlation(self) -> float:
        """Return the correlation."""
        return self.covariance(self.x, self.y) / float(
            np.sqrt(self.covariance(self.x, self.x) * self.covariance(self.y, self.y))
        )

    def crossed(self) -> list[float]:
        """Return the rows by both categories, by the first, and in all."""
        places, sorts = np.array(self.places), np.array(self.sorts)
        cells = [self.weights[(places == p) & (sorts == s)].sum() for p, s in product(PLACES, SORTS)]
        return [*cells, *(self.weights[places == p].sum() for p in PLACES), self.weights.sum()]

    def by_themselves(self) -> list[float]:
        """Return the rows by all but the first of one category, by the other one, and in all."""
        places, sorts = np.array(self.places), np.array(self.sorts)
        by_place = [self.weights[places == p].sum() for p in PLACES[1:]]
        return [*by_place, *(self.weights[sorts == s].sum() for s in SORTS), self.weights.sum()]

    def binned(self, bins: int) -> list[float]:
        """Return the rows in each of some bins of one width."""
        starts = [(MOST + 1) * i // bins for i in range(bins)]
        places = np.searchsorted(starts, self.x, side="right") - 1
        return [float(rows) for rows in np.bincount(places, self.weights, bins)]


Truth = Callable[["Rows"], list[float]]
SHOWN_BINS = 10


@dataclass(frozen=True)
class Measured:
    """What is asked, what the answer without noise is, and how far from 0 it can be at most, for rounding."""

    select: str
    truth: Truth
    size: float = 0.0
    rest: str = ""

    @property
    def sql(self) -> str:
        """The question."""
        return f"SELECT {self.select} FROM visits{self.rest}"


MEASURES = {
    "COUNT": Measured("COUNT(*)", lambda r: [float(r.weights.sum())]),
    "COUNT DISTINCT": Measured("COUNT(DISTINCT who)", lambda r: [float(len(np.unique(r.who)))]),
    "SUM": Measured("SUM(x)", lambda r: [float((r.weights * r.x).sum())]),
    "AVG": Measured("AVG(x)", lambda r: [r.mean(r.x)]),
    "PROPORTION": Measured("PROPORTION(x > 150)", lambda r: [r.mean(np.where(r.x > 150, 1.0, 0.0))]),
    "VARIANCE": Measured("VARIANCE(x)", lambda r: [r.covariance(r.x, r.x)], MOST**2),
    "STDDEV": Measured("STDDEV(x)", lambda r: [float(np.sqrt(r.covariance(r.x, r.x)))], MOST),
    "COVAR": Measured("COVAR_SAMP(x, y)", lambda r: [r.covariance(r.x, r.y)], MOST**2),
    "CORR": Measured("CORR(x, y)", lambda r: [r.correlation()], 10),
    "SUM / COUNT DISTINCT": Measured(
        "SUM(x) / COUNT(DISTINCT who) AS each", lambda r: [float((r.weights * r.x).sum()) / len(np.unique(r.who))]
    ),
    "HISTOGRAM": Measured(f"HISTOGRAM(x, {SHOWN_BINS})", lambda r: r.binned(SHOWN_BINS)),
    "ROLLUP": Measured("place, sort, COUNT(*)", lambda r: r.crossed(), rest=" GROUP BY ROLLUP(place, sort)"),
    "REST": Measured(
        "NULLIF(place, 'a') AS other, sort, COUNT(*)",
        lambda r: r.by_themselves(),
        rest=" GROUP BY GROUPING SETS ((other), (sort), (), REST())",
    ),
    "CDF": Measured(f"CDF(x, {SHOWN_BINS})", lambda r: [*(np.cumsum(r.binned(SHOWN_BINS)) / r.weights.sum())]),
}
"""By name; the rows of tables in the order of their answers."""

ROUNDED = 2e-5
"""Cutting values into parts moves what is made of them by at most so much of their size."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was released: a row for each run, a column for each cell; NaN where there is no number."""

    truth: Numbers
    values: Numbers
    noise: Numbers
    low: Numbers
    high: Numbers
    learnt: NDArray[np.bool_]
    """False where the interval is the whole range, and no number is shown."""
    rounded: float
    """How far values may be from the truth without any noise."""

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Where a number is shown."""
        return self.learnt & ~np.isnan(self.values)

    @property
    def errors(self) -> Numbers:
        """How far off each is."""
        return np.abs(self.values - self.truth)

    @property
    def told(self) -> float:
        """The noise that answers tell, in the median over runs, and on average over cells."""
        told = np.where(self.shown, self.noise, np.nan)
        return float(np.mean(np.nanmedian(told, axis=0)))

    @property
    def realised(self) -> float:
        """The mean error, of the same."""
        return float(np.mean(np.nanmean(np.where(self.shown, self.errors, np.nan), axis=0)))

    @property
    def spread(self) -> float:
        """The standard deviation of the error of a run, over the mean error: how sure that is."""
        each = np.nanmean(np.where(self.shown, self.errors, np.nan), axis=1)
        return float(np.nanstd(each) / np.nanmean(each))

    @property
    def covered(self) -> Numbers:
        """How many intervals do not miss the truth, of each cell: where there is none, as for 1 / 0, none does."""
        near = self.rounded
        held = ~((self.truth < self.low - near) | (self.high + near < self.truth))
        return np.asarray(held.sum(axis=0), dtype=np.float64)

    @property
    def width(self) -> float:
        """Half of the width of intervals, over the mean error."""
        return float(np.mean(self.high - self.low)) / 2 / float(np.nanmean(self.errors))


class AskedOften:
    """A table of such rows, of which questions are answered many times with other noise."""

    def __init__(self, kind: str, number: int, *, several: bool, ledger: Path) -> None:
        self.rows = Rows.of(kind, number, several=several)
        text = contract(COLUMNS, limit=LIMIT) if several else contract(COLUMNS, unit="row")
        self._counted = "DISTINCT who" if several else "*"  # where rows are units, no column has them
        self._playground = Playground(text, TYPES, ledger)
        self._playground.fill(self.rows.table())

    def draw(self, name: str, epsilon: float, runs: int, seed: int = 0) -> Drawn:
        """Answer a question so many times."""
        # Run the statements once; draw; put every run together as an answer is, with what is computed of it.
        measured, query = MEASURES[name], self._query(name)
        plans = query.plans(epsilon)
        totals = [plan.totals(self._playground.dataset.engine.run(plan.sql)) for plan in plans]
        confidences, entropy = query.confidences(CONFIDENCE, plans), Script(seed=seed)
        drawn_from = zip(plans, totals, confidences, strict=True)
        parts = [draw_parts(plan, total, confidence, runs, entropy) for plan, total, confidence in drawn_from]
        raised = tuple(confidences[which] for which, _ in query.places)
        together = (query.put_together(plans, run, CONFIDENCE, confidences) for run in zip(*parts, strict=True))
        answers = [query.view(replace(answer, confidences=raised)) for answer in together]
        truth = np.array(measured.truth(self.rows))
        values, noise, low, high = (
            np.array([_numbers(answer, of) for answer in answers]) for of in ("value", "noise", "low", "high")
        )
        learnt = np.array([[one[0] for one in answer.learnt] for answer in answers])
        return Drawn(truth, values, noise, low, high, learnt, ROUNDED * measured.size)

    def foreseen(self, name: str, epsilon: float) -> dict[str, float]:
        """Return what the explanation of a question says of its noise."""
        (plan, *_) = self._query(name).plans(epsilon)
        return next(iter(plan.answering.foreseen().values()))

    def _query(self, name: str) -> Query:
        return self._playground.dataset.sql(MEASURES[name].sql.replace("DISTINCT who", self._counted))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._playground.__exit__(kind, error, trace)


def draw_parts(
    plan: Plan, totals: list[list[int]], confidence: float, runs: int, entropy: Script
) -> list[list[tuple[Answered, ...]]]:
    """Return what a plan releases so many times: of one group as if there were so many, which is faster."""
    if len(plan.rows) == 1:
        return [[one] for one in plan.answering.answer_all(totals * runs, confidence, _quiet, entropy)]
    return [plan.answering.answer_all(totals, confidence, _quiet, entropy) for _ in range(runs)]


def _numbers(answer: Answer, of: str) -> list[float]:
    if of == "value":
        found = [row[answer.measure_places[0]] for row in answer.rows]
    elif of == "noise":
        found = [row[0] for row in answer.noise]
    else:
        found = [None if row[0] is None else row[0][of == "high"] for row in answer.intervals]
    return [nan if one is None else float(one) for one in found]


def _quiet(_: str) -> None:
    """Take a line of progress, and do nothing."""
