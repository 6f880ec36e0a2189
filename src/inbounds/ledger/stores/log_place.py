"""Where the log of a ledger in a file is: SQLite names it after the path, and a file can have several.

Through a hard link, through a bind mount of the single file, or after a move, the same file has another log, or none,
and what was charged under the first name is not seen under the second.  A file with two names at once is refused; and
against moves and copies the file itself says where its log is, from before the first entry goes there until the log was
emptied into the file.  See docs/decisions/0021-one-file-one-name.md.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

TABLE = """CREATE TABLE IF NOT EXISTS ledger_log_place (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    device TEXT NOT NULL,
    folder TEXT NOT NULL,
    name BLOB NOT NULL,
    path BLOB NOT NULL,
    claim TEXT NOT NULL
)"""


@dataclass(frozen=True)
class LogPlace:
    """A folder, by device and inode, and the name in it that the log is called after."""

    device: str
    folder: str
    name: bytes
    path: bytes = field(compare=False)
    """How the folder and the name were written, for people: another container may know them by another path."""
    claim: str = field(compare=False, default_factory=lambda: uuid4().hex)
    """Tells apart the times that it was said."""

    @classmethod
    def of(cls, path: Path) -> LogPlace:
        """Return where SQLite puts the log of the file at this path."""
        file = path.resolve()  # SQLite too follows symbolic links first
        status = file.parent.stat()
        return cls(str(status.st_dev), str(status.st_ino), os.fsencode(file.name), os.fsencode(file))

    @staticmethod
    def has_table(connection: sqlite3.Connection) -> bool:
        """Return whether the file can say where its log is; an earlier release could not."""
        return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_log_place'").fetchone())

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> LogPlace | None:
        """Return where the file says that its log is, None if it has none or says nothing."""
        try:
            row = connection.execute("SELECT device, folder, name, path, claim FROM ledger_log_place").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise
            return None  # there is no such table: an earlier release made the ledger
        # A power failure in the middle of taking it away can leave an empty row.
        return cls(*row) if row and None not in row else None

    def store(self, connection: sqlite3.Connection) -> None:
        """Let the file say that its log is here, whichever release made it; call it inside a transaction."""
        connection.execute(TABLE)
        self.replace(connection, self)

    @staticmethod
    def replace(connection: sqlite3.Connection, place: LogPlace | None) -> None:
        """Let the file say that its log is there, or that all is in the file; call it inside a transaction."""
        if place is None:
            connection.execute("DELETE FROM ledger_log_place")
        else:
            row = (place.device, place.folder, place.name, place.path, place.claim)
            connection.execute("INSERT OR REPLACE INTO ledger_log_place VALUES (1, ?, ?, ?, ?, ?)", row)

    @property
    def log(self) -> Path:
        """The path of the log."""
        return Path(os.fsdecode(self.path + b"-wal"))

    @property
    def was_emptied(self) -> bool:
        """Whether the folder is where it was, and there is no log in it: SQLite removes one that it emptied."""
        try:
            status = self.log.parent.stat()
            is_there = any(Path(os.fsdecode(self.path + ending)).exists() for ending in (b"-wal", b"-journal"))
        except OSError:
            return False
        return (str(status.st_dev), str(status.st_ino)) == (self.device, self.folder) and not is_there

    def has_log_besides(self, other: Path) -> bool:
        """Whether a log can be seen there that is not the other one: then the other is an old one."""
        try:
            return not self.log.samefile(other)
        except OSError:
            return False

    def __str__(self) -> str:
        return self.path.decode("utf-8", "replace")


def is_mounted_alone(path: Path) -> bool:
    """Return whether a file, and not its folder, is what was mounted."""
    file = path.resolve()
    try:
        return _mount(file) != _mount(file.parent)
    except (OSError, AttributeError):  # a system that does not number mounts, or has no O_PATH
        return file.stat().st_dev != file.parent.stat().st_dev


def _mount(path: Path) -> str:
    """Return the number of the mount that a path is in."""
    # Such a descriptor does not open the file, so that closing it leaves the locks of this process alone.
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines()
    finally:
        with suppress(OSError):
            os.close(descriptor)
    return next((line for line in lines if line.startswith("mnt_id:")), "")
