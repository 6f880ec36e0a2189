"""Groups cover every value once, and every one of them is answered, in the order of the contract."""

from __future__ import annotations

import math
import tracemalloc
from bisect import bisect_right
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query, case, column
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.question.group import KeyGroup, by_bins, by_key, cells
from tests.helpers.engine_places import InParquet, planned, totals_of

CONTRACT = """
[dataset]
name = "visits"
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
cost.bounds = "[0, 4] step 1/262144"
cents.bounds = "[0, 1000] step 0.01"
weight.bounds = "[0, 100]"
clinic.keys = ["north", "south"]
smoker.keys = [true, false]
day.bounds = "[2026-01-01, 2026-01-31]"
[columns.many]
keys = MANY
[columns.more]
keys = MANY
[budget]
total = 10
"""
TYPES = {"age": "int", "cost": "float8", "cents": "float8", "clinic": "text", "smoker": "boolean", "day": "date",
         "many": "int", "more": "int", "weight": "float8"}  # fmt: skip
ROW: dict[str, Any] = {"age": 5, "cost": 2.5, "cents": 0.07, "clinic": "south", "smoker": True, "day": date(2026, 1, 9),
                       "many": 7, "more": 8, "weight": 100.0}  # fmt: skip


@pytest.fixture(scope="module")
def visits(files: InParquet) -> Dataset:
    """A table of one row."""
    return files.dataset([ROW], TYPES, CONTRACT.replace("MANY", str(list(range(1000)))))


@given(st.integers(1, 300), st.integers(1, 320))
def test_bins_are_as_equal_as_can_be(values: int, bins: int) -> None:
    """So many bins begin at 0, cover every value, and differ in size by at most one."""
    column = Numbers("x", Bounds(0, values, step=1))
    if bins > values + 1:
        with pytest.raises(InvalidQuestion, match="bins must be from 1 to"):
            by_bins(column, bins)
        return
    starts = by_bins(column, bins).starts
    sizes = [end - start for start, end in zip(starts, [*starts[1:], values + 1], strict=True)]
    assert starts[0] == 0
    assert len(starts) == bins
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(-20, 99), min_size=1, max_size=9, unique=True).map(sorted))
def test_bins_begin_where_they_are_told(begins: list[int]) -> None:
    """Bins begin at the values given, and at the least value, once."""
    found = by_bins(Numbers("x", Bounds(-20, 99, step=1)), begins)
    assert found.starts == tuple(sorted({0, *(begin + 20 for begin in begins)}))
    assert len(found.labels) == found.size


@pytest.mark.parametrize(
    "bins", [0, -1, 1001, 1.5, True, "5", [], [5, 5], [7, 5], [200], ["x"], [None], [float("nan")], {5: 6}, object()]
)
def test_bins_that_cannot_be_are_refused(visits: Dataset, bins: Any) -> None:
    """Bins that are no number, not rising or beyond the bounds are refused."""
    with pytest.raises(InvalidQuestion):
        visits.histogram("age", bins)


SHAPES: list[tuple[Callable[[Dataset], Query], list[Any]]] = [
    (lambda d: d.count().by("clinic"), ["north", "south"]),
    (lambda d: d.count().by("smoker"), [True, False]),
    (lambda d: d.histogram("clinic"), ["north", "south"]),
    (lambda d: d.histogram("age", 3), ["[0, 39]", "[40, 79]", "[80, 120]"]),
    (lambda d: d.histogram("age", [18, 65]), ["[0, 17]", "[18, 64]", "[65, 120]"]),
    (lambda d: d.histogram("age"), list(range(121))),
    (lambda d: d.count().by("day"), [date(2026, 1, day) for day in range(1, 32)]),
    (lambda d: d.histogram("weight", 4), ["[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]"]),
    (lambda d: d.histogram("day", ["2026-01-11"]), ["[2026-01-01, 2026-01-10]", "[2026-01-11, 2026-01-31]"]),
]


@pytest.mark.parametrize(("ask", "labels"), SHAPES)
def test_groups_are_called_by_their_values(visits: Dataset, ask: Callable[[Dataset], Query], labels: list[Any]) -> None:
    """Groups are called by their key, their value, or the ends of their bin."""
    assert ask(visits).question.groups[0].labels == labels


