"""What a query costs: an epsilon that was given, or the least one with a wanted error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.bounds.notation import write_end
from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import read_number, read_whole
from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from inbounds.client import RemoteQuery
    from inbounds.query import Query

CostOrNone = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        metavar="NUMBER",
        help="The privacy loss of the whole answer; or give --error, or say it in the SQL.",
    ),
]
WantedError = Annotated[
    str | None,
    typer.Option(
        "--error",
        metavar="SIZE",
        help='Find the least epsilon with this expected error: a number like 20, or a percentage like "2 %".',
    ),
]
AssumedRows = Annotated[
    str | None, typer.Option("--rows", metavar="NUMBER", help="How many rows to assume in each group, for --error.")
]


@dataclass(frozen=True)
class Cost:
    """What is to be paid."""

    epsilon: Decimal | Fraction
    wanted: str | None = None
    """What was wanted and is predicted, if epsilon was found and not given."""

    @property
    def text(self) -> str:
        """The epsilon, as a decimal."""
        return str(self.epsilon) if isinstance(self.epsilon, Decimal) else write_end(self.epsilon)

    def data(self) -> dict[str, str]:
        """Return what there is to say of a wanted error, for programs."""
        return {} if self.wanted is None else {"wanted": self.wanted}


@dataclass(frozen=True)
class Price:
    """What was typed of epsilon or a wanted error, before any query is planned."""

    epsilon: Decimal | None
    error: str | None
    rows: int | None

    @classmethod
    def read(cls, epsilon: str | None, error: str | None, rows: str | None, sql: str) -> Price:
        """Read the options: one of epsilon and error, unless the SQL says its epsilon."""
        with needing("query", "querying tables"):
            from inbounds.query.ask.privacy_options import cut_options  # noqa: PLC0415  the other commands do without
        stated = cut_options(sql)[1].epsilon
        if stated is not None and error is not None:
            raise InvalidParameter(
                f"a query needs --epsilon or --error, but its SQL says epsilon = {write_end(stated)}; leave --error out"
            )
        epsilon = write_end(stated) if epsilon is None and stated is not None else epsilon
        if (epsilon is None) == (error is None):
            given = "both are" if error is not None else "--epsilon is missing, and --error as well"
            raise InvalidParameter(f"a query needs --epsilon or --error, but {given}; give one of them")
        if rows is not None and error is None:
            raise InvalidParameter("--rows is for a wanted error; give --error too, or leave --rows out")
        number = None if epsilon is None else read_number(epsilon, "--epsilon")
        return cls(number, error, None if rows is None else read_whole(rows, "--rows"))

    def settle(self, question: Query | RemoteQuery, pooling: Decimal | None, weights: Sequence[Decimal] | None) -> Cost:
        """Return what the query costs; finding an epsilon is free."""
        if self.epsilon is not None:
            return Cost(self.epsilon)
        assert self.error is not None
        found = question.find_epsilon(self.error, rows=self.rows, pooling=pooling, weights=weights)
        return Cost(found.epsilon, found.words)


def refuse_unasked(price: Price, *, yes: bool) -> None:
    """Refuse to pay an epsilon that nobody has seen, where nobody can be asked."""
    if price.error is not None and not yes and not _is_terminal():
        raise InvalidParameter(
            "--error finds the cost first, and without a terminal nobody can agree to it; give --yes, or see it with "
            "inbounds explain"
        )


def agree(cost: Cost, *, yes: bool) -> None:
    """Show an epsilon that was found, and go on only if it is agreed to."""
    if cost.wanted is None:
        return
    typer.echo(f"inbounds: {cost.wanted}", err=True)
    if not yes and not typer.confirm(f"Run the query, which spends {cost.text}?", err=True):
        typer.echo("inbounds: nothing was spent", err=True)
        raise typer.Abort


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
