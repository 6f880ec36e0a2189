"""Restoring: a backup takes the place of a ledger, which is put aside; what is lost with that is on the record."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from inbounds.errors import InvalidParameter, LedgerConflict, LedgerMissing, LedgerUnavailable
from inbounds.files.whole_file import folder_beside
from inbounds.ledger.copies.backup import ON_SERVER, head_file
from inbounds.ledger.copies.exchange import exchange
from inbounds.ledger.copies.file_copy import make_whole
from inbounds.ledger.ledger import Ledger
from inbounds.ledger.stores.sqlite_connection import connect
from inbounds.ledger.stores.sqlite_reason import is_damage
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.address import path_of
from inbounds.ledger.values.entry import START, Head
from inbounds.ledger.values.restore_record import check_restore_reason

UNREADABLE = (
    "what is there is damaged, or no ledger at all, and cannot be read, so that nobody can tell what the backup lacks; "
    "look whether it is the right file, and give a --reason, for the record: it is then kept under another name"
)


@dataclass(frozen=True)
class Restored:
    """What became of it."""

    head: Head
    """Of the restored ledger."""
    lost: Mapping[str, Head | None]
    """The datasets whose entries may be missing, and which head was known of them; empty if nothing is."""
    aside: Path | None
    """Where the ledger is that was there before, or what was left of it."""


def restore(
    backup: Path,
    where: str,
    *,
    by: str,
    why: str | None = None,
    saved: Head | None = None,
    known: Mapping[str, Head] | None = None,
) -> Restored:
    """Put a backup in the place of a ledger that nobody has open, or of one that is lost.

    `saved` is a head that the backup must go through, besides the one that is written beside it.  `known` are heads
    that datasets are known to have had.  If the backup lacks one of them, or entries of the ledger that is there, or if
    nobody can tell, `why` is needed, and goes into the chain with the heads and `by`.
    """
    if why is not None:
        check_restore_reason(why)
    # 1. Copy the backup beside the ledger, once it has verified against its own head and the saved one.
    # 2. Find which datasets lose entries by it, and record that in the copy, with the reason.
    # 3. Exchange the two in one step, and verify what is in place now.
    target = _target(where)
    if target.exists() and backup.exists() and target.samefile(backup):
        raise InvalidParameter("the backup is the ledger itself; name a file that backup has made")
    with folder_beside(target) as folder:
        copy = folder / "copy"
        with _open(backup) as source:
            for head in (saved, _beside(backup)):
                source.verify(head).raise_if_broken()
            source.backup(copy)
        current = _current(target, why)
        with Ledger.open(copy, create=False) as restored:
            lost = _lost(restored, known or {}, current)
            if lost:
                restored.accept_restore(lost, _require_reason(why), by)
            head = restored.head()
        try:
            make_whole(copy)
            aside = exchange(copy, target, current)
        except Failure as failure:
            raise LedgerUnavailable(f"the ledger cannot be replaced: {failure}") from None
    with Ledger.open(target, create=False) as placed:
        placed.verify(head).raise_if_broken()
    return Restored(head, lost, aside)


def _target(where: str) -> Path:
    path = path_of(where)
    if path is None:
        raise InvalidParameter(ON_SERVER)
    return path.resolve()  # SQLite too follows symbolic links first


def _open(backup: Path) -> Ledger:
    try:
        return Ledger.open(backup, create=False)
    except LedgerMissing:
        raise LedgerMissing(
            f"there is no backup at {str(backup)!r}; check the path: it is that of a file which inbounds budget backup "
            "has written"
        ) from None


def _beside(backup: Path) -> Head | None:
    path = head_file(backup)
    try:
        return Head.parse(path.read_bytes().decode("ascii"))
    except FileNotFoundError:
        return None
    except (UnicodeDecodeError, InvalidParameter):
        raise InvalidParameter(
            f"the head beside the backup, {str(path)!r}, cannot be read: it must be one line like "
            "'17:<64 hex digits>'; put back what backup wrote there, or move that file away, and give a head that was "
            "saved elsewhere with --head"
        ) from None


def _current(target: Path, why: str | None) -> Head | None:
    """Return where the chain ends of the ledger that is to be replaced; None if there is none, or a damaged one."""
    try:
        with Ledger.open(target, create=False) as ledger:
            return ledger.head()
    except LedgerMissing:
        return None
    except (LedgerConflict, LedgerUnavailable):
        if not _is_damaged(target):
            raise
        if why is None:
            raise InvalidParameter(UNREADABLE) from None
        return None


def _is_damaged(target: Path) -> bool:
    """Return whether a file is not what SQLite wrote, by what is in it without any log."""
    try:
        with closing(connect(target, "mode=ro&immutable=1")) as connection:
            return tuple(connection.execute("PRAGMA quick_check(1)").fetchone()) != ("ok",)
    except sqlite3.Error as error:
        return is_damage(error)
    except Failure:
        return False


def _lost(restored: Ledger, known: Mapping[str, Head], current: Head | None) -> dict[str, Head | None]:
    """Return the datasets of which the backup lacks entries, or may lack some, with the head that is known of them."""
    lost: dict[str, Head | None] = {}
    for dataset in sorted({*restored.datasets(), *known}):
        # A ledger without entries, which may have been begun in the place of a lost one, knows nothing.
        heads = [head for head in (known.get(dataset), current) if head not in (None, START)]
        missing = [head for head in heads if not restored.goes_through(head)]
        if missing or not heads:
            lost[dataset] = max(missing, key=lambda head: head.seq, default=None)
    return lost


def _require_reason(why: str | None) -> str:
    if why is None:
        raise InvalidParameter(
            "the backup lacks entries that the ledger had, or nobody can tell whether it does; give a --reason, for "
            "the record, and lower the cap afterwards by what was spent since (inbounds budget grant)"
        )
    return why
