"""An exchange: a copy takes the place of a ledger, or of what is left of one, and what was there gets another name.

The place is never empty meanwhile, where the disk has links: whoever found it empty would begin a ledger with the whole
budget.  A log that is left there goes first, for SQLite would lay it over the copy.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from inbounds.files.whole_file import flush_folder, put, refuse_taken
from inbounds.ledger.stores.ledger_file import ASIDE
from inbounds.ledger.stores.sqlite_connection import connect
from inbounds.ledger.stores.sqlite_reason import is_busy, is_damage, reason
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.entry import Head

NOT_ALONE = "a program has the ledger open; stop the server, and whatever else charges it, and try again"

WRITTEN = "the ledger was charged while it was being replaced; nothing was changed: try again"

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite lays beside a file, named after it."""


def exchange(copy: Path, target: Path, current: Head | None) -> Path | None:
    """Put a copy in the place of a ledger that nobody else can use; return where that is now, or what was left of it.

    `current` is where its chain was found to end; None if there is none, or none that can be read.
    """
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = target.with_name(f"{target.name}{ASIDE}{now}")
    for path in (aside, *companions(aside)):
        refuse_taken(path)
    if not os.path.lexists(target):
        moved = _move_companions(target, aside)
        put(copy, target)
        return moved[0] if moved else None
    if current is None:
        _refuse_in_use(target)
        _swap(copy, target, aside)
    else:
        with _alone(target, current):
            _swap(copy, target, aside)
    flush_folder(target)
    return aside


@contextmanager
def _alone(target: Path, current: Head) -> Iterator[None]:
    """Keep everybody else from a ledger, all of which is in its file, and whose chain ends where it was found to."""
    try:
        with closing(connect(target)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # which nobody can while another has it open
            connection.execute("BEGIN EXCLUSIVE")
            if Head(*connection.execute("SELECT seq, digest FROM ledger_head").fetchone()) != current:
                raise Failure(WRITTEN)
            yield
    except sqlite3.Error as error:
        raise Failure(NOT_ALONE if is_busy(error) else reason(error)) from None


def _refuse_in_use(target: Path) -> None:
    """Refuse a file that cannot be read as a ledger, if a program has it open all the same."""
    if target.stat().st_size == 0:
        return  # SQLite would remove the log beside it
    try:
        with closing(connect(target)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if not is_damage(error):
            raise Failure(NOT_ALONE if is_busy(error) else reason(error)) from None


def _swap(copy: Path, target: Path, aside: Path) -> None:
    """Give what is there another name, with its companions, and the copy its name; if that fails, all is as before."""
    try:
        _move_companions(target, aside)
        try:
            os.link(target, aside)
        except OSError:  # a disk that has no links
            os.rename(target, aside)
            put(copy, target)
        else:
            os.replace(copy, target)  # which leaves the old one its other name alone
    except BaseException as problem:
        with suppress(OSError):
            _take_back(target, aside)
        if isinstance(problem, OSError):
            raise Failure(
                f"{os.strerror(problem.errno or 0)}; look at the disk, and at the rights to its folder"
            ) from None
        raise


def _take_back(target: Path, aside: Path) -> None:
    """Let what was put aside have its name again, unless another file has got it."""
    if not os.path.lexists(target):
        os.rename(aside, target)
    elif os.path.lexists(aside):
        if not target.samefile(aside):
            return
        os.unlink(aside)
    _move_companions(aside, target)


def _move_companions(old: Path, new: Path) -> list[Path]:
    """Let what lies beside a file be beside another name; return where it is now."""
    moved = []
    for ending in COMPANIONS:
        if os.path.lexists(_beside(old, ending)):
            os.rename(_beside(old, ending), _beside(new, ending))
            moved.append(_beside(new, ending))
    return moved


def companions(path: Path) -> list[Path]:
    """Return where SQLite would lay what belongs to a file."""
    return [_beside(path, ending) for ending in COMPANIONS]


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}{ending}")
