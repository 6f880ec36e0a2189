"""A copy of a ledger's file while it is made: beside its place, for its owner alone, and there only when whole."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from inbounds.errors import InvalidParameter
from inbounds.ledger.stores.ledger_file import WORKPLACE
from inbounds.ledger.stores.log_place import LogPlace
from inbounds.ledger.stores.sqlite_connection import connect
from inbounds.ledger.stores.sqlite_reason import failure


def refuse_taken(target: Path) -> None:
    """Refuse a file that is there already, or cannot be, for want of its folder or by its name."""
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise InvalidParameter(
                f"the folder {str(target.parent)!r} to write to does not exist; create it first"
            ) from None
    except OSError as problem:  # a name that is too long, say
        raise InvalidParameter(
            f"the file {str(target)!r} cannot be written: {problem.strerror}; name another"
        ) from None
    else:
        raise InvalidParameter(f"the file to write must be a new one, and {str(target)!r} exists; name another")


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a folder on the same disk that its owner alone can enter; it is gone afterwards."""
    folder = target.parent / f"{WORKPLACE}{uuid4().hex}"
    try:
        folder.mkdir(mode=0o700)
    except OSError as problem:
        raise InvalidParameter(
            f"nothing can be written to the folder {str(target.parent)!r}: {problem.strerror}; name another"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_whole(copy: Path) -> None:
    """Have all of a copy in its file and on the disk, and let it say that nothing of it is in a log."""
    try:
        with closing(connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            if LogPlace.has_table(connection):
                LogPlace.replace(connection, None)
    except sqlite3.Error as error:
        raise failure(error) from None
    _flush(copy)


def put(made: Path, target: Path) -> None:
    """Give a file that is whole its name, unless something has that name."""
    try:
        os.link(made, target)  # which never replaces what is there
        os.unlink(made)
    except FileExistsError:
        refuse_taken(target)
        raise
    except OSError:  # a disk that has no links
        refuse_taken(target)
        os.rename(made, target)
    flush_folder(target)


def flush_folder(target: Path) -> None:
    """Have the name of a file on the disk."""
    with suppress(OSError):  # a system on which folders cannot be opened
        _flush(target.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
