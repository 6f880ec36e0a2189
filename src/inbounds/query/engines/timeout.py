"""Stopping a statement that takes longer than it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer


@contextmanager
def interrupting(interrupt: Callable[[], object], seconds: float | None) -> Iterator[Callable[[], bool]]:
    """Interrupt the block if it takes longer than so many seconds; what is yielded tells whether that was done."""
    over = Event()

    def stop() -> None:
        over.set()
        interrupt()

    timer = None if seconds is None else Timer(seconds, stop)
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield over.is_set
    finally:
        if timer is not None:
            timer.cancel()
