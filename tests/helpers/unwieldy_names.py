"""A hospital whose names are unwieldy: long ones, some with signs that pictures take for formulas, and many groups."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.named_hospital import Ward
from tests.helpers.served_hospital import Served

DOLLARS = ("$5 to $10", r"$\frac{$")
LONG_KEY = "a key that was written by somebody who had much to say, " * 2 + "-" * 38
DATASET = ", ".join(("a ward whose name says everything about it",) * 4)
COLUMN = "the number of times that somebody was asked how they felt after the treatment"
HIDDEN = "_under"
PERSON = "Wolfeschlegelsteinhausenbergerdorff " + "x" * 62
PEOPLE = (PERSON, HIDDEN, "mae")
GROUPS = 200


def build_unwieldy(folder: Path) -> Served:
    """Write it into a folder, and issue everybody a key."""
    return Ward(DATASET, COLUMN, (*DOLLARS, LONG_KEY), PEOPLE, last=GROUPS - 1, rows=600).build(folder)
