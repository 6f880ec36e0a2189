"""`inbounds release`: one true answer, one on each line, or a column of a file, and private ones in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import tuned_choice
from inbounds.choosing.recommendation import recommend
from inbounds.cli.files.answer_text import BYTE_ORDER_MARK, as_json, as_text, read_answer
from inbounds.cli.shell.options import (
    AsJson,
    BoundsText,
    Epsilon,
    Guarantee,
    Minimise,
    Pooling,
    Sensitivity,
    Trusted,
    read_number,
    read_optional_part,
    read_sensitivity,
)
from inbounds.cli.shell.output import format_pairs, progress, show
from inbounds.display.figures import format_error
from inbounds.errors import InvalidAnswer, InvalidParameter
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.exact_release import release_all
from inbounds.mechanisms.mechanism import Mechanism

Value = Annotated[
    str | None,
    typer.Argument(metavar="VALUE", help="The true value; - reads one per line from standard input."),
]
Source = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="Instead, release a column of this csv or parquet file.")
]
ColumnName = Annotated[str | None, typer.Option("--column", metavar="NAME", help="The column to release.")]
Target = Annotated[
    str | None, typer.Option("--to", metavar="FILE", help="The file to write, with that column released.")
]

AT_ONCE = 16_384
"""Releases between two moves of the progress bar."""


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    bounds: BoundsText,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    value: Value = None,
    guarantee: Guarantee = "standard",
    minimise: Minimise = None,
    pooling: Pooling = None,
    trusted: Trusted = False,
    file: Source = None,
    column: ColumnName = None,
    to: Target = None,
    as_json: AsJson = False,
) -> None:
    """Release a private answer that stays within the bounds.

    The true value is a number or a date. You can also release several, from standard input or a column of a file; each
    costs epsilon, and no ledger adds this up. The mechanism is the one that plan recommends.

    \b
    Example:
      inbounds release 97 --bounds "[0, 100]" --sensitivity 2 --epsilon 0.5
    """
    possible = Bounds.parse(bounds)
    setting: Any = (possible, read_sensitivity(sensitivity, possible), read_number(epsilon, "--epsilon"))
    promised: Any = {"guarantee": guarantee, "trusted": trusted}
    goal: Any = minimise  # recommend refuses what is none
    fixed = read_optional_part(pooling, "--pooling")
    if fixed is not None and minimise is not None:
        raise InvalidParameter(
            f"--minimise and --pooling cannot be combined, got {minimise} and {pooling}; leave one out"
        )
    _refuse_mixture({"a value": value, "--file": file, "--column": column, "--to": to})
    mechanism: Mechanism = (
        recommend(*setting, **promised, minimise=goal, even_timing=True).mechanism
        if fixed is None
        else BoundedLaplace(*setting, **promised, pooling=fixed)
    )
    asked = _Asked(mechanism, {"sensitivity": sensitivity, "epsilon": epsilon, **promised})
    if value == "-":
        show(*_release_lines(asked, sys.stdin), as_json=as_json)
    elif value is not None:
        show(*_release_one(asked, read_answer(value, possible, "the value")), as_json=as_json)
    else:
        show(*_release_column(asked, Path(str(file)), str(column), Path(str(to))), as_json=as_json)


def _refuse_mixture(words: dict[str, str | None]) -> None:
    names = [name for name, word in words.items() if word is not None]
    if names not in (["a value"], ["--file", "--column", "--to"]):
        raise InvalidParameter(
            "release needs either a value (- for standard input) or all of --file, --column and --to, got "
            f"{' and '.join(names) or 'nothing'}; give one or the other"
        )


@dataclass(frozen=True)
class _Asked:
    """A mechanism to release from, and what it was asked for, as it was typed."""

    mechanism: Mechanism
    typed: dict[str, Any]

    @property
    def law(self) -> dict[str, Any]:
        """What states the law of a release."""
        mechanism = self.mechanism
        width = mechanism.choices.get("width")
        return {
            "mechanism": mechanism.name,
            "pooling": mechanism.pooling if tuned_choice(mechanism) == "pooling" else None,
            "width": None if width is None else float(width),
            "scale": mechanism.scale,
            "step": str(mechanism.step),
            "bounds": str(mechanism.bounds),
            "sensitivity": Decimal(self.typed["sensitivity"]),
            "epsilon": Decimal(self.typed["epsilon"]),
            "guarantee": self.typed["guarantee"],
            "trusted": self.typed["trusted"],
        }

    @property
    def lines(self) -> list[tuple[str, Any]]:
        """The part of it that was not typed."""
        law = self.law
        choices = [f", {name} {float(law[name]):g}" for name in ("pooling", "width") if law[name] is not None]
        scale = [] if law["scale"] is None else [("scale", law["scale"])]
        return [("mechanism", law["mechanism"] + "".join(choices)), *scale, ("step", law["step"])]


def _release_one(asked: _Asked, answer: Any) -> tuple[Any, str]:
    """Release one answer; return it as data and as text."""
    mechanism = asked.mechanism
    (released,) = release_all(mechanism, [answer])  # a whole number is written no otherwise than any other
    error = mechanism.error(released)
    certificate = str(mechanism.certificate).splitlines()[0]
    unit = " days" if mechanism.bounds.is_dates else ""
    lines = [
        ("released", as_text(released)),
        ("expected error", f"{format_error(error)}{unit}, for a true value near the released one"),
        *asked.lines,
        ("cost (ε)", asked.typed["epsilon"]),
        ("certificate", certificate),
    ]
    data = {"released": as_json(released), "expected_error": error, **asked.law, "certificate": certificate}
    return data, format_pairs(lines)


def _release_lines(asked: _Asked, lines: Iterable[str] | None) -> tuple[Any, str]:
    """Release one answer for each line; all are read before the first is written, and an empty line stays one."""
    if lines is None:
        raise InvalidParameter("- reads standard input, which is closed; pipe one answer per line into it")
    try:
        texts = [line.strip().strip(BYTE_ORDER_MARK) for line in lines]
    except UnicodeDecodeError:
        raise InvalidAnswer("standard input must be UTF-8 text with one answer per line; convert it") from None
    bounds = asked.mechanism.bounds
    answers = [read_answer(text, bounds, f"line {i}") if text else None for i, text in enumerate(texts, 1)]
    known = [answer for answer in answers if answer is not None]
    drawn: list[Any] = []
    with progress(len(known)) as advance:
        for start in range(0, len(known), AT_ONCE):
            drawn += release_all(asked.mechanism, known[start : start + AT_ONCE])
            advance(AT_ONCE)
    private = iter(drawn)
    released = [None if answer is None else next(private) for answer in answers]
    return list(map(as_json, released)), "\n".join("" if answer is None else as_text(answer) for answer in released)


def _release_column(asked: _Asked, source: Path, column: str, target: Path) -> tuple[Any, str]:
    """Release a column of a file into another."""
    from inbounds.cli.files.column_file import release_column  # noqa: PLC0415  the others do without files

    count, missing = release_column(asked.mechanism, source, column, target)
    lines = [
        ("released", f"{count} value{'' if count == 1 else 's'} of column {column}; {_describe_empty(missing)}"),
        ("to", target),
        *asked.lines,
        ("cost (ε)", f"{asked.typed['epsilon']} for each answer"),
    ]
    data = {"released": count, "missing": missing, "column": column, "to": str(target), **asked.law}
    return data, format_pairs(lines)


def _describe_empty(count: int) -> str:
    return f"{count} empty {'cell' if count == 1 else 'cells'} stayed empty" if count else "no cell was empty"
