"""Processes that race for the last of a budget, round after round, and a store that loses such races."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from typing import Protocol

from inbounds.errors import BudgetExceeded
from inbounds.ledger import Ledger
from inbounds.ledger.record import clock
from tests.helpers.programs import PATIENCE


class Charger(Protocol):
    """Whatever can be charged, or refuse."""

    def charge(self, dataset: str, analyst: str, amount: int) -> object:
        """Charge, or raise BudgetExceeded."""


class ReadThenWrite:
    """What not to do: look whether enough is left, and then write."""

    def __init__(self, where: str) -> None:
        self._where = where

    def charge(self, dataset: str, analyst: str, amount: int) -> object:
        """Charge, or raise BudgetExceeded."""
        with closing(sqlite3.connect(self._where, isolation_level=None, timeout=PATIENCE)) as file:
            ((left,),) = file.execute("SELECT cap - spent FROM accounts WHERE dataset = ?", (dataset,)).fetchall()
            if left < amount:
                raise BudgetExceeded("", dataset, analyst, left, left, None)
            time.sleep(0.001)
            return file.execute("UPDATE accounts SET spent = spent + ? WHERE dataset = ?", (amount, dataset))


def dataset(number: int) -> str:
    """Return the name of the dataset of a round."""
    return f"round {number}"


def race(open_charger: Callable[[str], Charger], where: str, processes: int, rounds: int) -> list[int]:
    """Let each process charge 1 in each round, all at the same time, and return how many succeeded in each."""
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    context.set_forkserver_preload(["inbounds.ledger"])
    barrier = context.Barrier(processes)
    with context.Pool(processes, _prepare, (barrier,)) as pool:
        won = pool.starmap(_run, [(open_charger, where, rounds)] * processes, chunksize=1)
    return [sum(each) for each in zip(*won, strict=True)]


_barriers: list[Barrier] = []


def _prepare(barrier: Barrier) -> None:
    _barriers.append(barrier)


def _run(open_charger: Callable[[str], Charger], where: str, rounds: int) -> list[bool]:
    charger = open_charger(where)
    won = []
    for number in range(rounds):
        _barriers[0].wait(PATIENCE)
        won.append(_succeeds(charger, number))
    return won


def _succeeds(charger: Charger, number: int) -> bool:
    try:
        charger.charge(dataset(number), f"analyst {number % 3}", 1)
    except BudgetExceeded:
        return False
    return True


open_ledger = Ledger.open

RHO = Fraction(1, 200)


class InRho:
    """A ledger whose charges count little in rho, and more epsilon than there is."""

    def __init__(self, where: str) -> None:
        self._ledger = Ledger.open(where)

    def charge(self, dataset: str, analyst: str, amount: int) -> object:
        """Charge, or raise BudgetExceeded."""
        return self._ledger.charge(dataset, analyst, amount, rho=RHO)


BEFORE, AFTER = datetime(2026, 4, 30, 23, 59, 59, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
"""A month's turn, as two clocks may tell it at the same moment."""


def own_clock() -> datetime:
    """Return what the clock of this process says: that of every other one in the race is a moment behind the turn."""
    number = int(multiprocessing.current_process().name.rpartition("-")[2])
    return AFTER if number % 2 else BEFORE


class AtTheTurn:
    """A ledger that is charged while one month ends and another begins."""

    def __init__(self, where: str) -> None:
        self._ledger = Ledger.open(where)

    def charge(self, dataset: str, analyst: str, amount: int) -> object:
        """Charge, or raise BudgetExceeded."""
        clock.now = own_clock
        return self._ledger.charge(dataset, analyst, amount)


class ByOwnMonth:
    """What not to do: empty the account whenever the month is another one than that of the last charge."""

    def __init__(self, where: str) -> None:
        self._where = where

    def charge(self, dataset: str, analyst: str, amount: int) -> object:
        """Charge, or raise BudgetExceeded."""
        month = own_clock().month
        with closing(sqlite3.connect(self._where, isolation_level=None, timeout=PATIENCE)) as file:
            file.execute("BEGIN IMMEDIATE")
            file.execute(
                "UPDATE accounts SET spent = 0, month = ? WHERE dataset = ? AND month <> ?", (month, dataset, month)
            )
            spend = "UPDATE accounts SET spent = spent + ? WHERE dataset = ? AND spent + ? <= cap"
            done = file.execute(spend, (amount, dataset, amount)).rowcount
            file.execute("COMMIT")
        if not done:
            raise BudgetExceeded("", dataset, analyst, Fraction(amount), Fraction(0), None)
        return done
