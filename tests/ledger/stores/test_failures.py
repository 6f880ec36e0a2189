"""Whatever fails, the ledger says whether something was charged, and is in order afterwards."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from inbounds.errors import InboundsError, LedgerConflict, LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.ledger.stores import postgres, sqlite, sqlite_connection
from inbounds.ledger.stores.ledger_file import LedgerFile
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.address import without_secrets
from tests.helpers import ledger_limited, ledger_places
from tests.helpers.ledger_places import Place
from tests.helpers.programs import run_program

place = ledger_places.place


@pytest.fixture
def ledger(place: Place) -> Iterator[Ledger]:
    """Yield a ledger with one dataset."""
    with Ledger.open(place.where) as opened:
        opened.open_dataset("clinic", 1000)
        yield opened


@pytest.fixture
def server() -> Iterator[Place]:
    """Yield a place in PostgreSQL."""
    yield from ledger_places.postgres_place()


def connection(ledger: Ledger) -> Any:
    """Return the connection that a ledger uses."""
    store = ledger._store
    assert isinstance(store, sqlite.SQLiteStore | postgres.PostgresStore)
    return store._open_connection()


def test_a_full_disk_is_told_and_nothing_is_charged(tmp_path: Path) -> None:
    """Every charge that got a receipt is kept, the one that did not is not, and with room it goes on."""
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.open_dataset("clinic", 1000)
        ((pages,),) = connection(ledger).execute("PRAGMA page_count").fetchall()
        connection(ledger).execute(f"PRAGMA max_page_count = {pages + 2}")
        receipts = []

        def charge_for_ever() -> None:
            while True:
                receipts.append(ledger.charge("clinic", "ada", "0.001"))

        with pytest.raises(LedgerUnavailable, match="the disk is full; make room; nothing was charged") as refused:
            charge_for_ever()
        assert not refused.value.uncertain
        assert len(receipts) > 5
        assert ledger.balance("clinic").spent == Fraction(len(receipts), 1000)
        assert ledger.verify().ok
        connection(ledger).execute("PRAGMA max_page_count = 1000000")
        ledger.charge("clinic", "ada", "0.001")
        assert ledger.verify().ok


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limit on the size of files")
def test_a_file_that_may_not_grow_is_told(tmp_path: Path) -> None:
    """At the limit of the operating system too; asking again with the same id charges what was not charged, once."""
    where = tmp_path / "budget.db"
    told = json.loads(run_program(ledger_limited, str(where), timeout=60))
    assert "the disk reported an error or a limit" in told["message"]
    assert told["uncertain"] == ("may have been charged: ask again with the same request id" in told["message"])
    assert told["ok"]
    assert told["receipts"] > 5
    with Ledger.open(where) as ledger:
        assert ledger.verify().ok
        assert ledger.balance("clinic").spent == Fraction(told["receipts"], 1000)


def test_what_lasts_is_told_from_what_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with two names stays refused until somebody removes one; a lock may be gone by the next time."""
    path = tmp_path / "budget.db"
    Ledger.open(path).close()
    (tmp_path / "link").hardlink_to(path)
    with pytest.raises(LedgerUnavailable, match="another name too") as lasting:
        Ledger.open(path)
    (tmp_path / "link").unlink()
    monkeypatch.setattr(sqlite_connection, "ATTEMPTS", 3)
    with Ledger.open(path) as ledger, closing(sqlite3.connect(path)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="kept it locked") as passing:
            ledger.open_dataset("clinic", 1)
    assert pickle.loads(pickle.dumps(lasting.value)).lasting
    assert not pickle.loads(pickle.dumps(passing.value)).lasting


