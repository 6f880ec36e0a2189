"""Disks that are full: a limit on how large the files of this process may be, and a small disk of the test's own."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.programs import PATIENCE

SIZE = "4m"


@contextmanager
def no_growth(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes while the block runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Yield a folder that is a disk of its own, in memory; only root can have one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this user cannot make a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=PATIENCE)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Leave no byte free on a disk while the block runs."""
    path = disk / "all-that-was-free"
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 20, 4096, 1):
            _fill(file, bytes(size))
        yield
    finally:
        os.close(file)
        path.unlink()


def _fill(file: int, some: bytes) -> None:
    try:
        while os.write(file, some):
            pass
    except OSError:
        return
