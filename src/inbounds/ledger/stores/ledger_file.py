"""The file that a ledger is in, as the file system sees it: which one it is, its names, and what lies beside it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from inbounds.files.whole_file import WORKPLACE
from inbounds.ledger.stores.log_place import LogPlace, is_mounted_alone
from inbounds.ledger.stores.store import Failure

LINKED = "the file has another name too, a hard link, and under each name it would have a log of its own; {remedy}"

ANY_NAME = "remove one of the names, or copy it instead of linking it"

LEFT_NAME = "remove {left}, which a backup or a restore that was killed has left, and keep {name}"

ASIDE = ".replaced-"
"""What the name of a ledger has that was replaced."""

MOUNTED_ALONE = (
    "it is mounted as a single file, and would have a log of its own here; mount the folder that it is in instead"
)

REMOVED = "the file was removed while it was open; restore it"

REMOVED_MEANWHILE = "the file was removed while it was being opened; restore it"

LOST_LOG = (
    "its log, {log}, is missing, though {index} shows that a program was stopped without closing it; put the log back; "
    'if it is lost, see "One file, one name" in docs/ledger.md'
)

_NEVER = threading.Event()  # to wait for it is to sleep

CLOSING, PAUSE = 100, 0.005
"""How often, and how long after another, to look again whether somebody is just closing the file."""

# Held while a new file has a descriptor that is not SQLite's; a fork waits for it, so that no child finds it held.
_CREATING = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_CREATING.acquire, after_in_parent=_CREATING.release, after_in_child=_CREATING.release)


class LedgerFile:
    """A path, and which file was found there at first."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._identity: tuple[int, int] | None = None

    def create(self) -> None:
        """Create an empty file that only its owner can read; SQLite gives its companions the same rights."""
        with _CREATING, suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def remember(self) -> None:
        """Remember which file this is, if it is the first time."""
        status = self._status()
        self._identity = self._identity or (status.st_dev, status.st_ino)

    def refuse_replaced(self) -> None:
        """Refuse another file than at first, and one that others may find under another name."""
        status = self._status()
        if (status.st_dev, status.st_ino) != self._identity:
            raise Failure("the file was replaced while it was open; open it again if that was meant")
        if status.st_nlink > 1:
            raise self._linked_failure()

    def refuse_two_names(self) -> None:
        """Refuse a file that others may find under another name, before it is opened."""
        try:
            mounted_alone = is_mounted_alone(self.path)
        except OSError:
            raise Failure(REMOVED_MEANWHILE) from None
        if mounted_alone:
            raise Failure(MOUNTED_ALONE, lasting=True)
        if self._status().st_nlink > 1:
            raise self._linked_failure()

    def _linked_failure(self) -> Failure:
        """Return the refusal of a file with two names; one that a kill has left is the one to remove."""
        names: list[Path] = []
        with suppress(OSError):
            names = self._names()
        left = [name for name in names if name.parts[0].startswith(WORKPLACE) or ASIDE in name.name]
        others = [name for name in names if name not in left]
        if left and len(others) == 1:
            return Failure(LINKED.format(remedy=LEFT_NAME.format(left=left[0], name=others[0])), lasting=True)
        return Failure(LINKED.format(remedy=ANY_NAME), lasting=True)

    def _names(self) -> list[Path]:
        """Return the names that the file has in its folder, and in those where copies are made, from there on."""
        file = self.path.resolve()
        folder = file.parent.parent if file.parent.name.startswith(WORKPLACE) else file.parent
        known = file.stat()
        same = [
            name
            for name in (*folder.iterdir(), *folder.glob(f"{WORKPLACE}*/*"))
            if os.path.samestat(name.lstat(), known)
        ]
        return sorted(name.relative_to(folder) for name in same)

    def may_be_written(self) -> bool:
        """Return whether the rights suffice to write the file, and its log beside it."""
        file = self.path.resolve()
        effective = os.access in os.supports_effective_ids
        return all(os.access(place, os.W_OK, effective_ids=effective) for place in (file, file.parent))

    def state(self) -> tuple[int, ...]:
        """Return what changes when the file, or its log, is written."""
        status = self._status()
        return status.st_size, status.st_mtime_ns, self.log_size()

    def log_size(self) -> int:
        """Return the size of the log in bytes."""
        try:
            return self.beside("-wal").stat().st_size
        except OSError:
            return 0

    def refuse_lost_log(self) -> None:
        """Refuse a file that has a log, by what it says, if that is gone and the index of the log is not."""
        log, index = self.beside("-wal"), self.beside("-shm")
        for _ in range(CLOSING):
            if log.exists() or not index.exists():
                return
            _NEVER.wait(PAUSE)  # whoever closes it last removes the one shortly after the other
        raise Failure(LOST_LOG.format(log=log.name, index=index.name), lasting=True)

    def beside(self, ending: str) -> Path:
        """Return the path of a companion."""
        return Path(f"{self.path.resolve()}{ending}")

    def log_place(self) -> LogPlace:
        """Return where SQLite puts the log of the file now."""
        try:
            return LogPlace.of(self.path)
        except OSError:
            raise Failure(REMOVED) from None

    def _status(self) -> os.stat_result:
        try:
            return self.path.stat()
        except OSError:
            raise Failure(REMOVED) from None