def test_a_lost_commit_is_told_honestly(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot be known whether the charge was kept, the message says so, and the same id settles it."""
    commit = ledger._store._commit

    def commit_and_lose() -> None:
        commit()
        raise Failure("the connection to the server was lost", in_commit=True)

    monkeypatch.setattr(ledger._store, "_commit", commit_and_lose)
    with pytest.raises(LedgerUnavailable, match=r"may have been charged: ask again .* id, 'request 1'") as refused:
        ledger.charge("clinic", "ada", 1, "request 1")
    with pytest.raises(LedgerUnavailable, match="may have been granted: look at the statement"):
        ledger.grant("clinic", 1)
    monkeypatch.undo()
    assert pickle.loads(pickle.dumps(refused.value)).uncertain
    receipt = ledger.charge("clinic", "ada", 1, "request 1")
    assert not receipt.fresh
    assert ledger.balance("clinic").spent == 1
    monkeypatch.setattr(ledger._store, "_commit", commit_and_lose)
    with pytest.raises(
        LedgerUnavailable, match=r"answer may have been kept: .* id, 'request 1', which costs nothing"
    ) as lost:
        ledger.answered(receipt, "12345")
    assert "12345" not in str(lost.value)
    monkeypatch.undo()
    assert ledger.answered(receipt, "54321") == "12345"


def test_a_failure_before_the_commit_charges_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the block did before it failed is undone, for an interrupt from the keyboard too."""
    head = ledger.head()
    for failure in (Failure("the disk is on fire"), KeyboardInterrupt()):

        def fail(*_: object, failure: BaseException = failure, **__: object) -> None:
            raise failure

        monkeypatch.setattr(ledger._book, "append", fail)
        with pytest.raises((LedgerUnavailable, KeyboardInterrupt)):
            ledger.charge("clinic", "ada", 1)
        monkeypatch.undo()
        assert ledger.head() == head
        assert ledger.balance("clinic", "ada").spent == 0
    assert ledger.charge("clinic", "ada", 1).fresh
    assert ledger.verify().ok


def test_who_waits_too_long_for_a_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who holds the lock and does not let go keeps others from charging, not from reading."""
    where = tmp_path / "budget.db"
    monkeypatch.setattr(sqlite_connection, "ATTEMPTS", 20)
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        with closing(sqlite3.connect(where, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerUnavailable, match=r"locked for too long.*nothing was charged"):
                ledger.charge("clinic", "ada", 1)
            assert ledger.verify().ok
        assert ledger.charge("clinic", "ada", 1).fresh


@pytest.mark.thorough
def test_who_waits_too_long_for_a_server_is_told(server: Place) -> None:
    """The same in PostgreSQL, where it is the head that is locked."""
    with Ledger.open(server.where) as ledger:
        ledger.open_dataset("clinic", 1)
        connection(ledger).execute("SET lock_timeout = '50ms'")
        with psycopg.connect(server.where) as other:
            other.execute("SELECT * FROM ledger_head FOR UPDATE")
            with pytest.raises(LedgerUnavailable, match=r"others kept it locked for too long.*nothing was charged"):
                ledger.charge("clinic", "ada", 1)
            assert ledger.verify().ok
        assert ledger.charge("clinic", "ada", 1).fresh


def test_a_read_only_ledger_is_told(ledger: Ledger, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read; a charge says that nothing was charged."""
    if place.kind == "sqlite":
        connection(ledger).execute("PRAGMA query_only = ON")
    monkeypatch.setattr(postgres, "_WRITE", postgres._READ)
    with pytest.raises(LedgerUnavailable, match=r" is read-only.*nothing was charged"):
        ledger.charge("clinic", "ada", 1)
    assert ledger.verify().ok


def end_connection(ledger: Ledger, server: Place) -> None:
    """Let the server end the connection of a ledger."""
    server.raw("SELECT pg_terminate_backend(?)", (connection(ledger).info.backend_pid,))


@pytest.mark.thorough
def test_a_connection_that_was_lost_is_made_again(server: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between charges nobody notices; within one nothing is charged; within its commit, it is not known."""
    with Ledger.open(server.where) as ledger:
        ledger.open_dataset("clinic", 1)
        end_connection(ledger, server)
        ledger.charge("clinic", "ada", "0.1")
        append, commit = ledger._book.append, ledger._store._commit

        def lose_and_append(*arguments: Any, **fields: Any) -> Any:
            end_connection(ledger, server)
            return append(*arguments, **fields)

        monkeypatch.setattr(ledger._book, "append", lose_and_append)
        with pytest.raises(LedgerUnavailable, match=r"server.*nothing was charged"):
            ledger.charge("clinic", "ada", "0.1")
        monkeypatch.undo()
        assert ledger.balance("clinic").spent == Fraction(1, 10)

        def lose_and_commit() -> None:
            end_connection(ledger, server)
            commit()

        monkeypatch.setattr(ledger._store, "_commit", lose_and_commit)
        with pytest.raises(LedgerUnavailable, match="may have been charged") as refused:
            ledger.charge("clinic", "ada", "0.1")
        assert refused.value.uncertain
        monkeypatch.undo()
        assert ledger.verify().ok


@pytest.mark.parametrize("content", [b"text, not a ledger\n", b"x", b"SQLite format 3\0 but no more"])
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    """Not a byte of it changes, and nothing appears beside it."""
    where = tmp_path / "budget.db"
    where.write_bytes(content)
    with pytest.raises(LedgerConflict, match="is a file but not a ledger, and was left as it is; give another path"):
        Ledger.open(where)
    assert where.read_bytes() == content
    assert list(tmp_path.iterdir()) == [where]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_database_is_left_as_it_is(tmp_path: Path, mode: str) -> None:
    """A database of somebody else is no ledger, even if its tables have the names."""
    where = tmp_path / "other.db"
    with closing(sqlite3.connect(where)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE ledger_head (version INTEGER)")
    before = where.read_bytes()
    with pytest.raises(LedgerConflict, match="not a ledger"):
        Ledger.open(where)
    assert where.read_bytes() == before
    assert list(tmp_path.iterdir()) == [where]


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    """For that is what a process leaves that is killed right after it created the file."""
    where = tmp_path / "budget.db"
    where.touch()
    with Ledger.open(where) as ledger:
        assert ledger.verify().ok


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("moment", ["refuse_two_names", "may_be_written", "log_size", "log_place", "remember"])
def test_a_file_that_vanishes_while_it_is_opened_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, create: bool
) -> None:
    """At whatever moment the file goes, the refusal is one of the package, or a new ledger is there."""
    where = tmp_path / "budget.db"
    Ledger.open(where).close()
    usual = getattr(LedgerFile, moment)

    def vanishing(file: LedgerFile) -> Any:
        where.unlink(missing_ok=True)
        return usual(file)

    monkeypatch.setattr(LedgerFile, moment, vanishing)
    with suppress(InboundsError):
        Ledger.open(where, create=create).close()


def test_a_ledger_of_a_later_release_is_left_alone(place: Place) -> None:
    """Neither opened nor changed."""
    Ledger.open(place.where).close()
    place.raw("UPDATE ledger_head SET version = 7")
    with pytest.raises(LedgerConflict, match="version 7 of the tables, and this release reads versions up to 6"):
        Ledger.open(place.where)
    assert place.raw("SELECT version FROM ledger_head") == [(7,)]


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_only_the_owner_can_read_a_ledger(tmp_path: Path) -> None:
    """The file and its companions are 0600 whatever the umask."""
    before = os.umask(0)
    try:
        with Ledger.open(tmp_path / "budget.db") as ledger:
            ledger.open_dataset("clinic", 1)
            found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert found == dict.fromkeys(["budget.db", "budget.db-wal", "budget.db-shm"], 0o600)


def test_a_path_that_cannot_be_is_told(tmp_path: Path) -> None:
    """A folder, or a file in a folder that is not there."""
    for where in (tmp_path, tmp_path / "nowhere" / "budget.db"):
        with pytest.raises(LedgerUnavailable, match=r"cannot be opened: .*folder"):
            Ledger.open(where)


def test_a_file_that_was_taken_away_is_told(tmp_path: Path) -> None:
    """Charges never go to a file that nobody will find again."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        where.rename(tmp_path / "elsewhere.db")
        with pytest.raises(LedgerUnavailable, match="was removed while it was open; restore it; nothing was charged"):
            ledger.charge("clinic", "ada", 1)
        shutil.copy(tmp_path / "elsewhere.db", where)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match="was replaced while it was open"):
                ledger.charge("clinic", "ada", 1)
            ledger._store.after_fork()  # a child is not taken in by the other file either


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    """Bytes that are no database any more are an error in plain words."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
    content = bytearray(where.read_bytes())
    content[200:] = bytes(len(content) - 200)
    where.write_bytes(content)
    with pytest.raises(InboundsError) as refused:
        Ledger.open(where)
    assert "malformed" not in str(refused.value)


BAD_URLS = [
    "postgresql://ada:hunter2@127.0.0.1:1/db",
    "postgresql://ada:hunter2@[bad/db",
    "postgresql://ada:12/hunter2@127.0.0.1:1/db",
    "postgresql://ada@127.0.0.1:1/db?password=hunter2",
    "postgresql://127.0.0.1:1/db?no_such_option=hunter2",
    "postgres://ada:hunter2@127.0.0.1:99999999/db",
    "postgresql://ada:hunter2@no-such-host.invalid/db",
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_password_is_never_shown(url: str) -> None:
    """Not in the message, not in the traceback, not where the ledger says where it is."""
    with pytest.raises(LedgerUnavailable, match="the ledger in PostgreSQL cannot be opened") as refused:
        Ledger.open(url)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))
    assert "hunter2" not in without_secrets(url)


def test_a_server_is_shown_without_user_and_options() -> None:
    """Host, port and database, and nothing else."""
    assert without_secrets("postgresql://ada:x@db.example:5433/budget?sslmode=require") == (
        "postgresql://db.example:5433/budget"
    )
    assert without_secrets("postgresql://db.example:12345/budget") == "postgresql://..."  # or ada:12345, a password


def test_without_the_driver_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has no psycopg is told what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "inbounds.ledger.stores.postgres")
    with pytest.raises(ImportError, match=r"pip install 'inbounds\[postgres\]'"):
        Ledger.open("postgresql://localhost/db")


def test_every_commit_waits_for_the_disk(ledger: Ledger, place: Place) -> None:
    """The settings that make a charge durable are on, also for a connection that a child opens."""
    ledger._store.after_fork()
    if place.kind == "sqlite":
        assert connection(ledger).execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection(ledger).execute("PRAGMA synchronous").fetchone() == (2,)
    else:
        assert connection(ledger).execute("SHOW synchronous_commit").fetchone() == ("on",)


@pytest.mark.thorough
def test_a_server_that_does_not_wait_for_its_disk_is_told_to(server: Place) -> None:
    """Whatever the default of the server or of the URL, a charge is durable when it returns."""
    with Ledger.open(f"{server.where}%20-csynchronous_commit%3Doff") as ledger:
        assert connection(ledger).execute("SHOW synchronous_commit").fetchone() == ("on",)


SEIZE = """
import sqlite3, sys
try:
    print(sqlite3.connect(sys.argv[1], timeout=0).execute("PRAGMA journal_mode = DELETE").fetchone()[0])
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname)
"""


def test_opening_a_ledger_twice_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """POSIX drops all locks of a process on a file when any descriptor of it is closed: only SQLite may do that.

    Another process that could leave WAL mode now would have taken the first ledger's log away under its hands.
    """
    where = tmp_path / "budget.db"
    with Ledger.open(where) as first:
        first.open_dataset("clinic", 1)
        Ledger.open(where).close()
        program = [sys.executable, "-c", SEIZE, str(where)]
        assert subprocess.run(program, capture_output=True, text=True, check=True).stdout == "SQLITE_BUSY\n"
        assert first.charge("clinic", "ada", 1).fresh


@contextmanager
def nobody() -> Iterator[None]:
    """Let the block have the rights of somebody to whom rights apply: root is nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def sealed(*files: Path) -> Iterator[Path]:
    """Yield a folder with copies of some files, in which nobody may write anything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in files:
            shutil.copy(file, folder)
            (folder / file.name).chmod(0o444)
        folder.chmod(0o555)
        try:
            yield folder
        finally:
            folder.chmod(0o755)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and the time of every file in a folder."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def companions(where: Path, *endings: str) -> list[Path]:
    """Return a ledger and what is beside it."""
    return [where, *(where.with_name(where.name + ending) for ending in endings)]


posix = pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")


def test_looking_at_a_ledger_leaves_it_as_it_is(tmp_path: Path) -> None:
    """Opened with create=False, read and closed, a file keeps its bytes and its time, and nothing is beside it."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
    before = snapshot(tmp_path)
    with Ledger.open(where, create=False) as ledger:
        assert ledger.balance("clinic").left == 1
        assert ledger.verify().ok
    assert snapshot(tmp_path) == before


