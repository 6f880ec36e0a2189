"""Which error is to be least."""

from __future__ import annotations

from typing import Literal, get_args

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

Minimise = Literal["mean", "worst"]


def check_goal(minimise: object) -> Minimise:
    """Return what is to be least, or refuse it."""
    for name in get_args(Minimise):
        if isinstance(minimise, str) and minimise == name:
            return name
    raise InvalidParameter(f"minimise must be 'mean' or 'worst', got {shown(minimise)}; take 'mean' if in doubt")
