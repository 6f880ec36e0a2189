"""A key can be revoked whatever becomes of the server's file: at once, in every process, and for good."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inbounds.server.basics.problem import Problem
from inbounds.server.people import revocations
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.database import Database
from tests.cli.conftest import Type, typed
from tests.helpers.full_disk import filled, no_growth, small_disk
from tests.helpers.served_hospital import Running, Served, running

__all__ = ["typed"]


def ring(folder: Path) -> KeyRing:
    """Return the keys of a folder, as another process would open them."""
    return KeyRing(Database(folder / "server.db"))


def log(folder: Path) -> Path:
    """Return the log of the server's file, to which everything goes that is written there."""
    return folder / "server.db-wal"


def stored(folder: Path) -> dict[str, str | None]:
    """Return when keys were revoked, as the server's file itself says."""
    with closing(sqlite3.connect(folder / "server.db")) as connection:
        return dict(connection.execute("SELECT prefix, revoked FROM keys").fetchall())


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[list[str]]:
    """Three keys, in a file that somebody has open all the time, so that its log stays."""
    own = ring(tmp_path)
    yield [own.issue("ana")[0] for _ in range(3)]
    assert own.issued()


def fill_log(folder: Path) -> int:
    """Return how large the log is, once that is more than all notes are: where it cannot grow, they can be written."""
    own = ring(folder)
    while log(folder).stat().st_size <= revocations.PLACES * len(revocations.FREE):
        own.issue("somebody else")
    return log(folder).stat().st_size


def test_a_key_is_revoked_while_nothing_can_be_written(tmp_path: Path, keys: list[str]) -> None:
    """It opens nothing from then on, for all who have the file open or open it later; other keys stay valid."""
    own, other = ring(tmp_path), ring(tmp_path)
    with no_growth(fill_log(tmp_path)):
        with pytest.raises(Problem, match="cannot be written"):
            own.issue("ana")
        first = own.revoke(keys[0][4:16])
        assert first is not None
        assert first.revoked is not None
        assert own.revoke(keys[0][4:16]) == other.revoke(keys[0][4:16]) == first
        assert own.revoke("0" * 12) is None
        for one in (own, other, ring(tmp_path)):
            assert [one.holder(key) for key in keys] == [None, "ana", "ana"]
            assert not one.is_valid(keys[0][4:16])
            assert [key.prefix for key in one.issued() if key.revoked] == [keys[0][4:16]]
    assert set(stored(tmp_path).values()) == {None}


def test_a_key_is_listed_and_revoked_while_the_file_is_locked(
    tmp_path: Path, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever holds the lock, however long, keeps nobody from opening the file, and no key from being revoked."""
    monkeypatch.setattr("inbounds.server.state.database.PATIENCE", 0.05)
    with closing(sqlite3.connect(tmp_path / "server.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        own = ring(tmp_path)
        assert len(own.issued()) == 3
        own.revoke(keys[0][4:16])
        later = ring(tmp_path)
        assert [later.holder(key) for key in keys] == [None, "ana", "ana"]
        assert set(stored(tmp_path).values()) == {None}
        holder.execute("ROLLBACK")
    ring(tmp_path)
    assert [prefix for prefix, revoked in stored(tmp_path).items() if revoked] == [keys[0][4:16]]


@pytest.mark.parametrize("when", ["opened", "another is revoked"])
def test_what_was_noted_goes_to_the_file(tmp_path: Path, keys: list[str], when: str) -> None:
    """Once it can be written it has the key and its time, and the notes are free again."""
    own = ring(tmp_path)
    with no_growth(fill_log(tmp_path)):
        first = own.revoke(keys[0][4:16])
    assert first is not None
    assert first.revoked is not None
    free = revocations.FREE * revocations.PLACES
    assert (tmp_path / "server.db.revoked").read_bytes() != free
    if when == "opened":
        ring(tmp_path)
    else:
        own.revoke(keys[1][4:16])
    assert stored(tmp_path)[keys[0][4:16]] == first.revoked.isoformat()
    assert (tmp_path / "server.db.revoked").read_bytes() == free
    assert [own.holder(key) for key in keys] == [None, "ana" if when == "opened" else None, "ana"]


def test_a_place_for_notes_that_is_full_is_told(
    tmp_path: Path, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever cannot be noted is refused, and the key is valid, as it says."""
    (tmp_path / "server.db.revoked").unlink()
    monkeypatch.setattr(revocations, "PLACES", 2)
    own = ring(tmp_path)
    with no_growth(fill_log(tmp_path)):
        own.revoke(keys[0][4:16])
        own.revoke(keys[1][4:16])
        with pytest.raises(Problem, match="cannot be written"):
            own.revoke(keys[2][4:16])
        assert [own.holder(key) for key in keys] == [None, None, "ana"]


@pytest.mark.parametrize("damage", [b"", b"\x00" * 39_000, b"x", b"- \n" * 99, "7" * 12 + " yesterday" * 3])
def test_a_damaged_place_for_notes_opens_nothing_else(tmp_path: Path, keys: list[str], damage: bytes | str) -> None:
    """Whatever is in it, keys are found as the server's file says, and can be revoked there."""
    (tmp_path / "server.db.revoked").write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    own = ring(tmp_path)
    assert [own.holder(key) for key in keys] == ["ana"] * 3
    own.revoke(keys[0][4:16])
    assert [own.holder(key) for key in keys] == [None, "ana", "ana"]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES, errno.EIO])
