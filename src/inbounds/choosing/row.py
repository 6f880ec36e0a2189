"""What a comparison tells of one mechanism."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.label import Label


@dataclass(frozen=True)
class Row:
    """What is known of one mechanism; nothing but a reason if it is not for these bounds."""

    name: str
    paper: str
    not_applicable: str | None = None
    mechanism: Mechanism | None = None
    label: Label | None = None
    in_range: bool | None = None
    """Whether every release is a possible answer; false for what leaves the range."""
    unbiased: bool | None = None
    """Whether releases are right on average, whichever possible answer is true; None if that is not known."""
    scale: float | None = None
    mean_error: float | None = None
    worst_error: float | None = None
    at_ends: float | None = None
    """How probable it is that a release is an end of a span, averaged over true answers."""
    mean_over_optimum: float | None = None
    """The mean error, divided by a proved limit that no mechanism is below which keeps epsilon, where that is known.

    It is at least 1.  What does not keep epsilon has none, for it is not bound by the limit.
    """
    worst_over_optimum: float | None = None

    @property
    def eligible(self) -> bool:
        """Whether it is private without a delta, and every release is possible."""
        return self.label is not None and self.label.pure and bool(self.in_range)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = asdict(Row(**{**self.__dict__, "mechanism": None, "label": None}))
        del plain["mechanism"]
        label = self.label
        return plain | {
            "private": label and label.private,
            "epsilon": label and float(label.epsilon),
            "delta": label and float(label.delta),
            "label": label and str(label),
        }
