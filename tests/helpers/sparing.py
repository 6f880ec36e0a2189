"""Cases of a test of which some are tried every time, and the others by `make thorough` alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sparing(cases: Iterable[Any], often: int = 1) -> list[Any]:
    """Return the cases for `parametrize`: the first ones as they are, the others marked `thorough`."""
    return [
        case if number < often else pytest.param(*_values(case), marks=pytest.mark.thorough)
        for number, case in enumerate(cases)
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)
