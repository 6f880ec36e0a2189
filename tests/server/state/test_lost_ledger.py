"""A server does not begin anew: without its ledger, or with an older or another one, it does not answer."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from benchmarks.server_kills import workers

from inbounds.cli.main import main
from inbounds.errors import InvalidParameter, LedgerConflict, LedgerMissing, LedgerReplaced
from inbounds.ledger import Head, Ledger
from inbounds.ledger.stores.store import Failure
from inbounds.server.basics.problem import Problem
from inbounds.server.run.process import check
from inbounds.server.service.service import Service
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from inbounds.server.state.ledger_heads import LedgerHeads
from tests.helpers.ledger_places import Place, postgres_place
from tests.helpers.programs import ROOT
from tests.helpers.served_hospital import COUNT, Served, begin_ledger, build, running, wait_for

WHY = "the disk failed"

COMMAND = (sys.executable, "-m", "inbounds.cli", "serve")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server that has answered once, with a ledger in a file or in PostgreSQL, and is stopped."""
    found = build(tmp_path / "hospital")
    if request.param == "sqlite":
        yield started(found)
        return
    for place in postgres_place():
        found.path.write_text(found.path.read_text().replace('"budget.db"', f'"{place.where}"'))
        begin_ledger(found.file)
        yield started(found)


def started(served: Served) -> Served:
    """Start a server, ask it once, and stop it."""
    check(served.file)
    with open_service(served) as service:
        charge(service, "first")
    return served


@contextmanager
def open_service(served: Served) -> Iterator[Service]:
    """Open what a worker has open."""
    service = Service.open(CustodianFile.load(served.path))
    try:
        yield service
    finally:
        service.close()


def charge(service: Service, request: str) -> None:
    """Charge as a worker does."""
    service.holdings.open_holding("visits").dataset.sql(COUNT).ask("0.5", analyst="ana", request_id=request)


def known(served: Served) -> dict[str, Head]:
    """Return what the server's file knows."""
    return LedgerHeads(Database(served.file.state), ["visits", "births"]).known()


def take_away(served: Served) -> None:
    """Let the ledger be gone."""
    if served.file.ledger.startswith("postgres"):
        raw = Place("postgres", served.file.ledger).raw
        for table in ("ledger_head", "ledger_entries", "ledger_accounts"):
            raw(f"DROP TABLE {table} CASCADE")
        raw("DROP FUNCTION ledger_refuse CASCADE")
    else:
        Path(served.file.ledger).unlink()


def raw(served: Served) -> Place:
    """Return the way in behind the ledger's back."""
    kind = "postgres" if served.file.ledger.startswith("postgres") else "sqlite"
    return Place(kind, served.file.ledger)


def take_back(served: Served, entries: int) -> None:
    """Give the ledger fewer entries, as an older copy has; what a copy has beside them does not matter here."""
    place = raw(served)
    place.unlock()
    place.raw("DELETE FROM ledger_entries WHERE seq > ?", (entries,))
    place.raw(f"UPDATE ledger_head SET seq = {entries}, digest = (SELECT digest FROM ledger_entries WHERE seq = ?)",
              (entries,))  # fmt: skip


# Starting.


def test_a_lost_ledger_is_not_begun_anew(served: Served) -> None:
    """The server does not start, with or without the option for a first start, and makes none."""
    take_away(served)
    for new in (False, True):
        with pytest.raises(LedgerMissing, match=r"has used one with \d+ entries; put it back, or restore a backup"):
            check(served.file, new_ledger=new)
    with pytest.raises(LedgerMissing):
        Ledger.open(served.file.ledger, create=False)


def test_an_older_ledger_is_refused(served: Served) -> None:
    """The budget that was spent since would be there again."""
    take_back(served, 4)
    with pytest.raises(LedgerReplaced, match=r"ends at entry 4; put the right one back"):
        check(served.file)


def test_another_ledger_is_refused(served: Served) -> None:
    """A new one in which the same datasets were opened, and as many entries made, is another one."""
    take_away(served)
    with Ledger.open(served.file.ledger) as other:
        other.open_dataset("visits", 50, 20)
        for number in range(10):
            other.charge("visits", "ana", "0.1", f"{number}")
    with pytest.raises(LedgerReplaced, match="is an older copy or another ledger"):
        check(served.file)


def test_a_worker_refuses_it_as_well(served: Served) -> None:
    """Workers start while the server runs, and after its ledger was exchanged; nothing is charged."""
    take_back(served, 4)
    with open_service(served) as service:
        with pytest.raises(LedgerReplaced):
            charge(service, "second")
        assert not service.holdings.is_ready()
        with pytest.raises(LedgerReplaced), service.holdings.reading() as ledger:
            ledger.balance("visits")
    assert raw(served).raw("SELECT count(*) FROM ledger_entries") == [(4,)]


