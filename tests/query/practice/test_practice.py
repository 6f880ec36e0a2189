"""Practice data: rows made of a contract alone, asked like real ones, free, and marked wherever they are seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.query import Answer, Dataset, Inspection
from inbounds.query.contract.contract import Contract
from inbounds.query.practice.copied_contract import copy_contract
from inbounds.query.practice.practice_engines import PracticeTables, make_tables
from inbounds.query.tables.contract_tables import Tables
from inbounds.results.answer import PRACTICE
from inbounds.results.answer_json import read_answer, write_answer
from tests.helpers.corpus import clinic
from tests.helpers.corpus.derived_columns import DERIVED_COLUMNS
from tests.helpers.corpus.measured import MEASURED
from tests.helpers.corpus.related import RELATED
from tests.helpers.corpus.views import VIEWS
from tests.helpers.engine_places import InParquet
from tests.helpers.infirmary import contract as infirmary

EVERY_KIND = """
[dataset]
name = "shifts"
source = "nowhere.csv"
delimiter = ";"
date_format = "%d.%m.%Y"
unit = "nurse"
max_rows_per_unit = 300
units = 40
key = ["shift"]
whole = ["nurse"]
[columns.minutes]
bounds = "[0, 600] step 15"
duration = "min"
[columns.rest]
bounds = "[0, 5] | [7, 9.5] step 0.5"
[columns.share]
bounds = "[-1, 1]"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
weekdays = "Mon-Fri"
closed = [["2026-08-03", "2026-08-14"], "2026-12-25"]
date_format = "%d/%m/%Y"
[columns.began]
bounds = "[2026-03-01 00:00, 2026-04-30 23:45] step 15min"
[columns.ended]
bounds = "[2026-03-28 00:00, 2026-03-30 23:59:59] step 1s"
timezone = "Europe/Zurich"
[columns.seen]
bounds = "[2026-01-01, 2026-12-31]"
timezone = "America/New_York"
[columns.clock]
bounds = "[06:00, 21:45] step 15min"
[columns.grade]
bounds = "[0, 100] step 1"
keys = [1, 2, 3]
[columns.night]
keys = [true, false]
[columns.region]
keys = ["city", "country"]
[columns.district]
keys = ["old town", "harbour", "hills"]
within = "region"
map = { "old town" = "city", "harbour" = "city", "hills" = "country" }
[columns.street]
keys = [10, 20, 30, 40]
within = "district"
map = { "10" = "old town", "20" = "harbour", "30" = "hills", "40" = "hills" }
[columns.ward]
keys_of = "wards"
[columns.code]
keys_of = "codes"
[columns.remark]
text = true
[columns.half]
from = "CASE WHEN minutes < 240 THEN 'short' ELSE 'long' END"
[known]
zeros = [{ night = true, region = "country" }]
[tables.breaks]
source = "nowhere.csv"
belongs_to = "shifts"
on = { shift_no = "shift" }
key = ["shift_no", "number"]
max_rows_per_unit = 100
[tables.breaks.columns.number]
bounds = "[1, 5] step 1"
keys = [1, 2, 3, 4, 5]
[tables.breaks.columns.length]
bounds = "[5, 60] step 5"
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns.beds]
bounds = "[0, 100] step 1"
[tables.codes]
source = "codes.parquet"
public = true
key = "code"
[budget]
total = 3
ledger = "there/is/none.db"
"""

PEOPLE = """
[dataset]
name = "people"
source = "nowhere.parquet"
unit = "row"
[columns.region]
keys = ["land", "town"]
[columns.sex]
keys = ["f", "m"]
[known]
total = 90
zeros = [{ region = "land", sex = "m" }]
[known.by.region]
land = 30
[budget]
total = 3
"""

CORPUS = [*MEASURED, *DERIVED_COLUMNS, *RELATED, *VIEWS]
SAMPLED = CORPUS[::9]


def write_kinds(folder: Path) -> Path:
    """Write a contract with every kind of column beside its public tables; the private ones are nowhere."""
    import duckdb  # noqa: PLC0415

    (folder / "wards.csv").write_text("ward,beds\na,10\nb,20\nc,35\n", encoding="utf-8")
    with duckdb.connect() as connection:
        rows = "SELECT 'C' || i AS code, i % 7 AS kind FROM range(3000) t(i)"
        connection.execute(f"COPY ({rows}) TO ? (FORMAT parquet)", [str(folder / "codes.parquet")])
    (folder / "shifts.toml").write_text(EVERY_KIND, encoding="utf-8")
    return folder / "shifts.toml"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """A dataset with every kind of column, whose source does not exist."""
    with Dataset.load(write_kinds(tmp_path_factory.mktemp("kinds"))) as dataset:
        yield dataset


def faults(inspection: Inspection) -> list[str]:
    """Return what is wrong with a table by its contract, and those of the others; orphans are told apart."""
    wrong = [f"{name}: {why}" for name, why in inspection.misfits.items()]
    for numbers in inspection.numbers:
        clipped = numbers.below + numbers.above + (numbers.in_gaps or 0) + numbers.missing + (numbers.unread or 0)
        wrong += [f"{numbers}"] if clipped else []
    wrong += [f"{keys}" for keys in inspection.keys if keys.rows or keys.missing or keys.unread]
    wrong += [f"{within}" for within in inspection.within if within.elsewhere or within.nowhere]
    wrong += [f"{known}" for known in inspection.known if not known.agrees]
    units, key, reference = inspection.units, inspection.key, inspection.reference
    if units is not None:
        wrong += [f"{units}"] if units.limit.rows or units.unread else []
        wrong += ["units"] if inspection.public_units not in (None, units.units) else []
        wrong += [f"{units.rows_without} rows of nobody"] if units.rows_without and reference is None else []
    wrong += [f"{key}"] if key is not None and (key.repeated or key.missing or key.shared) else []
    if reference is not None:
        wrong += [f"{reference}"] if reference.missing or reference.several else []
        wrong += ["too many orphans"] if not 0 < reference.unmatched < inspection.rows / 10 else []
    return [*wrong, *inspection.unlinked, *(fault for other in inspection.others for fault in faults(other))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_rows_keep_to_the_contract(tmp_path: Path, kinds: Dataset, seed: int) -> None:
    """Check finds nothing in any table: no value beyond, no unknown key, no orphan but the few that are meant."""
    with clinic.read_only(tmp_path) as visits, infirmary.read_only(tmp_path) as patients:
        for dataset in (visits, patients, kinds):
            with dataset.practice(rows=600, seed=seed) as made:
                inspection = Inspection.of(made)
                assert faults(inspection) == []
                assert all(150 <= table.rows <= 650 for table in (inspection, *inspection.others))


@pytest.mark.slow
def test_check_would_find_rows_that_do_not(kinds: Dataset) -> None:
    """With another contract's bounds and keys the same rows have faults: the comparison is not empty."""
    text = EVERY_KIND.replace("[0, 600] step 15", "[0, 300] step 15").replace("[true, false]", "[true]")
    text = text.replace("[-1, 1]", "[0, 1]").replace('"country"] ', '"country"]')
    narrow = Dataset.parse(text.replace('source = "', f'source = "{kinds.contract.folder}/'), ledger="nowhere.db")
    with kinds.practice(rows=300) as made, narrow.practice(rows=300) as other:
        other.__dict__["engine"], other._others = made.engine, made._others
        found = faults(Inspection.of(other))
    assert {"minutes", "share", "night"} <= {name for name in ("minutes", "share", "night") if name in str(found)}
    narrow.close()


