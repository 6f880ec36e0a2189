"""Consistency: a number that stands in several tables of a report is one number, to the last digit."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.publish import Report, ReportFile, plan_report, run_report
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES

KEYS = ("region", "district", "street", "sex", "size")
MEASURES = ("COUNT(*)", "SUM(size)", "SUM(debt)")
CONDITIONS = ("", " WHERE cost > 0.5", " WHERE sex = 'f'")
WITHIN = {"region": ("district", "street"), "district": ("street",)}


def make_report(random: Random) -> tuple[str, dict[str, tuple[str, str, tuple[str, ...]]]]:
    """Return a random report, and what each of its questions asks: measure, condition, keys."""
    asked: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    parts = ["-- report: r"]
    pairs = [(random.choice(MEASURES), random.choice(CONDITIONS)) for _ in range(2)]
    for number in range(random.randint(3, 6)):
        measure, condition = random.choice(pairs)
        keys = tuple(random.sample(KEYS, random.randint(0, 2)))
        shown = [*keys, f"{measure} AS n"]
        random.shuffle(shown)
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        order = random.choice(["", " ORDER BY n DESC"])
        epsilon = random.choice(["0.25", "1", "3"])
        sql = f"SELECT {', '.join(shown)} FROM visits{condition}{group}{order}"
        parts.append(f"-- name: q{number}\n-- epsilon: {epsilon}\n{sql};")
        asked[f"q{number}"] = (measure, condition, keys)
    return "\n".join(parts), asked


def totals(report: Report, name: str, keys: tuple[str, ...], onto: tuple[str, ...]) -> dict[tuple[Any, ...], Fraction]:
    """Return the numbers of a table, added up over the keys that are not asked for."""
    answer = report.table(name).answer
    sums: dict[tuple[Any, ...], Fraction] = {}
    for row in answer.data():
        key = tuple(row[column] for column in onto)
        sums[key] = sums.get(key, Fraction(0)) + Fraction(str(row["n"]))
    assert set(keys) >= set(onto)
    return sums


def differing(report: Report, asked: dict[str, tuple[str, str, tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Return the pairs of tables of one request whose common totals are not the same."""
    found = []
    for one, other in combinations(asked, 2):
        (measure, condition, keys), (measure2, condition2, keys2) = asked[one], asked[other]
        if (measure, condition) != (measure2, condition2):
            continue
        shared = tuple(key for key in keys if key in keys2)
        sums, sums2 = totals(report, one, keys, shared), totals(report, other, keys2, shared)
        known = sums.keys() & sums2.keys()
        if any(sums[key] != sums2[key] for key in known) or (not shared and not known):
            found.append((one, other))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(60), 8))
def test_common_totals_are_one_number(tmp_path: Path, seed: int) -> None:
    """In random reports, any two tables about the same rows and measure agree on every total that both of them have."""
    text, asked = make_report(Random(seed))
    unit, limit = [("row", 1), ("who", 3)][seed % 2]
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES, tmp_path / "ledger.db") as towns:
        towns.fill(ROWS)
        file = ReportFile.parse(text)
        plan = plan_report(file, towns.dataset, "office")
        groups = {(measure, condition) for measure, condition, _ in asked.values()}
        assert len(plan.requests) == len(groups)
        report = run_report(plan, towns.dataset)
        assert differing(report, asked) == []
        assert report.epsilon == plan.cost == sum(question.epsilon or 0 for question in file.questions)


def test_apart_they_differ(towns: Playground) -> None:
    """The same check finds numbers that do not agree, where questions are asked apart."""
    text, asked = make_report(Random(1))
    file = ReportFile.parse(text.replace("-- report: r", "-- report: r\n-- consistent: no").replace(": 3", ": 0.01"))
    report = run_report(plan_report(file, towns.dataset, "office"), towns.dataset)
    assert differing(report, asked)


def test_districts_add_up_to_their_regions(towns: Playground) -> None:
    """Tables by a column and by what it lies in agree as well."""
    text = """
-- report: r
-- name: regions
-- epsilon: 0.5
SELECT region, COUNT(*) AS n FROM visits GROUP BY region;
-- name: streets
-- epsilon: 0.5
SELECT street, COUNT(*) AS n FROM visits GROUP BY street;
"""
    report = run_report(plan_report(ReportFile.parse(text), towns.dataset, "office"), towns.dataset)
    streets, regions = (dict(report.table(name).answer.rows) for name in ("streets", "regions"))
    assert regions == {"city": streets["a"] + streets["b"] + streets["d"], "land": streets["c"]}
