"""What a caller's process may have set before it asks: no answer depends on it."""

from __future__ import annotations

import decimal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import flint
import numpy as np


@contextmanager
def raising_numpy() -> Iterator[None]:
    """Let NumPy raise whatever it would pass over."""
    with np.errstate(all="raise"):
        yield


@contextmanager
def raising_warnings() -> Iterator[None]:
    """Make an error of every warning, also of those that NumPy gives by itself."""
    with np.errstate(all="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def coarse_decimals() -> Iterator[None]:
    """Let decimal numbers have one digit, and raise wherever one is rounded."""
    before = decimal.DefaultContext.copy()
    traps = [decimal.Inexact, decimal.Rounded, decimal.Subnormal, decimal.FloatOperation, decimal.InvalidOperation]
    for trap in traps:
        decimal.DefaultContext.traps[trap] = True
    decimal.DefaultContext.prec = 1
    try:
        with decimal.localcontext(decimal.Context(prec=1, traps=traps)):
            yield
    finally:
        decimal.DefaultContext.traps, decimal.DefaultContext.prec = before.traps, before.prec


@contextmanager
def short_integers() -> Iterator[None]:
    """Let Python write as few digits of an integer as can be asked for."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


@contextmanager
def coarse_balls() -> Iterator[None]:
    """Let balls have two bits, unless whoever computes with them says otherwise."""
    before = flint.ctx.prec
    flint.ctx.prec = 2
    try:
        yield
    finally:
        flint.ctx.prec = before


@contextmanager
def everything() -> Iterator[None]:
    """Set all of it."""
    with raising_warnings(), raising_numpy(), coarse_decimals(), short_integers(), coarse_balls():
        yield


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "raising NumPy": raising_numpy,
    "raising warnings": raising_warnings,
    "coarse decimals": coarse_decimals,
    "short integers": short_integers,
    "coarse balls": coarse_balls,
    "everything": everything,
}
