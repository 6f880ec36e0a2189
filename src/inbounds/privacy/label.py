"""What a mechanism may truthfully call itself."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from inbounds.exact.rational import rounded


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
            return f"not private: loss {rounded(self.loss, 4)} > {plain_up(self.epsilon, 4)}"
        if self.delta:
            return f"ε = {plain_up(self.epsilon, 4)}, δ = {format_up(self.delta, 4)}"
        return f"ε = {plain_up(self.epsilon, 4)}"


def format_up(number: Fraction, digits: int) -> str:
    """Write a positive number with so many digits and an exponent, never less than it is; see `plain_up`."""
    nearest = f"{Decimal(float(number)):.{digits - 1}e}"
    return nearest if _is_at_least(nearest, number) else f"{_round_up(number, digits):.{digits - 1}e}"


def plain_up(number: Fraction, digits: int) -> str:
    """Write a positive number with up to so many digits, never less than it is.

    A double is written as people write it: the double 0.1 is a hair above one tenth, and is "0.1".
    """
    nearest = f"{float(number):.{digits}g}"
    return nearest if _is_at_least(nearest, number) else f"{float(_round_up(number, digits)):.{digits}g}"


def _is_at_least(text: str, number: Fraction) -> bool:
    return Fraction(text) >= number or Fraction(float(text)) == number


def _round_up(number: Fraction, digits: int) -> Decimal:
    exponent = 0
    while number * Fraction(10) ** exponent < 1:
        exponent += 1
    while number * Fraction(10) ** exponent >= 10:
        exponent -= 1
    mantissa = ceil(number * Fraction(10) ** (exponent + digits - 1))
    return Decimal(mantissa).scaleb(1 - digits - exponent)