def test_a_ledger_that_is_exchanged_under_a_server_is_refused(served: Served) -> None:
    """Also by a worker that has it open, before anything is charged."""
    with open_service(served) as service:
        charge(service, "second")
        take_back(served, 4)
        with pytest.raises(LedgerReplaced):
            charge(service, "third")
    assert raw(served).raw("SELECT count(*) FROM ledger_entries") == [(4,)]


def test_a_ledger_that_is_ahead_is_served(served: Served) -> None:
    """A crash before the head was kept, and commands beside the server, leave it ahead; the start catches up."""
    with Ledger.open(served.file.ledger) as ledger:
        ledger.grant("visits", 1)
        head = ledger.head()
    assert head not in known(served).values()
    check(served.file)
    assert known(served) == dict.fromkeys(["visits", "births"], head)


def test_a_server_without_a_ledger_needs_a_word(tmp_path: Path) -> None:
    """The first start creates it, if that is said; afterwards it must not be said."""
    served = build(tmp_path / "hospital")
    Path(served.file.ledger).unlink()
    with pytest.raises(LedgerMissing, match="if this server is new, start it once with --new-ledger"):
        check(served.file)
    assert not Path(served.file.ledger).exists()
    check(served.file, new_ledger=True)
    with pytest.raises(InvalidParameter, match="already; start the server without --new-ledger"):
        check(served.file, new_ledger=True)
    check(served.file)


def test_a_dataset_may_be_new(tmp_path: Path) -> None:
    """A contract that comes later is entered in the ledger that is there, and is known from then on."""
    served = build(tmp_path / "hospital")
    text = served.path.read_text()
    only = text.replace(', "births.toml"', "").replace('datasets = ["births"]', 'datasets = ["visits"]')
    served.path.write_text(only)
    check(CustodianFile.load(served.path))
    assert set(known(served)) == {"visits"}
    served.path.write_text(text)
    check(CustodianFile.load(served.path))
    assert set(known(served)) == {"visits", "births"}


def test_a_server_of_an_earlier_release_knows_its_ledger_from_the_start(served: Served) -> None:
    """Its file gets the place for heads, and has one before anybody asks; keys stay valid."""
    with closing(sqlite3.connect(served.file.state)) as file:
        file.execute("DROP TABLE ledger_heads")
        file.execute("PRAGMA user_version = 2")
    check(served.file)
    assert served.ring.holder(served.keys["ana"]) == "ana"
    with Ledger.open(served.file.ledger) as ledger:
        assert known(served) == dict.fromkeys(["visits", "births"], ledger.head())


# What is kept.


@pytest.fixture
def heads(tmp_path: Path) -> LedgerHeads:
    """The heads of two datasets, in a file of their own."""
    return LedgerHeads(Database(tmp_path / "server.db"), ["visits", "births"])


def head(seq: int) -> Head:
    """Return some head."""
    return Head(seq, f"{seq:064x}")


def test_an_earlier_head_does_not_replace_a_later_one(tmp_path: Path) -> None:
    """However many processes keep heads in whatever order, the last one stays."""
    path = tmp_path / "server.db"
    Database(path)

    def keep(seq: int) -> None:
        LedgerHeads(Database(path), ["visits", "births"]).keep(head(seq))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, [7, 40, 3, 39, 38, 1, 12, 40, 2, 25]))
    assert LedgerHeads(Database(path), ["visits"]).known() == {"visits": head(40)}


def test_another_head_of_the_same_number_is_not_taken_for_kept(heads: LedgerHeads, tmp_path: Path) -> None:
    """It is of another chain: that is refused, also if another process was faster, and what is known stays."""
    heads.keep(head(5))
    other = Head(5, "f" * 64)
    with pytest.raises(Failure, match="the checkpoint of another ledger for entry 5"):
        heads.keep(other)
    late = LedgerHeads(Database(tmp_path / "server.db"), ["births", "new"])
    with pytest.raises(Failure, match="the checkpoint of another ledger for entry 5"):
        late.keep(other)
    assert late.known() == {"births": head(5)}
    heads.keep(head(5))
    assert set(heads.heads()) == {head(5)}


