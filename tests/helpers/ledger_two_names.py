"""Processes that charge a ledger in a file, and die, or race for it by another name that the file gets meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.synchronize import Barrier
from pathlib import Path

from inbounds.errors import BudgetExceeded, LedgerUnavailable
from inbounds.ledger import Ledger
from tests.helpers.programs import PATIENCE

PROCESSES, CAP, CHARGES = 4, 30, 20

FORKS = "forkserver" in multiprocessing.get_all_start_methods()

context: ForkServerContext | SpawnContext = (
    multiprocessing.get_context("forkserver") if FORKS else multiprocessing.get_context("spawn")
)
context.set_forkserver_preload(["inbounds.ledger"])  # so that a process starts in a moment


def name(folder: Path, number: int, which: int) -> Path:
    """Return one of the two names of the ledger of a round."""
    return folder / f"{number}-{which}.db"


@contextmanager
def spending(where: Path, amount: str = "1", *, end: bool = True) -> Iterator[str]:
    """Let another process charge, keeping the ledger open during the block; then it closes or dies."""
    ours, theirs = context.Pipe()
    process = context.Process(target=_spend, args=(str(where), amount, theirs))
    process.start()
    told = ours.recv()
    try:
        yield told
    finally:
        if end:
            ours.send("close")
        else:
            os.kill(process.pid or 0, signal.SIGKILL)
        process.join()


def die_charging(where: Path, amount: str = "1") -> None:
    """Let another process charge, and die with the ledger open."""
    with spending(where, amount, end=False):
        pass


def _spend(where: str, amount: str, pipe: Connection) -> None:
    """Charge, tell what became of it, and wait until it is time to close."""
    try:
        ledger = Ledger.open(where)
        ledger.open_dataset("clinic", 1)
        ledger.charge("clinic", "ada", amount)
        pipe.send("charged")
    except (BudgetExceeded, LedgerUnavailable) as refused:
        pipe.send(str(refused))
        return
    pipe.recv()
    ledger.close()


def race(folder: Path, rounds: int) -> list[int]:
    """Let each process open the ledger of each round under one of its names and charge; count the receipts."""
    for number in range(rounds):
        with Ledger.open(name(folder, number, 0)) as ledger:
            ledger.open_dataset("clinic", CAP)
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
    _barriers[0].wait(PATIENCE)
    receipts = 0
    where = name(folder, number, which)
    if which:
        time.sleep(number / 50)  # from before anyone opened it to when all is charged
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
