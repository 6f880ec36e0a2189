"""Backups of a ledger in a file: whole, verified, for their owner alone, and never in the place of another file.

SQLite makes the copy, so that others may go on charging meanwhile.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import folder_beside, put, refuse_taken
from inbounds.ledger.copies.exchange import companions
from inbounds.ledger.copies.file_copy import make_whole
from inbounds.ledger.record.rows import Book
from inbounds.ledger.record.verification import Verification, verify_entries
from inbounds.ledger.stores.ledger_file import LedgerFile
from inbounds.ledger.stores.sqlite import SQLiteStore
from inbounds.ledger.stores.store import Store
from inbounds.ledger.values.entry import Head

OWNER_ONLY = 0o600

ON_SERVER = (
    "a ledger in PostgreSQL is saved and put back by PostgreSQL's own tools; use pg_dump and pg_restore, and record a "
    "restored one with inbounds budget accept-restore"
)


def back_up(store: Store, target: Path) -> Head:
    """Copy a store to a new file, and its head to another beside it."""
    beside = head_file(target)
    for path in (target, beside, *companions(target)):  # SQLite would lay the log of another file over the copy
        refuse_taken(path)
    with folder_beside(target) as folder:
        copy, head_copy = folder / "copy", folder / "head"
        head = copy_store(store, copy)
        with open(os.open(head_copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w", encoding="ascii") as file:
            file.write(f"{head}\n")
        put(head_copy, beside)  # first, so that no backup is without its head
        try:
            put(copy, target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    return head


def head_file(backup: Path) -> Path:
    """Return the path of the file that has the head of a backup."""
    return backup.with_name(f"{backup.name}.head")


def copy_store(store: Store, copy: Path) -> Head:
    """Copy a store to a file that is not there yet, and return its head; a ledger that does not verify is refused."""
    if not isinstance(store, SQLiteStore):
        raise InvalidParameter(ON_SERVER)
    LedgerFile(copy).create()
    if stat.S_IMODE(copy.stat().st_mode) != OWNER_ONLY and os.name == "posix":
        raise InvalidParameter(
            "a copy of a ledger must be for its owner alone, and the disk of this folder has no such permissions; name "
            "a folder on another disk"
        )
    store.copy_to(copy)
    make_whole(copy)  # else it says that its log is where the ledger's is
    verification = _verify(copy)
    verification.raise_if_broken()
    make_whole(copy)
    return verification.head


def _verify(copy: Path) -> Verification:
    copied_store = SQLiteStore(copy, create=False)
    try:
        book = Book(copied_store)
        with copied_store.reading():
            return verify_entries(book.entries(), book.head(), book.accounts(), None)
    finally:
        copied_store.close()
