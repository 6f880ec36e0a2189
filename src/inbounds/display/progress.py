"""Telling a person that something long is still going on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from inbounds.errors import InvalidParameter

Progress = Callable[[str], None]
"""Takes one short line of text now and then."""

WIDTH = 79


def check_progress(progress: object) -> None:
    """Refuse what cannot be told anything; for whoever has something to do, or to pay, before the first report."""
    if progress is not None and not callable(progress):
        raise InvalidParameter(f"progress must be a function of one line of text, got {progress!r:.60}; try print")


def silent(text: str) -> None:
    """Tell nobody."""
    del text


@contextmanager
def reporting(progress: Progress | None) -> Iterator[Progress]:
    """Yield where to report: to the caller's function, or on one line of the terminal, or nowhere if there is none."""
    check_progress(progress)
    if progress is not None:
        yield progress
        return
    terminal = sys.stderr
    if terminal is None or not terminal.isatty():
        yield silent
        return
    try:
        yield _rewrite
    finally:
        _rewrite("")


class Patient:
    """Reports, and holds back what a report raises: for work that must not be left half done.

    After the first error it reports nothing more; `end` raises it.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._error: Exception | None = None

    def __call__(self, text: str) -> None:
        """Report a line of text."""
        if self._error is None:
            try:
                self._progress(text)
            except Exception as error:  # noqa: BLE001  whatever the caller's function does
                self._error = error

    def end(self) -> None:
        """Raise what was held back, now that the work is done."""
        if self._error is not None:
            raise self._error


def _rewrite(text: str) -> None:
    """Put a text in place of the last line."""
    sys.stderr.write(f"\r{text[:WIDTH]:<{WIDTH}}" + ("" if text else "\r"))
    sys.stderr.flush()
