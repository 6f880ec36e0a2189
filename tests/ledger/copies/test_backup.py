"""Backups are whole and for their owner alone; a restored ledger says what is lost with it, or is not restored."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import (
    InvalidParameter,
    LedgerBroken,
    LedgerConflict,
    LedgerMissing,
    LedgerReplaced,
    LedgerUnavailable,
)
from inbounds.files.whole_file import put
from inbounds.ledger import Head, Ledger, recovery
from inbounds.ledger.copies import exchange as module
from inbounds.ledger.recovery import restore
from inbounds.ledger.stores.sqlite_connection import connect
from inbounds.ledger.values.restore_record import RestoreRecord
from tests.helpers.ledger_places import Place, postgres_place

WHY = "the disk failed"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with a charge in it."""
    with Ledger.open(tmp_path / "budget.db") as found:
        found.open_dataset("clinic", 10)
        found.charge("clinic", "ada", 1, "one")
        yield found


@pytest.fixture
def on_server() -> Iterator[Place]:
    """A place in PostgreSQL."""
    yield from postgres_place()


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of all files in a folder."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def names(folder: Path) -> set[str]:
    """Return the names of all files in a folder."""
    return {path.name for path in folder.iterdir()}


def records(where: Path) -> list[RestoreRecord | None]:
    """Return what a ledger says of its restores; it verifies."""
    with Ledger.open(where, create=False) as ledger:
        assert ledger.verify().ok
        return [RestoreRecord.load(entry.text) for entry in ledger.statement() if entry.kind == "restore"]


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_a_backup_is_for_its_owner_alone(ledger: Ledger, tmp_path: Path) -> None:
    """Whatever the umask is: the copy and its head are 0600, and nothing else is left beside them."""
    folder = tmp_path / "kept"
    folder.mkdir()
    before = os.umask(0)
    try:
        head = ledger.backup(folder / "copy.db")
    finally:
        os.umask(before)
    assert modes(folder) == {"copy.db": 0o600, "copy.db.head": 0o600}
    assert (folder / "copy.db.head").read_text() == f"{head}\n" == f"{ledger.head()}\n"


def test_a_backup_is_the_ledger_as_it_was(ledger: Ledger, tmp_path: Path) -> None:
    """It verifies, has every entry and the answers, and says nothing of the ledger's log."""
    ledger.answered(ledger.charge("clinic", "ada", 1, "two"), "42")
    head = ledger.backup(tmp_path / "copy.db")
    ledger.charge("clinic", "ada", 1, "three")
    with Ledger.open(tmp_path / "copy.db", create=False) as copy:
        assert copy.verify(head).ok
        assert copy.head() == head
        assert copy.balance("clinic").spent == 2
        assert copy.charge("clinic", "ada", 1, "two").answer == "42"


def test_a_backup_replaces_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """A file of that name, one for its head, and a folder that is not there are refused, and left as they are."""
    for taken, target in (("copy.db", "copy.db"), ("other.db.head", "other.db")):
        (tmp_path / taken).write_text("mine")
        with pytest.raises(InvalidParameter, match="must be a new file"):
            ledger.backup(tmp_path / target)
        assert (tmp_path / taken).read_text() == "mine"
    with pytest.raises(InvalidParameter, match="does not exist; create it first"):
        ledger.backup(tmp_path / "nowhere" / "copy.db")
    assert not (tmp_path / "other.db").exists()


def test_an_empty_ledger_knows_nothing_of_what_was_lost(ledger: Ledger, tmp_path: Path) -> None:
    """In the place of one that is gone it proves nothing: a reason is needed as if no ledger were there."""
    ledger.backup(tmp_path / "copy.db")
    ledger.charge("clinic", "ada", 1, "two")
    ledger.close()
    (tmp_path / "budget.db").unlink()
    Ledger.open(tmp_path / "budget.db").close()
    with pytest.raises(InvalidParameter, match="nobody can tell whether it does; give a --reason"):
        restore(tmp_path / "copy.db", str(tmp_path / "budget.db"), by="carla")
    assert restore(tmp_path / "copy.db", str(tmp_path / "budget.db"), by="carla", why=WHY).lost == {"clinic": None}


