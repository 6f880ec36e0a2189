"""An error that is wanted: a number in the unit of the answer, or a part of what is public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import as_written, shown, write_fraction


@dataclass(frozen=True)
class Wanted:
    """An error that is wanted of every measure."""

    size: Fraction
    in_percent: bool

    @classmethod
    def read(cls, error: Any) -> Wanted:
        """Read a number in the unit of the answer, or a text such as "2 %"."""
        number, in_percent = error, False
        if isinstance(error, str):
            text = error.strip()
            in_percent = text.endswith("%")
            number = typed_decimal(text.removesuffix("%"))
        if number is None or isinstance(number, bool):
            raise InvalidParameter(
                f'error must be a number or a percentage, got {shown(error)}; write it like 20, or like "2 %"'
            )
        size = as_written(number, "error", InvalidParameter)
        if not 0 < size <= (100 if in_percent else 10**30):
            most = "at most 100 %" if in_percent else "at most 1e30"
            raise InvalidParameter(f'error must be above 0 and {most}, got {shown(error)}; write it like 20, or "2 %"')
        return cls(size, in_percent)

    def __str__(self) -> str:
        return f"{write_fraction(self.size)}{' %' if self.in_percent else ''}"
