"""A contract whose budget refreshes: what it may say, and what a ledger under it makes of a change."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import BudgetExceeded, InvalidContract, LedgerConflict
from inbounds.ledger.record import clock
from inbounds.query import Dataset
from inbounds.query.custodian.inspection import Inspection
from inbounds.query.custodian.text import inspection_text

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "row"
[columns.size]
bounds = "[0, 9] step 1"
[budget]
{budget}
"""
MONTHLY = 'total = 2\nper_analyst = 1\nrefresh = "monthly"\nlifetime = 20'
COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, in March."""
    duckdb.sql(f"COPY (SELECT i % 10 AS size FROM range(50) t(i)) TO '{tmp_path}/visits.parquet'")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 3, 20, tzinfo=UTC))
    return tmp_path


def opened(folder: Path, budget: str) -> Dataset:
    """Write a contract with this budget, and open it."""
    (folder / "visits.toml").write_text(CONTRACT.format(budget=budget), encoding="utf-8")
    return Dataset.load(folder / "visits.toml")


@pytest.mark.parametrize(
    ("budget", "refusal"),
    [
        ('total = 2\nrefresh = "weekly"', "line 10: refresh must be one of 'monthly', 'quarterly', 'yearly', got"),
        ("total = 2\nrefresh = 30", "line 10: refresh must be one of"),
        ("total = 2\nlifetime = 20", "line 10: lifetime is for a budget that refreshes; leave it out, or write how"),
        ('total = 2\nrefresh = "monthly"\nlifetime = 1', "line 11: lifetime must not be below total"),
        ('total = 2\nrefresh = "monthly"\nlifetime = 0', "line 11: lifetime must not be 0"),
        ('total = 2\nrefresh = "monthly"\ndelta = 1e-6', "line 10: a budget that refreshes cannot have a delta"),
    ],
)
def test_what_makes_no_sense_is_refused(budget: str, refusal: str) -> None:
    """The message names the line, the rule and what to write."""
    with pytest.raises(InvalidContract, match=refusal):
        Dataset.parse(CONTRACT.format(budget=budget))


def test_all_faults_are_told_at_once() -> None:
    """A misspelt period beside another fault: both are told, and the lifetime that went with it is none."""
    text = CONTRACT.format(budget='total = 0\nrefresh = "dayly"\nlifetime = 20')
    with pytest.raises(InvalidContract) as refused:
        Dataset.parse(text)
    assert len(refused.value.faults) == 2, refused.value


def test_questions_are_charged_to_their_month(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A month's budget ends, and the next one begins, for whoever asks."""
    with opened(folder, MONTHLY) as visits:
        visits.sql(COUNT).ask(1, analyst="ana")
        with pytest.raises(BudgetExceeded, match="until 2026-04-01; ask for less, wait until then, or ask"):
            visits.sql(COUNT).ask("0.5", analyst="ana")
        monkeypatch.setattr(clock, "now", lambda: datetime(2026, 4, 1, tzinfo=UTC))
        visits.sql(COUNT).ask(1, analyst="ana")
        assert visits.ledger.balance("visits").lifetime is not None
        assert visits.ledger.verify().ok


def test_a_change_is_refused_until_it_is_recorded(folder: Path) -> None:
    """Turning it on, another period, another amount and turning it off: each is recorded, or refused."""
    with opened(folder, "total = 2\nper_analyst = 1") as visits:
        visits.sql(COUNT).ask("0.5", analyst="ana")
    digests = set()
    for budget in (MONTHLY, MONTHLY.replace("monthly", "yearly"), MONTHLY.replace("20", "30"), "total = 3"):
        with opened(folder, budget) as visits:
            with pytest.raises(LedgerConflict, match=r"inbounds budget contract"):
                visits.sql(COUNT).ask("0.1", analyst="ana")
            visits.record_terms("agreed on Monday")
            assert visits.recorded_allowance() == visits.allowance
            visits.sql(COUNT).ask("0.1", analyst="ana")
            digests.add(visits.terms.digest)
            assert visits.ledger.verify().ok
    assert len(digests) == 1, "it is no term of the contract: it has a record of its own"


def test_a_lifetime_that_is_spent_is_not_recorded(folder: Path) -> None:
    """The change is refused as a whole: neither the budget nor other terms are recorded."""
    with opened(folder, "total = 2\nper_analyst = 2") as visits:
        visits.sql(COUNT).ask("1.5", analyst="ana")
    small = 'total = 1\nrefresh = "monthly"\nlifetime = 1'
    text = CONTRACT.replace("[0, 9]", "[0, 8]").format(budget=small)
    (folder / "visits.toml").write_text(text, encoding="utf-8")
    with Dataset.load(folder / "visits.toml") as visits:
        before = visits.recorded_terms()
        with pytest.raises(LedgerConflict, match=r"below what was spent of 'visits', 1\.5, got 1; write at least that"):
            visits.record_terms("less")
        assert visits.recorded_terms() == before


def test_what_it_adds_up_to_is_told_to_the_custodian(folder: Path) -> None:
    """A check of the contract says what a year of periods comes to."""
    with opened(folder, MONTHLY) as visits:
        found = Inspection.of(visits)
        said = " ".join(inspection_text(found, "visits.toml").split())
        assert "budget ε = 2 each month is up to 20 a year about the same people: privacy loss adds up" in said
        assert found.data()["adding_up"] == found.adding_up
    with opened(folder, "total = 2") as visits:
        assert Inspection.of(visits).adding_up is None


def test_practice_data_are_under_the_same_contract(folder: Path) -> None:
    """A copy of the contract refreshes as the contract does, and practice at hand has no end."""
    with opened(folder, MONTHLY) as visits, visits.practice(20) as made:
        for _ in range(3):
            made.sql(COUNT).ask(1, analyst="ana")
        assert tomllib.loads(visits.contract.text)["budget"]["refresh"] == "monthly"
