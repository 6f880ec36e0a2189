"""Processes that race for a budget, half of them by another name that the file gets meanwhile."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path

from inbounds.errors import BudgetExceeded, LedgerUnavailable
from inbounds.ledger import Ledger

PROCESSES, CAP, CHARGES = 4, 30, 20


def name(folder: Path, number: int, which: int) -> Path:
    """Return one of the two names of the ledger of a round."""
    return folder / f"{number}-{which}.db"


def race(folder: Path, rounds: int) -> list[int]:
    """Let each process open the ledger of each round under one of its names and charge; count the receipts."""
    for number in range(rounds):
        with Ledger.open(name(folder, number, 0)) as ledger:
            ledger.open_dataset("clinic", CAP)
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    context.set_forkserver_preload(["inbounds.ledger"])
    barrier = context.Barrier(PROCESSES)
    with context.Pool(PROCESSES, _prepare, (barrier,)) as pool:
        won = pool.starmap(_run, [(folder, rounds, which % 2) for which in range(PROCESSES)], chunksize=1)
    return [sum(each) for each in zip(*won, strict=True)]


_barriers: list[Barrier] = []


def _prepare(barrier: Barrier) -> None:
    _barriers.append(barrier)


def _run(folder: Path, rounds: int, which: int) -> list[int]:
    return [_charged(folder, number, which) for number in range(rounds)]


def _charged(folder: Path, number: int, which: int) -> int:
    _barriers[0].wait(60)
    receipts = 0
    where = name(folder, number, which)
    if which:
        time.sleep(number / 100)  # from before anyone opened it to when all is charged
        with suppress(FileExistsError):
            where.hardlink_to(name(folder, number, 0))
    try:
        with Ledger.open(where) as ledger:
            for _ in range(CHARGES):
                ledger.charge("clinic", "ada", 1)
                receipts += 1
    except (BudgetExceeded, LedgerUnavailable):
        pass
    return receipts
