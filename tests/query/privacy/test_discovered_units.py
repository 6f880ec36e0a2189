"""Keys are discovered by units that have them, never by rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
{unit}
max_rows_per_unit = 5
[columns.size]
bounds = "[0, 3] step 1"
[tables.drugs]
source = "drugs.parquet"
unit = "taker"
key = "drug"
max_rows_per_unit = 5
[tables.drugs.columns.dose]
bounds = "[0, 3] step 1"
[budget]
total = 10
delta = 0.01
delta_reserved = 0.009
"""


def opened(folder: Path, unit: str = 'unit = "patient"') -> Dataset:
    """Open a thousand visits of one patient, who says one word, and whose rows have other takers."""
    visits = "SELECT 1 AS patient, i AS taker, i AS drug, 1 AS size, 'secret' AS word FROM range(1000) t(i)"
    duckdb.sql(f"COPY ({visits}) TO '{folder}/visits.parquet'")
    duckdb.sql(f"COPY (SELECT 1 AS taker, i AS drug, 2 AS dose FROM range(1000) t(i)) TO '{folder}/drugs.parquet'")
    (folder / "contract.toml").write_text(CONTRACT.format(unit=unit), encoding="utf-8")
    return Dataset.load(folder / "contract.toml")


@pytest.mark.parametrize("made", [lambda visits: visits.per_unit(n="COUNT(*)"), lambda visits: visits.join("drugs")])
def test_keys_of_made_tables_are_refused(tmp_path: Path, made: Callable[[Dataset], Dataset]) -> None:
    """A table that is made of visits is not taken for the visits with other units; nothing is paid."""
    with opened(tmp_path) as visits:
        with pytest.raises(InvalidQuestion, match="made of tables"):
            made(visits).discover_keys("word", 1, 1e-5, analyst="ana")
        assert visits.ledger.balance("visits").spent == 0
        assert visits.discover_keys("word", 1, 1e-5, analyst="ana").keys == ()


def test_keys_of_rows_that_belong_to_others_are_counted_by_owner(tmp_path: Path) -> None:
    """A column that is called like the unit of another table is not taken for the unit: one owner has all the rows."""
    belongs = 'belongs_to = "drugs"\non = { drug = "drug" }'
    with opened(tmp_path, belongs) as visits:
        assert visits.discover_keys("word", 1, 1e-5, analyst="ana").keys == ()


OWNERS = """
[dataset]
name = "people"
source = "people.parquet"
unit = "person"
[columns.age]
bounds = "[0, 99] step 1"
[tables.stays]
source = "stays.parquet"
unit = "patient"
key = "stay"
max_rows_per_unit = 5
[tables.notes]
source = "notes.parquet"
belongs_to = "stays"
on = { stay = "stay" }
max_rows_per_unit = 5
[budget]
total = 100
delta = 0.01
delta_reserved = 0.009
"""


def owners(folder: Path) -> Dataset:
    """Open stays and their notes: 900 people have a stay in the east, 3 a thousand stays and notes each elsewhere."""
    duckdb.sql(f"COPY (SELECT i AS person, i % 90 AS age FROM range(1000) t(i)) TO '{folder}/people.parquet'")
    stays = (
        "SELECT i AS stay, i AS patient, 'east' AS side FROM range(900) t(i) UNION ALL "
        "SELECT 1000 + i, 900 + i % 3, 'west' FROM range(3000) t(i)"
    )
    duckdb.sql(f"COPY ({stays}) TO '{folder}/stays.parquet'")
    # The column that is called like the unit of stays names others; of a note, its stay tells whose it is.
    notes = (
        f"SELECT stay, stay AS patient, CASE WHEN side = 'east' THEN 'calm' ELSE 'secret' END AS word FROM ({stays}) "
        "UNION ALL SELECT 0, i, 'lonely' FROM range(3000) t(i) UNION ALL SELECT 10 * stay, 1, 'orphan' "
        f"FROM ({stays}) WHERE stay >= 1000"
    )
    duckdb.sql(f"COPY ({notes}) TO '{folder}/notes.parquet'")
    (folder / "contract.toml").write_text(OWNERS, encoding="utf-8")
    return Dataset.load(folder / "contract.toml")


@pytest.mark.parametrize(("table", "column", "keys"), [("stays", "side", ("east",)), ("notes", "word", ("calm",))])
def test_keys_of_other_tables_are_counted_by_owner(
    tmp_path: Path, table: str, column: str, keys: tuple[str, ...]
) -> None:
    """A key that three owners have in thousands of rows stays unknown, one of hundreds of owners is published."""
    with owners(tmp_path) as people:
        found = people.rows_of(table).discover_keys(column, 1, 1e-5, analyst="ana")
        assert found.keys == keys
        assert people.ledger.balance("people").spent > 0
    path = tmp_path / "contract.toml"
    path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
    with Dataset.load(path) as people:
        assert people.rows_of(table).table.columns[column].size == 1


def test_a_unit_counts_for_so_many_keys_and_for_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the owners of notes, the totals of all keys change by at most the given number when one owner leaves."""
    counts: list[dict[str, int]] = []

    def watched(rows: list[tuple[str, int]], *_: object) -> list[str]:
        counts.append({str(key): int(units) for key, units in rows})
        return []

    monkeypatch.setattr("inbounds.query.ask.discovering.discovery._draw_keys", watched)
    with owners(tmp_path) as people:
        for limit in (1, 2):
            people.rows_of("notes").discover_keys("word", 1, 1e-5, analyst="ana", keys_per_unit=limit)
    # The owner of stay 0 has two words, calm and lonely; the first of them counts, or both.  Orphans are nobody's.
    assert counts == [{"calm": 900, "secret": 3}, {"calm": 900, "lonely": 1, "secret": 3}]


def test_units_that_a_collation_holds_for_equal_are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Units whose names differ by case count each for its own key: taken for one, they would change each other's."""
    counts: list[dict[str, int]] = []

    def watched(rows: list[tuple[bytes, int]], *_: object) -> list[str]:
        counts.append({key.decode(): int(units) for key, units in rows})
        return []

    monkeypatch.setattr("inbounds.query.ask.discovering.discovery._draw_keys", watched)
    with duckdb.connect(tmp_path / "visits.duckdb") as database:
        database.execute("CREATE TABLE visits (patient VARCHAR COLLATE NOCASE, size INT, word VARCHAR)")
        database.execute("INSERT INTO visits VALUES ('ana', 1, 'calm'), ('ANA', 1, 'loud')")
    text = CONTRACT.format(unit='unit = "patient"\ntable = "visits"').replace("visits.parquet", "visits.duckdb")
    text = text[: text.index("[tables.drugs]")] + text[text.index("[budget]") :]
    (tmp_path / "contract.toml").write_text(text, encoding="utf-8")
    with Dataset.load(tmp_path / "contract.toml") as visits:
        visits.discover_keys("word", 1, 1e-5, analyst="ana")
    assert counts == [{"calm": 1, "loud": 1}]
