"""The privacy of whole answers, without any draws: what a unit changes, and what that loses, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query import Query
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.moments.ratio import Ratio
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.law import rank_misses
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.query.question.quantile import Quantile
from tests.helpers.audit_losses import Losses, joint, spreads
from tests.helpers.audit_tables import Playground, contract, measures
from tests.helpers.sparing import sparing

ROUNDING = 1e-9
"""Probabilities are computed in doubles."""

COLUMNS = """
[columns.zone]
keys = ["x", "y"]
[columns.place]
keys = ["a", "b", "c"]
within = "zone"
map = { a = "y", b = "x", c = "y" }
[columns.size]
bounds = "[-3, 7] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.day]
bounds = "[2026-01-01, 2026-01-05]"
"""
TYPES = "who BIGINT, place VARCHAR, size BIGINT, weight DOUBLE, day DATE, zone VARCHAR"

Row = tuple[Any, ...]


def tables(count: int) -> Iterator[list[Row]]:
    """Yield tables of up to 25 rows of four units, with everything odd in them; always the same ones."""
    random = np.random.default_rng(20261116)
    kinds: list[list[Any]] = [
        [1, 1, 2, 3, 4],
        ["a", "b", "c", "elsewhere", None],
        [None, -100, -3, 0, 1, 7, 100],
        [None, "inf", 0.5, 0.75, 1.999, 2.0],
        [None, "1999-01-01", "2026-01-01", "2026-01-03", "2026-01-05"],
        ["x", "y", None],
    ]
    for _ in range(count):
        yield [tuple(kind[random.integers(len(kind))] for kind in kinds) for _ in range(random.integers(1, 26))]


@dataclass(frozen=True)
class Plans:
    """A table, and plans for questions to it."""

    playground: Playground
    planned: list[Plan]


SETTINGS = [("row", 1, None), ("row", 1, 9), ("who", 1, None), ("who", 1, 4), ("who", 3, None), ("who", 3, 4)]


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda setting: "-".join(map(str, setting)))
def plans(request: pytest.FixtureRequest) -> Iterator[Plans]:
    """A table, and the plans for questions of every kind to it."""
    unit, limit, units = request.param
    with Playground(contract(COLUMNS, unit=unit, limit=limit, units=units), TYPES) as playground:
        dataset = playground.dataset
        queries = [
            *measures(dataset, "size", "size >= 1"),
            dataset.sum("weight"),
            dataset.mean("weight"),
            dataset.mean("day"),
            dataset.variance("size"),
            dataset.correlation("size", "weight"),
            dataset.covariance("weight", "day"),
        ]
        asked: list[Query] = [*queries, *(query.by("place") for query in queries), dataset.histogram("size", 3)]
        asked += [query.where("size > 0 OR day IS NULL").by("place") for query in queries[2:4]]
        counted = [dataset.count(), dataset.count_units(), dataset.sum("size"), dataset.sum("weight")]
        asked += [query.by("place", "day").with_totals() for query in counted]
        asked += [query.groupings(("zone", "place"), ("zone",), ("day",), ()) for query in counted]
        asked += [query.by("zone", "place") for query in counted]
        asked += [query.groupings(("zone", "place"), ("zone",), ("day",), (), rest=True) for query in counted]
        asked += [query.groupings(("zone", "day"), ("zone", "place"), rest=True) for query in counted]
        # A fixed pooling is quicker than the search for the best; a quantile has none.
        has_none = [isinstance(query.question.measure, Quantile) or "zone" in str(query) for query in asked]
        has_none = [one or query.question.sets is not None for one, query in zip(has_none, asked, strict=True)]
        poolings = [None if one else 1 for one in has_none]
        yield Plans(
            playground, [query.plan(1, pooling=pooling) for query, pooling in zip(asked, poolings, strict=True)]
        )


def check_groupings(answering: JointTable, more: list[list[int]], less: list[list[int]]) -> None:
    """Check that all groups of each measured grouping change by no more than the sensitivity together, and that the
    parts of epsilon are all of it."""
    joint_plan = answering.plan
    layout = joint_plan.layout
    cells, others = (np.array([total for (total,) in totals], dtype=object) for totals in (more, less))
    grain = joint_plan.grain * answering.step
    for grouping in joint_plan.measured:
        groups = layout.group_of_cells(grouping).ravel()
        changes: dict[int, int] = {}
        for group, change in zip(groups.tolist(), (cells - others).tolist(), strict=True):
            changes[group] = changes.get(group, 0) + change
        assert sum(map(abs, changes.values())) * grain <= answering.sensitivity
        mechanism = joint_plan.mechanism(grouping)
        assert mechanism.certificate.guarantee == "distance"
        assert mechanism.sensitivity == answering.sensitivity / grain
        assert mechanism.certificate.epsilon == joint_plan.split[grouping]
    assert sum(joint_plan.split.values()) == joint_plan.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("table", sparing(tables(4)), ids=lambda table: f"{len(table)} rows")
def test_no_unit_changes_more_than_the_sensitivity(plans: Plans, table: list[Row]) -> None:
    """Adding or removing all rows of a unit changes all totals together by at most the sensitivity.

    Where the guarantee is the standard one, it changes one of them at most; where the number of units is public, so
    that units are replaced, it changes the sum about the middle by half of it.
    """
    playground = plans.playground
    by_rows = playground.dataset.table.rows_are_units
    fewer = table[1:] if by_rows else [row for row in table if row[0] != 1]
    for plan in plans.planned:
        more, less = playground.totals(plan, table), playground.totals(plan, fewer)
        changes = [abs(b - a) for one, other in zip(more, less, strict=True) for a, b in zip(one, other, strict=True)]
        answering = plan.answering
        if isinstance(answering, QuantileByRank):
            missed = [
                max(
                    abs(b - a)
                    for a, b in zip(rank_misses(one, answering.level), rank_misses(other, answering.level), strict=True)
                )
                for one, other in zip(more, less, strict=True)
            ]
            assert sum(missed) <= answering.sensitivity * answering.level.denominator * answering.row_weight
            continue
        if isinstance(answering, JointTable):
            check_groupings(answering, more, less)
            continue
        assert isinstance(answering, OneNumber | MomentsOfColumns)
        assert sum(changes) * answering.grain <= answering.sensitivity
        if answering.guarantee == "standard":
            assert sum(map(bool, changes)) <= 1
        else:
            step = answering.choice.mechanism.step
            assert answering.choice.mechanism.certificate.guarantee == "distance"
            assert (answering.grain / step).denominator == (answering.sensitivity / step).denominator == 1
        if isinstance(answering, OneNumber) and answering.shift:  # a mean over a public number of units
            assert 2 * sum(changes) * answering.grain <= answering.sensitivity


HALF = Fraction(1, 2)


def losses_of(guarantee: GuaranteeName, pooling: Fraction | None, limit: int, epsilon: Fraction) -> Losses:
    """Return the losses of the mechanism chosen for counts that change by halves, over enough releases."""
    choice = choose(Bounds(0, None, step=HALF), Fraction(limit), epsilon, guarantee, pooling)
    answers = [i * HALF for i in range(4 * limit + 5)]
    return Losses(choice.mechanism, answers, [i * HALF for i in range(8 * limit + 12)])


@pytest.mark.slow
@pytest.mark.parametrize("pooling", [None, Fraction(0), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_losses_add_up_to_epsilon(limit: int, epsilon: Fraction, pooling: Fraction | None) -> None:
    """By definition, however a unit spreads its rows over up to three groups, all answers together lose epsilon."""
    losses = losses_of("distance", pooling, limit, epsilon)
    found = [joint(losses, changes) for changes in [*spreads(2 * limit, 3), (1,) * 2 * limit]]
    assert float(epsilon) * (1 - 1e-6) <= max(found) <= float(epsilon) * (1 + ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "least"), [(Fraction(1), 1.12), (Fraction(5), 1.1)])
def test_the_standard_guarantee_does_not_add_up(epsilon: Fraction, least: float) -> None:
    """The check can fail: by mechanisms of the standard guarantee three groups lose visibly more than epsilon."""
    for pooling in (Fraction(0), None):
        losses = losses_of("standard", pooling, 3, epsilon)
        assert losses.of_change(6, lower=True) <= float(epsilon) * (1 + ROUNDING)
        assert max(joint(losses, changes) for changes in spreads(6, 3)) > least * float(epsilon)


@pytest.mark.parametrize("limit", [1, 3])
def test_a_planned_count_of_groups_loses_epsilon(limit: int) -> None:
    """By the very mechanism that a plan draws from, all ways to spread a unit's rows lose at most epsilon."""
    with Playground(contract(COLUMNS, limit=limit), TYPES) as playground:
        plan = playground.dataset.count().by("place").alone().plan(1)
    answering = plan.answering
    assert isinstance(answering, OneNumber)
    fine = answering.choice.mechanism.step
    assert fine == answering.grain
    grid = [Fraction(i, 4) for i in range(4 * limit + 1)]
    near = sorted({value + i * fine for value in grid for i in (-1, 0, 1)} - {-fine})
    losses = Losses(answering.choice.mechanism, grid, [*near, near[-1] + 10])
    found = [joint(losses, changes) for changes in spreads(4 * limit, 3)]
    assert 1 - 1e-6 <= max(found) <= 1 + ROUNDING


