"""A server and its workers, killed at random while analysts ask: nothing that was paid for is lost or paid twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

from benchmarks.report import Report
from benchmarks.served_clinic import PATIENCE, ServedClinic, contract
from inbounds import connect
from inbounds.cli.clinic.questions import QUESTIONS
from inbounds.errors import InboundsError
from inbounds.ledger import Ledger
from inbounds.query.answer.kept_answer import read_kept

ANALYSTS = 6
WORKERS = 2
TICK = 0.05
SERVERS = 0.1
"""The part of the kills that is the server's; the others are a worker's."""
ANSWERS = (0, 0, 1, 2, 4)
"""How many are given between two kills: one of these, so that some hit what has just begun."""

WORKER, SERVER = "a worker", "the server"

Rows = tuple[tuple[object, ...], ...]


@dataclass
class Seen:
    """What the analysts sent and got."""

    sent: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The analyst and the question, by the request id in the ledger."""
    got: dict[str, Rows] = field(default_factory=dict)
    gave_up: int = 0
    """Questions whose client had no patience left, or that were refused."""


def run(kills: int) -> Report:
    """Kill so many times, and then look for what must not be."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        clinic = ServedClinic.build(
            Path(folder), {"visits": contract("visits", 10**6, TICK)}, ANALYSTS, WORKERS, "statements_at_once = 100"
        )
        order = [SERVER if random.random() < SERVERS else WORKER for _ in range(kills)]
        seen = killing(clinic, order)
        wrong, facts = look(clinic, seen)
    rows = [(f"kills of {what}", str(count), "") for what, count in Counter(order).items()]
    rows += [(name, str(count), "") for name, count in facts.items()]
    rows += [(name, str(count), f"0 {'met' if count == 0 else 'MISSED'}") for name, count in wrong.items()]
    return Report(
        title="Killed at random",
        columns=("", "", "target"),
        rows=rows,
        notes=[
            f"kill -9, each at a random moment after 0 to {max(ANSWERS)} more answers were given, while "
            f"{ANALYSTS} analysts ask through the client, which tries again what was lost. {WORKERS} worker processes."
        ],
        measured={name: float(count) for name, count in {**facts, **wrong}.items()},
    )


def killing(clinic: ServedClinic, order: list[str]) -> Seen:
    """Kill a worker or the server, in this order, while analysts ask; then ask again what has no answer."""
    process = clinic.start()
    try:
        clinic.wait(process)
        with asking(clinic) as seen:
            for number, victim in enumerate(order):
                print(f"\r{number} of {len(order)} kills", end="", file=sys.stderr, flush=True)
                wait_for_answers(seen, random.choice(ANSWERS))
                if victim == SERVER:
                    process.kill()
                    process.wait()
                    process, _ = restarted(clinic)
                else:
                    kill_a_worker(process)
    finally:
        process.terminate()
        process.wait(PATIENCE)
    return seen


@contextmanager
def asking(clinic: ServedClinic) -> Iterator[Seen]:
    """Let analysts ask for the time of the block, and then again what has no answer: a server is there at both ends."""
    seen, over, begun = Seen(), threading.Event(), threading.Barrier(ANALYSTS + 1, timeout=PATIENCE)
    names = [name for name in clinic.keys if name != "carla"]
    threads = [threading.Thread(target=_ask_on, args=(clinic, name, seen, begun, over)) for name in names]
    for thread in threads:
        thread.start()
    begun.wait()  # a client that never reached anybody does not try again
    try:
        yield seen
    finally:
        over.set()
        for thread in threads:
            thread.join()
    _finish(clinic, seen)


def kill_a_worker(process: subprocess.Popen[bytes]) -> None:
    """Kill one of a server's workers, once there is one."""
    while not ((found := workers(process.pid)) and _kill(random.choice(found))):
        time.sleep(0.01)


def wait_for_answers(seen: Seen, more: int) -> None:
    """Return at a random moment after so many more answers were given."""
    enough, end = len(seen.got) + more, time.monotonic() + PATIENCE
    while len(seen.got) < enough and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(random.uniform(0, 2 * TICK))


def restarted(clinic: ServedClinic) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server again at once; return it when it answers, and how often it could not start before.

    What answers is this one: it starts workers once it has the address.
    """
    end = time.monotonic() + PATIENCE
    failed = 0
    while time.monotonic() < end:
        process = clinic.start()
        try:
            while process.poll() is None:
                if workers(process.pid):
                    clinic.wait(process)
                    return process, failed
                time.sleep(0.01)
        except BaseException:  # Ctrl-C leaves no server behind
            process.kill()
            raise
        failed += 1
    raise RuntimeError("the server does not start again")


def workers(server: int) -> list[int]:
    """Return the worker processes of a server."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == server and b"inbounds.server.run.worker" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return sorted(found)


def runs(process: int) -> bool:
    """Return whether a process is there, and has not ended yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _kill(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
        return True
    return False


def _ask_on(clinic: ServedClinic, name: str, seen: Seen, begun: threading.Barrier, over: threading.Event) -> None:
    """Ask until it is over; what was sent is noted before, what came back after."""
    with connect(clinic.file.url, key=clinic.keys[name], patience=PATIENCE, trust_env=False) as connection:
        dataset = connection.dataset("visits")
        begun.wait()
        while not over.is_set():
            question, request = random.choice(QUESTIONS), uuid4().hex
            seen.sent[f"{name}/{request}"] = name, question.sql()
            try:
                found = dataset.sql(question.sql()).ask("0.01", request_id=request)
            except InboundsError:
                seen.gave_up += 1
            else:
                seen.got[f"{name}/{request}"] = found.rows


def _finish(clinic: ServedClinic, seen: Seen) -> None:
    """Ask again whatever has no answer yet; it must be free if it was charged."""
    for request, (name, sql) in seen.sent.items():
        if request not in seen.got:
            with connect(clinic.file.url, key=clinic.keys[name], patience=PATIENCE, trust_env=False) as connection:
                found = connection.dataset("visits").sql(sql).ask("0.01", request_id=request.partition("/")[2])
            seen.got[request] = found.rows


def look(clinic: ServedClinic, seen: Seen) -> tuple[dict[str, int], dict[str, int]]:
    """Return what must not be, counted, and some facts."""
    with Ledger.open(clinic.ledger, create=False) as ledger:
        entries = ledger.statement().entries
        ok, spent = ledger.verify().ok, ledger.balance("visits").spent
    charged = Counter(entry.request_id for entry in entries if entry.kind == "charge")
    kept = {entry.request_id: entry.text for entry in entries if entry.kind == "answer"}
    own = {one: read_kept(text, Fraction(1), one).rows for one, text in kept.items()}
    wrong = {
        "answers without a charge": sum(one not in charged for one in seen.got),
        "answers that are not kept": sum(one not in kept for one in seen.got),
        "answers that are others in the ledger": sum(own.get(one, rows) != rows for one, rows in seen.got.items()),
        "charges that nobody asked for": sum(one not in seen.sent for one in charged),
        "double charges": sum(count - 1 for count in charged.values()),
        "charges that cannot be asked again": sum(one not in seen.got for one in charged),
        "wrong sums": int(spent != Fraction(len(charged), 100)),
        "ledgers that do not verify": int(not ok),
    }
    return wrong, {"questions": len(seen.sent), "charges": len(charged), "questions asked again later": seen.gave_up}
