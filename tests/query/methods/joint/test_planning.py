"""How questions about groups become tables: what a statement tells apart, what is measured, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.joint.planning import finest_groups
from inbounds.query.methods.method import OneNumber
from inbounds.query.question.measure import Count, Sum
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, TYPES

SCHOOLS = """
[columns.school]
keys = ["s", "t"]
within = "region"
map = { s = "city", t = "land" }
"""


@pytest.fixture(params=[("row", 1, None), ("who", 3, 45)], ids=["rows", "units"])
def towns(request: pytest.FixtureRequest) -> Iterator[Playground]:
    """A table without rows."""
    unit, limit, units = request.param
    text = contract(COLUMNS + SCHOOLS, unit=unit, limit=limit, units=units)
    with Playground(text, f"{TYPES}, school VARCHAR") as found:
        yield found


def test_only_the_finest_cells_leave_the_engine(towns: Playground) -> None:
    """Whatever sets are asked for, there is one statement, that of the finest groups alone."""
    dataset = towns.dataset
    plain = dataset.count().by("street", "sex").plan(1).sql
    for sets in (
        [("region", "district", "street", "sex"), ("region", "district"), ("sex",), ()],
        [("street", "sex")],
        [("street",), ("sex",)],
        [("region",), ("street", "sex")],
    ):
        query = dataset.count().groupings(*sets)
        places = [group.column.name for group in finest_groups(query.question)]
        assert sorted(places) == ["sex", "street"]
        (plan,) = query.plans(1)
        assert "region" not in plan.sql
        assert "district" not in plan.sql
        assert places != ["street", "sex"] or plan.sql == plain
        assert len(plan.cells) == 4 * 2


def test_columns_that_lie_beside_each_other_in_a_third(towns: Playground) -> None:
    """Where two finest columns lie in a third that is asked for, it is refused by name; without it, or alone, not."""
    dataset = towns.dataset
    with pytest.raises(InvalidQuestion, match="two of the columns grouped by lie within region"):
        dataset.count().by("region", "district", "school").plan(1)
    assert len(dataset.count().by("district", "school").plan(1).rows) == 6
    alone = dataset.count().by("region", "district", "school").alone().plan(1)
    assert len(alone.rows) == 3  # harbour and old town with s, hills with t


def test_each_cell_is_alone_only_if_that_is_asked(towns: Playground) -> None:
    """Counts and sums by group are tables that add up; alone, or with a pooling, they are not, in whatever order they
    are planned."""
    dataset = towns.dataset
    for query in (dataset.count().by("sex"), dataset.sum("size").by("sex")):
        assert isinstance(query.plan(1).answering, JointTable)
        assert isinstance(query.alone().plan(1).answering, OneNumber)
        assert isinstance(query.plan(1).answering, JointTable)
        assert isinstance(query.plan(1, pooling=1).answering, OneNumber)
    assert isinstance(dataset.count().plan(1).answering, OneNumber)


def test_counts_and_sums_with_totals_are_tables_of_their_own(towns: Playground) -> None:
    """With totals, a count and a sum that would share their totals have a part of epsilon each; a mean is refused."""
    query = towns.dataset.sql("SELECT COUNT(*), SUM(size) FROM visits GROUP BY ROLLUP(sex)")
    assert [question.measure for question in query.questions] == [Count(), Sum(ColumnRef("size"))]
    assert [plan.epsilon for plan in query.plans(1, weights=[1, 3])] == [Fraction(1, 4), Fraction(3, 4)]
    for measured in ("AVG(size)", "COUNT(*), AVG(size)", "MEDIAN(size)", "PROPORTION(size > 1)"):
        with pytest.raises(InvalidQuestion, match="other totals need COUNT"):
            towns.dataset.sql(f"SELECT {measured} FROM visits GROUP BY ROLLUP(sex)").plans(1)
    with pytest.raises(InvalidQuestion, match="pooling does not apply to a table with totals"):
        towns.dataset.sql("SELECT COUNT(*) FROM visits GROUP BY ROLLUP(sex)").plans(1, pooling=1)


def test_the_parts_of_epsilon_add_up(towns: Playground) -> None:
    """Every grouping that is measured has a part, and all parts are epsilon, exactly."""
    for text in ("CUBE(district, sex)", "ROLLUP(region, district, street)", "district", "GROUPING SETS (sex, street)"):
        (plan,) = towns.dataset.sql(f"SELECT COUNT(*) FROM visits GROUP BY {text}").plans(Fraction(3, 8))
        assert isinstance(plan.answering, JointTable)
        assert sum(plan.answering.plan.split.values()) == Fraction(3, 8)
        assert all(part > 0 for part in plan.answering.plan.split.values())


def test_an_explanation_shows_the_split_and_the_errors(towns: Playground) -> None:
    """Each grouping is named with its part of epsilon and its predicted error, and the cost is that of all together."""
    query = towns.dataset.sql("SELECT COUNT(*) FROM visits GROUP BY ROLLUP(region, district)")
    (plan,) = query.plans(1)
    assert isinstance(plan.answering, JointTable)
    found = query.explain(1)
    (part,) = found.parts
    joint = plan.answering.plan
    measured, added = part.mechanism.split("Added up from these, not measured: ")
    for rows in plan.answering.rows:
        if rows.grouping in joint.split:
            assert f"{rows.title} at {float(joint.split[rows.grouping]):.4g}" in measured
        else:
            assert rows.title in added
        assert f"{joint.error(rows.grouping):.4g} in {rows.title}" in part.expected_noise
    text = str(found)
    assert "answers         6, at ε = 1 together" in text
    assert "each at ε" not in text
    assert max(map(len, text.split("\nstatement\n", maxsplit=1)[0].splitlines())) <= 80


@pytest.mark.slow
def test_a_hierarchy_has_no_more_cells_than_its_finest_column() -> None:
    """How many groups there are is counted in possible cells, so that a deep hierarchy of many keys can be asked."""
    keys = [f"k{i}" for i in range(1000)]
    pairs = ", ".join(f'{key} = "{key[:2]}"' for key in keys)
    columns = f"""
[columns.top]
keys = {[f"k{i}" for i in range(10)]}
[columns.fine]
keys = {keys}
within = "top"
map = {{ {pairs} }}
[columns.finest]
keys = {keys}
within = "fine"
map = {{ {", ".join(f'{key} = "{key}"' for key in keys)} }}
"""
    with Playground(contract(columns, unit="row"), "top VARCHAR, fine VARCHAR, finest VARCHAR") as playground:
        query = playground.dataset.count().by("top", "fine", "finest")
        assert len(query.plan(1).rows) == 1000


def test_the_rows_of_all_sets_have_a_limit() -> None:
    """Too many cells are refused, and so are sets that are small each and too many together."""
    columns = (
        f"[columns.a]\nkeys = {list(range(300))}\n[columns.b]\nkeys = {list(range(300))}\n[columns.c]\nkeys = [1, 2]\n"
    )
    with Playground(contract(columns, unit="row"), "a BIGINT, b BIGINT, c BIGINT") as playground:
        asked = playground.dataset.count()
        assert len(asked.groupings(("a", "b")).question.rows) == 90_000
        with pytest.raises(InvalidQuestion, match="at most 100000 groups, got 180000; group by fewer columns"):
            asked.by("a", "b", "c")
        with pytest.raises(InvalidQuestion, match="at most 100000 groups, got 180000"):
            asked.groupings(("a", "c"), ("b", "c"), ("a", "b"), ("a", "b", "c"))
