"""Numbers as the interface has them: exact decimals come in as numbers or texts, and go out as texts."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from inbounds.bounds.notation import write_end
from inbounds.exact.decimals import typed_decimal


def _read_decimal(value: Any) -> Any:
    """Read a text as people write numbers; pydantic would also read 1_0, the digits of every script, and true as 1."""
    if not isinstance(value, str | bool):
        return value
    number = None if isinstance(value, bool) else typed_decimal(value)
    if number is None:
        raise ValueError("write a number with the digits 0 to 9, such as 2 or 0.5")
    return number


def _read_whole(value: Any) -> Any:
    """Read a text as people write whole numbers."""
    is_text = isinstance(value, str)
    if isinstance(value, bool) or (is_text and not (value.isascii() and value.removeprefix("-").isdigit())):
        raise ValueError("write a whole number with the digits 0 to 9, such as 10")
    return value


Part = Annotated[float, BeforeValidator(_read_decimal)]
Whole = Annotated[int, BeforeValidator(_read_whole)]
Amount = Annotated[
    Decimal,
    BeforeValidator(_read_decimal),
    Field(description="A decimal number, as a JSON number or a string.", examples=["0.5"]),
]

Size = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) in (int, float, Decimal) else value),
    Field(max_length=60, description="A number, or a percentage such as 2 %.", examples=["20", "2 %"]),
]


def format_amount(value: Fraction | None) -> str | None:
    """Return an exact number as a decimal text; of one that has no end as a decimal, as a quotient."""
    return None if value is None else write_end(value)
