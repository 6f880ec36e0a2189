"""What is public of the rows over the row limit: read, refused where it cannot be used, and among the terms."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset, Inspection
from inbounds.query.contract.over_limit import OverLimit
from tests.helpers.audit_tables import contract

COLUMNS = '[columns.size]\nbounds = "[0, 100] step 1"\n'


def read(facts: str, limit: int = 4) -> OverLimit | None:
    """Return what a contract with these facts says."""
    text = contract(f"{COLUMNS}[known]\nover_limit = {{ {facts} }}\n", limit=limit)
    with Dataset.parse(text) as visits:
        return visits.table.known.over_limit


@pytest.mark.parametrize(
    ("facts", "units", "rows"),
    [
        ("limit = 4, units = 40, rows = 900", 40, 900),
        ("limit = 3, rows = 900", 900, 900),
        ("limit = 4, units = 40", 40, None),
        ("limit = 4, units = 40, most_per_unit = 14", 40, 400),
        ("limit = 4, units = 40, rows = 300, most_per_unit = 14", 40, 300),
        ("limit = 4, units = 40, rows = 30", 30, 30),
        ("limit = 4, units = 0", 0, 0),
        ("limit = 4, rows = 0", 0, 0),
    ],
)
def test_facts_are_put_together(facts: str, units: int, rows: int | None) -> None:
    """A unit with more rows has one row over the limit at least, and as many at most as it can have more."""
    over = read(facts)
    assert over is not None
    assert (over.units, over.rows) == (units, rows)


def test_an_old_contract_says_nothing() -> None:
    """Without the section nothing is known."""
    with Dataset.parse(contract(COLUMNS, limit=4)) as visits:
        assert visits.table.known.over_limit is None
        assert "public facts" not in visits.terms


BAD = [
    ("rows = 900", "limit is missing in"),
    ("limit = 0, rows = 900", "limit must be a whole number from 1 on"),
    ("limit = 5, rows = 900", "max_rows_per_unit is 4, which cuts more; state it for a limit of 4"),
    ("limit = 4", "write it like over_limit = { limit = 4, units = 40, rows = 900 }"),
    ("limit = 4, rows = -1", "rows must be a whole number from 0 to 2^50"),
    ("limit = 4, rows = 1.5", "rows must be a whole number from 0 to 2^50"),
    ("limit = 4, units = true", "units must be a whole number from 0 to 2^50"),
    ("limit = 4, rows = 9, most_per_unit = 20", "most_per_unit goes with units"),
    ("limit = 4, units = 9, most_per_unit = 3", "most_per_unit must be 4 or more"),
    ("limit = 4, row = 9", "did you mean rows"),
]


@pytest.mark.parametrize(("facts", "told"), BAD)
def test_what_cannot_be_used_is_refused(facts: str, told: str) -> None:
    """The refusal names the line, what was received, and what to write."""
    with pytest.raises(InvalidContract, match="line ") as refusal:
        read(facts)
    assert told in str(refusal.value)


def test_rows_that_are_units_are_over_no_limit() -> None:
    """Where each row is a unit of its own, there is no limit to be over."""
    text = contract(f"{COLUMNS}[known.over_limit]\nlimit = 1\nrows = 0\n", unit="row")
    with pytest.raises(InvalidContract, match="no row is over a limit; leave over_limit out"):
        Dataset.parse(text)


SHOP = """
[dataset]
name = "people"
source = "people.parquet"
unit = "who"
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 5
[tables.visits]
source = "visits.parquet"
max_rows_per_unit = 3
[tables.visits.columns.size]
bounds = "[0, 9] step 1"
[tables.visits.known.over_limit]
limit = 2
rows = 5
"""


def test_each_private_table_has_its_own(tmp_path: Path) -> None:
    """Another private table says it under its own name, and none of the other facts; a public table says nothing."""
    with Dataset.parse(SHOP) as people:
        assert people.table.known.over_limit is None
        assert people.tables.others["visits"].known.over_limit == OverLimit(2, 5, 5)
        assert '"rows": 5' in people.terms["table visits: public facts"]
    with pytest.raises(InvalidContract, match="unknown key 'total'"):
        Dataset.parse(f"{SHOP}[tables.visits.known]\ntotal = 4\n")
    duckdb.sql(f"COPY (SELECT 1 AS size) TO '{tmp_path}/visits.parquet'")
    public = SHOP.replace("max_rows_per_unit = 3", "public = true").replace(
        "visits.parquet", f"{tmp_path}/visits.parquet"
    )
    with pytest.raises(InvalidContract, match="unknown key 'known'"):
        Dataset.parse(public)


def test_other_facts_are_other_terms() -> None:
    """The ledger tells contracts apart by them: intervals follow from them."""
    texts = [f"{COLUMNS}[known.over_limit]\nlimit = 4\nrows = {rows}\n" for rows in (5, 6)]
    one, other = (Dataset.parse(contract(text, limit=4)).terms for text in texts)
    assert one.digest != other.digest


def test_check_shows_what_is_not_so(tmp_path: Path) -> None:
    """The custodian sees beside each of them how many there are; at most so many may be there."""
    duckdb.sql(
        "COPY (SELECT i AS who, 1 AS size FROM range(10) t(i), range(5) s(j) WHERE j < 2 OR i < 3) "
        f"TO '{tmp_path}/v.parquet'"
    )
    text = contract(f"{COLUMNS}[known.over_limit]\nlimit = 2\nunits = 3\nrows = 8\n", limit=3)
    text = text.replace('unit = "who"', f'unit = "who"\nsource = "{tmp_path}/v.parquet"')
    with Dataset.parse(text, ledger=tmp_path / "ledger.db") as visits:
        known = Inspection.of(visits).known
    assert [(fact.of, fact.said, fact.rows, fact.agrees) for fact in known] == [
        ("units over 2", 3, 3, True),
        ("rows over 2", 8, 9, False),
    ]
