"""What a mechanism may truthfully call itself."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil


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
            return f"ε = {float(self.epsilon):.4g}, δ = {written_up(self.delta, 4)}"
        return f"ε = {float(self.epsilon):.4g}"


def written_up(number: Fraction, digits: int) -> str:
    """Write a number between 0 and 1 with so many digits, never less than it is."""
    exponent = 0
    while number * 10**exponent < 1:
        exponent += 1
    mantissa = ceil(number * 10 ** (exponent + digits - 1))
    return f"{Decimal(mantissa).scaleb(1 - digits - exponent):.{digits - 1}e}"
