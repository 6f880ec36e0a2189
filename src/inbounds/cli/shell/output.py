"""How results are printed: text for people, JSON for machines."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from inbounds.display.facts import FactSheet

if TYPE_CHECKING:
    from inbounds.ledger import Ledger


def show(data: Any, text: str, *, as_json: bool) -> bool:
    """Print a result, all of it, unless there is nothing to print; return whether anyone was there to read it."""
    printed = json.dumps(to_json(data), ensure_ascii=False, indent=2) if as_json else text
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed", "standard output")
    try:
        sys.stdout.write(f"{printed}\n" if printed else "")
        sys.stdout.flush()  # that it was printed must not be said of what is still in a buffer
    except BrokenPipeError:  # whoever stops reading has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, "standard output") from None
    return True


def to_json(value: Any) -> Any:
    """Return a value as JSON has it; a number that is none, such as an infinity, is null."""
    if isinstance(value, dict):
        return {str(name): to_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, Fraction | Decimal | float):
        return _to_number(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _to_number(value: Fraction | Decimal | float) -> int | float | None:
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(value) if not isinstance(value, float) and value == int(value) else number


def format_pairs(rows: list[tuple[str, Any]]) -> str:
    """Return names and values, one under the other."""
    return str(FactSheet([(name, str(value)) for name, value in rows]))


def tell_of_new(ledger: Ledger, *, as_json: bool) -> bool:
    """Return whether a ledger is new, and say so unless JSON does: nobody should spend twice by mistyping a path."""
    if ledger.created and not as_json:
        with suppress(OSError):
            typer.echo(
                f"inbounds: a new ledger was created, {ledger.where}: it starts with nothing spent. If this dataset "
                "was queried before, its spending is in another ledger: name that one with --ledger, or as ledger "
                "under [budget] in the contract",
                err=True,
            )
    return ledger.created


@contextmanager
def progress(total: int, doing: str = "releasing") -> Iterator[Callable[[int], None]]:
    """Yield a function that moves a progress bar on standard error, which is there on a terminal only."""
    from rich.console import Console  # noqa: PLC0415  typer brings it
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda count: bar.advance(task, count)
