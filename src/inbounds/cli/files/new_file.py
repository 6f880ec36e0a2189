"""A file that must not have been there: it appears whole, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from uuid import uuid4

from inbounds.errors import InvalidParameter

OWNER_ONLY = 0o600
"""What others may do with such a file: nothing."""


def write_new(target: Path, text: str, mode: int = 0o666) -> None:
    """Write a new file with these permissions, less those that the user's mask takes away."""
    refuse_taken(target)
    folder = target.parent / f".inbounds-{uuid4().hex}"
    try:
        _make(folder)
        unfinished = folder / "unfinished"
        _write(unfinished, text, mode)
        try:
            os.link(unfinished, target)  # which fails if there is something now, and never replaces it
        except FileExistsError:
            refuse_taken(target)
            raise
        except OSError:  # a disk that has no links
            refuse_taken(target)
            os.rename(unfinished, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_taken(target: Path) -> None:
    """Refuse a file that is there already, or whose folder is not: before any work is done for it."""
    if os.path.lexists(target):
        raise InvalidParameter(f"the output must be a new file, but {str(target)!r} exists; choose another name")
    if not target.parent.is_dir():
        raise InvalidParameter(f"the output folder {str(target.parent)!r} does not exist; create it first")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as problem:
        raise InvalidParameter(
            f"cannot write to the folder {str(folder.parent)!r}: {problem.strerror}; choose another"
        ) from None


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file, and have it on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "w", encoding="utf-8") as file:
        allowed = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if mode == OWNER_ONLY and allowed & 0o077:
            raise InvalidParameter(
                "the file must be readable by its owner alone, but the disk of this folder gives it the permissions "
                f"{allowed:o}; choose a folder on another disk"
            )
        file.write(text)
        file.flush()
        os.fsync(descriptor)
