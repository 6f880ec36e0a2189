"""Whatever happens to questions, servers and ledgers: no second draw for a charge, and no budget from nowhere."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from inbounds.errors import (
    EngineFailed,
    InvalidParameter,
    LedgerError,
    LedgerMissing,
    LedgerReplaced,
    LedgerUnavailable,
)
from inbounds.ledger import Ledger
from inbounds.ledger.recovery import restore
from inbounds.query import Dataset
from inbounds.server.basics.problem import Problem
from inbounds.server.state.database import Database
from inbounds.server.state.ledger_heads import LedgerHeads
from tests.helpers.sparing import sparing

COST = Fraction(1, 10)
REASON = "the disk failed"
WORKERS = st.integers(0, 1)
REQUESTS = st.sampled_from(["one", "two", "three"])
FATES = st.sampled_from(["answered", "answered", "answered", "failed", "killed"])

BACK = st.sampled_from([1, 1, 1, 2, 3, 5])
"""How many backups to go back."""

CONTRACT = """\
[dataset]
name = "visits"
unit = "row"
[columns.age]
bounds = "[0, 110] step 1"
[budget]
total = 1000
"""


class Disk(Database):
    """The server's file, on a disk that may be full."""

    full = False

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Make one transaction of the block, if there is room."""
        if self.full:
            raise Problem("server-unavailable", "the disk is full")
        with super().writing() as connection:
            yield connection


class Killed(BaseException):
    """A process ends between a draw and what keeps it."""


MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where there are files in memory: on a disk, to wait for what is written takes most of the time."""