def losses_of_rows(mechanism: Any) -> Losses:
    """Return the losses of a mechanism on whole numbers, from 0 on."""
    whole = [Fraction(i) for i in range(24)]
    return Losses(mechanism, whole[:9], whole)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_a_mean_of_two_sums_loses_epsilon(epsilon: Fraction) -> None:
    """By definition, a row of any value loses at most epsilon in both sums together, and exactly that somewhere.

    Both sums by the standard guarantee would lose more, unless each row is all of one and none of the other.
    """
    columns = '[columns.level]\nbounds = "[0, 4] step 1"\n[columns.yes]\nbounds = "[0, 1] step 1"\n'
    with Playground(contract(columns, unit="row"), "level BIGINT, yes BIGINT") as playground:
        means = [playground.dataset.mean(name).plan(epsilon).answering for name in ("level", "yes")]
        means.append(playground.dataset.proportion("level >= 2").plan(epsilon).answering)
    assert [one.guarantee for one in means] == ["distance", "standard", "standard"]
    bound = float(epsilon) * (1 + ROUNDING)
    for answering, spread in zip(means, (4, 1, 1), strict=True):
        assert isinstance(answering, Ratio)
        assert answering.grain == answering.choice.mechanism.step == 1
        losses = losses_of_rows(answering.choice.mechanism)
        found = [joint(losses, (above, spread - above)) for above in range(spread + 1)]
        assert bound * (1 - 1e-6) <= max(found) <= bound
    for pooling in (Fraction(0), None):
        wrong = choose(Bounds(0, None, step=1), Fraction(4), epsilon, "standard", pooling)
        losses = losses_of_rows(wrong.mechanism)
        assert max(joint(losses, (above, 4 - above)) for above in range(5)) > 1.05 * float(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["mean", "proportion", "mean of days"])