@posix
@pytest.mark.parametrize("endings", [(), ("-wal", "-shm")], ids=["alone", "with its log"])
def test_a_ledger_that_may_not_be_written_can_be_read(tmp_path: Path, endings: tuple[str, ...]) -> None:
    """Balance, statement and verification are those of the ledger, a charge is refused, and nothing is changed."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        ledger.charge("clinic", "ada", "0.25")
        head = ledger.head()
        if not endings:
            ledger.close()
        with sealed(*companions(where, *endings)) as folder:
            before = snapshot(folder)
            with nobody(), Ledger.open(folder / where.name, create=False) as found:
                for _ in range(2):
                    assert found.balance("clinic").spent == Fraction(1, 4)
                    assert [entry.kind for entry in found.statement("clinic").entries] == ["open", "charge"]
                    assert found.verify(head).ok
                    with pytest.raises(LedgerUnavailable, match=r" is read-only; .*; nothing was charged$") as refused:
                        found.charge("clinic", "ada", "0.25")
                    assert not refused.value.uncertain
                with pytest.raises(LedgerUnavailable, match=r" is read-only; .*; nothing was granted$"):
                    found.grant("clinic", 1)
                found.open_dataset("clinic", 1, create=False)
                assert snapshot(folder) == before
            assert snapshot(folder) == before


@posix
def test_a_ledger_that_may_not_be_written_is_not_opened_to_be_charged(tmp_path: Path) -> None:
    """Unless it is opened with create=False, the first thing that is told is that it is read-only."""
    where = tmp_path / "budget.db"
    Ledger.open(where).close()
    with (
        sealed(where) as folder,
        nobody(),
        pytest.raises(LedgerUnavailable, match="cannot be opened: it is read-only; make the file and its folder"),
    ):
        Ledger.open(folder / where.name)


@posix
def test_a_log_that_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    """A copy with its log, and nowhere to put the log's index, is refused: without the log charges would be missing."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        with (
            sealed(*companions(where, "-wal")) as folder,
            nobody(),
            pytest.raises(LedgerUnavailable, match="part of it is still in its -wal file; copy both"),
        ):
            Ledger.open(folder / where.name, create=False)


@posix
def test_what_somebody_writes_while_a_ledger_is_read_is_told(tmp_path: Path) -> None:
    """Who may not write reads one state of the ledger, or is told to read again; the next reading has the news."""
    where = tmp_path / "budget.db"
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
    with sealed(where) as folder:
        with nobody():
            found = Ledger.open(folder / where.name, create=False)
        with found:
            with nobody():
                assert found.balance("clinic").spent == 0
            folder.chmod(0o755)
            (folder / where.name).chmod(0o644)

            def charge_meanwhile() -> None:
                with found._transactions.reading(), Ledger.open(folder / where.name) as other:
                    other.charge("clinic", "ada", 1)

            with pytest.raises(LedgerUnavailable, match="was written by somebody else meanwhile; read it again"):
                charge_meanwhile()
            assert found.balance("clinic").spent == 1
            assert found.verify().ok
