"""A file that is made in a folder of its own beside its place, and gets its name when it is whole.

After a failure or an interrupt the place is as it was, and nothing is left; a kill may leave the folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from inbounds.errors import InvalidParameter

WORKPLACE = ".inbounds-"
"""How the names of such folders begin."""


def refuse_taken(target: Path) -> None:
    """Refuse a file that exists, or cannot: before any work is done for it."""
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise InvalidParameter(
                f"the output folder {str(target.parent)!r} does not exist; create it first"
            ) from None
    except OSError as problem:  # a name that is too long, say
        raise InvalidParameter(f"cannot write {str(target)!r}: {problem.strerror}; choose another name") from None
    else:
        raise InvalidParameter(f"the output must be a new file, but {str(target)!r} exists; choose another name")


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a folder on the same disk that its owner alone can enter; it is gone afterwards."""
    folder = target.parent / f"{WORKPLACE}{uuid4().hex}"
    try:
        folder.mkdir(mode=0o700)
    except OSError as problem:
        raise InvalidParameter(
            f"cannot write to the folder {str(target.parent)!r}: {problem.strerror}; choose another"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path beside the target; the file that is made there takes the target's place at the end."""
    place = target.resolve()
    if place.is_dir():
        raise InvalidParameter(f"the output must be a file, got the folder {str(target)!r}; name a file in it")
    if not place.parent.is_dir():
        raise InvalidParameter(f"the output folder {str(place.parent)!r} does not exist; create it first")
    with folder_beside(place) as folder:
        draft = folder / place.name
        yield draft
        if place.exists():
            shutil.copymode(place, draft)
        flush(draft)
        os.replace(draft, place)


def put(draft: Path, target: Path) -> None:
    """Give a file that is whole its name, unless something has that name."""
    try:
        os.link(draft, target)  # which never replaces what is there
        os.unlink(draft)
    except FileExistsError:
        refuse_taken(target)
        raise
    except OSError:  # a disk that has no links
        refuse_taken(target)
        os.rename(draft, target)
    flush_folder(target)


def flush(path: Path) -> None:
    """Have a file on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(target: Path) -> None:
    """Have the name of a file on the disk."""
    with suppress(OSError):  # a system on which folders cannot be opened
        flush(target.parent)
