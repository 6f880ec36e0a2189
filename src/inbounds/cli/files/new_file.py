"""A text that becomes a new file: it appears whole, or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import folder_beside, put, refuse_taken

OWNER_ONLY = 0o600
"""What others may do with such a file: nothing."""


def write_new(target: Path, text: str, mode: int = 0o666) -> None:
    """Write a new file with these permissions, less those that the user's mask takes away."""
    refuse_taken(target)
    with folder_beside(target) as folder:
        unfinished = folder / "unfinished"
        _write(unfinished, text, mode)
        put(unfinished, target)


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
