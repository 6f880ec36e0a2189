"""`inbounds budget backup`, `restore` and `accept-restore`: what is typed, what is said, and what is on the record."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.commands.serve import DEMO
from inbounds.ledger import Ledger
from inbounds.ledger.values.restore_record import RestoreRecord
from inbounds.server.run.process import check
from inbounds.server.state.custodian_file import CustodianFile
from tests.cli.conftest import Type, within_80

CLINIC = ("--dataset", "clinic.toml")
SERVER = ("--custodian", "custodian.toml")
WHY = ("--reason", "the disk failed")


def granted(typed: Type, times: int = 1) -> None:
    """Make entries in the ledger of the contract."""
    for _ in range(times):
        assert typed("budget", "grant", "1", *CLINIC).code == 0


def started(clinic: Path) -> CustodianFile:
    """Start a server of the clinic once, and stop it."""
    path = clinic / "custodian.toml"
    path.write_text(DEMO.format(port=0), "utf-8")
    file = CustodianFile.load(path)
    check(file, new_ledger=not Path(file.ledger).exists())
    return file


def charge(file: CustodianFile) -> None:
    """Charge the server's ledger, and start the server, which then knows of it."""
    with Ledger.open(file.ledger, create=False) as ledger:
        ledger.charge("visits", "ana", "0.5")
    check(file)


def records(where: str | Path) -> list[Any]:
    """Return what a ledger says of its restores."""
    with Ledger.open(where, create=False) as ledger:
        assert ledger.verify().ok
        return [RestoreRecord.load(one.text) for one in ledger.statement() if one.kind == "restore"]


def test_a_ledger_is_saved_and_put_back(typed: Type, clinic: Path) -> None:
    """The copy is the owner's alone, its head is printed and beside it, and it comes back as it was."""
    granted(typed)
    head = typed("budget", "verify", *CLINIC, "--json").data["head"]
    saved = typed("budget", "backup", "copy.db", *CLINIC)
    assert (saved.code, saved.err) == (0, "")
    assert head in " ".join(saved.out.split())
    assert (clinic / "copy.db.head").read_text() == f"{head}\n"
    assert {stat.S_IMODE((clinic / name).stat().st_mode) for name in ("copy.db", "copy.db.head")} == {0o600}
    assert typed("budget", "backup", "copy.db", *CLINIC).code == 2
    found = typed("budget", "restore", "copy.db", *CLINIC, "--head", head, "--json").data
    assert (found["head"], found["lost"]) == (head, {})
    assert typed("budget", "verify", *CLINIC, "--head", head).code == 0


def test_a_ledger_that_is_ahead_needs_a_reason(typed: Type, clinic: Path) -> None:
    """Without one nothing happens; with one, the record says who, why and both heads."""
    granted(typed)
    typed("budget", "backup", "copy.db", *CLINIC)
    granted(typed)
    ahead = typed("budget", "verify", *CLINIC, "--json").data["head"]
    refused = typed("budget", "restore", "copy.db", *CLINIC)
    assert (refused.code, refused.out) == (2, "")
    assert "give a --reason" in refused.err
    assert typed("budget", "verify", *CLINIC, "--json").data["head"] == ahead
    done = typed("budget", "restore", "copy.db", *CLINIC, *WHY)
    assert (done.code, done.err) == (0, "")
    assert "replaced" in done.out
    (record,) = records(clinic / "clinic.ledger.db")
    assert (str(record.lost), record.reason) == (ahead, "the disk failed")
    assert record.by
    told = typed("budget", "statement", *CLINIC)
    assert within_80(told.out)
    assert "the disk failed" in told.out


def test_a_damaged_ledger_is_replaced_with_a_reason(typed: Type, clinic: Path) -> None:
    """The refusal says what to type, and that works."""
    granted(typed)
    typed("budget", "backup", "copy.db", *CLINIC)
    (clinic / "clinic.ledger.db").write_bytes(b"junk" * 4096)
    refused = typed("budget", "restore", "copy.db", *CLINIC)
    assert (refused.code, refused.out) == (2, "")
    assert "give a --reason" in refused.err
    done = typed("budget", "restore", "copy.db", *CLINIC, *WHY)
    assert (done.code, done.err) == (0, "")
    (record,) = records(clinic / "clinic.ledger.db")
    assert (record.lost, record.reason) == (None, "the disk failed")


def test_verify_lists_the_restores(typed: Type, clinic: Path) -> None:
    """An auditor, who verifies, sees which head was lost, who accepted that, and why; and that there was none."""
    granted(typed)
    head = typed("budget", "backup", "copy.db", *CLINIC, "--json").data["head"]
    assert typed("budget", "verify", *CLINIC, "--json").data["restores"] == []
    granted(typed)
    ahead = typed("budget", "verify", *CLINIC, "--json").data["head"]
    assert typed("budget", "restore", "copy.db", *CLINIC, *WHY).code == 0
    text = typed("budget", "verify", *CLINIC)
    assert text.code == 0
    assert within_80(text.out)
    assert "restored" in text.out
    assert "the disk failed" in " ".join(text.out.split())
    (found,) = typed("budget", "verify", *CLINIC, "--json").data["restores"]
    (record,) = records(clinic / "clinic.ledger.db")
    assert found.pop("time")
    assert found == {
        "entry": 4,
        "dataset": "visits",
        "lost": ahead,
        "found": head,
        "by": record.by,
        "reason": "the disk failed",
    }


