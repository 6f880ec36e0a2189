"""What one unit changes, over random trees of related tables and random questions to them: exact, without draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.plan import Plan
from inbounds.query.statement import weighing
from inbounds.query.statement.joined_rows import JoinedReader
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.wanted import Wanted
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.relation import UnitRows
from inbounds.query.tables.table import Table
from tests.helpers.random_contracts import Dice
from tests.helpers.related_questions import OPERATORS, RelatedQuestions
from tests.helpers.related_schemas import UNITS, Rows, Schema, fill, random_rows, random_schema, without, write_public
from tests.helpers.sparing import sparing
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

SCHEMAS = [range(18), *(range(first, first + 60) for first in range(1000, 5000, 1000))]
"""The seeds of the schemas of each run."""
QUESTIONS = 16
"""So many questions to each schema, before some are refused."""
PAIRS = 6


class RelatedPlace:
    """The tables of a random schema in DuckDB's memory, many times over: neighbours, side by side."""

    def __init__(self, folder: Path, public: Path, seed: int) -> None:
        self.dice = Dice(7, seed)
        self.schema: Schema = random_schema(self.dice)
        folder.mkdir()
        for file in public.iterdir():
            (folder / file.name).symlink_to(file)
        (folder / "contract.toml").write_text(self.schema.contract, encoding="utf-8")
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        fill(self.connection, "", self.schema)
        self.dataset = Dataset.load(folder / "contract.toml")
        engines = {
            table.name: DuckDB(self.connection.cursor(), exp.to_table(table.name)) for table in self.schema.tables
        }
        self.dataset.__dict__["engine"] = engines.pop(self.dataset.name)
        self.dataset._others.update(engines)
        self.pairs = [self._pair(number) for number in range(PAIRS)]

    def _pair(self, number: int) -> tuple[Rows, Rows]:
        """Make two neighbours; mostly without the unit that has most of the rows."""
        more = random_rows(self.dice, self.schema)
        gone = UNITS[0] if self.dice.chance(0.8) else self.dice.one(UNITS[:-1])
        less = without(self.schema, more, gone)
        for side, rows in (("more", more), ("less", less)):
            self.connection.execute(f"CREATE SCHEMA {side}{number}")
            fill(self.connection, f"{side}{number}.", self.schema, rows)
        return more, less

    def totals(self, plan: Plan, schema: str) -> list[list[int]]:
        """Return what a plan's statement adds up over the tables of a schema."""
        self.connection.execute(f"SET schema = '{schema}'")
        try:
            return plan.totals(self.connection.execute(plan.sql).fetchall())
        except duckdb.Error as problem:
            raise AssertionError(f"the statement failed ({problem}):\n{plan.sql}") from None

    def __enter__(self) -> RelatedPlace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dataset.close()
        self.connection.close()


@dataclass(frozen=True)
class Case:
    """A random question with its plan, and what it is made of."""

    place: RelatedPlace
    sql: str
    query: Query
    plan: Plan
    used: frozenset[str]

    @property
    def worst(self) -> Fraction:
        """The greatest change between neighbours, as a part of the sensitivity."""
        return max(self.changes)

    @property
    def changes(self) -> Iterator[Fraction]:
        """What each pair of neighbours changes."""
        for number in range(PAIRS):
            sides = [self.place.totals(self.plan, f"{side}{number}") for side in ("more", "less")]
            yield part_of_sensitivity(self.plan, *sides)


Asked = Iterator[tuple[str, set[str]]]
"""Questions, and what each is made of."""


def random_questions(place: RelatedPlace) -> Asked:
    """Yield random questions to a schema."""
    questions = RelatedQuestions(place.dice, place.schema)
    for _ in range(QUESTIONS):
        yield questions.question(), questions.used