@pytest.mark.parametrize("why", ["", " ", "\n"])
def test_a_reason_says_something(ledger: Ledger, tmp_path: Path, why: str) -> None:
    """Blanks are none, whether or not one is needed; nothing is changed."""
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    before = names(tmp_path)
    with pytest.raises(InvalidParameter, match="a restored ledger needs a reason, got none"):
        restore(tmp_path / "copy.db", str(tmp_path / "budget.db"), by="carla", why=why)
    assert names(tmp_path) == before


@pytest.mark.parametrize("written", [b"", b"\xff\xfe1:ab", b"17:abc\n", b"\0" * 70])
def test_a_head_that_cannot_be_read_is_named(ledger: Ledger, tmp_path: Path, written: bytes) -> None:
    """The file beside the backup is meant, whose content is not repeated; nothing is restored."""
    ledger.backup(tmp_path / "copy.db")
    (tmp_path / "copy.db.head").write_bytes(written)
    ledger.close()
    with pytest.raises(
        InvalidParameter, match=r"the head beside the backup, '.*copy\.db\.head', cannot be read"
    ) as found:
        restore(tmp_path / "copy.db", str(tmp_path / "budget.db"), by="carla", why=WHY)
    assert "abc" not in str(found.value)
    assert not list(tmp_path.glob("*replaced*"))


def test_a_backup_that_is_not_there_is_told_as_one(ledger: Ledger, tmp_path: Path) -> None:
    """It is a file that is missing, and no question makes it."""
    with pytest.raises(LedgerMissing, match=r"there is no backup at '.*none\.db'; check the path") as found:
        restore(tmp_path / "none.db", str(tmp_path / "budget.db"), by="carla")
    assert "ask a question" not in str(found.value)


@pytest.mark.parametrize("letters", [247, 248, 251, 252, 255, 256])
def test_a_backup_has_its_head_or_is_not_made(ledger: Ledger, tmp_path: Path, letters: int) -> None:
    """Under a name that leaves no room for what stands beside it there is neither, and the refusal names that."""
    target = tmp_path / "kept" / ("x" * letters)
    target.parent.mkdir()
    if letters == 247:
        assert ledger.backup(target) == ledger.head()
        assert names(target.parent) == {target.name, f"{target.name}.head"}
        return
    with pytest.raises(InvalidParameter, match=r"cannot write '.*/kept/x+[^/]*': .*; choose another name"):
        ledger.backup(target)
    assert names(target.parent) == set()