def test_public_facts_hold(tmp_path: Path) -> None:
    """A stated total, numbers by key and impossible combinations are those of the rows."""
    made = make_tables(Tables.of(Contract.parse(PEOPLE, folder=tmp_path)), 500, 3)["people"]
    assert len(made.rows) == 90
    assert sum(row["region"] == "land" for row in made.rows) == 30
    assert not any(row == {"region": "land", "sex": "m"} for row in made.rows)
    assert {(row["region"], row["sex"]) for row in made.rows} == {("land", "f"), ("town", "f"), ("town", "m")}


def test_units_have_rows_up_to_the_limit(kinds: Dataset) -> None:
    """The public number of units is kept, each has a row, keys are unique, and hierarchies hold."""
    made = make_tables(kinds.tables, 300, 0)["shifts"]
    assert len({row["nurse"] for row in made.rows}) == 40
    assert len({row["shift"] for row in made.rows}) == len(made.rows)
    assert {(row["district"], row["region"]) for row in made.rows} == {
        ("old town", "city"), ("harbour", "city"), ("hills", "country")
    }  # fmt: skip
    assert {row["grade"] for row in made.rows} == {1, 2, 3}
    assert all(row["code"].startswith("C") and row["ward"] in "abc" for row in made.rows)
    assert len({row["code"] for row in made.rows}) > 100


