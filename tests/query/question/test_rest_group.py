"""Rests: with REST() each grouping of a table counts the very rows that it counts by itself, and all of them add up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Query
from inbounds.query.identity.question import identity_of
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.method import OneNumber
from tests.helpers import oracle
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing

COLUMNS = """
[columns.region]
keys = ["city", "land"]
[columns.district]
keys = ["harbour", "hills", "old town"]
within = "region"
map = { "old town" = "city", "harbour" = "city", "hills" = "land" }
[columns.street]
keys = ["a", "b", "c", "d"]
within = "district"
map = { a = "harbour", b = "harbour", c = "hills", d = "old town" }
[columns.sex]
keys = ["f", "m"]
[columns.ward]
keys = [1, 2, 30]
[columns.urgent]
keys = [true, false]
[columns.size]
bounds = "[-3, -2] | [2, 4] step 1"
[columns.day]
bounds = "[2026-01-05, 2026-02-06] | [2026-02-09, 2026-03-13]"
[columns.seen]
bounds = "[2026-01-01 00:00, 2026-01-01 23:00] step 6h"
"""
TYPES = (
    "who BIGINT, region VARCHAR, district VARCHAR, street VARCHAR, sex VARCHAR, ward BIGINT, urgent BOOLEAN, "
    "size DOUBLE, day DATE, seen TIMESTAMP"
)

PLACES: list[tuple[str | None, str | None, str | None]] = [
    ("city", "harbour", "a"), ("city", "harbour", "b"), ("land", "hills", "c"), ("city", "old town", "d"),
    ("city", "harbour", None), ("land", "hills", "elsewhere"), ("city", None, None), ("land", "elsewhere", None),
    (None, None, None), ("abroad", None, None),
]  # fmt: skip
"""No street is in another district than the map says, for then it is counted by the map."""

KEYS = ["region", "district", "street", "sex", "ward", "urgent", "size", "MONTH(day)", "HOUR(seen)", "UPPER(sex)"]

OF_PLAIN = KEYS[:8]
"""Those that are known to the plain Python of other tests."""

CONDITIONS = [
    None, "sex = 'f'", "sex IS NULL", "district IS NOT NULL", "street = 'c' OR ward IS NULL",
    "size > 0 AND NOT urgent = TRUE", "day >= '2026-02-10'", "region IS NULL OR district = 'hills'", "ward IN (1, 30)",
]  # fmt: skip

Row = tuple[Any, ...]


def random_rows(random: Random, count: int = 60) -> list[Row]:
    """Return rows of which each column is missing, or holds what is no category, every now and then."""
    kinds: list[list[Any]] = [
        ["f", "m", "x", None], [1, 2, 30, 3, None], [True, False, None], [-9, -3, 0, 0.7, 2, None, "nan"],
        [None, "2025-01-01", "2026-01-01", "2026-02-14", "2026-03-02"], [None, "2026-01-01 07:00", "2026-01-01 19:30"],
    ]  # fmt: skip
    return [
        (random.randint(1, 9), *random.choice(PLACES), *(random.choice(kind) for kind in kinds)) for _ in range(count)
    ]


@pytest.fixture
def rows_apart() -> Iterator[Playground]:
    """A table in which each row is a unit of its own."""
    with Playground(contract(COLUMNS, unit="row"), TYPES) as found:
        yield found


Counts = dict[frozenset[tuple[str, Any]], Fraction]
"""What is counted or added up, by the columns that are told apart and their categories."""


def sql_of(measure: str, condition: str | None, by: str) -> str:
    """Return a question."""
    where = "" if condition is None else f" WHERE {condition}"
    return f"SELECT {measure} FROM visits{where}{by}"


def with_rest(measure: str, condition: str | None, sets: list[tuple[str, ...]]) -> str:
    """Return a question for several sets of columns, each with all of its rows."""
    written = ", ".join(f"({', '.join(keys)})" for keys in sets)
    return sql_of(measure, condition, f" GROUP BY GROUPING SETS ({written}, REST())")


def random_sets(random: Random, among: list[str] = KEYS) -> list[tuple[str, ...]]:
    """Return up to four sets of up to two of three columns."""
    keys = random.sample(among, 3)
    return random.sample([names for length in range(3) for names in combinations(keys, length)], random.randint(1, 4))


def counts_of(playground: Playground, query: Query, rows: list[Row]) -> Counts:
    """Return what a question counts, before any noise."""
    plan = query.plan(1) if query.question.sets else query.plan(1, pooling=1)
    answering, question = plan.answering, query.question
    totals = [total for (total,) in playground.totals(plan, rows)]
    if isinstance(answering, JointTable):
        layout = answering.plan.layout
        cells = np.zeros(layout.cells, dtype=np.int64)
        cells[slice(None) if answering.places is None else list(answering.places)] = totals
        sums = [(layout.sum(cells.reshape(layout.shape), part.grouping), part.places) for part in answering.rows]
        totals = [count for groups, places in sums for count in np.asarray(groups).ravel()[list(places)].tolist()]
        grain = answering.plan.grain * answering.step
    else:
        assert isinstance(answering, OneNumber)
        grain = answering.grain
    names = [str(group) for group in question.groups]
    keyed = [
        frozenset((name, key) for name, key, code in zip(names, keys, codes, strict=True) if code is not None)
        for keys, codes in zip(question.row_keys, question.rows, strict=True)
    ]
    assert len(set(keyed)) == len(keyed) == len(totals)
    return {key: count * grain for key, count in zip(keyed, totals, strict=True)}


def counts_by_itself(
    playground: Playground, measure: str, condition: str | None, keys: tuple[str, ...], rows: list[Row]
) -> Counts:
    """Return the same of one set of columns, asked by itself; nothing, if it has no group that can be."""
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    query = playground.dataset.sql(sql_of(measure, condition, by))
    return counts_of(playground, query.alone() if keys else query, rows) if query.question.rows else {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(150), 30))
def test_each_grouping_counts_what_it_counts_by_itself(rows_apart: Playground, seed: int) -> None:
    """Whatever rows lack, and whatever the condition, each group of each set counts the rows that its question counts.

    Groups that one of the two leaves out, since no row can be in them, have no row in the other.
    """
    random = Random(seed)
    rows, sets, condition = random_rows(random), random_sets(random), random.choice(CONDITIONS)
    measure = random.choice(["COUNT(*)", "SUM(size)"])
    query = rows_apart.dataset.sql(with_rest(measure, condition, sets))
    found = counts_of(rows_apart, query, rows) if query.question.rows else {}
    expected: Counts = {}
    for keys in sets:
        expected |= counts_by_itself(rows_apart, measure, condition, keys, rows)
    assert all(found.get(key, 0) == expected.get(key, 0) for key in {*found, *expected})


def test_without_a_rest_they_count_less(rows_apart: Playground) -> None:
    """The same comparison finds that GROUPING SETS alone leave out rows that lack another column."""
    rows = random_rows(Random(1))
    sql = with_rest("COUNT(*)", None, [("sex",), ("ward",), ()])
    plain = counts_of(rows_apart, rows_apart.dataset.sql(sql.replace(", REST()", "")), rows)
    assert plain[frozenset()] < counts_of(rows_apart, rows_apart.dataset.sql(sql), rows)[frozenset()] == len(rows)


def as_python(row: Row) -> dict[str, Any]:
    """Return a row by the names of its columns, its texts of days and numbers as such."""
    named = dict(zip((part.split()[0] for part in TYPES.split(", ")), row, strict=True))
    day, size = named["day"], named["size"]
    dates = {"day": None if day is None else date.fromisoformat(day)}
    return named | dates | {"size": None if size is None else float(size)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(40), 8))
@pytest.mark.parametrize("limit", [1, 3])
def test_rows_are_weighed_as_plain_python_weighs_them(seed: int, limit: int) -> None:
    """Each row that counts somewhere is in one cell, and a unit's rows are weighed together, as by plain Python."""
    random = Random(seed)
    measure = random.choice(["COUNT(*)", "COUNT(DISTINCT who)", "SUM(size)"])
    with Playground(contract(COLUMNS, limit=limit), TYPES) as playground:
        rows, query = (
            random_rows(random),
            playground.dataset.sql(with_rest(measure, None, random_sets(random, OF_PLAIN))),
        )
        plan = query.plan(1)
        assert playground.totals(plan, rows) == oracle.totals(query.question, map(as_python, rows), ["who", "ward"])


