"""Numbers as the interface has them: exact decimals come in as numbers or texts, and go out as texts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from inbounds.bounds.notation import write_end

Amount = Annotated[Decimal, Field(description="A decimal number, as a number or a text.", examples=["0.5"])]


def text(value: Fraction | None) -> str | None:
    """Return an exact number as a decimal text; of one that has no end as a decimal, as a quotient."""
    return None if value is None else write_end(value)


def plain(value: Any) -> Any:
    """Return a cell as JSON has it: a date as a text."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return text(value)
    return value.isoformat() if isinstance(value, date) else value
