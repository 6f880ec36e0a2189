"""Consistency: a number that stands in several tables of a report is one number, to the last digit.

Where rows may lack a category, a total may be more than its groups, as SQL says; never less, and by one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
        assert f"Not in these groups: {write_rest(rest)} without " in str(report.table(other).answer.note)


def test_groups_that_add_up_to_more_are_found(towns: Playground) -> None:
    """The same check finds a table of which one group has more than the total, and one with another number."""
    asked: Asked = {
        "total": ("COUNT(*)", "", ()),
        "sexes": ("COUNT(*)", "", ("sex",)),
        "again": ("COUNT(*)", "", ("sex",)),
    }
    text = "-- report: r" + "".join(
        f"\n-- name: {name}\n-- epsilon: 1\nSELECT {''.join(f'{key}, ' for key in keys)}COUNT(*) AS n FROM visits"
        f"{' GROUP BY sex' if keys else ''};"
        for name, (_, _, keys) in asked.items()
    )
    report = run_report(plan_report(ReportFile.parse(text), towns.dataset, "office"), towns.dataset)
    assert differing(report, asked, complete=False) == []
    ((total,),) = report.table("total").answer.rows
    assert differing(changed(report, "sexes", total + 1), asked, complete=False) == [
        ("total", "sexes"),
        ("sexes", "again"),
    ]
    assert differing(changed(report, "again", 1), asked, complete=False)[-1:] == [("sexes", "again")]


def changed(report: Report, name: str, more: int) -> Report:
    """Return a report of which the first number of a table is larger."""
    tables = []
    for table in report.tables:
        if table.name == name:
            (key, number), *others = table.answer.rows
            answer = replace(table.answer, rows=((key, number + more), *others))
            tables.append(replace(table, answer=answer))
        else:
            tables.append(table)
    return replace(report, tables=tuple(tables))


def test_apart_they_differ(tmp_path: Path) -> None:
    """The same check finds numbers that do not agree, where questions are asked apart: many rows, and much noise."""
    keys = ("sex", "region", "district", "street")
    asked: Asked = {"all": ("COUNT(*)", "", ()), **{key: ("COUNT(*)", "", (key,)) for key in keys}}
    text = (
        "-- report: r\n-- consistent: no\n-- name: all\n-- epsilon: 0.001\nSELECT COUNT(*) AS n FROM visits;\n"
        + "\n".join(
            f"-- name: {key}\n-- epsilon: 0.001\nSELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key};"
            for key in keys
        )
    )
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as towns:
        towns.fill(ROWS * 300)
        report = run_report(plan_report(ReportFile.parse(text), towns.dataset, "office"), towns.dataset)
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