@pytest.mark.slow
@pytest.mark.parametrize("option", ["accept-restore", "restore"])
def test_a_server_starts_again_when_it_is_on_the_record(typed: Type, clinic: Path, option: str) -> None:
    """A backup that was copied back is accepted, one that is restored is known at once; then the server starts."""
    file = started(clinic)
    assert typed("budget", "backup", "copy.db", *SERVER).code == 0
    charge(file)
    with Ledger.open(file.ledger) as ledger:
        ahead = str(ledger.head())
    Path(file.ledger).unlink()
    refused = typed("serve", "custodian.toml")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    if option == "accept-restore":
        shutil.copy("copy.db", file.ledger)
        refused = typed("serve", "custodian.toml")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "inbounds budget accept-restore" in refused.err
        done = typed("budget", "accept-restore", *SERVER, *WHY, "--json").data
    else:
        assert typed("budget", "restore", "copy.db", *SERVER).code == 2
        done = typed("budget", "restore", "copy.db", *SERVER, *WHY, "--json").data
    assert done["lost"] == {"visits": ahead}
    check(file)
    (record,) = records(file.ledger)
    assert (str(record.lost), record.reason) == (ahead, "the disk failed")
    again = typed("budget", "accept-restore", *SERVER, *WHY)
    assert (again.code, again.out) == (2, "")
    assert "start the server" in again.err


def test_a_ledger_that_is_lost_for_good_is_begun_on_the_record(typed: Type, clinic: Path) -> None:
    """An empty one is made where that is said, says what was lost, and is served."""
    file = started(clinic)
    new = ("budget", "accept-restore", *SERVER, *WHY, "--new-ledger")
    there = typed(*new)
    assert (there.code, "leave --new-ledger out" in there.err) == (2, True)
    Path(file.ledger).unlink()
    assert "give --new-ledger" in typed("budget", "accept-restore", *SERVER, *WHY).err
    assert typed("serve", "custodian.toml", "--new-ledger").code == 2
    assert not Path(file.ledger).exists()
    assert typed(*new).code == 0
    check(file)
    assert [record.lost.seq for record in records(file.ledger)] == [2]


def test_a_reason_is_read_before_a_ledger_is_begun(typed: Type, clinic: Path) -> None:
    """One that says nothing is refused, and no ledger is there afterwards; the same words with a reason work."""
    file = started(clinic)
    Path(file.ledger).unlink()
    refused = typed("budget", "accept-restore", *SERVER, "--reason", " ", "--new-ledger")
    assert (refused.code, refused.out) == (2, "")
    assert "a restored ledger needs a reason" in refused.err
    assert not Path(file.ledger).exists()
    assert typed("budget", "accept-restore", *SERVER, *WHY, "--new-ledger").code == 0


def test_a_ledger_that_the_server_refuses_is_not_saved(typed: Type, clinic: Path) -> None:
    """An older copy would take the place of the right one among the backups; without the server nobody knows."""
    file = started(clinic)
    assert typed("budget", "backup", "copy.db", *SERVER).code == 0
    charge(file)
    assert typed("budget", "backup", "later.db", *SERVER).code == 0
    Path(file.ledger).unlink()
    shutil.copy("copy.db", file.ledger)
    refused = typed("budget", "backup", "older.db", *SERVER)
    assert (refused.code, refused.out) == (1, "")
    assert "is an older copy or another ledger" in refused.err
    assert not list(clinic.glob("older*"))


def test_saving_a_ledger_makes_no_file_of_the_server(typed: Type, clinic: Path) -> None:
    """Where the server has never been started, its ledger is saved, and nothing else is written."""
    file = started(clinic)
    file.state.unlink()
    assert typed("budget", "backup", "copy.db", *SERVER).code == 0
    assert not file.state.exists()


def test_an_altered_ledger_is_not_accepted(typed: Type, clinic: Path) -> None:
    """One that does not verify is no older one, but a broken one."""
    file = started(clinic)
    charge(file)
    with closing(sqlite3.connect(file.ledger)) as ledger:
        ledger.execute("DROP TRIGGER ledger_no_DELETE")
        ledger.execute("DELETE FROM ledger_entries WHERE seq = 3")
        ledger.commit()
    found = typed("budget", "accept-restore", *SERVER, *WHY)
    assert (found.code, found.out) == (1, "")
    assert "BROKEN" in found.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("backup", "copy.db"), "--dataset or --custodian selects the ledger, got both or none"),
        (("backup", "copy.db", *CLINIC, *SERVER), "--dataset or --custodian selects the ledger, got both or none"),
        (("backup", "copy.db", *SERVER, "--ledger", "x.db"), "--ledger does not go with --custodian"),
        (("backup", "copy.db", *CLINIC), "there is no ledger at"),
        (("backup", "copy.db", *CLINIC, "--ledger", "none.db"), "there is no ledger at"),
        (("restore", "copy.db", *CLINIC, *WHY), "there is no backup at 'copy.db'"),
        (("restore", "copy.db", *CLINIC, "--head", "7"), "a head must read like"),
        (("accept-restore", *SERVER, *WHY), "this server has used none"),
        (("accept-restore", *SERVER), "--reason is missing"),
    ],
)
def test_what_cannot_be_is_refused(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """One line says the rule and what to do; nothing is made."""
    (clinic / "custodian.toml").write_text(DEMO.format(port=0), "utf-8")
    found = typed("budget", *words)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert said in found.err
    assert not list(clinic.glob("*.ledger.db")) + list(clinic.glob("budget.db")) + list(clinic.glob("copy*"))


def test_machines_read_what_people_do(typed: Type, clinic: Path) -> None:
    """With --json the same facts are there."""
    granted(typed)
    data = json.loads(typed("budget", "backup", "copy.db", *CLINIC, "--json").out)
    assert data == {"backup": "copy.db", "entries": 3, "head": (clinic / "copy.db.head").read_text().strip()}
