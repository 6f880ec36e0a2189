"""What one unit changes, over random contracts, joins, inner groupings, expressions and rows: exact, without draws.

INBOUNDS_TEST_CONTRACTS says how many random contracts there are, where more are wanted than in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query import Query
from inbounds.query.ask import steps
from inbounds.query.ask.draw import is_failed
from inbounds.query.methods.cdf import CumulativeShares
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantileByRank, QuantilesInOrder
from inbounds.query.question.shared_measures import Quantiles, Totals
from inbounds.query.statement import joined_rows, weighing
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.relation import Projected, UnitRows
from inbounds.query.tables.table import Table
from tests.helpers import oracle
from tests.helpers.caller_settings import SURROUNDINGS
from tests.helpers.random_contracts import ROW
from tests.helpers.random_places import RandomPlace, Rows
from tests.helpers.random_questions import Questions
from tests.helpers.relation_rows import rows_of
from tests.helpers.scripted_entropy import Script
from tests.helpers.sparing import sparing
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

CHUNKS = 8
CONTRACTS = int(os.environ.get("INBOUNDS_TEST_CONTRACTS", "40")) // CHUNKS
QUESTIONS = 20
PAIRS = 6
OF_EACH = 3
"""So many pairs of neighbours for each question."""

NEAR = Fraction(99, 100)


@dataclass(frozen=True)
class Case:
    """A random question with its plan, and pairs of neighbours to ask it of."""

    place: RandomPlace
    query: Query
    plan: Plan
    pairs: list[int]

    @property
    def name(self) -> str:
        """What to tell of it."""
        return f"{self.query}\n{self.place.scene.contract}"

    @property
    def worst(self) -> Fraction:
        """The greatest change of all its pairs, as a part of the sensitivity."""
        return max(part_of_sensitivity(self.plan, *self.place.neighbours(self.plan, one)) for one in self.pairs)


def cases(folder: Path, seeds: Iterable[int], asked: int = QUESTIONS) -> Iterator[Case]:
    """Yield random questions to random contracts; those that are refused are left out."""
    for seed in seeds:
        with RandomPlace(folder / str(seed), seed, PAIRS) as place:
            questions, found = Questions(place.dice, place.scene), 0
            while found < asked:
                try:
                    query = place.dataset.sql(questions.question())
                    if len(query.questions) > 1:  # a case is one; test_shared_statements has several
                        continue
                    plan = quick_plan(query)
                except InvalidQuestion:
                    continue
                pairs = [(OF_EACH * found + i) % PAIRS for i in range(OF_EACH)]
                yield Case(place, query, plan, pairs)
                found += 1


def inside(table: Table) -> Iterator[type]:
    """Yield the kinds of relations that a table is made of."""
    relation = table.relation
    if relation is None:
        return
    yield type(relation)
    if not isinstance(relation, Joined):
        yield from inside(relation.of)
        return
    yield from inside(relation.first)
    for join in relation.joins:
        yield type(join)
        if isinstance(join, Join) and join.private is not None:
            yield from inside(join.private)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", sparing(range(CHUNKS)))
def test_no_unit_changes_more_than_the_sensitivity(tmp_path: Path, chunk: int) -> None:
    """Whatever is asked of whatever tables, all rows of a unit change all totals by at most the sensitivity.

    That is the one which the mechanisms of the plan are calibrated with, and it is reached: a quarter of all questions
    come within a hundredth of it, also those over joins on the unit and over rows made of rows.
    """
    near: list[set[type]] = []
    seeds = range(chunk * CONTRACTS, (chunk + 1) * CONTRACTS)
    for case in cases(tmp_path, seeds):
        worst = case.worst
        assert worst <= 1, case.name
        if worst >= NEAR:
            near.append({type(case.plan.answering), *inside(case.query.question.table)})
    assert 4 * len(near) >= QUESTIONS * len(seeds)
    assert {UnitRows, Joined, Join, OneNumber} <= set().union(*near)


# What the caller's process has set decides nothing, on either side.

HUNDREDS = 300
"""So much epsilon makes probabilities too small for doubles, and a few rows decide of which values."""


def answers(case: Case, setting: str = "") -> list[str]:
    """Return what is kept of a question to both of its first neighbours, from the same random numbers."""
    dataset, found = case.place.dataset, []
    pooling = None if case.plan.answering.__class__ in UNPOOLED else 1
    for side in ("more", "less"):
        with pytest.MonkeyPatch.context() as patch, SURROUNDINGS[setting]() if setting else nullcontext():
            run = partial(case.place.run, schema=f"{side}{case.pairs[0]}")
            patch.setattr(dataset.engine, "run", run)
            patch.setattr(steps, "system", Script(seed=7))
            answer = case.query.ask(HUNDREDS, analyst="ana", pooling=pooling, force=True)
        if not answer.request_id:  # all of it is public, and nothing is drawn or kept
            found.append(repr(answer.rows))
            continue
        kept = dataset.ledger.request(answer.request_id)
        assert kept is not None
        assert kept[1] is not None
        found.append(kept[1].text)
    return found


UNPOOLED = (JointTable, CumulativeShares, QuantileByRank, QuantilesInOrder)
"""What has no pooling."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "seeds"),
    sparing(
        [
            ("raising NumPy", range(3000, 3001)),
            ("raising warnings", range(3001, 3002)),
            ("raising NumPy", range(3001, 3004)),
            ("raising warnings", range(3002, 3005)),
        ],
        2,
    ),
)
def test_neighbours_are_answered_alike_in_any_surroundings(tmp_path: Path, setting: str, seeds: range) -> None:
    """A unit more or less never decides whether there is an answer, however NumPy and warnings are set to raise.

    From the same random numbers, answers are those of a process where nothing is set, and no unit changes more than the
    sensitivity.
    """
    kinds: set[type] = set()
    for case in cases(tmp_path, seeds):
        plain = answers(case)
        assert answers(case, setting) == plain, case.name
        assert not any(map(is_failed, plain)), case.name
        with SURROUNDINGS[setting]():
            assert part_of_sensitivity(quick_plan(case.query), *case.place.neighbours(case.plan, case.pairs[0])) <= 1
        kinds.add(type(case.plan.answering))
    assert {OneNumber, JointTable} < kinds