def test_another_head_is_refused_under_the_lock(heads: LedgerHeads, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looked before another process kept its head finds that when it writes."""
    heads.keep(head(5))
    now = heads.known
    looked: list[int] = []

    def known() -> dict[str, Head]:
        looked.append(1)
        return {} if len(looked) == 1 else now()

    monkeypatch.setattr(heads, "known", known)
    with pytest.raises(Failure, match="the checkpoint of another ledger for entry 5"):
        heads.keep(Head(5, "f" * 64))
    assert set(now().values()) == {head(5)}


def test_a_dataset_that_is_not_served_is_left_alone(heads: LedgerHeads, tmp_path: Path) -> None:
    """Its head stays what it was, and is compared when it is served again."""
    heads.keep(head(3))
    LedgerHeads(Database(tmp_path / "server.db"), ["visits"]).keep(head(5))
    assert heads.known() == {"visits": head(5), "births": head(3)}
    assert set(heads.heads()) == {head(3), head(5)}


def test_a_head_is_accepted_if_nobody_else_was_faster(heads: LedgerHeads) -> None:
    """It may be an earlier one; but what was kept meanwhile is not thrown away."""
    heads.keep(head(7))
    before = heads.known()
    heads.accept(before, head(4))
    assert set(heads.heads()) == {head(4)}
    with pytest.raises(LedgerConflict, match="stop the server"):
        heads.accept(before, head(2))
    assert set(heads.heads()) == {head(4)}


def test_a_file_that_cannot_be_used_is_told(heads: LedgerHeads, tmp_path: Path) -> None:
    """What fails is a failure of the ledger, which says what to look at."""
    with closing(sqlite3.connect(tmp_path / "server.db")) as file:
        file.execute("DROP TABLE ledger_heads")
    for use in (heads.heads, lambda: heads.keep(head(1)), lambda: heads.accept({}, head(1))):
        with pytest.raises(Failure, match="the server's own file"):
            use()


def test_a_full_disk_of_the_servers_file_stops_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the head can be kept the answer does not leave; then it leaves as it was, and was charged once."""
    served = started(build(tmp_path / "hospital"))
    ana = served.person("ana")
    assert ana.ask("before").status_code == 200
    writing = Database.writing
    monkeypatch.setattr(Database, "writing", _failing)
    refused = [ana.ask(f"full-{number}") for number in range(3)]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [(503, "ledger-unavailable")] * 3
    assert [one.json()["charged"] for one in refused] == [None, False, False]
    assert ana.get("/v1/answers/before").status_code == 200
    monkeypatch.setattr(Database, "writing", writing)
    assert ana.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "1.5"
    rows = [ana.ask("full-0").json()["rows"] for _ in range(2)]
    assert rows[0] == rows[1]
    assert ana.get("/v1/datasets/visits/budget").json()["own"]["spent"] == "1.5"
    served.close()


def _failing(_: Database) -> Any:
    raise Problem("server-unavailable", "the disk is full")


# What the command ends with: 2 where somebody has to mend something, and a unit does not start the server again.


def lose(served: Served) -> None:
    """Let the file be gone."""
    Path(served.file.ledger).unlink()


def damage(served: Served) -> None:
    """Let the file be something else from its beginning on."""
    Path(served.file.ledger).write_bytes(b"junk" * 4096)


def damage_within(served: Served) -> None:
    """Let the file begin as a ledger does, and go on otherwise."""
    path = Path(served.file.ledger)
    content = path.read_bytes()
    path.write_bytes(content[:200] + b"\xff" * (len(content) - 200))


def cut_off(served: Served) -> None:
    """Let the end of the file be missing."""
    path = Path(served.file.ledger)
    path.write_bytes(path.read_bytes()[:8192])


def put_older(served: Served) -> None:
    """Put an older copy in its place."""
    take_back(served, 4)


def put_other(served: Served) -> None:
    """Put another ledger in its place."""
    lose(served)
    Ledger.open(served.file.ledger).close()


def link(served: Served) -> None:
    """Give the file a second name."""
    Path(f"{served.file.ledger}.copy").hardlink_to(served.file.ledger)


def lose_state(served: Served) -> None:
    """Let the server's own file be gone."""
    served.file.state.unlink()


def fill_state(served: Served) -> None:
    """Let nothing more fit into the server's own file."""
    with closing(sqlite3.connect(served.file.state)) as file:
        file.execute("CREATE TRIGGER full BEFORE INSERT ON ledger_heads BEGIN SELECT RAISE(ABORT, 'full'); END")
        file.execute("CREATE TRIGGER full_too BEFORE UPDATE ON ledger_heads BEGIN SELECT RAISE(ABORT, 'full'); END")
    with Ledger.open(served.file.ledger) as ledger:
        ledger.grant("visits", 1)


def be_away(served: Served) -> None:
    """Have the ledger on a server where nobody listens."""
    text = served.path.read_text().replace('"budget.db"', '"postgresql://somebody@127.0.0.1:1/nowhere"')
    served.path.write_text(text)


ROWS: dict[str, tuple[Callable[[Served], None], tuple[str, ...], int, str]] = {
    "the file is gone": (lose, (), 2, "there is no ledger at"),
    "it is damaged": (damage, (), 2, "is a file but not a ledger"),
    "it is damaged within": (damage_within, (), 2, "the file is damaged"),
    "it is cut off": (cut_off, (), 2, "the file is damaged"),
    "an older copy is in its place": (put_older, (), 2, "is an older copy or another ledger"),
    "another ledger is in its place": (put_other, (), 2, "is an older copy or another ledger"),
    "it is lost for good": (lose, ("--new-ledger",), 2, "there is no ledger at"),
    "the disk of the server's file is full": (fill_state, (), 0, "serving on"),
    "the server's file is gone": (lose_state, (), 0, "serving on"),
    "it has two names": (link, (), 2, "the file has another name too"),
    "PostgreSQL is away": (be_away, (), 1, "the server cannot be reached"),
}
"""The rows of "A lost ledger" in docs/ledger.md, and two more: what happened, options, exit code, what is said."""


@pytest.mark.parametrize("row", ROWS)
def test_what_somebody_has_to_mend_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], row: str
) -> None:
    """The command ends with 2 where it would fail again and again, with 1 where that may pass, or it serves."""
    happen, options, code, said = ROWS[row]
    served = started(build(tmp_path / "hospital"))
    happen(served)
    monkeypatch.setattr("inbounds.server.run.process.run", lambda *_: None)
    assert main(["serve", str(served.path), *options]) == code
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1


