"""`inbounds release`: one true answer, one on each line, or a column of a file, and private ones in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.cli.options import (
    AsJson,
    BoundsText,
    Epsilon,
    Guarantee,
    Pooling,
    Sensitivity,
    Trusted,
    chosen_part,
    distance,
    number,
)
from inbounds.cli.output import pairs, show
from inbounds.errors import InvalidAnswer, InvalidParameter
from inbounds.mechanism import BoundedLaplace
from inbounds.recommendation import recommend

Value = Annotated[
    str | None, typer.Argument(metavar="VALUE", help="The true answer, or - for one on each line of standard input.")
]
Source = Annotated[str | None, typer.Option("--file", metavar="FILE", help="A csv or parquet file to read instead.")]
ColumnName = Annotated[str | None, typer.Option("--column", metavar="NAME", help="The column of it to release.")]
Target = Annotated[
    str | None, typer.Option("--to", metavar="FILE", help="The file to write: the same, with that column private.")
]


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    bounds: BoundsText,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    value: Value = None,
    guarantee: Guarantee = "standard",
    pooling: Pooling = None,
    trusted: Trusted = False,
    file: Source = None,
    column: ColumnName = None,
    to: Target = None,
    as_json: AsJson = False,
) -> None:
    """Release a private answer that is always possible.

    A number or a day, one on each line of standard input, or a column of a file. Each of them costs epsilon.

    \b
    Example:
      inbounds release 97 --bounds "[0, 100]" --sensitivity 2 --epsilon 0.5
    """
    possible = Bounds.parse(bounds)
    given: Any = (possible, distance(sensitivity, possible), number(epsilon, "--epsilon"))
    promised: Any = {"guarantee": guarantee, "trusted": trusted}
    fixed = chosen_part(pooling, "--pooling")
    _refuse_mixture(value, file, column, to)
    mechanism: Any = (
        recommend(*given, **promised).mechanism if fixed is None else BoundedLaplace(*given, **promised, pooling=fixed)
    )
    if file is not None and column is not None and to is not None:
        _release_column(mechanism, Path(file), column, Path(to), epsilon, as_json=as_json)
    elif value == "-":
        _release_lines(mechanism, sys.stdin, as_json=as_json)
    elif value is not None:
        _release_one(mechanism, read(value, possible, "the value"), epsilon, as_json=as_json)


def _refuse_mixture(value: str | None, *files: str | None) -> None:
    given = sum(one is not None for one in files)
    if (value is None, given) not in ((False, 0), (True, len(files))):
        raise InvalidParameter(
            "release needs either a value (- for standard input) or all of --file, --column and --to, got "
            f"{'no value' if value is None else 'a value'} and {given} of those; give one or the other"
        )


def read(text: str, bounds: Bounds, where: str) -> Any:
    """Read a true answer; no message repeats it."""
    word = text.strip()
    if bounds.is_dates:
        try:
            return date.fromisoformat(word)
        except ValueError:
            raise InvalidAnswer(f"{where} must be a day, for the bounds are days; write it like 2026-12-31") from None
    try:
        return int(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        raise InvalidAnswer(f"{where} must be a number, for the bounds are numbers; write it like 97 or 97.5") from None


def _release_one(mechanism: Any, answer: Any, epsilon: str, *, as_json: bool) -> None:
    released = mechanism.release(answer)
    error = mechanism.error(released)
    certificate = str(mechanism.certificate).splitlines()[0]
    found = {
        "released": released,
        "expected_error": error,
        "mechanism": mechanism.name,
        "epsilon": mechanism.epsilon,
        "certificate": certificate,
    }
    unit = " days" if mechanism.bounds.is_dates else ""
    lines = [
        ("released", released),
        ("expected error", f"{error:.4g}{unit}, if the truth is about there"),
        ("mechanism", mechanism.name),
        ("epsilon", epsilon),
        ("certificate", certificate),
    ]
    show(found, pairs(lines), as_json=as_json)


def _release_lines(mechanism: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Release one answer for each line; all are read before the first is written, and an empty line stays one."""
    try:
        texts = [line.strip() for line in lines]
    except UnicodeDecodeError:
        raise InvalidAnswer("standard input must be text in UTF-8, one answer on each line; convert it") from None
    bounds = mechanism.bounds
    answers = [read(text, bounds, f"line {i}") if text else None for i, text in enumerate(texts, 1)]
    released = [None if answer is None else mechanism.release(answer) for answer in answers]
    shown = "\n".join("" if one is None else str(one) for one in released)
    if released or as_json:
        show(released, shown, as_json=as_json)


def _release_column(mechanism: Any, source: Path, column: str, target: Path, epsilon: str, *, as_json: bool) -> None:
    from inbounds.cli.column import release_column  # noqa: PLC0415  only whoever has duckdb comes here

    count, missing = release_column(mechanism, source, column, target)
    found = {
        "released": count,
        "missing": missing,
        "column": column,
        "to": str(target),
        "mechanism": mechanism.name,
        "epsilon": mechanism.epsilon,
    }
    lines = [
        ("released", f"{count} answers of column {column}; {missing} missing, left so"),
        ("to", target),
        ("mechanism", mechanism.name),
        ("epsilon", f"{epsilon} for each answer"),
    ]
    show(found, pairs(lines), as_json=as_json)
