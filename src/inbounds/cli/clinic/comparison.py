"""Plain noise and inbounds, side by side: what both answer to a question, and how far off both are on average."""

from __future__ import annotations

from math import hypot, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.cli.clinic.clinic import true_rows
from inbounds.cli.clinic.draws import as_number, draw_often, parts_of_epsilon
from inbounds.cli.clinic.questions import Ask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.query import Dataset

DRAWS = 1000
"""Mean errors are over so many draws of each."""

CLEAR = 3
"""Mean errors are told apart if they differ by so many standard errors of their difference."""


def compare(visits: Dataset, folder: Path, number: int, ask: Ask, analyst: str) -> list[dict[str, Any]]:
    """Ask a question, paid for by an analyst, and return a row for each group."""
    query = visits.sql(ask.sql())
    answer = query.ask(ask.epsilon, analyst=analyst, request_id=f"{analyst}-{number}")
    (plan,) = query.plans(ask.epsilon)
    drawn = draw_often(plan, plan.totals(visits.engine.run(plan.sql)), DRAWS)
    keys = 0 if ask.by is None else 1
    truths, sums = (
        {row[:keys]: row[keys:] for row in true_rows(folder, sql)} for sql in (ask.sql(), ask.counting_sql())
    )
    rows: list[dict[str, Any]] = []
    above: list[NDArray[np.float64]] = []
    for (*group, value), epsilon, ours in zip(answer.rows, parts_of_epsilon(plan), drawn.T, strict=True):
        (truth,) = truths.get(tuple(group), (0,))
        if epsilon:
            noisy = ask.plain.draw(sums.get(tuple(group), (0,) * len(ask.plain.sums)), epsilon, DRAWS + 1)
        else:
            noisy = np.sum(above, axis=0)  # a total that nothing is spent on
        above.append(noisy)
        plain, possible = ask.plain.answer(noisy[-1]), _add_up(rows) if group == [None] else {}
        errors = [np.abs(numbers - as_number(truth)) for numbers in (noisy[:-1], ours)]
        rows.append(
            {
                "number": number,
                "sql": ask.sql(),
                "epsilon": ask.epsilon,
                "group": ", ".join("(all)" if key is None else str(key) for key in group),
                "truth": truth,
                "plain": plain,
                "plain_possible": ask.possible(plain) and plain == possible.get("plain", plain),
                "plain_error": float(np.nanmean(errors[0])),
                "in_bounds": value,
                "in_bounds_possible": ask.possible(value) and value == possible.get("in_bounds", value),
                "in_bounds_error": float(np.nanmean(errors[1])),
                "nearer": _nearer(*errors),
            }
        )
    return rows


def _add_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a total must be: the sum of the rows above it."""
    return {way: sum(row[way] for row in rows) for way in ("plain", "in_bounds")}


def _nearer(plain: NDArray[np.float64], in_bounds: NDArray[np.float64]) -> str | None:
    """Return whose mean error is smaller, or None if so many draws do not tell."""
    gain = float(np.nanmean(plain) - np.nanmean(in_bounds))
    if abs(gain) <= CLEAR * hypot(*(float(np.nanstd(errors)) / sqrt(DRAWS) for errors in (plain, in_bounds))):
        return None
    return "in_bounds" if gain > 0 else "plain"
