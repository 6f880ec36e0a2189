"""What follows from the contract and public tables alone is exact, and free."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import BudgetExceeded, InvalidQuestion
from inbounds.query import Dataset, UselessQuestion
from inbounds.query.engines.engine import Kind
from tests.helpers.audit_tables import Told, using
from tests.helpers.hospital import OF_WARDS, WARDS, hospital


@pytest.fixture
def stays(tmp_path: Path) -> Iterator[Dataset]:
    """A hospital whose wards are public."""
    with hospital(tmp_path) as found:
        yield found


FREE = [
    (f"SELECT ward, MAX(w.beds) {OF_WARDS} GROUP BY ward", tuple(WARDS.items())),
    (f"SELECT ward, AVG(w.beds) AS b {OF_WARDS} GROUP BY ward", tuple((w, float(b)) for w, b in WARDS.items())),
    (f"SELECT ward, MEDIAN(w.beds * 2) {OF_WARDS} GROUP BY ward", tuple((w, 2 * b) for w, b in WARDS.items())),
    (f"SELECT MIN(w.opened) {OF_WARDS} WHERE s.ward = 'w3'", ((date(2020, 1, 4),),)),
    (f"SELECT MAX(w.beds), MIN(w.beds) {OF_WARDS} WHERE s.ward IN ('w3') AND age > 50", ((25, 25),)),
    ("SELECT AVG(age) FROM stays WHERE age = 40", ((40.0,),)),
    (f"SELECT ward, MAX(w.beds) AS b {OF_WARDS} GROUP BY ward HAVING b > 35 ORDER BY b DESC LIMIT 1", (("w7", 45),)),
    (f"SELECT ward, 2 * MAX(w.beds) AS b {OF_WARDS} WHERE w.beds < 20 AND ward = 'w1' GROUP BY ward", (("w1", 30),)),
]


@pytest.mark.parametrize(("sql", "rows"), FREE)
def test_what_is_the_same_in_its_group_by_public_tables_is_exact_and_free(
    stays: Dataset, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    """It is answered as it is, says that it is public and cost 0, and neither ledger nor rows are touched."""
    using(stays, Told({}, lambda: pytest.fail("a statement was run")))
    query = stays.sql(sql)
    answer = query.ask(1, analyst="ana")
    assert answer.rows == rows
    assert answer.epsilon == 0
    assert not answer.request_id
    assert any("public knowledge" in one for one in answer.warnings)
    assert stays.ledger.statement("stays", "ana").entries == ()
    assert query.owned("ana") == answer
    explained = query.explain(1)
    assert explained.epsilon == 0
    assert explained.parts == ()
    assert explained.useless is None
    assert "public knowledge" in " ".join(str(explained).split())


NAMED = """
[dataset]
name = "stays"
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
size.bounds = "[0, 2]"
gap.bounds = "[0, 10] | [90, 100] step 1"
ward.keys = ["w0", "w1", "w2", "w3"]
floor.bounds = "[0, 9] step 1"
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns]
name.keys = ["Surgery", "Dermatology", "Nobody"]
beds.bounds = "[0, 100] step 1"
[tables.floors]
source = "floors.csv"
public = true
key = "floor"
[tables.floors.columns]
rooms.bounds = "[0, 50] step 1"
[budget]
total = 1000
ledger = "ledger.db"
"""
NAMED_WARDS = "FROM stays s JOIN wards w ON s.ward = w.ward"
LOOSE_WARDS = "FROM stays s LEFT JOIN wards w ON s.ward = w.ward"
FLOORS = "FROM stays s JOIN floors f ON s.floor = f.floor"


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Dataset]:
    """A hospital with several wards of one name, which have the same number of beds."""
    wards = ["w0,Surgery,40", "w1,Dermatology,12", "w2,Surgery,40"]
    (tmp_path / "wards.csv").write_text("\n".join(["ward,name,beds", *wards]) + "\n", encoding="utf-8")
    (tmp_path / "floors.csv").write_text("floor,rooms\n1,20\n2,30\n4,20\n", encoding="utf-8")
    (tmp_path / "stays.toml").write_text(NAMED, encoding="utf-8")
    with Dataset.load(tmp_path / "stays.toml") as found:
        using(
            found,
            Told(
                {"age": Kind.INTEGER, "size": Kind.FLOAT, "gap": Kind.INTEGER, "ward": Kind.TEXT}
                | {"floor": Kind.INTEGER},
                lambda: pytest.fail("a statement was run"),
            ),
        )
        yield found


BY_NAME = (("Surgery", 40), ("Dermatology", 12))
LEFT_ONE = [
    (f"SELECT w.name, MAX(w.beds) {NAMED_WARDS} GROUP BY w.name", BY_NAME),
    (f"SELECT w.name, MAX(w.beds) {LOOSE_WARDS} GROUP BY w.name", BY_NAME),
    (f"SELECT w.name, MAX(2 * w.beds) {NAMED_WARDS} GROUP BY w.name", (("Surgery", 80), ("Dermatology", 24))),
    (f"SELECT MAX(w.beds) {NAMED_WARDS} WHERE w.name = 'Surgery'", ((40,),)),
    (f"SELECT MAX(w.beds) {NAMED_WARDS} WHERE NOT s.ward <> 'w1'", ((12,),)),
    (f"SELECT MAX(w.beds) {NAMED_WARDS} WHERE s.ward IN ('w0', 'w2')", ((40,),)),
    (f"SELECT MAX(f.rooms) {FLOORS} WHERE s.floor = 2", ((30,),)),
    (f"SELECT MAX(f.rooms) {FLOORS} WHERE s.floor > 2", ((20,),)),
    (f"SELECT w.name, PROPORTION(w.beds > 30) {NAMED_WARDS} GROUP BY w.name", (("Surgery", 1), ("Dermatology", 0))),
    (f"SELECT ward, STDDEV(w.beds) {NAMED_WARDS} GROUP BY ward", (("w0", 0), ("w1", 0), ("w2", 0))),
    ("SELECT AVG(age) FROM stays WHERE age BETWEEN 3 AND 3", ((3,),)),
    ("SELECT AVG(age) FROM stays WHERE age <= 0", ((0,),)),
    ("SELECT AVG(2 * age) FROM stays WHERE NOT age <> 3", ((6,),)),
    ("SELECT VARIANCE(age) FROM stays WHERE age = 3", ((0,),)),
    ("SELECT PROPORTION(age > 5) FROM stays WHERE age = 7", ((1,),)),
    ("SELECT PROPORTION(age > 5) FROM stays WHERE age > 6", ((1,),)),
    ("SELECT AVG(size) FROM stays WHERE size = 0.1", ((0.1,),)),
]


@pytest.mark.parametrize(("sql", "rows"), LEFT_ONE)
def test_what_is_left_one_value_is_exact_and_free(
    named: Dataset, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    """A column of which the condition and public tables leave one value has it, however that is asked for."""
    answer = named.sql(sql).ask(1, analyst="ana")
    assert answer.rows == rows
    assert answer.epsilon == 0


LEFT_SEVERAL = [
    f"SELECT MAX(w.beds) {NAMED_WARDS} WHERE w.name <> 'Nobody'",
    f"SELECT MAX(w.beds) {NAMED_WARDS} WHERE s.ward IN ('w0', 'w1')",
    f"SELECT w.name, MAX(w.beds + age) {NAMED_WARDS} GROUP BY w.name",
    f"SELECT MAX(f.rooms) {FLOORS} WHERE s.floor < 3",
    f"SELECT PROPORTION(w.beds > 30) {LOOSE_WARDS}",
    f"SELECT s.ward, PROPORTION(w.beds > 30) {LOOSE_WARDS} GROUP BY s.ward",
    "SELECT AVG(age) FROM stays WHERE age <= 1",
    "SELECT MEDIAN(gap) FROM stays WHERE gap = 30",  # values in a gap stay there, and no answer is one
    "SELECT AVG(COALESCE(age, 5)) FROM stays WHERE age = 3 OR age IS NULL",
    "SELECT PROPORTION(age > 5) FROM stays",
    "SELECT PROPORTION(age >= 0) FROM stays",
    "SELECT ward, STDDEV(age) FROM stays GROUP BY ward",
]


@pytest.mark.parametrize("sql", LEFT_SEVERAL)
def test_what_may_have_several_values_is_not_public(named: Dataset, sql: str) -> None:
    """Where another value can be, or a missing one that counts, nothing is said to be public."""
    assert named.sql(sql).explain(1).epsilon == 1


def test_public_quantiles_are_told_apart_by_their_levels(named: Dataset) -> None:
    """Several quantiles of a column have names of their own, as private ones have."""
    answer = named.sql("SELECT QUANTILES(age, 0.1, 0.9), MEDIAN(age) FROM stays WHERE age = 7").ask(1, analyst="ana")
    assert answer.columns == ("quantile_0.1_age", "quantile_0.9_age", "median_age")
    assert answer.rows == ((7, 7, 7),)


PAID = [
    f"SELECT MAX(w.beds) {OF_WARDS}",
    f"SELECT MAX(w.beds) {OF_WARDS} WHERE s.ward IN ('w1', 'w2')",
    f"SELECT MAX(w.beds) {OF_WARDS} WHERE s.ward = 'w1' OR age > 50",
    f"SELECT ward, SUM(w.beds) {OF_WARDS} GROUP BY ward",
    f"SELECT ward, MAX(w.beds + age) {OF_WARDS} GROUP BY ward",
    "SELECT AVG(age) FROM stays WHERE age >= 40",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", PAID)
def test_what_the_rows_decide_is_paid_for(stays: Dataset, sql: str) -> None:
    """Where a group may have several values, which of them occur is private."""
    answer = stays.sql(sql).ask(1, analyst="ana")
    assert answer.epsilon == 1
    assert answer.public == ()


def test_a_public_divisor_is_exact(stays: Dataset) -> None:
    """Stays a bed are the released stays over the beds of the ward, with their interval and noise, for one price."""
    both = f"SELECT ward, COUNT(*) AS n, COUNT(*) / MAX(w.beds) AS r, MAX(w.beds) AS b {OF_WARDS} GROUP BY ward"
    answer = stays.sql(both).ask(1, analyst="ana", request_id="r")
    plain = stays.sql(f"SELECT ward, COUNT(*) {OF_WARDS} GROUP BY ward").ask(1, analyst="ana", request_id="r")
    for (ward, count), shown, of_count, of_all, noise, noises in zip(
        plain.rows, answer.rows, plain.intervals, answer.intervals, plain.noise, answer.noise, strict=True
    ):
        beds = WARDS[ward]
        assert shown == (ward, count, float(Fraction(count, beds)), beds)
        assert of_count[0] is not None
        assert of_all[1] == tuple(float(Fraction(end) / beds) for end in of_count[0])
        assert of_all[2] == (beds, beds)
        assert noise[0] is not None
        assert noises == pytest.approx((noise[0], noise[0] / beds, 0))
    assert answer.public == ("b",)
    assert stays.ledger.balance("stays").spent == 1, "the public column costs nothing, and is no other question"


def test_beside_public_columns_the_others_have_all_of_epsilon(stays: Dataset) -> None:
    """A mixture pays for what is private only, and weights of public columns count for nothing."""
    query = stays.sql(f"SELECT ward, AVG(age), MAX(w.beds), COUNT(DISTINCT patient) {OF_WARDS} GROUP BY ward")
    assert [plan.epsilon for plan in query.plans(1)] == [Fraction(1, 2)] * 2
    assert [plan.epsilon for plan in query.plans(1, weights=[1, 5, 3])] == [Fraction(1, 4), Fraction(3, 4)]
    answer = query.ask(1, analyst="ana", weights=[1, 5, 3])
    assert answer.epsilon == 1
    assert answer.public == ("max_beds",)
    assert answer.columns == ("ward", "mean_age", "max_beds", "units")


def test_public_columns_are_known_by_the_names_that_they_have(stays: Dataset) -> None:
    """What is shown in Python is computed from public columns as from others, for nothing."""
    joined = stays.join("wards", on="ward")
    both = joined.together(joined.count(), joined.maximum("beds")).by("ward")
    answer = (
        both.select(per_bed="count / max_beds").order_by("max_beds", descending=True).limit(1).ask(1, analyst="ana")
    )
    assert [row[0] for row in answer.rows] == ["w7"]
    assert answer.public == ()
    free = joined.maximum("beds").by("ward").having("max_beds > 40").ask(1, analyst="ana")
    assert free.rows == (("w7", 45),)


def test_public_answers_are_free_where_nothing_is_left(tmp_path: Path) -> None:
    """Who has no budget left is still told what everybody knows."""
    with hospital(tmp_path) as stays:
        stays.sql("SELECT AVG(age) FROM stays").ask(1000, analyst="ana")
        with pytest.raises(BudgetExceeded):
            stays.sql(PAID[0]).ask(1, analyst="ana")
        assert stays.sql(f"SELECT MAX(w.beds) {OF_WARDS} WHERE s.ward = 'w1'").ask(1, analyst="ana").value == 15


RULED_OUT = [
    "SELECT AVG(age) FROM stays WHERE age = 65 AND age = 60",
    "SELECT AVG(age) FROM stays WHERE age = 65 AND age > 70",
    "SELECT AVG(age) FROM stays WHERE age = 65 AND age IS NULL",
    f"SELECT MAX(w.beds) {OF_WARDS} WHERE s.ward = 'w1' AND w.beds > 20",
]


@pytest.mark.parametrize("sql", RULED_OUT)
def test_nothing_is_public_of_rows_that_cannot_be(stays: Dataset, sql: str) -> None:
    """A contradiction is refused for what is public as for the rest, and who insists is told no value, for nothing."""
    query = stays.sql(sql)
    with pytest.raises(UselessQuestion, match="no row can meet"):
        query.ask(1, analyst="ana")
    assert query.owned("ana") is None
    assert "no row can meet" in str(query.explain(1).useless)
    forced = query.ask(1, analyst="ana", force=True)
    assert forced.epsilon == 0
    assert all(row[-1] is None for row in forced.rows)


def test_where_no_group_is_left_nothing_is_listed(stays: Dataset) -> None:
    """A condition on a public table that rules out every group is refused, as any other that does."""
    with pytest.raises(InvalidQuestion, match="no group by ward can meet the condition"):
        stays.sql(f"SELECT s.ward, MAX(w.beds) {OF_WARDS} WHERE w.beds > 50 GROUP BY s.ward").ask(1, analyst="ana")


@pytest.mark.parametrize("more", ["", ", COUNT(*)"])
def test_groups_that_a_condition_on_a_public_table_rules_out_are_not_listed(stays: Dataset, more: str) -> None:
    """Public values are shown of the groups that can have rows, also beside what is paid for."""
    sql = f"SELECT s.ward, MAX(w.beds){more} {OF_WARDS} WHERE w.beds > 30 GROUP BY s.ward"
    rows = stays.sql(sql).ask(1, analyst="ana").rows
    assert [row[:2] for row in rows] == [(ward, beds) for ward, beds in WARDS.items() if beds > 30]


def test_a_key_that_a_public_table_does_not_know_is_no_group_of_a_join(tmp_path: Path) -> None:
    """No row of it is left, so nothing is said of it."""
    with hospital(tmp_path, lost=("w2",)) as stays:
        answer = stays.sql(f"SELECT ward, MAX(w.beds) {OF_WARDS} GROUP BY ward").ask(1, analyst="ana")
    assert dict(answer.rows) == {ward: beds for ward, beds in WARDS.items() if ward != "w2"}


def test_a_key_that_a_public_table_does_not_know_has_no_value(tmp_path: Path) -> None:
    """Where rows without a match stay, nothing is public of them, and nothing is said."""
    with hospital(tmp_path, lost=("w2",)) as stays:
        sql = "SELECT ward, MAX(w.beds) FROM stays s LEFT JOIN wards w ON s.ward = w.ward GROUP BY ward"
        answer = stays.sql(sql).ask(1, analyst="ana")
    assert dict(answer.rows) == {**WARDS, "w2": None}
    assert answer.noise[2] == (None,)
    assert answer.intervals[2] == (None,)


@pytest.mark.parametrize("rows", [0, 900])
def test_what_is_public_is_the_same_whatever_the_rows_hold(tmp_path: Path, rows: int) -> None:
    """An empty table has the same public answers, word for word."""
    with hospital(tmp_path, rows=rows) as stays:
        for sql, expected in FREE:
            answer = stays.sql(sql).ask(1, analyst="ana")
            assert answer.rows == expected
            assert answer.epsilon == 0


def test_known_numbers_of_rows_are_free_beside_a_mean(tmp_path: Path) -> None:
    """A count that the contract tells is exact, and the mean beside it has all of epsilon."""
    contract = """
[dataset]
name = "visits"
unit = "row"
[columns.size]
bounds = "[0, 10]"
[columns.sex]
keys = ["f", "m"]
[known]
total = 90
[known.by.sex]
f = 40
m = 50
[budget]
total = 10
"""
    with Dataset.parse(contract, ledger=tmp_path / "ledger.db") as visits:
        using(visits, Told({"size": Kind.FLOAT, "sex": Kind.TEXT}, list))
        answer = visits.sql("SELECT sex, COUNT(*), AVG(size) FROM visits GROUP BY sex").ask(1, analyst="ana")
        assert [row[:2] for row in answer.rows] == [("f", 40), ("m", 50)]
        assert answer.public == ("count",)
        assert answer.epsilon == 1
        assert visits.count().where("size > 5").ask(1, analyst="ana").epsilon == 1, "of some rows nothing is known"
