"""Errors of tables that add up, as tables of the page: `python docs/pictures/joint.py` prints them.

What was measured is in `joint.json`: what `python -m benchmarks joint --json` says of it, to four digits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")

LISTS = tuple(f"{cells} cells, epsilon {epsilon}" for epsilon in ("1", "0.1") for cells in ("200", "2,000"))
TREE, TABLE = "A tree of 8 x 8 x 8", "A table of 50 x 40"
FIRST_SPLIT = {TREE: ("56.2 / 20.7", "56 / 21 / 16 / 7 %"), TABLE: ("by default", "by default")}
"""The split that stands first: in the file, and on the page."""
ANYWHERE, FIRST = ", epsilon 1", ", large first, epsilon 1"

WHOLE = {"in bounds, one by one": "cells one by one, in bounds", "plain, unclamped": "plain noise, often negative"}
WAYS = {
    "ours": "inbounds",
    "not negative": "non-negative least squares in one go",
    "least squares": "least squares (Hay and others), often negative",
    "top-down": "from the top down, as the Census",
    "OpenDP tree": "OpenDP 0.16, consistent tree, often negative",
    "private-pgm": "private-pgm (mbi 2.0)",
}

Errors = dict[str, dict[str, dict[str, dict[str, float]]]]
"""By table, split, way and grouping."""


def measured() -> Errors:
    """Return what is in the file; standard errors have ± behind the name of their grouping."""
    found: Errors = {}
    for name, value in json.loads(FILE.read_text("utf-8")).items():
        case, split, way, grouping = name.split("; ")
        found.setdefault(case, {}).setdefault(split, {}).setdefault(way, {})[grouping] = value
    return found


def list_table() -> str:
    """Return the errors of lists of cells and their totals."""
    found = measured()
    rows = [["", *(case.replace("epsilon", "ε =") for case in LISTS)], ["---"] * 5]

    def add(label: str, split: str, way: str) -> None:
        shown = (next(found[case][one] for one in found[case] if split in one)[way] for case in LISTS)
        rows.append([label, *(f"{_shown(one['cells'])}; {_shown(one['total'])}" for one in shown)])

    for way, label in WHOLE.items():
        add(label, "alone", way)
    for split, label in (("by default", ""), ("90 / 10", ", 10 % on the total"), ("70 / 30", ", 30 %")):
        add(f"**inbounds**{label}", split, "ours")
    for way, label in list(WAYS.items())[1:]:
        add(label, "by default", way)
    return _written(rows)


def case_table(case: str) -> str:
    """Return the errors of the groupings of one table at two splits, large cells anywhere or first."""
    split_first, titled = FIRST_SPLIT[case]
    found = [measured()[f"{case}{where}"] for where in (ANYWHERE, FIRST)]
    names = [name for name in found[0]["cells alone"]["plain, unclamped"] if "±" not in name]
    rows = [[", ".join(names), titled, "equal parts", f"{titled}, large first", "equal parts, large first"]]
    rows.append(["---"] * 5)
    for way, label in (WHOLE | WAYS).items():
        shown = []
        for errors in found:
            for split in (split_first, "25 / 25"):
                part = "alone" if way in WHOLE else split
                one = next(one for title, one in errors.items() if part in title).get(way)
                shown.append("" if one is None else "; ".join(_shown(one[name]) for name in names))
        if any(shown):
            rows.append([f"**{label}**" if way == "ours" else label, *shown])
    return _written(rows)


def tables() -> list[str]:
    """Return all tables of the page."""
    return [list_table(), case_table(TREE), case_table(TABLE)]


def _shown(error: float) -> str:
    return f"{error:,.0f}" if error >= 20 else f"{error:.1f}" if error >= 2 else f"{error:.2f}"


def _written(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(tables()) + "\n")
