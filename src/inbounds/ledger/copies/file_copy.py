"""A copy of a ledger's file while it is made: all of it is in the file, and nothing in a log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from inbounds.files.whole_file import flush
from inbounds.ledger.stores.log_place import LogPlace
from inbounds.ledger.stores.sqlite_connection import connect
from inbounds.ledger.stores.sqlite_reason import failure


def make_whole(copy: Path) -> None:
    """Have all of a copy in its file and on the disk, and let it say that nothing of it is in a log."""
    try:
        with closing(connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            if LogPlace.has_table(connection):
                LogPlace.replace(connection, None)
    except sqlite3.Error as error:
        raise failure(error) from None
    flush(copy)
