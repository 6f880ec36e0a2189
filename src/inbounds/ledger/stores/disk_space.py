"""Whether a disk has room: a log that is used anew takes entries for a while on a disk that has none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

ROOM = 65_536
"""Bytes; a charge and its answer need fewer, unless that is a large table."""


def try_room(folder: Path) -> None:
    """Write so many bytes to the disk of a folder, in a file without a name; raise OSError if that cannot be done."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(ROOM // 4096):
            if file.write(b"\xff" * 4096) != 4096:
                raise OSError("there is room for a part only; make room")
        os.fsync(file.fileno())