# The same test can fail.

CONTROLS = range(1000, 1006)


def is_caught(folder: Path, *kinds: type) -> bool:
    """Return whether one of a few random questions, of those that are made with some relation, changes too much."""
    found = (case for case in cases(folder, CONTROLS) if set(kinds) <= set(inside(case.query.question.table)))
    return any(case.worst > 1 for case in found)


@pytest.mark.thorough
def test_nothing_is_caught_where_nothing_is_wrong(tmp_path: Path) -> None:
    """The questions by which mistakes are caught are within the sensitivity without them."""
    assert not is_caught(tmp_path)


@pytest.mark.slow
def test_half_of_the_sensitivity_is_caught(tmp_path: Path) -> None:
    """Negative control: noise for half of the sensitivity is not enough."""

    def halved(case: Case, answering: OneNumber) -> Case:
        mechanism = answering.choice.mechanism
        choice = choose(mechanism.bounds, mechanism.sensitivity / 2, Fraction(1), answering.guarantee, Fraction(1))
        return replace(case, plan=replace(case.plan, answering=replace(answering, choice=choice)))

    found = ((case, case.plan.answering) for case in cases(tmp_path, CONTROLS[:2]))
    worst = [
        halved(case, answering).worst
        for case, answering in found
        if isinstance(answering, OneNumber) and answering.guarantee == "standard"
    ]
    assert 4 * sum(one > 1 for one in worst) >= len(worst) > 4


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["in each group", "not at all"])
def test_a_mistake_in_weighing_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    """Negative control: rows of a unit that are weighed by those of its group, or not at all, change too much."""
    wrong = exp.column("n") if mistake == "in each group" else exp.Literal.number(1)
    monkeypatch.setattr(weighing, "EVERY", wrong)
    assert is_caught(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["of any unit", "of a unit in other letters"])
def test_a_row_of_two_units_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    """Negative control: a join by which a row is made of the rows of two units changes too much."""
    right = joined_rows.JoinedReader._match_units

    def wrong(self: joined_rows.JoinedReader, join: Join) -> exp.Expr:
        same = right(self, join)
        if mistake == "of any unit":
            return exp.true()
        sides = (same.args["this"], same.args["expression"])
        small = [exp.func("LOWER", exp.cast(side, "VARCHAR")) for side in sides]
        return exp.EQ(this=small[0], expression=small[1])

    monkeypatch.setattr(joined_rows.JoinedReader, "_match_units", wrong)
    assert is_caught(tmp_path, Join)


# The integers are those of plain Python.


def expected(case: Case, rows: Rows) -> list[list[int]]:
    """Return the totals in plain Python."""
    table, scene = case.query.question.table, case.place.scene
    stored = [one for private in scene.private.values() for one in private.stored]
    if scene.main.unit == ROW:
        rows = {name: [row | {"": 1} for row in some] for name, some in rows.items()}
    if table.relation is None:
        integers = [one.name for one in stored if one.type in ("BIGINT", "INTEGER", "HUGEINT")]
        return oracle.totals(case.query.question, rows[table.name], integers)
    public = {name: one.rows for name, one in scene.public.items()}
    return oracle.totals(case.query.question, rows_of(table, rows, public))


def is_known(case: Case) -> bool:
    """Return whether plain Python knows the measure, and the table: not columns computed of what is made of rows."""
    question = case.query.question
    is_joint = isinstance(case.plan.answering, JointTable) and question.sets is None
    return not is_joint and not isinstance(question.measure, Totals | Quantiles) and not _is_computed(question.table)


def _is_computed(table: Table) -> bool:
    """Return whether a table, or one that it is made of, is computed of another."""
    relation = table.relation
    return relation is not None and (isinstance(relation, Projected) or any(map(_is_computed, relation.parts)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(2000, 2008), 2))
def test_totals_are_those_of_plain_python(tmp_path: Path, seed: int) -> None:
    """Whatever is asked, a statement adds up what plain Python finds in the same rows."""
    compared = 0
    for case in filter(is_known, cases(tmp_path, range(seed, seed + 1))):
        number = case.pairs[0]
        assert case.place.totals(case.plan, f"more{number}") == expected(case, case.place.pairs[number][0]), case.name
        compared += 1
    assert compared > QUESTIONS // 2