def test_the_unit_waits_for_what_somebody_has_to_mend() -> None:
    """A service that ended with 2 is not started again, and one that ended with 1 is."""
    unit = (ROOT / "deploy" / "inbounds.service").read_text("utf-8").splitlines()
    assert {"Restart=on-failure", "RestartPreventExitStatus=2"} <= set(unit)


# Processes.


@pytest.mark.slow
def test_the_command_refuses_and_says_what_to_do(tmp_path: Path) -> None:
    """One line and the exit code of what somebody has to mend; nothing listens."""
    served = build(tmp_path / "hospital")
    ledger, copy = served.folder / "budget.db", tmp_path / "copy.db"
    with running(served) as found, found.client(served.keys["ana"]) as client:
        with Ledger.open(ledger, create=False) as there:
            there.backup(copy)
        body: dict[str, Any] = {"json": {"sql": COUNT, "epsilon": "0.5"}, "headers": {"Idempotency-Key": "one"}}
        assert client.post("/v1/datasets/visits/answers", **body).status_code == 200
    aside = tmp_path / "aside.db"
    ledger.rename(aside)
    code, said = _served(served)
    assert code == 2
    assert "there is no ledger at" in said
    assert not ledger.exists()
    shutil.copy(copy, ledger)
    code, said = _served(served)
    assert code == 2
    assert "is an older copy or another ledger" in said
    assert "inbounds budget accept-restore" in said
    ledger.unlink()
    aside.rename(ledger)
    with running(served) as found, found.client(served.keys["ana"]) as client:
        assert client.get("/readyz").status_code == 200


def _served(served: Served) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, str(served.path)], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.stderr.count("\n") == 1
    return done.returncode, done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="this system tells nothing of other processes in /proc")
def test_a_worker_that_comes_later_refuses_an_older_ledger(tmp_path: Path) -> None:
    """Killed workers are replaced while the server runs; the new ones compare the ledger too."""
    served = build(tmp_path / "hospital", workers=2)
    ledger, copy = served.folder / "budget.db", tmp_path / "copy.db"
    with running(served) as found, found.client(served.keys["ana"]) as client:
        wait_for(lambda: len(workers(found.process.pid)) == 2)
        with Ledger.open(ledger, create=False) as there:
            there.backup(copy)

        def ask(key: str) -> Any:
            body = {"sql": COUNT, "epsilon": "0.5"}
            return client.post("/v1/datasets/visits/answers", json=body, headers={"Idempotency-Key": key})

        assert ask("one").status_code == 200
        killed = workers(found.process.pid)
        for one in killed:
            os.kill(one, signal.SIGKILL)
        for ending in ("", "-wal", "-shm"):
            Path(f"{ledger}{ending}").unlink(missing_ok=True)
        shutil.copy(copy, ledger)
        wait_for(lambda: len(set(workers(found.process.pid)) - set(killed)) == 2)
        wait_for(lambda: _reached(client))
        refused = ask("two")
        assert (refused.status_code, refused.json()["code"]) == (503, "ledger-broken")
    with Ledger.open(ledger, create=False) as there:
        assert there.charges() == 0


def _reached(client: Any) -> bool:
    try:
        return bool(client.get("/healthz").is_success)
    except httpx2.TransportError:
        return False
