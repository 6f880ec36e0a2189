"""A refusal whose remedy is followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inbounds.query import Dataset

Step = str | Callable[[Dataset], Any]
"""A question in SQL, or a call in Python."""


@dataclass(frozen=True)
class Followed:
    """A question that is refused, and those that follow from the remedies: the last one is accepted."""

    first: Step
    then: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them, in order."""
        return (self.first, *self.then)


@dataclass(frozen=True)
class Final:
    """A question that is refused for good: its message gives the reason, and a way that leads elsewhere."""

    first: Step
    reason: str


def followed(*steps: Step) -> Followed:
    """Return a refusal and the steps after it."""
    return Followed(steps[0], steps[1:])
