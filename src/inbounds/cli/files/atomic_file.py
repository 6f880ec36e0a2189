"""A file that is replaced in one step: after a failure the old one is still there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from inbounds.errors import InvalidParameter


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path in a folder of its own beside the target; the file there takes the target's place at the end.

    If anything fails, or is interrupted, the target is as it was and nothing is left behind.
    """
    place = target.resolve()
    if place.is_dir():
        raise InvalidParameter(f"the output must be a file, got the folder {str(target)!r}; name a file in it")
    if not place.parent.is_dir():
        raise InvalidParameter(f"the output folder {str(place.parent)!r} does not exist; create it first")
    folder = place.parent / f".inbounds-{uuid4().hex}"
    try:
        _make(folder)
        unfinished = folder / place.name
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        _flush(unfinished)
        os.replace(unfinished, place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as problem:
        raise InvalidParameter(
            f"cannot write to the folder {str(folder.parent)!r}: {problem.strerror}; choose another"
        ) from None


def _flush(path: Path) -> None:
    """Have a file on the disk before it takes another's place."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
