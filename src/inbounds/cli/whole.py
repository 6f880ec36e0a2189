"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inbounds.errors import InvalidParameter


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield a path in a folder of its own beside the target; the file there takes the target's place at the end.

    If anything fails, or is interrupted, the target is as it was and nothing is left behind.
    """
    place = target.resolve()
    if place.is_dir():
        raise InvalidParameter(f"{str(target)!r} is a folder; name a file in it")
    if not place.parent.is_dir():
        raise InvalidParameter(f"there is no folder {str(place.parent)!r} to write to; make it first")
    try:
        folder = tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as problem:
        raise InvalidParameter(
            f"nothing can be written in {str(place.parent)!r}: {problem.strerror}; name another folder"
        ) from None
    try:
        unfinished = Path(folder, place.name)
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        os.replace(unfinished, place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