def test_the_greatest_value_is_in_the_last_bin(visits: Dataset) -> None:
    """A value at the upper end is counted in the last bin, whose label is closed there."""
    assert totals_of(visits.histogram("weight", 4)) == [[0], [0], [0], [1]]


WRITTEN: list[tuple[Callable[[Dataset], Query], str]] = [
    (lambda d: d.histogram("weight", 4), "SELECT HISTOGRAM(weight, 4) FROM visits"),
    (lambda d: d.histogram("age", [18, 65]), "SELECT HISTOGRAM(age, [0, 18, 65]) FROM visits"),
    (lambda d: d.histogram("cents", [0.5]), "SELECT HISTOGRAM(cents, [0, 0.5]) FROM visits"),
    (
        lambda d: d.histogram("day", ["2026-01-11"]).by("clinic"),
        "SELECT clinic, HISTOGRAM(day, ['2026-01-01', '2026-01-11']) FROM visits GROUP BY clinic",
    ),
    (
        lambda d: d.histogram("weight", 4).where("age > 3").by("clinic"),
        "SELECT clinic, HISTOGRAM(weight, 4) FROM visits WHERE age > 3 GROUP BY clinic",
    ),
]


@pytest.mark.parametrize(("ask", "text"), WRITTEN)
def test_a_histogram_is_written_as_it_can_be_asked(visits: Dataset, ask: Callable[[Dataset], Query], text: str) -> None:
    """Equal bins are written by their number, others by the values at which they begin, never by steps."""
    question = ask(visits).question
    assert str(question) == text
    if "[" not in text:
        assert str(visits.sql(text).question) == text


def test_every_combination_is_answered(visits: Dataset) -> None:
    """Every combination of groups has its totals, also where no row is, the last column fastest."""
    query = visits.count().by("clinic", "smoker")
    assert planned(query).cells == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert totals_of(query) == [[0], [0], [1], [0]]
    assert cells((KeyGroup(Keys("x", (1, 2))), KeyGroup(Keys("y", ("a",))))) == [(0, 0), (1, 0)]
    assert cells(()) == [()]


def test_too_many_groups_are_refused(visits: Dataset) -> None:
    """More groups than can be answered are refused, as is a column twice or one without few values."""
    with pytest.raises(InvalidQuestion, match="at most 100000 groups, got 1000000"):
        visits.count().by("many", "more")
    with pytest.raises(InvalidQuestion, match="twice"):
        visits.count().by("clinic").by("clinic")
    with pytest.raises(InvalidQuestion, match="twice"):
        visits.histogram("age", 5).by("age")
    for name in ("cost", "cents"):
        with pytest.raises(InvalidQuestion, match="possible values to group by"):
            visits.count().by(name)
    with pytest.raises(InvalidQuestion, match="no column"):
        visits.count().by("nothing")
    with pytest.raises(InvalidQuestion, match="leave bins out"):
        visits.histogram("clinic", 5)
    with pytest.raises(InvalidQuestion):
        by_key(Numbers("x", Bounds(0, 1000, step=1)))


@pytest.mark.parametrize("bins", [None, 5, [1, 2]])
def test_bins_of_a_fine_column_take_no_room(visits: Dataset, bins: Any) -> None:
    """A histogram of a column with very many possible values is planned and written without listing them."""
    tracemalloc.start()
    try:
        query = visits.histogram("cost", bins)
        assert planned(query).sql
        assert str(query.question)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(map(sum, totals_of(query))) == 1
    assert most < 10_000_000


@pytest.mark.parametrize(("bins", "most"), [(1000, 1_000), (list(range(1, 1000)), 60_000)])
def test_a_thousand_bins_share_what_they_can(visits: Dataset, bins: Any, most: int) -> None:
    """The value is computed once for all bins: equal ones take one division, others a comparison of a column each."""
    sql = planned(visits.histogram("cents", bins)).sql
    assert len(sql) < most
    assert sql.count("FLOOR") <= 2