def cases(
    folder: Path,
    seeds: Iterable[int],
    refused: Counter[str] | None = None,
    ask: Callable[[RelatedPlace], Asked] = random_questions,
) -> Iterator[Case]:
    """Yield questions to random schemas; those that are refused are counted, and left out."""
    public = folder / "public"
    public.mkdir()
    write_public(public)
    for seed in seeds:
        with RelatedPlace(folder / str(seed), public, seed) as place:
            for sql, used in ask(place):
                try:
                    query = place.dataset.sql(sql)
                    plan = quick_plan(query)
                except InvalidQuestion as problem:
                    if refused is not None:
                        refused[str(problem).partition("\n")[0]] += 1
                    continue
                yield Case(place, sql, query, plan, frozenset(used))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", sparing(SCHEMAS))
def test_no_unit_changes_more_than_the_sensitivity(tmp_path: Path, seeds: range) -> None:
    """Whatever is asked of whatever related tables, all that belongs to a unit changes all totals by no more.

    Half of all questions at least are answered, and the sensitivity is reached with every operator.
    """
    refused: Counter[str] = Counter()
    reached: set[str] = set()
    answered = 0
    for case in cases(tmp_path, seeds, refused):
        answered += 1
        worst = case.worst
        assert worst <= 1, f"{case.sql}\n{case.place.schema.contract}"
        if worst == 1:
            reached |= case.used
    assert answered >= refused.total(), refused.most_common(5)
    assert OPERATORS - reached == set()


# The same test can fail.

CONTROLS = range(5000, 5008)
ONE, TWO = exp.Literal.number(1), exp.Literal.number(2)


def is_caught(folder: Path, ask: Callable[[RelatedPlace], Asked] = random_questions) -> bool:
    """Return whether one of a few questions changes too much."""
    return any(change > 1 for case in cases(folder, CONTROLS, ask=ask) for change in case.changes)


def groupings_by_key(place: RelatedPlace) -> Asked:
    """Yield how many keys are referred to how often, for every table that refers to keys."""
    for table in place.schema.tables:
        by = ", ".join(table.references)
        inner = f"SELECT {by}, LEAST(COUNT(*), 3) AS n FROM {table.name} GROUP BY {by}"
        if by:
            yield f"SELECT n, COUNT(*) FROM ({inner}) AS t GROUP BY n", {"by key"}


@pytest.mark.thorough
def test_nothing_is_caught_where_nothing_is_wrong(tmp_path: Path) -> None:
    """The questions by which mistakes are caught are within the sensitivity without them."""
    assert not is_caught(tmp_path, lambda place: chain(random_questions(place), groupings_by_key(place)))


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["units are not compared", "units need not be compared"])
def test_a_join_across_units_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    """Negative control: rows that are joined by a key, of whichever units, change too much."""
    if mistake == "units are not compared":
        monkeypatch.setattr(JoinedReader, "_match_units", lambda reader, join: exp.true())
    else:
        monkeypatch.setattr(Joined, "compares_owner", lambda relation, join: False)
    assert is_caught(tmp_path)


@pytest.mark.slow
def test_a_grouping_across_units_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: an inner grouping by a key alone, with one of the units that have it, changes too much."""
    right = TableReader._select_unit_rows

    def wrong(reader: TableReader, relation: UnitRows, wanted: Wanted) -> exp.Select:
        select = right(reader, relation, wanted)
        group = select.args.get("group")
        if group is not None and len(group.expressions) > 1:
            unit = select.expressions[0]
            unit.set("this", exp.Min(this=unit.this))
            group.set("expressions", group.expressions[1:])
        return select

    monkeypatch.setattr(TableReader, "_select_unit_rows", wrong)
    assert is_caught(tmp_path, groupings_by_key)


@pytest.mark.slow
def test_a_look_at_all_rows_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: rows that are kept by how many rows all units have change too much."""
    right = TableReader._select_stored

    def wrong(reader: TableReader, table: Any, *args: Any) -> exp.Select:
        read, relation = right(reader, table, *args), reader.engines[table.name].relation()
        count = exp.select(exp.Count(this=exp.Star())).from_(relation).subquery()
        is_odd = exp.EQ(this=exp.Mod(this=count, expression=TWO), expression=ONE)
        return read.where(is_odd) if isinstance(table, Table) and table.parent is None else read

    monkeypatch.setattr(TableReader, "_select_stored", wrong)
    assert is_caught(tmp_path)