def test_the_same_seed_makes_the_same_rows(kinds: Dataset) -> None:
    """Rows follow from contract, number and seed; another seed makes others."""
    first, again, other = (make_tables(kinds.tables, 60, seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_neither_source_nor_ledger_is_opened(kinds: Dataset) -> None:
    """The source does not exist, nor does the ledger: everything is asked all the same, and neither is made."""
    with kinds.practice(rows=200) as made:
        answer = made.sql("SELECT region, AVG(minutes), COUNT(*) FROM shifts GROUP BY region").ask(1, analyst="ana")
        joined = made.sql("SELECT COUNT(*) FROM breaks b JOIN shifts s ON b.shift_no = s.shift WHERE s.night")
        assert joined.ask(1, analyst="ana").practice
        assert made.ledger.balance("shifts").spent == 2
    assert answer.practice
    assert sorted(path.name for path in kinds.contract.folder.iterdir()) == [
        "codes.parquet",
        "shifts.toml",
        "wards.csv",
    ]
    assert "engine" not in kinds.__dict__
    assert kinds.tables.public["codes"].engine is not None
    with kinds.practice(rows=20) as again:  # closing one leaves the dataset, and its public tables, open
        assert again.count().ask(1, analyst="ana").practice


def shape(answer: Answer) -> Any:
    """Return what an answer looks like, whatever its numbers are."""
    released = answer.released
    keys = [tuple(row[place] for place in released.key_places) for row in released.rows]
    return answer.columns, released.columns, keys, answer.covers, answer.confidence, answer.epsilon


@pytest.mark.slow
def test_practice_answers_have_the_shape_of_real_ones(tmp_path: Path) -> None:
    """Columns, groups, order, costs and what intervals cover are those of a real answer, all over the corpus."""
    place = InParquet(tmp_path)
    with clinic.opened(place, "prescribed") as real, real.practice(rows=120) as made:
        for asked in SAMPLED:
            for query, like in ((real.sql(asked.sql), made.sql(asked.sql)), (asked.python(real), asked.python(made))):
                true = query.ask(900, analyst="ana", force=True)
                tried = like.ask(900, analyst="ana", force=True)
                assert shape(true) == shape(tried), asked.sql
                assert (true.practice, tried.practice) == (False, True)
    place.close()


@pytest.mark.slow
def test_no_form_of_an_answer_hides_what_it_is(kinds: Dataset) -> None:
    """Text, HTML, JSON, columns and frames say that rows are made up, also of free answers and other tables."""
    with kinds.practice(rows=50) as made:
        answers = [
            made.sql("SELECT region, COUNT(*) FROM shifts GROUP BY region").ask(1, analyst="ana"),
            made.sql("SELECT DISTINCT region FROM shifts").ask(1, analyst="ana"),
            made.rows_of("breaks").mean("length").ask(1, analyst="ana"),
            made.per_unit(n="COUNT(*)").count().ask(1, analyst="ana"),
            made.sql("SELECT COUNT(*) FROM shifts UNION ALL SELECT COUNT(*) FROM breaks").ask(1, analyst="ana"),
            made.sql("SELECT region, night, COUNT(*) FROM shifts GROUP BY region, night")
            .ask(1, analyst="ana")
            .pivot("region"),
        ]
        owned = made.sql("SELECT COUNT(*) FROM shifts").owned("ana")
    assert owned is not None
    for answer in (*answers, owned):
        assert str(answer).startswith(PRACTICE)
        assert PRACTICE in answer._repr_html_()
        assert write_answer(answer)["practice"] is True
        assert read_answer(write_answer(answer)).practice
        assert answer.released.practice
        assert set(answer.by_column()["practice"]) == {PRACTICE}
    plain = replace(answers[0], practice=False)
    assert PRACTICE not in str(plain) + plain._repr_html_()
    assert "practice" not in plain.by_column()


@pytest.mark.slow
def test_a_copy_of_the_contract_describes_the_same(tmp_path: Path, kinds: Dataset) -> None:
    """Read back, the copy has the same tables, columns and facts; its rows keep to it, and answers are marked."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for contract, tables in (
        (kinds.contract, kinds.tables),
        (Contract.parse(PEOPLE, folder=tmp_path), Tables.of(Contract.parse(PEOPLE, folder=tmp_path))),
    ):
        made = PracticeTables.of(tables, 300, 0)
        text = copy_contract(contract, made.write_parquet(folder))
        (folder / "copy.toml").write_text(text, encoding="utf-8")
        with Dataset.load(folder / "copy.toml") as copy:
            for name, table in tables.private.items():
                other = copy.tables.private[name]
                assert (dict(table.columns), table.known, table.unit, table.limit, table.units, table.key) == (
                    dict(other.columns), other.known, other.unit, other.limit, other.units, other.key
                )  # fmt: skip
                assert (dict(table.identifiers), table.whole) == (dict(other.identifiers), other.whole)
            assert copy.total == copy.contract.content["budget"]["total"] * 10**12
            assert faults(Inspection.of(copy)) == []
            assert copy.count().by("region").ask(1, analyst="ana").practice
        for ledger in folder.glob("copy.ledger*"):
            ledger.unlink()
        made.close()


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"rows": 2.0}, {"rows": 10**7}, {"seed": "x"}, {"seed": 2**64}])
def test_rows_and_seed_are_whole_numbers(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """Anything else is refused with what to give."""
    with (
        clinic.read_only(tmp_path) as dataset,
        pytest.raises(InvalidParameter, match=r"must be a whole number.*; give"),
    ):
        dataset.practice(**wrong)


def test_a_contract_says_true_or_nothing(tmp_path: Path) -> None:
    """Rows are made up or not: `practice = false` could be read as either by people, and is refused."""
    text = PEOPLE.replace('unit = "row"', 'unit = "row"\npractice = false')
    with pytest.raises(InvalidContract, match="practice must be true"):
        Dataset.parse(text, ledger=tmp_path / "l.db")


def test_practice_does_not_change_what_a_question_costs(tmp_path: Path) -> None:
    """The plan on practice data is the plan of the real table: same mechanism, error and epsilon."""
    with clinic.read_only(tmp_path) as dataset, dataset.practice(rows=20) as made:
        (plan,) = made.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").plans(Fraction(1))
        assert plan.epsilon == 1
        assert plan.answering.sensitivity == 3 * 120
