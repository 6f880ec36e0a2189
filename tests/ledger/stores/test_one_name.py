"""One ledger under two names is never spent twice: what was charged under one is seen, or the other is refused."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import BudgetExceeded, LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.ledger.stores import log_place
from inbounds.ledger.stores.log_place import LogPlace
from inbounds.ledger.stores.sqlite import SQLiteStore
from inbounds.ledger.stores.store import Store
from tests.helpers import ledger_two_names
from tests.helpers.ledger_two_names import die_charging, spending

ELSEWHERE = r"in use as .*budget\.db, or was moved or copied from there without its log, budget\.db-wal; use that name"

LINKED = r"has another name too, a hard link, .*; remove one of the names"

ROUNDS = 6


def connection(ledger: Ledger) -> sqlite3.Connection:
    """Return the connection that a ledger uses."""
    assert isinstance(ledger._store, SQLiteStore)
    return ledger._store._open_connection()


def charge(where: Path) -> None:
    """Charge the whole budget."""
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        ledger.charge("clinic", "ada", 1)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Return two paths, of which the first is a ledger with a budget of 1."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = tmp_path / "one" / "budget.db", tmp_path / "two" / "other.db"
    with Ledger.open(first) as ledger:
        ledger.open_dataset("clinic", 1)
    return first, second


@pytest.mark.slow
def test_a_hard_link_is_refused_under_both_names(paths: tuple[Path, Path]) -> None:
    """To charge and to read, by whoever had it open before and by whoever opens it; with one name left it goes on."""
    first, second = paths
    with Ledger.open(first) as ledger, spending(first, amount="0.5") as told:
        assert told == "charged"
        second.hardlink_to(first)
        for where in paths:
            with pytest.raises(LedgerUnavailable, match=LINKED):
                Ledger.open(where)
            with pytest.raises(LedgerUnavailable, match=LINKED):
                Ledger.open(where, create=False)
        with pytest.raises(LedgerUnavailable, match=rf"{LINKED}.*nothing was charged"):
            ledger.charge("clinic", "ada", 1)
        with pytest.raises(LedgerUnavailable, match=LINKED):
            ledger.balance("clinic")
        assert list(second.parent.iterdir()) == [second]
        second.unlink()
        ledger.charge("clinic", "ada", "0.5")
        assert ledger.verify().entries == 3


def test_processes_that_race_under_two_names_spend_the_budget_once(tmp_path: Path) -> None:
    """The second name is made while they charge, for half of them: what was charged is what the ledger holds."""
    charged = ledger_two_names.race(tmp_path, ROUNDS)
    assert sum(charged) > ROUNDS // 2
    for number, receipts in enumerate(charged):
        ledger_two_names.name(tmp_path, number, 1).unlink()
        with Ledger.open(ledger_two_names.name(tmp_path, number, 0), create=False) as ledger:
            assert ledger.balance("clinic").spent == receipts <= ledger_two_names.CAP
            assert ledger.verify().ok


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_what_a_killed_process_left_in_the_log_is_not_lost_by_a_move(paths: tuple[Path, Path]) -> None:
    """A file that was moved or copied without its log is refused; put back, or moved with its log, it is whole."""
    first, second = paths
    die_charging(first)
    shutil.copy(first, second)
    with pytest.raises(LedgerUnavailable, match=ELSEWHERE):
        charge(second)
    first.rename(second)
    for open_it in (charge, lambda path: Ledger.open(path, create=False)):
        with pytest.raises(LedgerUnavailable, match=ELSEWHERE):
            open_it(second)
    for ending in ("-wal", "-shm"):
        Path(f"{first}{ending}").rename(f"{second}{ending}")
    for _ in range(2):
        with Ledger.open(second, create=False) as ledger:
            assert ledger.balance("clinic").left == 0
    with pytest.raises(BudgetExceeded):
        charge(second)
    second.rename(first)
    with pytest.raises(BudgetExceeded):
        charge(first)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_a_log_that_was_deleted_after_a_kill_is_missed(paths: tuple[Path, Path]) -> None:
    """The index that a killed process leaves tells that there was a log; put back, it is whole."""
    first, second = paths
    with spending(first, end=False):
        pass
    log = Path(f"{first}-wal").rename(second)
    for create in (True, False):
        with pytest.raises(LedgerUnavailable, match=r"its log, budget\.db-wal, is missing, .*; put the log back; "):
            Ledger.open(first, create=create)
    log.rename(f"{first}-wal")
    with pytest.raises(BudgetExceeded):
        charge(first)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_a_log_from_before_the_file_was_used_elsewhere_is_refused(paths: tuple[Path, Path]) -> None:
    """SQLite would write it over what was charged since; without it, all is there."""
    first, second = paths
    die_charging(first, "0.5")
    for ending in ("", "-wal"):
        shutil.copy(f"{first}{ending}", f"{second}{ending}")
    with pytest.raises(LedgerUnavailable, match=ELSEWHERE):  # whose log is the right one, cannot be told
        Ledger.open(second)
    away = first.parent.rename(first.parent.with_name("away"))
    with Ledger.open(second) as ledger:
        ledger.charge("clinic", "ada", "0.5")
    away.rename(first.parent)
    second.replace(first)
    for create in (True, False):
        with pytest.raises(LedgerUnavailable, match=r"budget\.db-wal, is older than the file, .*; move that log away"):
            Ledger.open(first, create=create)
    Path(f"{first}-wal").unlink()
    with Ledger.open(first) as ledger:
        assert ledger.balance("clinic").left == 0
        assert ledger.verify().ok


@pytest.mark.slow
def test_a_ledger_that_was_closed_can_be_moved_and_copied(paths: tuple[Path, Path]) -> None:
    """Nothing is beside it, and it opens anywhere; what a program left open is closed when it ends."""
    first, second = paths
    program = "import sys; from inbounds.ledger import Ledger; Ledger.open(sys.argv[1]).charge('clinic', 'ada', 1)"
    keeps = program.replace("Ledger.open(sys.argv[1])", "ledger = Ledger.open(sys.argv[1]); ledger")
    subprocess.run([sys.executable, "-c", keeps, str(first)], check=True)
    assert list(first.parent.iterdir()) == [first]
    shutil.copytree(first.parent, second.parent / "copy")
    shutil.rmtree(first.parent)
    with pytest.raises(BudgetExceeded):
        charge(second.parent / "copy" / first.name)


def test_who_closes_last_without_a_word_is_forgiven_where_the_log_was(paths: tuple[Path, Path]) -> None:
    """Where nobody emptied the note, but the log is seen to be gone, the file may be moved on."""
    first, second = paths
    with Ledger.open(first) as ledger:
        ledger.charge("clinic", "ada", 1)
        Store._disconnect(ledger._store)
    first.rename(second)
    with pytest.raises(BudgetExceeded):
        charge(second)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_a_reader_after_a_killed_process_leaves_a_file_that_can_be_moved(paths: tuple[Path, Path]) -> None:
    """By whatever path the folder is known; what was in the log is then in the file, and the note of it is gone."""
    first, second = paths
    die_charging(first)
    by_link = first.parent.with_name("link")
    by_link.symlink_to(first.parent)
    with Ledger.open(by_link / first.name, create=False) as ledger:
        assert ledger.balance("clinic").left == 0
    assert list(first.parent.iterdir()) == [first]
    first.rename(second)
    first.parent.rmdir()
    with pytest.raises(BudgetExceeded):
        charge(second)


def copied_while_in_use(first: Path, second: Path) -> None:
    """Copy it with SQLite, as the documents say: whole, and with the note of the log of the first."""
    with closing(sqlite3.connect(first)) as file:
        file.execute(f"VACUUM INTO '{second}'")


def copied_without_its_log(first: Path, second: Path) -> None:
    """Copy only the file, to where the first cannot be seen."""
    shutil.copy(first, second)


@pytest.mark.parametrize(("copy", "left"), [(copied_while_in_use, 0), (copied_without_its_log, 1)])
def test_a_copy_is_used_once_its_custodian_takes_the_note_away(
    paths: tuple[Path, Path], copy: Callable[[Path, Path], None], left: int
) -> None:
    """It is refused before, for nobody else can know whether anything is missing."""
    first, second = paths
    with Ledger.open(first) as ledger:
        ledger.charge("clinic", "ada", "0.5")  # the first is in the file too
        ledger.charge("clinic", "ada", "0.5")
        copy(first, second)
        with pytest.raises(LedgerUnavailable, match=ELSEWHERE):
            Ledger.open(second)
        with closing(sqlite3.connect(second)) as file, file:
            file.execute("DELETE FROM ledger_log_place")
        with Ledger.open(second) as copied:
            assert copied.balance("clinic").left == Fraction(left, 2)
            assert copied.verify().ok


def test_a_symbolic_link_is_the_same_name(paths: tuple[Path, Path]) -> None:
    """SQLite follows it, and so do we: both at once see the same account."""
    first, second = paths
    second.symlink_to(first)
    with spending(first) as told:
        assert told == "charged"
        with pytest.raises(BudgetExceeded):
            charge(second)


def test_a_ledger_of_an_earlier_release_is_opened(paths: tuple[Path, Path]) -> None:
    """One that is in WAL mode and says nothing about its log."""
    first, _ = paths
    with Ledger.open(first) as ledger:
        ledger.charge("clinic", "ada", "0.5")
        LogPlace.replace(connection(ledger), None)
        Store._disconnect(ledger._store)
    with Ledger.open(first) as ledger:
        ledger.charge("clinic", "ada", "0.5")
        assert LogPlace.load(connection(ledger)) == LogPlace.of(first)
        assert ledger.verify().ok


MOUNTED = """
mount --bind "$1" "$2" || exit 77
"$3" -c '
import sys
from inbounds.errors import LedgerError
from inbounds.ledger import Ledger
from inbounds.ledger.stores import ledger_file
from inbounds.ledger.stores import log_place
for check in (log_place.is_mounted_alone, lambda path: False):
    ledger_file.is_mounted_alone = check
    try:
        with Ledger.open(sys.argv[1]) as ledger:
            print(ledger.charge("clinic", "ada", "0.25"))
    except LedgerError as refused:
        print(refused)
' "$2"
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="this system has no mounts of one's own")
def test_a_file_that_is_mounted_alone_is_refused(paths: tuple[Path, Path]) -> None:
    """As containers do it; where the system would not tell, the file still says that its log is elsewhere."""
    first, second = paths
    second.touch()

    def try_mounted() -> list[str]:
        command = ["unshare", "--mount", "sh", "-c", MOUNTED, "sh", str(first), str(second), sys.executable]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 77 or done.stderr.startswith("unshare:"):
            pytest.skip("only root may mount")
        assert done.stderr == ""
        return done.stdout.splitlines()

    found = [*try_mounted()]
    with spending(first, "0.25"):
        found += try_mounted()
    alone, unguarded, alone_in_use, unguarded_in_use = found
    assert "is mounted as a single file" in alone
    assert "is mounted as a single file" in alone_in_use
    assert "Receipt" in unguarded
    assert "in use as" in unguarded_in_use
    assert not log_place.is_mounted_alone(first)
