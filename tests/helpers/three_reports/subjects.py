"""The three datasets with their reports, and which of their numbers have to agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.clinic import clinic
from inbounds.publish import PublishedTable, Report
from tests.helpers.three_reports import survey
from tests.helpers.tpch import contract as tpch
from tests.helpers.tpch.files import GENERATOR, generator, make_files

FILES = ("report.html", "report.xlsx", "report.duckdb", "tables/", "tables.parquet/", "report.json")
"""A target of each kind, but a server."""

WHERE_FROM = (
    "orders JOIN customer ON o_custkey = c_custkey JOIN nation ON c_nationkey = n_nationkey "
    "JOIN region ON n_regionkey = r_regionkey WHERE o_orderdate IS NOT NULL AND r_name IS NOT NULL"
)
"""No order lacks a year or a region, so that all tables add up to the same."""

TRADE = f"""\
-- report: trade
-- title: Orders by region and year
-- edition: 1998

-- name: orders
-- epsilon: 0.5
SELECT COUNT(*) AS orders FROM {WHERE_FROM};

-- name: by_year
-- epsilon: 0.5
-- chart: line
SELECT YEAR(o_orderdate) AS year, COUNT(*) AS orders FROM {WHERE_FROM} GROUP BY year;

-- name: by_region
-- epsilon: 0.5
SELECT r_name AS region, COUNT(*) AS orders FROM {WHERE_FROM} GROUP BY r_name;

-- name: by_region_and_year
-- epsilon: 1.5
SELECT r_name AS region, YEAR(o_orderdate) AS year, COUNT(*) AS orders FROM {WHERE_FROM} GROUP BY r_name, year;

-- name: value_by_region
-- epsilon: 1
SELECT r_name AS region, SUM(o_totalprice) AS value FROM {WHERE_FROM} GROUP BY r_name ORDER BY value DESC;

-- name: value_by_year
-- epsilon: 1
SELECT YEAR(o_orderdate) AS year, SUM(o_totalprice) AS value FROM {WHERE_FROM} GROUP BY year;

-- name: quantity_by_mode
-- epsilon: 0.5
SELECT l_shipmode AS mode, AVG(l_quantity) AS quantity FROM lineitem GROUP BY l_shipmode;
"""

Keys = dict[str, tuple[str, ...]]


def write_rest(number: Fraction) -> str:
    """Return a number as a note has it."""
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,}"


@dataclass(frozen=True)
class Agreeing:
    """Tables that show the same numbers, each by its keys; all of them are multiples of a step."""

    keys: Keys
    value: str
    step: Fraction = Fraction(1)
    complete: bool = True
    """Whether no row lacks a category."""

    def differing(self, report: Report) -> list[tuple[str, str]]:
        """Return the pairs of tables of which a common total is not the same whole number of steps.

        Where rows may lack a category: the pairs of which one has fewer keys, and less in a group than the other, or is
        the total, and is not said to have so much more.
        """
        if not self.complete:
            return [
                (one, other)
                for one, other in permutations(self.keys, 2)
                if set(self.keys[one]) < set(self.keys[other]) and not self._has_rest(report, one, other)
            ]
        return [
            (one, other)
            for one, other in combinations(self.keys, 2)
            if self._add_up(report.table(one), shared := self._shared(one, other))
            != self._add_up(report.table(other), shared)
        ]

    def _has_rest(self, report: Report, coarse: str, fine: str) -> bool:
        """Return whether a table has no less than the groups of another in it, and the total what is said of it."""
        keys = self.keys[coarse]
        totals, sums = (self._add_up(report.table(name), keys) for name in (coarse, fine))
        rests = [totals[key] - sums.get(key, 0) for key in totals]
        told = f"Not in these groups: {write_rest(rests[0] * self.step)} without "
        return min(rests) >= 0 and (bool(keys) or told in str(report.table(fine).answer.note))

    def _shared(self, one: str, other: str) -> tuple[str, ...]:
        return tuple(key for key in self.keys[one] if key in self.keys[other])

    def _add_up(self, table: PublishedTable, onto: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
        sums: dict[tuple[Any, ...], int] = {}
        for row in table.answer.data():
            steps = Fraction(str(row[self.value])) / self.step
            assert steps.denominator == 1
            key = tuple(row[column] for column in onto)
            sums[key] = sums.get(key, 0) + steps.numerator
        return sums


@dataclass(frozen=True)
class Subject:
    """A dataset that can be made, and a report about it."""

    name: str
    build: Callable[[Path], Path]
    """Writes its files into a folder, and returns the path of the contract."""
    report: str
    agreeing: tuple[Agreeing, ...]

    @property
    def questions(self) -> int:
        """How many questions the report has."""
        return self.report.count("-- name:")


def _build_trade(folder: Path) -> Path:
    program = generator()
    if program is None:
        pytest.skip(f"no {GENERATOR}: pip install '{GENERATOR}>=3,<5'")
    make_files(program, folder, "0.01")
    contract = folder / "trade.toml"
    contract.write_text(tpch.contract(folder).replace("total = 1000000", "total = 5.5"), encoding="utf-8")
    return contract


CLINIC = Subject(
    "clinic",
    clinic.build,
    clinic.REPORT,
    (
        Agreeing(
            {"visits": (), "visits_by_clinic": ("clinic",), "visits_by_month": ("month",)}, "visits", complete=False
        ),
    ),
)
TRADE_SUBJECT = Subject(
    "trade",
    _build_trade,
    TRADE,
    (
        Agreeing(
            {"orders": (), "by_year": ("year",), "by_region": ("region",), "by_region_and_year": ("region", "year")},
            "orders",
        ),
        Agreeing({"value_by_region": ("region",), "value_by_year": ("year",)}, "value", Fraction(1, 100)),
    ),
)
SURVEY = Subject(
    "survey",
    survey.build,
    survey.REPORT,
    (
        Agreeing(
            {
                "answers": (),
                "by_region": ("region",),
                "by_age_group": ("age_group",),
                "by_region_and_age_group": ("region", "age_group"),
            },
            "answers",
            complete=False,
        ),
        Agreeing({"importance": ("topic",), "all_importance": ()}, "weight", Fraction(1, 20), complete=False),
    ),
)
SUBJECTS = (CLINIC, TRADE_SUBJECT, SURVEY)