# What is the same question, and what is not.


def test_a_rest_that_cannot_be_makes_no_other_question(rows_apart: Playground) -> None:
    """Where no row can lack what is added up, or nothing is, REST() changes neither the text nor the charge."""
    found = rows_apart.dataset.sql
    filled = "GROUPING SETS ((COALESCE(sex, 'none')), ((CASE WHEN urgent = TRUE THEN 'now' ELSE 'later' END)), ()"
    for sets in (filled, "GROUPING SETS ((sex), (sex, ward)", "GROUPING SETS ((sex, ward)"):
        plain, rest = (found(sql_of("COUNT(*)", None, f" GROUP BY {sets}{end}")) for end in (")", ", REST())"))
        is_same = "ward" not in sets or sets.count("(") == 2
        assert (plain.facts == rest.facts, str(plain) == str(rest)) == (is_same, is_same), sets


def test_a_rest_makes_another_question(rows_apart: Playground) -> None:
    """Where rows may lack a column, they are two questions, each with one text; that of Python and of SQL is one."""
    sql = with_rest("COUNT(*)", None, [("sex",), ()])
    query = rows_apart.dataset.sql(sql)
    assert identity_of(query.questions) != identity_of(rows_apart.dataset.sql(sql.replace(", REST()", "")).questions)
    assert rows_apart.dataset.count().groupings(("sex",), (), rest=True).facts == query.facts
    assert rows_apart.dataset.sql(str(query)).facts == query.facts
    assert "REST()" in query.asked_text