def test_notes_that_cannot_be_read_let_nobody_in(
    tmp_path: Path, keys: list[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Nobody knows which keys are revoked then, so that every key is refused, until the notes can be read again."""
    own = ring(tmp_path)
    with no_growth(fill_log(tmp_path)):
        own.revoke(keys[0][4:16])

        def fail(*_: object) -> bytes:
            raise OSError(number, "no")

        with monkeypatch.context() as patched:
            patched.setattr(Path, "read_bytes", fail)
            for one in (own, ring(tmp_path)):
                for key in keys:
                    with pytest.raises(Problem, match="revoked API keys cannot be read") as told:
                        one.holder(key)
                    assert told.value.code == "server-unavailable"
                    with pytest.raises(Problem, match="revoked API keys cannot be read"):
                        one.is_valid(key[4:16])
        assert [own.holder(key) for key in keys] == [None, "ana", "ana"]


def test_notes_that_are_not_there_revoke_nothing(tmp_path: Path, keys: list[str]) -> None:
    """Where nothing was ever noted, keys are as the server's file says."""
    own = ring(tmp_path)
    (tmp_path / "server.db.revoked").unlink()
    assert [own.holder(key) for key in keys] == ["ana"] * 3


def test_notes_are_their_owners(tmp_path: Path, keys: list[str]) -> None:
    """Nobody else on the machine can read or change them."""
    assert keys
    assert (tmp_path / "server.db.revoked").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def disk(tmp_path: Path, served: Served) -> Iterator[Path]:
    """A small disk that holds all of a server of two workers."""
    with small_disk(tmp_path / "disk") as found:
        shutil.copytree(served.folder, found, dirs_exist_ok=True)
        served.path = found / served.path.name
        served.path.write_text(served.path.read_text("utf-8").replace("workers = 1", "workers = 2"), "utf-8")
        yield found


def statuses(found: Running, key: str) -> set[int]:
    """Return how a key is received, on eight connections, so that both workers are asked."""
    told = set()
    for _ in range(8):
        with found.client(key) as client:
            told.add(client.get("/v1/me").status_code)
    return told


@pytest.mark.thorough
def test_a_full_disk_keeps_nobody_in(disk: Path, served: Served, typed: Type) -> None:
    """Revoked over the network or by the command line, a key is refused by every worker, also after a restart."""
    first, second = served.keys["ana"], served.keys["ben"]
    with running(served) as found:
        assert statuses(found, first) == statuses(found, second) == {200}
        with filled(disk):
            with found.client(served.keys["carla"]) as carla:
                assert carla.post("/v1/keys", json={"person": "ana"}).status_code == 503
                told = carla.delete(f"/v1/keys/{first[4:16]}")
                assert (told.status_code, told.json()["state"]) == (200, "revoked")
            revoked = typed("keys", "revoke", second[4:16], "--custodian", str(served.path), "--json")
            assert (revoked.code, revoked.data["state"]) == (0, "revoked")
            assert statuses(found, first) == statuses(found, second) == {401}
            assert statuses(found, served.keys["carla"]) == {200}
    with running(served) as found:
        assert statuses(found, first) == statuses(found, second) == {401}
        assert statuses(found, served.keys["carla"]) == {200}
