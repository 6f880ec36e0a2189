"""Consistency: a number that stands in several tables of a report is one number, to the last digit.

Where rows may lack a category, a total may be more than its groups, as SQL says; never less, and by one number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.publish import Report, ReportFile, plan_report, run_report
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing
from tests.helpers.three_reports.subjects import write_rest
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES

KEYS = ("region", "district", "street", "sex", "size")
MEASURES = ("COUNT(*)", "SUM(size)", "SUM(debt)")
CONDITIONS = ("", " WHERE cost > 0.5", " WHERE sex = 'f'")
COMPLETE = " AND ".join(f"{key} IS NOT NULL" for key in KEYS)
"""Then no row lacks a category, and totals are those of all groups."""

Asked = dict[str, tuple[str, str, tuple[str, ...]]]


def make_report(random: Random, *, complete: bool = True) -> tuple[str, Asked]:
    """Return a random report, and what each of its questions asks: measure, condition, keys."""
    asked: Asked = {}
    parts = ["-- report: r"]
    pairs = [(random.choice(MEASURES), random.choice(CONDITIONS)) for _ in range(2)]
    if complete:
        pairs = [(measure, f"{test} AND {COMPLETE}" if test else f" WHERE {COMPLETE}") for measure, test in pairs]
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


def lacking(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows of which every fifth lacks its district, every seventh all places, every fourth its sex."""
    found = []
    for number, (who, region, district, street, sex, *others) in enumerate(rows):
        places = (None, None, None) if number % 7 == 0 else (region, None, None) if number % 5 == 0 else ()
        found.append((who, *(places or (region, district, street)), "x" if number % 4 == 0 else sex, *others))
    return found


def totals(report: Report, name: str, keys: tuple[str, ...], onto: tuple[str, ...]) -> dict[tuple[Any, ...], Fraction]:
    """Return the numbers of a table, added up over the keys that are not asked for."""
    answer = report.table(name).answer
    sums: dict[tuple[Any, ...], Fraction] = {}
    for row in answer.data():
        key = tuple(row[column] for column in onto)
        sums[key] = sums.get(key, Fraction(0)) + Fraction(str(row["n"]))
    assert set(keys) >= set(onto)
    return sums


def differing(report: Report, asked: Asked, *, complete: bool = True) -> list[tuple[str, str]]:
    """Return the pairs of tables of one request whose common totals are not the same; where rows may lack a category:
    of which one is by fewer columns, and counts less."""
    found = []
    for one, other in combinations(asked, 2):
        (measure, condition, keys), (measure2, condition2, keys2) = asked[one], asked[other]
        if (measure, condition) != (measure2, condition2):
            continue
        shared = tuple(key for key in keys if key in keys2)
        sums, sums2 = totals(report, one, keys, shared), totals(report, other, keys2, shared)
        known = sums.keys() & sums2.keys()
        if complete or set(keys) == set(keys2):
            is_wrong = any(sums[key] != sums2[key] for key in known) or (not shared and not known)
        else:
            signs = [1] * (set(shared) == set(keys)) + [-1] * (set(shared) == set(keys2))
            is_wrong = measure == "COUNT(*)" and any(
                sign * (sums[key] - sums2[key]) < 0 for sign in signs for key in known
            )
        if is_wrong:
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(60, 120), 8))
def test_groups_never_add_up_to_more(tmp_path: Path, seed: int) -> None:
    """Where rows may lack a category, groups add up to no more than a total, in any tables of which one is coarser, and
    the same groups have the same numbers; what the total has beyond them is told in every such table."""
    text, asked = make_report(Random(seed), complete=False)
    unit, limit = [("row", 1), ("who", 3)][seed % 2]
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES, tmp_path / "ledger.db") as towns:
        towns.fill(lacking(ROWS))
        plan = plan_report(ReportFile.parse(text), towns.dataset, "office")
        assert len(plan.requests) == len({(measure, condition) for measure, condition, _ in asked.values()})
        report = run_report(plan, towns.dataset)
    assert differing(report, asked, complete=False) == []
    for one, other in permutations(asked, 2):
        if asked[one][:2] != asked[other][:2] or asked[one][2] or not asked[other][2]:
            continue
        (total,) = totals(report, one, (), ()).values()
        rest = total - sum(totals(report, other, asked[other][2], asked[other][2]).values())
        assert f": {write_rest(rest)} (expected noise " in str(report.table(other).answer.note)


def test_they_would_add_up_to_more(towns: Playground) -> None:
    """The same check finds groups that add up to more than the total, where questions are asked apart."""
    text, asked = make_report(Random(3), complete=False)
    assert any(measure == "COUNT(*)" for measure, _, _ in asked.values())
    file = ReportFile.parse(re.sub("epsilon: .*", "epsilon: 0.001", text.replace("r\n", "r\n-- consistent: no\n", 1)))
    report = run_report(plan_report(file, towns.dataset, "office"), towns.dataset)
    assert differing(report, asked, complete=False)


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
    for condition in ("", "WHERE street IS NOT NULL AND region IS NOT NULL"):
        file = ReportFile.parse(text.replace("FROM visits", f"FROM visits {condition}"))
        report = run_report(plan_report(file, towns.dataset, "office"), towns.dataset)
        streets, regions = (dict(report.table(name).answer.rows) for name in ("streets", "regions"))
        sums = {"city": streets["a"] + streets["b"] + streets["d"], "land": streets["c"]}
        assert regions == sums if condition else all(regions[name] >= sums[name] for name in sums)