def test_replacing_a_unit_of_a_public_number_loses_epsilon(question: str) -> None:
    """Where the number of units is public, replacing one of them moves the one answer by the sensitivity at most."""
    for unit in ("row", "who"):
        with Playground(contract(COLUMNS, unit=unit, units=4), TYPES) as playground:
            dataset = playground.dataset
            asked = {"mean": dataset.mean("size"), "proportion": dataset.proportion("size >= 1")}
            plan = asked.get(question, dataset.mean("day")).plan(1)
            answering = plan.answering
            assert isinstance(answering, OneNumber)
            others = [(who, "a", 2, 1.0, "2026-01-02", "x") for who in (2, 3, 4)]
            one = [
                (1, "a", size, 1.0, day, "x") for size, day in ((-50, "1999-01-01"), (7, "2030-01-01"), (None, None))
            ]
            found = [playground.totals(plan, [row, *others])[0][0] for row in one]
        assert (max(found) - min(found)) * answering.grain == answering.sensitivity
        assert answering.choice.mechanism.certificate.holds
        assert answering.choice.mechanism.label.epsilon == 1


@pytest.mark.parametrize(
    ("bounds", "kind", "value"),
    [
        pytest.param("[-3, 7] step 1", "BIGINT", str(2**63 - 1)),
        pytest.param("[-3, 7] step 1", "UBIGINT", str(2**64 - 1)),
        pytest.param("[-3, 7] step 1", "HUGEINT", str(-(2**127))),
        pytest.param("[1900-01-01, 9999-12-31]", "TIMESTAMP", "'infinity'"),
        pytest.param("[1900-01-01, 9999-12-31]", "TIMESTAMP_NS", "'1990-01-01'"),
    ],
)
def test_no_row_makes_a_statement_fail(bounds: str, kind: str, value: str) -> None:
    """Whether a statement fails does not depend on a row, for a failure is an answer without noise."""
    columns = f'[columns.place]\nkeys = ["a", "b"]\n[columns.x]\nbounds = "{bounds}"\n'
    with Playground(contract(columns), f"who BIGINT, place VARCHAR, x {kind}") as playground:
        plan = playground.dataset.median("x").where("place = 'a'").plan(1)
        assert len(playground.totals(plan, [])) == 1
        playground.run(f"INSERT INTO t VALUES (1, 'a', {value})")
        assert sum(plan.totals(playground.dataset.engine.run(plan.sql))[0]) == plan.request.weights.one


def test_a_type_that_rows_can_make_fail_is_refused() -> None:
    """A type that cannot be clipped without a row making it fail is refused before there is a charge."""
    columns = '[columns.x]\nbounds = "[-3, 7] step 1"\n'
    with (
        Playground(contract(columns), "who BIGINT, x UHUGEINT") as playground,
        pytest.raises(InvalidQuestion, match="must hold"),
    ):
        playground.dataset.median("x").plan(1)
