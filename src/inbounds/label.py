"""What a mechanism may truthfully call itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.rational import round_up


@dataclass(frozen=True)
class Label:
    """The privacy of one release: epsilon, or epsilon and delta, or none at the epsilon that was asked for."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    """An upper bound: with at most this probability, roughly, the loss is above epsilon."""
    loss: Fraction | None = None
    """A loss that was proved to occur, where the mechanism does not keep epsilon; None where it does."""

    @property
    def private(self) -> bool:
        """Whether the mechanism keeps what it is asked for."""
        return self.loss is None

    @property
    def pure(self) -> bool:
        """Whether it keeps epsilon without a delta."""
        return self.private and not self.delta

    def __str__(self) -> str:
        if self.loss is not None:
            return f"not private: loss {float(self.loss):.4g} > {float(self.epsilon):.4g}"
        if self.delta:
            return f"ε = {float(self.epsilon):.4g}, δ = {_rounded_up(self.delta)}"
        return f"ε = {float(self.epsilon):.4g}"


def _rounded_up(delta: Fraction) -> str:
    """Write a delta with four digits, never less than it is."""
    digits = f"{float(delta):.3e}"
    if Fraction(digits) >= delta:
        return digits
    return f"{round_up(delta) * (1 + 5e-4):.3e}"