@given(st.integers(1, 2**35), st.integers(1, 1000), st.data())
def test_a_division_of_doubles_finds_equal_bins(last: int, bins: int, data: st.DataObject) -> None:
    """`floor((b v + b - 1) / n)` in doubles is the bin of `v`, also next to where bins begin, in the widest columns."""
    column = Numbers("x", Bounds(0, last, step=1))
    group = by_bins(column, min(bins, last + 1))
    assert group.is_equal
    start = data.draw(st.sampled_from(group.starts))
    for value in {max(start - 1, 0), start, min(start + 1, last), data.draw(st.integers(0, last)), last}:
        found = math.floor((float(value) * float(group.size) + float(group.size - 1)) / float(last + 1))
        assert found == bisect_right(group.starts, value) - 1


def test_edges_of_bins_are_where_they_are_told(files: InParquet) -> None:
    """In a database too, a value is in the bin that it begins, and one just below it in the bin before."""
    text = '[dataset]\nname = "v"\nunit = "row"\n[columns.x]\nbounds = "[0, 100]"\n[budget]\ntotal = 1\n'
    step = 2.0**-21
    starts = [math.floor((100 / step + 1) * number / 7) * step for number in range(1, 7)]
    rows = [{"x": x} for start in starts for x in (start - step, start)]
    hostile = [{"x": x} for x in (-1e300, -0.0, 1e300, float("inf"), float("-inf"), float("nan"), None)]
    dataset = files.dataset([*rows, *hostile], {"x": "float8"}, text)
    found = [total for (total,) in totals_of(dataset.histogram("x", 7))]
    assert found == [1 + 3, 2, 2, 2, 2, 2, 1 + 2]
    assert found == [total for (total,) in totals_of(dataset.histogram("x", starts))]


def test_values_between_possible_ones_are_in_the_group_before(files: InParquet) -> None:
    """Where values are impossible, as closed days are, a row with one is in the group of the last possible before."""
    rows = [{"day": date(2026, 1, day)} for day in (2, 3, 4, 5)]  # Friday to Monday
    text = '[dataset]\nname = "v"\nunit = "row"\n[columns.day]\nbounds = "[2026-01-01, 2026-01-09]"\n'
    text += 'weekdays = "Mon-Fri"\n[budget]\ntotal = 1\n'
    dataset = files.dataset(rows, {"day": "date"}, text)
    query = dataset.histogram("day")
    labels = query.question.groups[0].labels
    found = dict(zip(labels, (total for (total,) in totals_of(query)), strict=True))
    assert found == {**dict.fromkeys(labels, 0), date(2026, 1, 2): 3, date(2026, 1, 5): 1}


@pytest.mark.parametrize("name", ["(age)", "age -- in years", " ( age ) "])
def test_the_text_of_an_expression_may_be_one_column(visits: Dataset, name: str) -> None:
    """What reads as a column by itself is that column."""
    assert str(visits.mean(name)) == str(visits.mean("age"))
    assert str(visits.count().by(name)) == str(visits.count().by("age"))
    assert str(visits.count().where(column(name) > 5)) == str(visits.count().where("age > 5"))


def test_sets_of_columns_are_not_read_from_their_names(files: InParquet) -> None:
    """A grouping by an expression holds, however its text would read: a name may be a word of SQL."""
    text = CONTRACT.replace("MANY", "[1, 2]").replace("age.bounds", "case.bounds")
    types = {name.replace("age", "case"): kind for name, kind in TYPES.items()}
    row = {name.replace("age", "case"): value for name, value in ROW.items()}
    dataset = files.dataset([row], types, text)
    for node in (-column("case"), case((column("cost") > 1, 7), otherwise=7)):
        by_set, grouped = dataset.count().groupings((node,), ()), dataset.count().by(node)
        assert by_set.question.groups == grouped.question.groups


def test_a_derived_column_is_advised_as_it_is_written(visits: Dataset) -> None:
    """Advice and descriptions write a derived column as SQL does, not as a name in quotes."""
    with pytest.raises(InvalidQuestion, match=r"GROUP BY UPPER\(clinic\)$"):
        visits.mean(column("clinic").upper())
    shown = visits.sql("SELECT MONTH(day) AS m, COUNT(*) FROM visits GROUP BY m").explain(1).shown
    assert shown is not None
    assert shown.startswith("MONTH(day) AS m, COUNT(*) (")