def test_a_backup_that_fails_late_leaves_no_head(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If somebody takes the name of the copy meanwhile, the head that was put first goes again."""

    def taken(made: Path, target: Path) -> None:
        if target.name == "copy.db":
            target.write_text("mine")
        put(made, target)

    monkeypatch.setattr("inbounds.ledger.copies.backup.put", taken)
    with pytest.raises(InvalidParameter, match="must be a new file"):
        ledger.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"
    assert not (tmp_path / "copy.db.head").exists()


@pytest.mark.skipif(os.name != "posix", reason="a disk of POSIX has links")
@pytest.mark.parametrize("other", ["budget.db.replaced-20261118T000000.000000Z", ".inbounds-0123abcd/copy"])
def test_a_name_that_was_left_by_a_kill_is_the_one_to_remove(ledger: Ledger, tmp_path: Path, other: str) -> None:
    """The refusal names it, under either name, and what it says works."""
    ledger.close()
    left = tmp_path / other
    left.parent.mkdir(exist_ok=True)
    left.hardlink_to(tmp_path / "budget.db")
    (tmp_path / "link").symlink_to(tmp_path / "budget.db")
    for where in (tmp_path / "budget.db", tmp_path / "link", left):
        with pytest.raises(LedgerUnavailable, match=rf"remove {other}, which .* left, and keep budget\.db$"):
            Ledger.open(where, create=False)
    left.unlink()
    Ledger.open(tmp_path / "budget.db", create=False).close()


def test_an_altered_ledger_is_not_saved(ledger: Ledger, tmp_path: Path) -> None:
    """What does not verify would take the place of a copy that does."""
    with closing(sqlite3.connect(tmp_path / "budget.db")) as file:
        file.execute("DROP TRIGGER ledger_no_UPDATE")
        file.execute("UPDATE ledger_entries SET amount = 1 WHERE seq = 2")
        file.commit()
    with pytest.raises(LedgerBroken):
        ledger.backup(tmp_path / "copy.db")
    assert {name for name in names(tmp_path) if "copy" in name or "inbounds" in name} == set()


@pytest.mark.slow
def test_backups_are_whole_while_others_charge(tmp_path: Path) -> None:
    """Each is one moment of the ledger: it verifies, and is in the chain of the next."""
    over = threading.Event()

    def charge(name: str) -> None:
        with Ledger.open(tmp_path / "budget.db") as own:
            while not over.is_set():
                own.answered(own.charge("clinic", name, "0.001"), "x" * 5000)

    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.open_dataset("clinic", 1000)
        threads = [threading.Thread(target=charge, args=(f"analyst {number}",)) for number in range(3)]
        for thread in threads:
            thread.start()
        try:
            heads = [ledger.backup(tmp_path / f"copy-{number}.db") for number in range(8)]
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert len(set(heads)) > 1
        assert all(ledger.goes_through(head) for head in heads)
    for number, head in enumerate(heads):
        with Ledger.open(tmp_path / f"copy-{number}.db", create=False) as copy:
            assert copy.verify(head).ok
            assert copy.head() == head


@pytest.mark.thorough
def test_postgresql_has_its_own_tools(on_server: Place, tmp_path: Path) -> None:
    """The refusal names them; nothing is written."""
    with Ledger.open(on_server.where) as ledger, pytest.raises(InvalidParameter, match="use pg_dump and pg_restore"):
        ledger.backup(tmp_path / "copy.db")
    with pytest.raises(InvalidParameter, match="pg_restore"):
        restore(tmp_path / "copy.db", on_server.where, by="carla", why=WHY)
    assert names(tmp_path) == set()


# Restoring.


def test_a_lost_ledger_is_restored_on_the_record(ledger: Ledger, tmp_path: Path) -> None:
    """Nobody can tell what was charged since: that needs a reason, which is in the chain."""
    head, where = ledger.backup(tmp_path / "copy.db"), tmp_path / "budget.db"
    ledger.charge("clinic", "ada", 1, "two")
    ledger.close()
    where.unlink()
    with pytest.raises(InvalidParameter, match="or nobody can tell whether it does; give a --reason"):
        restore(tmp_path / "copy.db", str(where), by="carla")
    assert not where.exists()
    found = restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert (found.lost, found.aside) == ({"clinic": None}, None)
    assert records(where) == [RestoreRecord(None, head, "carla", WHY)]
    assert modes(tmp_path)["budget.db"] == 0o600
    with Ledger.open(where) as again:
        assert again.head() == found.head
        assert again.balance("clinic").spent == 1


def test_a_ledger_that_is_ahead_is_replaced_on_the_record(ledger: Ledger, tmp_path: Path) -> None:
    """Without a reason it stays; with one, both heads are in the chain, and the ledger is kept beside."""
    head, where = ledger.backup(tmp_path / "copy.db"), tmp_path / "budget.db"
    ledger.charge("clinic", "ada", 1, "two")
    ahead = ledger.head()
    ledger.close()
    with pytest.raises(InvalidParameter, match="lacks entries that the ledger had"):
        restore(tmp_path / "copy.db", str(where), by="carla")
    with Ledger.open(where) as same:
        assert same.head() == ahead
    found = restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert found.lost == {"clinic": ahead}
    assert records(where) == [RestoreRecord(ahead, head, "carla", WHY)]
    assert found.aside is not None
    assert names(tmp_path) == {"budget.db", found.aside.name, "copy.db", "copy.db.head"}
    assert set(modes(tmp_path).values()) == {0o600}
    with Ledger.open(found.aside, create=False) as replaced:
        assert (replaced.head(), replaced.verify().ok) == (ahead, True)


def test_nothing_is_recorded_if_nothing_is_lost(ledger: Ledger, tmp_path: Path) -> None:
    """A backup that has all that is known takes the place of a lost or an older ledger without a reason."""
    where, old = tmp_path / "budget.db", tmp_path / "old.db"
    ledger.backup(old)
    ledger.charge("clinic", "ada", 1, "two")
    head = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    where.unlink()
    assert restore(tmp_path / "copy.db", str(where), by="carla", known={"clinic": head}).lost == {}
    shutil.copy(old, where)
    assert restore(tmp_path / "copy.db", str(where), by="carla").lost == {}
    assert records(where) == []
    with Ledger.open(where) as again:
        assert again.head() == head


def test_the_head_that_is_known_counts(ledger: Ledger, tmp_path: Path) -> None:
    """If a server has seen more than the ledger that is there, that is what is lost; also of datasets not in it."""
    where, known = tmp_path / "budget.db", Head(9, "a" * 64)
    head = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    heads = {"clinic": known, "ward": known}
    with pytest.raises(InvalidParameter, match="give a --reason"):
        restore(tmp_path / "copy.db", str(where), by="carla", known=heads)
    assert restore(tmp_path / "copy.db", str(where), by="carla", why=WHY, known=heads).lost == heads
    assert records(where) == [RestoreRecord(known, head, "carla", WHY)] * 2


def test_a_backup_that_is_another_one_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """The chain must go through the head beside it, and through one that was saved elsewhere."""
    where, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    ledger.backup(copy)
    ledger.close()
    before = names(tmp_path)
    with pytest.raises(LedgerBroken, match="is not in the chain"):
        restore(copy, str(where), by="carla", why=WHY, saved=Head(7, "a" * 64))
    (tmp_path / "copy.db.head").write_text(f"{Head(1, 'b' * 64)}\n")
    with pytest.raises(LedgerBroken, match="is not in the chain"):
        restore(copy, str(where), by="carla", why=WHY)
    (tmp_path / "copy.db.head").unlink()
    with closing(sqlite3.connect(copy)) as file:
        file.execute("UPDATE ledger_accounts SET spent = 0")
        file.commit()
    with pytest.raises(LedgerBroken, match="should hold 1 spent"):
        restore(copy, str(where), by="carla", why=WHY)
    with pytest.raises(LedgerMissing):
        restore(tmp_path / "none.db", str(where), by="carla", why=WHY)
    with pytest.raises(InvalidParameter, match="is the ledger itself"):
        restore(where, str(where), by="carla", why=WHY)
    assert names(tmp_path) == before - {"copy.db.head"}


def test_a_ledger_in_use_is_not_replaced(ledger: Ledger, tmp_path: Path) -> None:
    """A program that has it open would go on charging the one that was put aside."""
    ledger.backup(tmp_path / "copy.db")
    with pytest.raises(LedgerUnavailable, match="a program has the ledger open; stop the server"):
        restore(tmp_path / "copy.db", str(tmp_path / "budget.db"), by="carla", why=WHY)
    ledger.charge("clinic", "ada", 1, "two")
    assert ledger.verify().ok


def test_a_charge_in_the_last_moment_is_not_lost(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever charged after the backup was compared is not put aside with the ledger."""
    where = tmp_path / "budget.db"
    ledger.backup(tmp_path / "copy.db")
    ledger.close()

    def late(path: Path) -> sqlite3.Connection:
        with Ledger.open(where) as other:
            other.charge("clinic", "bob", 1, "late")
        return connect(path)

    monkeypatch.setattr(module, "connect", late)
    with pytest.raises(LedgerUnavailable, match="was charged while it was being replaced"):
        restore(tmp_path / "copy.db", str(where), by="carla")
    with Ledger.open(where) as same:
        assert same.balance("clinic").spent == 2


def test_what_is_no_ledger_is_not_put_aside(ledger: Ledger, tmp_path: Path) -> None:
    """Another program's database in the place is left as it is, whatever the reason; an empty file is put aside."""
    ledger.backup(tmp_path / "copy.db")
    other = tmp_path / "notes.db"
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE notes (note TEXT)")
        file.commit()
    before = other.read_bytes()
    with pytest.raises(LedgerConflict, match="not a ledger"):
        restore(tmp_path / "copy.db", str(other), by="carla", why=WHY)
    assert other.read_bytes() == before
    empty = tmp_path / "empty.db"
    empty.touch()
    found = restore(tmp_path / "copy.db", str(empty), by="carla", why=WHY)
    assert found.aside is not None
    assert found.aside.stat().st_size == 0


def damaged(where: Path, how: str) -> bytes:
    """Damage a ledger that is closed, and return what is there then."""
    content = where.read_bytes()
    spoilt = {
        "junk": b"junk" * 4096,
        "cut": content[: len(content) // 2],
        "first page": bytes(4096) + content[4096:],
        "other pages": content[:4096] + b"\xff" * (len(content) - 4096),
    }[how]
    where.write_bytes(spoilt)
    return spoilt


@pytest.mark.parametrize("how", ["junk", "cut", "first page", "other pages"])
def test_a_damaged_ledger_is_replaced_on_the_record(ledger: Ledger, tmp_path: Path, how: str) -> None:
    """Nobody can tell what was in it: that needs a reason, even if a server knows of nothing more; it is kept."""
    where = tmp_path / "budget.db"
    head = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    spoilt = damaged(where, how)
    heads: list[dict[str, Head]] = [{}, {"clinic": head}]
    for known in heads:
        with pytest.raises(InvalidParameter, match=r"cannot be read, .* give a --reason"):
            restore(tmp_path / "copy.db", str(where), by="carla", known=known)
    assert where.read_bytes() == spoilt
    found = restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert records(where) == [RestoreRecord(None, head, "carla", WHY)]
    assert found.aside is not None
    assert found.aside.read_bytes()[100:] == spoilt[100:]  # after the header, which says whether it has a log


def test_a_damaged_ledger_has_the_head_that_a_server_knows(ledger: Ledger, tmp_path: Path) -> None:
    """What is on the record as lost is then what the server knows of."""
    where, known = tmp_path / "budget.db", Head(9, "a" * 64)
    head = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    damaged(where, "junk")
    restore(tmp_path / "copy.db", str(where), by="carla", why=WHY, known={"clinic": known})
    assert records(where) == [RestoreRecord(known, head, "carla", WHY)]


def test_a_ledger_that_only_cannot_be_opened_is_not_replaced(ledger: Ledger, tmp_path: Path) -> None:
    """A second name, for one, can be mended, and then the ledger says what it has."""
    where = tmp_path / "budget.db"
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    os.link(where, tmp_path / "second.db")
    with pytest.raises(LedgerUnavailable, match="a hard link"):
        restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert where.samefile(tmp_path / "second.db")


KILLED = """
import os, signal, sys
from inbounds.ledger import Ledger
ledger = Ledger.open(sys.argv[1])
for number in range(40):
    ledger.charge("clinic", "ada", "0.01", f"late {number}", note="x" * 900)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(where: Path) -> None:
    """Let a program charge a ledger, and be killed, so that its log is left."""
    subprocess.run([sys.executable, "-c", KILLED, str(where)], check=False, timeout=60)
    assert where.with_name(f"{where.name}-wal").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process as POSIX does")
@pytest.mark.parametrize("left", ["nothing", "an empty file", "a log alone"])
def test_a_log_that_was_left_is_not_laid_over_the_copy(ledger: Ledger, tmp_path: Path, left: str) -> None:
    """It goes aside, whatever became of its ledger, and the restored one is the backup and the record of it."""
    where = tmp_path / "budget.db"
    head = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    killed(where)
    log = (tmp_path / "budget.db-wal").read_bytes()
    where.unlink()
    if left == "an empty file":
        where.touch()
    if left == "a log alone":
        (tmp_path / "budget.db-shm").unlink()
    found = restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert records(where) == [RestoreRecord(None, head, "carla", WHY)]
    with Ledger.open(where, create=False) as again:
        assert again.head() == found.head
        assert again.balance("clinic").spent == 1
    assert found.aside is not None
    (kept,) = (path for path in tmp_path.iterdir() if path.name.endswith("-wal"))
    assert kept.name.startswith("budget.db.replaced-")
    assert kept.read_bytes() == log


def test_a_restored_ledger_is_read_again(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not the copy in its place is no success."""
    where, other = tmp_path / "budget.db", tmp_path / "other.db"
    ledger.backup(other)
    ledger.charge("clinic", "ada", 1, "two")
    ledger.backup(tmp_path / "copy.db")
    ledger.close()

    def wrong(copy: Path, target: Path, current: Head | None) -> None:
        shutil.copy(other, target)

    monkeypatch.setattr(recovery, "exchange", wrong)
    with pytest.raises(LedgerBroken, match="is not in the chain"):
        restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)


@pytest.mark.skipif(os.name != "posix", reason="a disk of POSIX has links")
def test_the_place_of_a_ledger_is_never_empty(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever found nothing there would begin a ledger with the whole budget; and both files end with one name."""
    where = tmp_path / "budget.db"
    ledger.backup(tmp_path / "copy.db")
    ledger.charge("clinic", "ada", 1, "two")
    ledger.close()
    seen: list[bool] = []
    for name in ("rename", "replace", "link", "unlink"):
        monkeypatch.setattr(os, name, watched(getattr(os, name), where, seen))
    found = restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert seen
    assert all(seen)
    assert found.aside is not None
    assert (where.stat().st_nlink, found.aside.stat().st_nlink) == (1, 1)


def watched(call: Callable[..., None], where: Path, seen: list[bool]) -> Callable[..., None]:
    """Return a call that notes whether a file is there after it."""

    def done(*arguments: Any, **options: Any) -> None:
        call(*arguments, **options)
        seen.append(where.exists())

    return done


@pytest.mark.parametrize("links", [True, False])
def test_a_ledger_that_cannot_be_replaced_is_there_again(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """If the copy cannot have the name, the ledger has it as before, alone, with or without links on the disk."""
    where = tmp_path / "budget.db"
    ledger.backup(tmp_path / "copy.db")
    ledger.charge("clinic", "ada", 1, "two")
    ahead = ledger.head()
    ledger.close()
    before = names(tmp_path)

    def fails(*_: Any) -> None:
        raise OSError(5, "the disk failed")

    if links:
        monkeypatch.setattr(os, "replace", fails)
    else:
        monkeypatch.setattr(os, "link", fails)
        monkeypatch.setattr(module, "put", fails)
    with pytest.raises(LedgerUnavailable, match="cannot be replaced: "):
        restore(tmp_path / "copy.db", str(where), by="carla", why=WHY)
    assert names(tmp_path) == before
    with Ledger.open(where, create=False) as same:
        assert same.head() == ahead


def test_an_older_copy_is_not_saved_in_the_place_of_the_right_one(ledger: Ledger, tmp_path: Path) -> None:
    """A ledger that its witness refuses is not backed up either."""

    class Knows:
        def heads(self) -> list[Head]:
            return [Head(9, "a" * 64)]

        def keep(self, head: Head) -> None:
            raise AssertionError

    with Ledger.open(tmp_path / "budget.db", witness=Knows()) as refused, pytest.raises(LedgerReplaced):
        refused.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