def test_public_facts_hold_beside_a_rest(tmp_path: Path) -> None:
    """A combination that cannot be has no rows, also under a column that is not asked for; its rest may have some."""
    known = 'zeros = [{ region = "city", sex = "m" }]'
    text = contract(COLUMNS, unit="row").replace("[budget]", f"[known]\n{known}\n[budget]")
    with Playground(text, TYPES, tmp_path / "ledger.db") as playground:
        rows = [(1, "city", "harbour", "a", "f", *[None] * 5)] * 30 + [
            (1, "city", "harbour", "a", None, *[None] * 5)
        ] * 40
        playground.fill(rows)
        sql = with_rest("district, sex, COUNT(*) AS n", None, [("district", "sex"), ("district",), ()])
        answer = playground.dataset.sql(sql).ask(400, analyst="ana")
    counts = {(row["district"], row["sex"]): row["n"] for row in answer.data()}
    assert counts["harbour", "m"] == 0
    assert (counts["harbour", "f"], counts["harbour", None], counts[None, None]) == (30, 70, 70)


def test_what_is_owned_of_a_rest_is_what_it_says(tmp_path: Path) -> None:
    """Each grouping of a released table answers its own question, free and without a note; sums of others say so."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill(random_rows(Random(5)))
        found = playground.dataset.sql
        table = found(with_rest("COUNT(*)", None, [("sex", "ward"), ("district",), ()])).ask(1, analyst="ana")
        total = found("SELECT COUNT(*) FROM visits").owned("ana")
        assert total is not None
        assert (total.rows[0][0], total.note) == (table.rows[-1][-1], None)
        districts = found("SELECT district, COUNT(*) FROM visits GROUP BY district").owned("ana")
        assert districts is not None
        assert districts.note is None
        sexes = found("SELECT sex, COUNT(*) FROM visits GROUP BY sex").owned("ana")
        assert sexes is not None
        assert "Summed from answers by ward" in str(sexes.note)
        assert found(with_rest("COUNT(*)", None, [("sex",), ()])).owned("ana") is None


def test_what_a_rest_makes_too_large_is_refused() -> None:
    """A column whose values lie far apart has no rest, and the cells of rests count like all others."""
    columns = """
[columns.code]
bounds = "[0, 1] | [1000000, 1000001] step 1"
[columns.one]
bounds = "[1, 316] step 1"
[columns.other]
bounds = "[1, 316] step 1"
"""
    with Playground(contract(columns, unit="row"), "code BIGINT, one BIGINT, other BIGINT") as playground:
        with pytest.raises(InvalidQuestion, match=r"too many for REST\(\); leave it out"):
            playground.dataset.sql(with_rest("COUNT(*)", None, [("code",), ()]))
        sql = with_rest("COUNT(*)", None, [("one",), ("other",)])
        with pytest.raises(InvalidQuestion, match="at most 100000 groups, got 100489"):
            playground.dataset.sql(sql)
        assert playground.dataset.sql(sql.replace(", REST()", "")).question.rest is False
