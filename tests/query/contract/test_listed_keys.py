"""Keys in files, and keys beside bounds: what a contract may say of them, and what a ledger keeps of that."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from inbounds.errors import InvalidContract, InvalidQuestion, LedgerConflict
from inbounds.query import Dataset
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.contract.listed_keys import MOST_FOUND, MOST_KEYS
from inbounds.query.tables.contract_columns import MOST_LISTED

CONTRACT = """
[dataset]
name = "visits"
unit = "row"
[columns.icd]
COLUMN
[budget]
total = 100
"""
FROM_FILE = 'keys = "icd.csv"\nkeys_column = "code"'


def load(folder: Path, column: str, content: str | None = None, **options: object) -> Dataset:
    """Return the dataset of a contract with one column, beside a file of keys."""
    if content is not None:
        (folder / "icd.csv").write_text(content, encoding="utf-8")
    (folder / "visits.toml").write_text(CONTRACT.replace("COLUMN", column), encoding="utf-8")
    return Dataset.load(folder / "visits.toml", **options)  # type: ignore[arg-type]


def many(count: int, last: str = "") -> str:
    """Return a file of many keys."""
    return "title,code\n" + "".join(f"t,K{number:06d}\n" for number in range(count)) + last


def test_a_file_may_list_as_many_keys_as_there_are_codes(tmp_path: Path) -> None:
    """A column of a public file, which the contract names, lists up to 100,000 keys in their order."""
    icd = load(tmp_path, FROM_FILE, many(MOST_KEYS)).table.column("icd")
    assert isinstance(icd, Keys)
    assert MOST_KEYS == 100_000 == len(icd.keys)
    assert icd.keys[::99_999] == ("K000000", "K099999")
    with pytest.raises(InvalidContract, match=r"line 6: keys must be a list of 1 to 100,000 .*, got 100,001 of them"):
        load(tmp_path, FROM_FILE, many(MOST_KEYS + 1))


@pytest.mark.parametrize(
    ("column", "content", "why"),
    [
        (FROM_FILE, None, "line 6: cannot read 'icd.csv'; list the keys in"),
        (FROM_FILE, "icd,title\nA00,t\n", "line 7: keys_column must name one column of 'icd.csv', got 'code'; it"),
        (FROM_FILE, "code,code\nA00,t\n", "line 7: keys_column must name one column of 'icd.csv'"),
        (FROM_FILE, "code,title\nA00,a\nB00,b\nA00,c\n", "keys must differ from each other, and 'A00' is there twice"),
        (FROM_FILE, "code,title\nA00,a\n,b\n", "keys must not be empty, and row 3 of 'icd.csv' has nothing"),
        ('keys = "icd.csv"', "code,title\nA00,a\n", "must have a column 'icd', or only one; say which with"),
        (f'{FROM_FILE}\nbounds = "[1, 5] step 1"', "code\n1\n2.5\n", "must be whole numbers, and 'icd.csv' has '2.5'"),
    ],
)  # fmt: skip
def test_a_file_that_lists_no_keys_is_refused(tmp_path: Path, column: str, content: str | None, why: str) -> None:
    """A file or a column that is missing, a key that is there twice or empty: each is told, with the line."""
    with pytest.raises(InvalidContract) as refusal:
        load(tmp_path, column, content)
    assert why in str(refusal.value)


def test_the_remedy_for_several_columns_is_accepted(tmp_path: Path) -> None:
    """What the refusal of a file with several columns says to write is read."""
    with pytest.raises(InvalidContract) as refusal:
        load(tmp_path, 'keys = "icd.csv"', "code,title\nA00,a\n")
    remedy = str(refusal.value).partition("say which with ")[2].partition(", or")[0]
    assert load(tmp_path, f'keys = "icd.csv"\n{remedy}').table.column("icd").size == 1


def test_terms_hold_a_digest_of_the_list(tmp_path: Path) -> None:
    """Of a long list a ledger keeps how it begins and a digest, another one for a list that differs in one key."""
    terms = [dict(load(tmp_path, FROM_FILE, many(5000, last)).terms)["column icd"] for last in ("t,X\n", "t,Y\n")]
    assert all(len(text) < 200 and text.startswith("keys 'K000000', 'K000001'") for text in terms)
    assert terms[0] != terms[1]


def test_short_lists_are_described_as_ever(tmp_path: Path) -> None:
    """What was recorded of a list before keys were read from long files is what is recorded now."""
    assert dict(load(tmp_path, 'keys = ["a", "b"]').terms)["column icd"] == "keys 'a', 'b'"
    assert dict(load(tmp_path, 'bounds = "[1, 5] step 1"').terms)["column icd"] == "[1, 5] step 1"
    both = load(tmp_path, 'bounds = "[1, 5] step 1"\nkeys = [1, 3]')
    assert dict(both.terms)["column icd"] == "[1, 5] step 1, keys 1, 3"


def test_another_list_is_another_contract(tmp_path: Path) -> None:
    """A ledger that knows one list refuses another, and the same request about another list is not the same."""
    frame, ledger = pl.DataFrame({"icd": ["K000001"]}), tmp_path / "ledger.db"
    first = load(tmp_path, FROM_FILE, many(MOST_FOUND + 1), frame=frame, ledger=ledger)
    first.count().ask(1, analyst="ana")
    other = load(tmp_path, FROM_FILE, many(MOST_FOUND + 1, "t,X\n"), frame=frame, ledger=ledger)
    assert first.identity != other.identity
    with pytest.raises(LedgerConflict):
        other.count().ask(1, analyst="ana")


def test_a_column_has_keys_beside_bounds(tmp_path: Path) -> None:
    """A number is grouped by its keys, and averaged within its bounds; whole keys alone have no average."""
    rows = pl.DataFrame({"icd": [1, 1, 2, 5, 5, 3, 9]})
    both = load(tmp_path, 'bounds = "[1, 5] step 1"\nkeys = [5, 1, 2]', frame=rows, ledger=tmp_path / "l.db")
    column = both.table.column("icd")
    assert isinstance(column, Numbers)
    query = both.sql("SELECT icd, AVG(icd), COUNT(*) FROM visits GROUP BY icd")
    assert [row[0] for row in query.ask(50, analyst="ana").rows] == [5, 1, 2]
    alone = load(tmp_path, "keys = [5, 1, 2]", frame=rows, ledger=tmp_path / "m.db")
    with pytest.raises(InvalidQuestion, match="give it bounds beside its keys in the contract"):
        alone.sql("SELECT AVG(icd) FROM visits")


def test_so_many_keys_may_stand_beside_bounds(tmp_path: Path) -> None:
    """As many keys as may stand beside bounds can be grouped by."""
    keys = list(range(0, 2 * MOST_LISTED, 2))
    rows = pl.DataFrame({"icd": [0, 2, 2, 3]})
    dataset = load(tmp_path, f'bounds = "[0, 1000] step 1"\nkeys = {keys}', frame=rows, ledger=tmp_path / "l.db")
    answer = dataset.count().by("icd").ask(50, analyst="ana")
    assert [row[0] for row in answer.rows] == keys
    assert [row[1] for row in answer.rows[:3]] == [1, 2, 0]