class LedgerMachine(RuleBasedStateMachine):
    """Two workers of a server, its file, its ledger, and everything that people and disks can do to them.

    What was told since the last restore that somebody gave a reason for: answers, charges, and what was spent.
    """

    protected = True

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="inbounds-machine-", dir=MEMORY))
        self.place = self.folder / "budget.db"
        self.disk = Disk(self.folder / "server.db")
        self.heads = [LedgerHeads(self.disk, ["visits"]) for _ in range(2)]
        self.workers: list[Ledger | None] = [None, None]
        self.numbers = count()
        self.backups: list[Path] = []
        self.draws: Counter[str] = Counter()
        self.seen: dict[str, str] = {}
        self.spent = Fraction(0)
        self.wrong: list[str] = []
        self.exchanged = False  # whether workers have a file open that is not in its place any more
        self.begin()

    def begin(self) -> None:
        """Start the server for the first time."""
        with Ledger.open(self.place, witness=self.heads[0]) as ledger:
            self.enter(ledger)
        self.back_up()
        self.start_all()

    def enter(self, ledger: Ledger) -> None:
        """Enter the dataset in a ledger."""
        ledger.open_dataset("visits", 1000)

    def start(self, number: int) -> None:
        """Start a worker; a ledger is refused exactly if it lacks what is known of it, or is not there."""
        witness = self.heads[number] if self.protected else None
        try:
            opened = Ledger.open(self.place, create=False, witness=witness)
        except LedgerMissing:
            assert not self.place.exists()
            return
        try:
            opened.balance("visits")
            self.workers[number] = opened
        except LedgerReplaced:
            opened.close()
            with Ledger.open(self.place, create=False) as there:
                assert not all(there.goes_through(head) for head in self.heads[number].known().values())
        except LedgerUnavailable:
            opened.close()
            assert self.disk.full

    def start_all(self) -> None:
        """Start the server, and look what it says."""
        self.stop()
        for number in range(2):
            self.heads[number] = LedgerHeads(self.disk, ["visits"])
            self.start(number)
            self.look(number)

    def stop(self) -> None:
        """Stop the server."""
        for number, worker in enumerate(self.workers):
            if worker is not None:
                worker.close()
            self.workers[number] = None
        self.exchanged = False

    # Questions.

    def draw(self, request: str) -> str:
        """Draw an answer, and note it if that is one too many."""
        self.draws[request] += 1
        if request in self.seen:
            self.wrong.append(f"{request} was drawn again")
        return f"{request} {next(self.numbers)}"

    def answer(self, number: int, ledger: Ledger, request: str, fate: str) -> str:
        """Charge, draw and keep, and return what leaves."""
        receipt = ledger.charge("visits", "ana", COST, request, "a question")
        if receipt.answer is not None:
            return receipt.answer
        if fate == "failed":
            raise EngineFailed("scripted", request)
        drawn = self.draw(request)
        if fate == "killed":
            raise Killed
        return ledger.answered(receipt, drawn)

    @rule(
        asked=st.lists(st.tuples(WORKERS, REQUESTS, FATES), min_size=1, max_size=3),
        saved=st.booleans(),
        full=st.booleans(),
        looked=st.booleans(),
    )
    def ask_a_server(self, asked: list[tuple[int, str, str]], saved: bool, full: bool, looked: bool) -> None:
        """Ask a server that runs, if it can; the disk of its file has room, or is full from now on."""
        self.disk.full = False
        for number in range(2):
            if self.workers[number] is None:
                self.restart(number)
        if saved and self.place.exists():
            self.back_up()
        self.disk.full = full
        for number, request, fate in asked:
            self.ask(number, request, fate)
        for number in range(2 if looked else 0):
            self.look(number)

    def ask(self, number: int, request: str, fate: str) -> None:
        """Ask, for the first time or again."""
        ledger = self.workers[number]
        if ledger is None:
            return
        try:
            text = self.answer(number, ledger, request, fate)
        except (LedgerError, EngineFailed):
            return
        except Killed:
            ledger.close()
            self.workers[number] = None
            return
        finally:
            assert self.wrong == []
        assert self.seen.setdefault(request, text) == text

    def look(self, number: int) -> None:
        """Look what was spent: it never falls, and every answer that was seen was paid for."""
        ledger = self.workers[number]
        if ledger is None:
            return
        try:
            spent = ledger.balance("visits").spent
            kept = {request: ledger.request(request) for request in self.seen}
        except LedgerError:
            return
        assert spent >= self.spent
        assert spent >= COST * len(self.seen)
        for found in kept.values():
            assert found is not None
            assert found[1] is not None
        self.spent = spent

    # Servers and disks.

    @rule(number=WORKERS)
    def restart(self, number: int) -> None:
        """A worker ends, and another takes its place; all of them, where SQLite would take one log for another's."""
        ledger = self.workers[number]
        if self.exchanged:
            self.stop()
        elif ledger is not None:
            ledger.close()
        self.workers[number] = None
        self.heads[number] = LedgerHeads(self.disk, ["visits"])
        self.start(number)

    def fill(self, full: bool) -> None:
        """The disk of the server's file is full, or has room again."""
        self.disk.full = full

    def back_up(self) -> None:
        """Save the ledger that is there, while the server runs."""
        target = self.folder / f"backup-{next(self.numbers)}.db"
        with Ledger.open(self.place, create=False) as ledger:
            ledger.backup(target)
        self.backups.append(target)

    @rule(how=st.sampled_from(["lost", "put back", "put back", "exchanged"]), back=BACK, stopped=st.booleans())
    def suffer(self, how: str, back: int, stopped: bool) -> None:
        """Something happens to the ledger's file, and nobody says anything."""
        if how == "lost":
            self.lose(stopped)
            self.begin_anew()
        elif how == "put back":
            self.put_back_in_silence(back, stopped)
        else:
            self.exchange(stopped)

    def lose(self, stopped: bool) -> None:
        """The ledger's file goes away."""
        if stopped:
            self.stop()
        self.exchanged = self.workers != [None, None]
        for ending in ("", "-wal", "-shm"):
            Path(f"{self.place}{ending}").unlink(missing_ok=True)

    def put_back_in_silence(self, back: int, stopped: bool) -> None:
        """Somebody copies a backup over the ledger, says nothing, and starts the server if it does not run."""
        self.lose(stopped)
        shutil.copy(self.backup(back), self.place)
        if stopped:
            self.start_all()

    def exchange(self, stopped: bool) -> None:
        """Somebody puts another ledger in the place, in which nothing was spent."""
        self.lose(stopped)
        with Ledger.open(self.folder / "other.db") as other:
            self.enter(other)
        shutil.move(self.folder / "other.db", self.place)
        if stopped:
            self.start_all()

    def backup(self, back: int) -> Path:
        """Return a backup, counted from the last one."""
        return self.backups[-min(back, len(self.backups))]

    def begin_anew(self) -> None:
        """Somebody starts the server with a new ledger: there is none, where one is known."""
        witness = self.heads[0] if self.protected else None
        try:
            with Ledger.open(self.place, witness=witness) as ledger:
                self.enter(ledger)
        except LedgerUnavailable:
            assert self.disk.full
        except LedgerMissing:
            assert self.heads[0].known()
        else:
            assert not self.protected

    # The custodian.

    @rule(back=st.none() | BACK, told=st.booleans())
    def repair(self, back: int | None, told: bool) -> None:
        """The custodian restores a backup, or accepts what is there."""
        if back is None:
            self.accept()
        else:
            self.restore(back, told)

    def restore(self, back: int, told: bool) -> None:
        """The custodian restores a backup: without a reason only if nothing is lost with that."""
        self.stop()
        known = self.heads[0].known()
        why = REASON if told else None
        try:
            made = restore(self.backup(back), str(self.place), by="carla", why=why, known=known)
        except InvalidParameter:
            assert not told
            return
        assert told or not made.lost
        if made.lost:
            self.accepted(known, made.head)
        self.start_all()

    def accept(self) -> None:
        """The custodian accepts the ledger that is there, if the server does not; or that there is none."""
        self.stop()
        if not self.place.exists():
            self.accept_a_new_one()
            return
        known = self.heads[0].known()
        with Ledger.open(self.place, create=False) as ledger:
            lost = {name: head for name, head in known.items() if not ledger.goes_through(head)}
            if not lost:
                return
            head = ledger.accept_restore(dict(lost), REASON, "carla")
        self.accepted(known, head)
        self.start_all()

    def accept_a_new_one(self) -> None:
        """The custodian accepts that the ledger is lost for good, and begins an empty one."""
        known = self.heads[0].known()
        with Ledger.open(self.place) as ledger:
            head = ledger.accept_restore(dict(known), REASON, "carla")
        self.accepted(known, head)
        with Ledger.open(self.place, witness=self.heads[0]) as ledger:
            self.enter(ledger)
        self.start_all()

    def accepted(self, known: Any, head: Any) -> None:
        """From now on what the accepted ledger has counts, for the reason that is in it."""
        self.disk.full = False
        self.heads[0].accept(known, head)
        with Ledger.open(self.place, create=False) as ledger:
            entries = ledger.statement().entries
            assert ledger.verify().ok
            assert (entries[-1].kind, REASON in entries[-1].text) == ("restore", True)
            opened = "visits" in ledger.datasets()
            self.spent = ledger.balance("visits").spent if opened else Fraction(0)
        self.seen = {one.request_id: self.shown(one.text) for one in entries if one.kind == "answer"}

    def shown(self, kept: str) -> str:
        """Return an answer as it leaves."""
        return kept

    def teardown(self) -> None:
        """In the end whatever server starts has all that was told."""
        self.disk.full = False
        self.stop()
        self.start(0)
        self.look(0)
        assert self.workers[0] is None or not self.seen or set(self.seen) <= set(self.draws)
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class TableMachine(LedgerMachine):
    """The same with questions to a table, asked as everybody asks them; a statement that runs is a draw."""

    def __init__(self) -> None:
        self.table = pd.DataFrame({"age": [20, 30, 40]})
        self.tables: dict[int, Dataset] = {}
        super().__init__()

    def enter(self, ledger: Ledger) -> None:
        """Enter the dataset in a ledger."""
        with Dataset.parse(CONTRACT, frame=self.table, ledger=ledger) as dataset:
            assert dataset.ledger is ledger

    def answer(self, number: int, ledger: Ledger, request: str, fate: str) -> str:
        """Ask, and return what leaves."""
        with Dataset.parse(CONTRACT, frame=self.table, ledger=ledger) as dataset:
            run = dataset.engine.run

            def drawing(sql: str) -> Any:
                if fate == "failed":
                    raise EngineFailed("scripted")
                self.draw(request)
                return run(sql)

            def keeping(*_: Any) -> str:
                raise Killed

            vars(dataset.engine)["run"] = drawing
            if fate == "killed":
                vars(ledger)["answered"] = keeping
            try:
                question = dataset.sql("SELECT COUNT(*) FROM visits")
                return str(question.ask(COST, analyst="ana", request_id=request).rows)
            finally:
                vars(ledger).pop("answered", None)

    def shown(self, kept: str) -> str:
        """Return an answer as it leaves: that is seen when it is asked for again."""
        return kept

    def accepted(self, known: Any, head: Any) -> None:
        """From now on what the accepted ledger has counts."""
        super().accepted(known, head)
        self.seen = {}


