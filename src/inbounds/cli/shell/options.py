"""What the commands share: how numbers are written, and the options that several of them take."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.decimals import BLANKS, is_decimal, typed_decimal
from inbounds.exact.rational import shown

BoundsText = Annotated[
    str,
    typer.Option("--bounds", metavar="BOUNDS", help='The possible values, such as "[0, 100]" or "[0, inf) step 1".'),
]
Sensitivity = Annotated[
    str, typer.Option(metavar="NUMBER", help="The most one person can change the true value; for dates, in days.")
]
Epsilon = Annotated[str, typer.Option(metavar="NUMBER", help="The privacy loss of each release.")]
Cost = Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="The privacy loss of the whole answer.")]
Guarantee = Annotated[str, typer.Option(metavar="NAME", help="standard, or distance (metric privacy).")]
Minimise = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="mean or worst: find the mechanism with the smallest such error of all.  "
        "[default: the smallest mean error among those not biased towards the middle]",
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Use bounded Laplace with this pooling, from 0 (normalise) to 1 (clamp to the bounds).  "
        "[default: the mechanism with the smallest error]",
    ),
]
Alone = Annotated[
    bool, typer.Option("--alone", help="Answer each group separately: less noise in each, but totals need not add up.")
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBERS", help="How to split epsilon between several measures, such as 2,1,1.  [default: equally]"
    ),
]
Simultaneous = Annotated[
    bool,
    typer.Option("--simultaneous", help="All intervals hold at once with the confidence, not each by itself."),
]
Trusted = Annotated[bool, typer.Option("--trusted", help="You guarantee that the true value lies within the bounds.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
DatasetFile = Annotated[str, typer.Option("--dataset", metavar="FILE", help="The table's contract, a TOML file.")]
LedgerPlace = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="PLACE", help="Use this ledger instead of the contract's: a file or a PostgreSQL URL."
    ),
]
Server = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="Query this server; --dataset is then a dataset name.")
]
KeyFile = Annotated[
    str | None,
    typer.Option(
        "--key-file", metavar="FILE", help="The file with your API key for --server.  [default: $INBOUNDS_KEY]"
    ),
]
Practise = Annotated[
    bool, typer.Option("--practise", help="Use made-up rows that fit the contract: nothing is spent or read.")
]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The query, in quotes.", show_default=False)]


def read_number(text: str, name: str) -> Decimal:
    """Read a number exactly as it is written."""
    decimal = typed_decimal(text)
    if decimal is not None:
        return decimal
    if is_decimal(text.strip(BLANKS)):
        raise InvalidParameter(f"{name} must have an exponent of a few digits, got {shown(text)}; write it like 1e-6")
    raise InvalidParameter(f"{name} must be a number, got {shown(text)}; write it like 2 or 0.5")


def read_whole(text: str, name: str) -> int:
    """Read a whole number; Python would also read 1_0, and the digits of every script."""
    if not re.fullmatch("-?[0-9]{1,18}", text.strip(BLANKS)):
        raise InvalidParameter(f"{name} must be a whole number, got {shown(text)}; write it like 10")
    return int(text)


def read_part(text: str, name: str) -> Decimal:
    """Read a number from 0 to 1."""
    decimal = read_number(text, name)
    if not 0 <= decimal <= 1:
        raise InvalidParameter(f"{name} must be from 0 to 1, got {shown(text)}; 0 normalises, 1 clamps to the bounds")
    return decimal


def read_weights(text: str | None) -> list[Decimal] | None:
    """Read numbers with commas between them, if there are any."""
    return None if text is None else [read_number(weight, "--weights") for weight in text.split(",")]


def read_optional_part(text: str | None, name: str) -> Decimal | None:
    """Read a number from 0 to 1, if there is one."""
    return None if text is None else read_part(text, name)


def read_sensitivity(text: str, bounds: Bounds) -> Any:
    """Read a sensitivity: a number, or a number of days."""
    size = read_number(text, "--sensitivity")
    if not bounds.is_dates:
        return size
    try:
        return timedelta(days=float(size))
    except OverflowError:
        raise InvalidParameter(
            f"--sensitivity must be a number of days within the range of dates, got {shown(text)}; give fewer"
        ) from None
