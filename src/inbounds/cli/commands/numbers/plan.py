"""`inbounds plan`: which mechanism for these bounds, and how much epsilon an error takes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.choosing.comparison import Comparison, compare
from inbounds.choosing.recommendation import Recommendation, recommend
from inbounds.cli.shell.options import AsJson, BoundsText, Minimise, Sensitivity, read_number, read_sensitivity
from inbounds.cli.shell.output import show
from inbounds.display.progress import reporting, silent
from inbounds.display.text import WIDTH
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="The privacy loss of each release.")]
TargetError = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: find the smallest epsilon with this mean error."),
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Save the comparison as a chart: .png, .svg or .html.")]

PICTURES = (".png", ".svg", ".html")

DECADE = 900
"""Epsilons of three digits from 1 to below 10, and as many in every other decade: 1.00, 1.01 and so on."""

FIRST, LAST = -9 * DECADE, 3 * DECADE
"""The numbers of the least and the greatest epsilon there is, 1e-9 and 1000."""


def command(
    bounds: BoundsText,
    sensitivity: Sensitivity,
    epsilon: Epsilon = None,
    target_error: TargetError = None,
    minimise: Minimise = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms for given bounds, and recommend one.

    The recommended mechanism is the one that release uses: the one with the smallest error among those that do the
    same work for every true value. No data is involved and nothing is spent.

    \b
    Example:
      inbounds plan --bounds "[0, 100]" --sensitivity 2 --epsilon 0.5
    """
    possible = Bounds.parse(bounds)
    most = read_sensitivity(sensitivity, possible)
    if plot is not None and Path(plot).suffix.lower() not in PICTURES:
        raise InvalidParameter(f"--plot must end in {' or '.join(PICTURES)}, got {Path(plot).name!r}; rename it")
    if epsilon is not None and target_error is None:
        spent = read_number(epsilon, "--epsilon")
    elif target_error is not None and epsilon is None:
        if minimise is not None:
            raise InvalidParameter(
                f"--target-error and --minimise cannot be combined, got --minimise {minimise}; give --epsilon instead"
            )
        spent = least_epsilon(possible, most, read_number(target_error, "--target-error"))
    else:
        got = "neither" if epsilon is None else "both"
        raise InvalidParameter(f"plan needs either --epsilon or --target-error, got {got}; give one")
    goal: Any = {"minimise": minimise, "even_timing": True, "optimum": None if target_error is None else False}
    compared, best = compare(possible, most, spent), recommend(possible, most, spent, **goal)
    if plot is not None:
        from inbounds.cli.files.plan_picture import save  # noqa: PLC0415  only whoever has matplotlib comes here

        save(Path(plot), compared, best)
    text = _write_text(compared, best, target_error, None if plot is None else Path(plot))
    show(_write_data(compared, best, spent, target_error, minimise), text, as_json=as_json)


def _write_data(
    compared: Comparison, best: Recommendation, spent: Decimal, target_error: str | None, minimise: str | None
) -> dict[str, Any]:
    data = {
        "epsilon": spent,
        "recommended": best.name,
        "minimise": minimise or "mean",
        "error": best.error,
        "reason": best.reason,
        "mechanisms": compared.data(),
    }
    return data if target_error is None else {"target_error": Decimal(target_error), **data}


def _write_text(compared: Comparison, best: Recommendation, target_error: str | None, plot: Path | None) -> str:
    parts = [str(compared), fill(best.reason, WIDTH, break_on_hyphens=False)]
    if target_error is not None:
        sentence = (
            f"Smallest epsilon, to three digits, at which a closed-form mechanism has a mean error of at most "
            f"{target_error}: {compared.epsilon}"
        )
        parts.insert(0, fill(sentence, WIDTH))
    if plot is not None:
        parts.append(f"The chart was saved to {plot}.")
    return "\n\n".join(parts)


# How much epsilon an error takes.


def least_epsilon(bounds: Bounds, sensitivity: Any, error: Decimal) -> Decimal:
    """Return the least epsilon of three digits at which a mechanism with a formula has a mean error of at most this.

    It was evaluated there, and is larger at the epsilon just below; that it is so all the way down is assumed.
    """
    if error <= 0:
        raise InvalidParameter(
            f"--target-error must be above 0, got {shown(error)}; without any error there is no privacy"
        )
    with reporting(None) as report:

        def reached(number: int) -> bool:
            report(f"trying epsilon {epsilon_of(number)}")
            return (
                recommend(
                    bounds,
                    sensitivity,
                    epsilon_of(number),
                    even_timing=True,
                    optimum=False,
                    progress=silent,
                ).error
                <= error
            )

        place = least(reached, _guess(sensitivity, error))
    if place is None:
        most = epsilon_of(LAST)
        raise InvalidParameter(
            f"no epsilon up to {most} has a mean error of at most {shown(error)}; allow a larger --target-error"
        )
    return epsilon_of(place)


def epsilon_of(number: int) -> Decimal:
    """Return the epsilon of a number: 0 is 1, 1 is 1.01, -1 is 0.999."""
    decade, digits = divmod(number, DECADE)
    return Decimal(f"{Decimal(100 + digits).scaleb(decade - 2).normalize():f}")


def least(reached: Callable[[int], bool], guess: int) -> int | None:
    """Return the least number that reaches something, None if there is none: in growing steps, then by halving."""
    low, high, step = FIRST - 1, LAST + 1, DECADE // 4
    tried = guess
    while low + 1 < high:
        if reached(tried):
            high = tried
        else:
            low = tried
        if low < FIRST:
            tried = max(high - step, FIRST)
        elif high > LAST:
            tried = min(low + step, LAST)
        else:
            tried = (low + high) // 2
        step *= 4
    return high if high <= LAST else None


def _guess(sensitivity: Any, error: Decimal) -> int:
    """Return the number of about the epsilon at which plain noise has this error."""
    size = Decimal(sensitivity.days or 1) if isinstance(sensitivity, timedelta) else sensitivity
    decade = size.adjusted() - error.adjusted()
    return min(max(decade * DECADE, FIRST), LAST)