@pytest.mark.slow
@pytest.mark.parametrize("examples", sparing([15, 60]))
def test_no_second_draw_and_no_budget_from_nowhere(examples: int) -> None:
    """Over charges, draws, failures, retries, restarts, full disks, lost, exchanged and restored ledgers."""
    wide = settings(stateful_step_count=30, max_examples=examples, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(LedgerMachine, settings=wide)


@pytest.mark.slow
@pytest.mark.parametrize("examples", sparing([10, 20]))
def test_no_second_draw_by_asking_a_table(examples: int) -> None:
    """The same where a table is asked, by the code that everybody asks with."""
    few = settings(stateful_step_count=25, max_examples=examples, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(TableMachine, settings=few)


def test_what_was_spent_is_told_when_it_is_kept() -> None:
    """A charge whose head could not be kept is in no balance, so that nobody misses it if the ledger is put back."""
    machine = LedgerMachine()
    machine.fill(True)
    machine.ask(0, "one", "answered")
    machine.look(1)
    assert machine.spent == 0
    machine.fill(False)
    machine.put_back_in_silence(1, True)
    machine.ask(1, "one", "answered")
    machine.look(1)
    assert machine.spent == COST
    machine.teardown()


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False])
@pytest.mark.parametrize("kind", [LedgerMachine, TableMachine])
def test_without_a_witness_the_law_is_broken(kind: type[LedgerMachine], protected: bool) -> None:
    """The machine finds out a server that keeps no heads: an answer that was seen is drawn again for its one charge."""
    machine = kind()
    machine.protected = protected
    machine.stop()
    machine.start(0)
    machine.ask(0, "one", "failed")
    machine.back_up()
    machine.ask(0, "one", "answered")
    machine.stop()
    machine.put_back_in_silence(1, False)
    machine.start(0)
    if protected:
        machine.ask(0, "one", "answered")
        assert machine.draws["one"] == 1
    else:
        with pytest.raises(AssertionError, match="one was drawn again"):
            machine.ask(0, "one", "answered")
        machine.seen, machine.spent = {}, Fraction(0)
    machine.teardown()
