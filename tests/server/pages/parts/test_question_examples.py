"""What the page of a dataset offers as examples can be asked of that dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.query import Dataset
from inbounds.server.pages.parts.question_examples import Examples, examples
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import BIRTHS, VISITS, Served

DATASET = (
    '[dataset]\nname = "stays of a ward"\nsource = "t.parquet"\nunit = "{unit}"\n{columns}\n[budget]\ntotal = 10\n'
)
DAYS = '[columns."day of visit"]\nbounds = "[2024-01-01, 2024-12-31]"\n'
MONEY = '[columns.cost]\nbounds = "[0.5, 9999.75]"\n[columns."own share"]\nbounds = "[-1, 1]"\n'
KEYS = '[columns."who\'s there"]\nkeys = ["it\'s me"]\n[columns.ward]\nkeys = [1, 2, 3]\n'
CONTRACTS = {
    "visits": VISITS.format(total=10, per_analyst=1),
    "births": BIRTHS,
    "days": DATASET.format(unit="row", columns=DAYS),
    "money": DATASET.format(unit="row", columns=MONEY),
    "days and money": DATASET.format(unit="row", columns=DAYS + MONEY),
    "keys": DATASET.format(unit="row", columns=KEYS),
    "flags": DATASET.format(unit="row", columns="[columns.urgent]\nkeys = [true, false]\n"),
}


def questions(found: Examples, table: str) -> list[str]:
    """Return whole questions of which examples are parts."""
    asked = [f"SELECT {one} FROM {table}" for one in found.measures]
    where = [one for one in found.clauses if one.startswith("WHERE")]
    asked += [f"SELECT COUNT(*) FROM {table} {one}" for one in where]
    for group in (one for one in found.clauses if one.startswith("GROUP")):
        name = group.removeprefix("GROUP BY ").removeprefix("ROLLUP(").removesuffix(")")
        order = [one for one in found.clauses if one.startswith("ORDER")]
        asked.append(f"SELECT {name}, COUNT(*) FROM {table} {group} {' '.join(order)}")
    return [*asked, *([f"SELECT AVG(n) {found.per_unit}"] if found.per_unit else [])]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_example_can_be_asked(contract: str) -> None:
    """Whatever columns there are, no example is refused; where there are none of a kind, there is no example of it."""
    dataset = Dataset.parse(CONTRACTS[contract], ledger=Path("never-opened.db"))
    found = examples(dataset.tables)
    for one in questions(found, f'"{dataset.tables.main.name}"'):
        dataset.sql(one)
    assert (found.per_unit is not None) == (contract == "visits")
    assert any("GROUP BY" in one for one in found.clauses) == (contract in ("visits", "keys", "flags"))
    assert any(one.startswith("CORR") for one in found.measures) == (contract in ("money", "days and money"))
    assert any(one.startswith("SUM") for one in found.measures) == (contract not in ("days", "keys", "flags"))


def test_a_page_has_examples_of_its_own_dataset(hospital: Served) -> None:
    """The help beside the box names the columns of the dataset that is asked, and none of another."""
    births = visit(hospital, "eve").get("/ask/births").text
    assert "<code>AVG(weight)</code>" in births
    assert "clinic" not in births
    assert "ROLLUP" not in births
    visits = visit(hospital, "ana").get("/ask/visits").text
    assert "<code>WHERE age &gt;= 55 AND clinic IN (&#39;north&#39;, &#39;south&#39;)</code>" in visits
    assert "<code>FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS p</code>" in visits
