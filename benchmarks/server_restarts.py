"""A server that is ended in every way while analysts ask, and started again at once: how soon it is back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from benchmarks.report import Report
from benchmarks.served_clinic import PATIENCE, ServedClinic, contract
from benchmarks.server_kills import (
    ANALYSTS,
    TICK,
    WORKERS,
    asking,
    kill_a_worker,
    look,
    restarted,
    runs,
    wait_for_answers,
    workers,
)

TARGET = 5.0
"""Seconds from the end of a server to the first response of the next one."""

STOPPED, KILLED, ALL, STARTING = "told to stop", "server killed", "workers and server killed", "killed while starting"
WAYS = (STOPPED, KILLED, ALL, STARTING)


@dataclass
class Rounds:
    """What was seen in all rounds."""

    back: list[float] = field(default_factory=list)
    """Seconds from the end of a server to the first response of the next one."""
    gone: list[float] = field(default_factory=list)
    """Seconds from the end of a server to that of its last worker."""
    failed: int = 0
    """Starts that ended because something had the address."""


def run(rounds: int) -> Report:
    """End and start it so many times, and then look for what must not be."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        clinic = ServedClinic.build(
            Path(folder), {"visits": contract("visits", 10**6, TICK)}, ANALYSTS, WORKERS, "statements_at_once = 100"
        )
        ways = list(islice(cycle(WAYS), rounds))
        seen, wrong, facts = restarting(clinic, ways)
    slowest, orphan = max(seen.back), max(seen.gone)
    rows = [(way, str(count), "") for way, count in Counter(ways).items()]
    rows += [
        ("back, median", f"{sorted(seen.back)[rounds // 2]:.1f} s", ""),
        ("back, slowest", f"{slowest:.1f} s", f"{TARGET:g} s {'met' if slowest <= TARGET else 'MISSED'}"),
        ("last worker gone, slowest", f"{orphan:.2f} s", ""),
        ("starts that failed", str(seen.failed), f"0 {'met' if seen.failed == 0 else 'MISSED'}"),
    ]
    rows += [(name, str(count), "") for name, count in facts.items()]
    rows += [(name, str(count), f"0 {'met' if count == 0 else 'MISSED'}") for name, count in wrong.items()]
    return Report(
        title="Ended and started again",
        columns=("", "", "target"),
        rows=rows,
        notes=[f"{WORKERS} worker processes, {ANALYSTS} analysts who ask through the client all the time."],
        measured={"slowest": slowest, "orphan": orphan, "failed": float(seen.failed)},
    )


def restarting(clinic: ServedClinic, ways: list[str]) -> tuple[Rounds, dict[str, int], dict[str, int]]:
    """End a server in these ways while analysts ask; return what was seen, what must not be, and some facts."""
    found = Rounds()
    process = clinic.start()
    try:
        clinic.wait(process)
        with asking(clinic) as seen:
            for number, way in enumerate(ways):
                print(f"\r{number} of {len(ways)} rounds", end="", file=sys.stderr, flush=True)
                wait_for_answers(seen, 2)
                left = _end(process, way)
                with ThreadPoolExecutor(1) as pool:
                    gone = pool.submit(_seconds_until_gone, left)
                    begun = time.monotonic()
                    process, failed = restarted(clinic)
                    found.back.append(time.monotonic() - begun)
                    found.gone.append(gone.result())
                    found.failed += failed
    finally:
        process.terminate()
        process.wait(PATIENCE)
    return found, *look(clinic, seen)


def _end(process: subprocess.Popen[bytes], way: str) -> list[int]:
    """End a server, and return its workers of the last moment."""
    if way == STARTING:
        kill_a_worker(process)
        time.sleep(random.uniform(0.5, 1.5))  # another one is started in its place, and imports what it needs
    left = workers(process.pid)
    if way == ALL:
        for one in left:
            with suppress(ProcessLookupError):  # one that has just ended by itself
                os.kill(one, signal.SIGKILL)
    process.send_signal(signal.SIGTERM if way == STOPPED else signal.SIGKILL)
    process.wait()
    return left


def _seconds_until_gone(processes: list[int]) -> float:
    begun = time.monotonic()
    while any(runs(one) for one in processes) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.01)
    return time.monotonic() - begun
