"""The cap holds under any interleaving of processes, and whenever they are killed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.exact.amount import UNIT
from inbounds.ledger import Ledger
from inbounds.ledger.values.cost import pure_rho
from tests.helpers import killed_chargers, ledger_places
from tests.helpers.ledger_places import Place
from tests.helpers.ledger_racer import RHO, InRho, ReadThenWrite, dataset, open_ledger, race
from tests.helpers.programs import run_program
from tests.helpers.sparing import sparing

place = ledger_places.place

PROCESSES, ROUNDS, CAP = 16, 100, 5


@pytest.mark.slow
def test_processes_that_race_for_the_last_of_a_budget_never_overspend(place: Place) -> None:
    """Sixteen at the same moment, in each of a hundred rounds: exactly as many receipts as the cap allows."""
    with Ledger.open(place.where) as ledger:
        for number in range(ROUNDS):
            ledger.open_dataset(dataset(number), CAP)
        assert race(open_ledger, place.where, PROCESSES, ROUNDS) == [CAP] * ROUNDS
        charged = [entry.dataset for entry in ledger.statement() if entry.kind == "charge"]
        assert all(charged.count(dataset(number)) == CAP for number in range(ROUNDS))
        assert all(ledger.balance(dataset(number)).left == 0 for number in range(ROUNDS))
        assert ledger.verify().ok


def test_a_race_for_the_last_of_rho_overspends_neither_sum(place: Place) -> None:
    """One of the charges fits in epsilon, four in rho: of sixteen at the same moment exactly four are made."""
    rounds, fit = 30, 4
    with Ledger.open(place.where) as ledger:
        for number in range(rounds):
            ledger.open_dataset(dataset(number), 1, per_analyst=1, delta="1e-6")
        assert race(InRho, place.where, PROCESSES, rounds) == [fit] * rounds
        for number in range(rounds):
            balance = ledger.balance(dataset(number))
            assert balance.rho_cap is not None
            assert balance.rho_spent == fit * RHO <= balance.rho_cap < (fit + 1) * RHO
        assert ledger.verify().ok


def test_the_race_catches_a_store_that_reads_and_then_writes(tmp_path: Path) -> None:
    """The negative control: in the same race, a store that looks first and writes later overspends."""
    where = str(tmp_path / "naive.db")
    with closing(sqlite3.connect(where, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE accounts (dataset TEXT PRIMARY KEY, cap INTEGER, spent INTEGER)")
        rows = [(dataset(number), CAP) for number in range(ROUNDS)]
        file.executemany("INSERT INTO accounts VALUES (?, ?, 0)", rows)
    won = race(ReadThenWrite, where, PROCESSES, 10)
    assert max(won) > CAP


@pytest.mark.slow
@pytest.mark.parametrize("budget", sparing(["rho", "epsilon"]))
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_killed_process_leaves_a_ledger_in_order(place: Place, budget: str) -> None:
    """A hundred processes killed at any moment, the first while it creates the ledger: no answer left uncharged.

    In rho too: there epsilon is over its cap after the first ten charges.
    """
    told = run_program(killed_chargers, place.where, "50", "0.04", budget, timeout=120)
    told += run_program(killed_chargers, place.where, "50", "0.04", budget, "ready", timeout=120)
    left = [line.split() for line in told.splitlines() if line.count(" ") == 1]
    assert len(left) > 20
    with Ledger.open(place.where) as ledger:
        assert ledger.verify().ok
        for request, answer in left:
            analyst = f"analyst {int(request.split('-')[1]) % 2}"
            receipt = ledger.charge("clinic", analyst, "0.001", request)
            assert (receipt.fresh, receipt.answer) == (False, answer)
        charges = sum(entry.kind == "charge" for entry in ledger.statement())
        assert charges >= len(left)
        balance = ledger.balance("clinic")
        assert balance.spent == charges * Fraction(1, 1000)
        if budget == "rho":
            assert balance.spent > Fraction(1, 100)
            assert balance.rho_spent == charges * Fraction(pure_rho(UNIT // 1000), UNIT)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_killed_while_it_creates_a_ledger_leaves_one_that_opens(tmp_path: Path) -> None:
    """Each of many children creates a file of its own and is killed soon: whatever it left is opened."""
    left: list[Path] = []
    for batch in range(20):  # on a busy machine many are killed before they do anything
        run_program(killed_chargers, f"{tmp_path}/{batch}-{{}}.db", "50", "0.008", "epsilon", timeout=120)
        left = list(tmp_path.glob("*.db"))
        if len(left) > 25:
            break
    assert len(left) > 25
    for path in left:
        with Ledger.open(path) as ledger:
            ledger.open_dataset("clinic", 1000, per_analyst=900)
            assert ledger.verify().ok
