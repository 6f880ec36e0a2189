"""`inbounds release`: one true answer, one on each line, or a column of a file, and private ones in their place."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.cli.options import (
    NUMBER,
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
from inbounds.cli.output import pairs, progress, show
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

_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
"""No numbers, but what a computation may have left; infinities are projected where there is an end."""


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

    A number or a day, one on each line of standard input, or a column of a file. Each of them costs epsilon. The
    mechanism has the least mean error of those that take as long for one answer as for another; see plan.

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
        recommend(*given, **promised, even=True).mechanism
        if fixed is None
        else BoundedLaplace(*given, **promised, pooling=fixed)
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
    if not NUMBER.fullmatch(word) and not _NOT_FINITE.fullmatch(word):
        raise InvalidAnswer(f"{where} must be a number, for the bounds are numbers; write it like 97 or 97.5")
    try:
        return int(word)
    except ValueError:
        return float(word)


def _release_one(mechanism: Any, answer: Any, epsilon: str, *, as_json: bool) -> None:
    released = mechanism.release(answer)
    error = mechanism.error(released)
    certificate = str(mechanism.certificate).splitlines()[0]
    found = {"released": released, "expected_error": error, **_law(mechanism), "certificate": certificate}
    unit = " days" if mechanism.bounds.is_dates else ""
    lines = [
        ("released", released),
        ("expected error", f"{error:.4g}{unit}, if the truth is about there"),
        *_law_in_words(mechanism),
        ("epsilon", epsilon),
        ("certificate", certificate),
    ]
    show(found, pairs(lines), as_json=as_json)


def _law(mechanism: Any) -> dict[str, Any]:
    """Return what states the law of a release, besides bounds and sensitivity."""
    return {
        "mechanism": mechanism.name,
        "pooling": getattr(mechanism, "pooling", None),
        "width": getattr(mechanism, "width", None),
        "scale": mechanism.scale,
        "step": str(mechanism.step),
        "epsilon": mechanism.epsilon,
    }


def _law_in_words(mechanism: Any) -> list[tuple[str, Any]]:
    law = _law(mechanism)
    choices = [f", {name} {float(law[name]):g}" for name in ("pooling", "width") if law[name] is not None]
    return [("mechanism", law["mechanism"] + "".join(choices)), ("scale", law["scale"]), ("step", law["step"])]


def _release_lines(mechanism: Any, lines: Iterable[str] | None, *, as_json: bool) -> None:
    """Release one answer for each line; all are read before the first is written, and an empty line stays one."""
    if lines is None:
        raise InvalidParameter("- reads standard input, which is closed; give it one answer on each line")
    try:
        texts = [line.strip() for line in lines]
    except UnicodeDecodeError:
        raise InvalidAnswer("standard input must be text in UTF-8, one answer on each line; convert it") from None
    bounds = mechanism.bounds
    answers = [read(text, bounds, f"line {i}") if text else None for i, text in enumerate(texts, 1)]
    released: list[Any] = []
    with progress(len(answers)) as advance:
        for answer in answers:
            released.append(None if answer is None else mechanism.release(answer))
            advance(1)
    shown = "\n".join("" if one is None else str(one) for one in released)
    if released or as_json:
        show(released, shown, as_json=as_json)


def _release_column(mechanism: Any, source: Path, column: str, target: Path, epsilon: str, *, as_json: bool) -> None:
    from inbounds.cli.column import release_column  # noqa: PLC0415  only whoever has duckdb comes here

    count, missing = release_column(mechanism, source, column, target)
    found = {"released": count, "missing": missing, "column": column, "to": str(target), **_law(mechanism)}
    lines = [
        ("released", f"{count} answers of column {column}; {missing} missing, left so"),
        ("to", target),
        *_law_in_words(mechanism),
        ("epsilon", f"{epsilon} for each answer"),
    ]
    show(found, pairs(lines), as_json=as_json)