@pytest.mark.slow
def test_rows_that_are_not_weighed_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: rows that count in full, however many a unit has, change too much."""
    monkeypatch.setattr(weighing, "EVERY", ONE)
    assert is_caught(tmp_path)


# Rows that are not weighed, and public tables whose keys repeat, against what they did when they were looked at.

ROW_UNITS = """
[dataset]
name = "stays"
source = "stays.parquet"
unit = "row"
[columns.ward]
keys = ["a", "b"]
[columns.level]
bounds = "[0, 3] step 1"
[tables.wards]
source = "wards.parquet"
public = true
key = ["code", "step"]
[budget]
total = 1
"""


def public_change(folder: Path, contract: str, question: str) -> Fraction:
    """Return what one row changes, as a part of the sensitivity, once the keys of a public table repeat."""
    wards = folder / "wards.parquet"
    duckdb.sql(f"COPY (SELECT 'a' AS code, i AS step, i AS beds FROM range(4) t(i)) TO '{wards}'")
    (folder / "contract.toml").write_text(contract, encoding="utf-8")
    rows = "SELECT i AS patient, 'a' AS ward, 3 AS level FROM range({n}) t(i)"
    duckdb.sql(f"COPY ({rows.format(n=2)}) TO '{folder / 'stays.parquet'}'")
    with Dataset.load(folder / "contract.toml") as dataset:
        plan = quick_plan(dataset.sql(question))
        often = "SELECT 'a' AS code, i % 4 AS step, i AS beds FROM range(40) t(i)"
        duckdb.sql(f"COPY ({often}) TO '{wards}'")
        more = plan.totals(dataset.engine.run(plan.sql))
        duckdb.sql(f"COPY ({rows.format(n=1)}) TO '{folder / 'stays.parquet'}'")
        return part_of_sensitivity(plan, more, plan.totals(dataset.engine.run(plan.sql)))


JOINED = [
    (ROW_UNITS, "SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code AND s.level = w.step"),
    (ROW_UNITS, "SELECT COUNT(*) FROM stays s LEFT JOIN wards w ON s.ward = w.code AND s.level = w.step"),
    (ROW_UNITS, "SELECT SUM(w.beds) FROM wards w, stays s WHERE s.ward = w.code AND s.level = w.step"),
    (
        ROW_UNITS.replace('unit = "row"', 'unit = "patient"\nmax_rows_per_unit = 1'),
        "SELECT COUNT(*) FROM (SELECT patient, MAX(level) AS level FROM stays GROUP BY patient) AS t JOIN wards w "
        "ON t.level = w.step AND w.code = 'a'",
    ),
]


@pytest.mark.parametrize(("contract", "question"), JOINED)
def test_public_keys_that_repeat_double_no_row(tmp_path: Path, contract: str, question: str) -> None:
    """A row that is a unit of its own joins one public row at most, even if its key is there often by now."""
    assert 0 < public_change(tmp_path, contract, question) <= 1


@pytest.mark.parametrize(("contract", "question"), JOINED[:1])
def test_rows_doubled_by_a_public_table_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contract: str, question: str
) -> None:
    """Negative control: without one public row for each key, a row changes too much."""
    monkeypatch.setattr(JoinedReader, "_read_join", lambda reader, join, needs: reader.reader.select(join.table, needs))
    assert public_change(tmp_path, contract, question) > 1


def test_rows_are_not_joined_to_several_public_ones(tmp_path: Path) -> None:
    """With unit = "row" a public table is joined by all of its key, or not at all."""
    with pytest.raises(InvalidQuestion, match="at most one row"):
        public_change(tmp_path, ROW_UNITS, "SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code")
