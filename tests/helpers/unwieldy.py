"""A hospital whose names are unwieldy: long ones, some with signs that pictures take for formulas, and many groups."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tests.helpers.served import Served, build

DOLLARS = ("$5 to $10", r"$\frac{$")
LONG_KEY = "a key that was written by somebody who had much to say, " * 2 + "-" * 38
DATASET = ", ".join(("a ward whose name says everything about it",) * 4)
COLUMN = "the number of times that somebody was asked how they felt after the treatment"
HIDDEN = "_under"
PERSON = "Wolfeschlegelsteinhausenbergerdorff " + "x" * 62
PEOPLE = (PERSON, HIDDEN, "mae")
GROUPS = 200

CONTRACT = """\
[dataset]
name = '{dataset}'
source = "cradle-records.parquet"
unit = "row"
tick = 0.05

[columns.'{column}']
bounds = "[0, {last}] step 1"
[columns.kind]
keys = [{keys}]

[budget]
total = 5
per_analyst = 1
"""

SOMEBODY = """
[people.'{person}']
role = "analyst"
datasets = ['{dataset}']
"""


def build_unwieldy(folder: Path) -> Served:
    """Write it into a folder, and issue everybody a key."""
    found = build(folder, more="".join(SOMEBODY.format(person=one, dataset=DATASET) for one in PEOPLE))
    keys = (*DOLLARS, LONG_KEY)
    listed = ", ".join(f"'{one}'" for one in keys)
    contract = CONTRACT.format(dataset=DATASET, column=COLUMN, last=GROUPS - 1, keys=listed)
    (folder / "births.toml").write_text(contract, encoding="utf-8")
    custodian = found.path.read_text("utf-8").replace('datasets = ["births"]', f"datasets = ['{DATASET}']")
    found.path.write_text(custodian, encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(
            f'COPY (SELECT i % {GROUPS} AS "{COLUMN}", [{listed}][1 + i % {len(keys)}] AS kind FROM range(600) r(i)) '
            f"TO '{folder / 'cradle-records.parquet'}' (FORMAT parquet)"
        )
    return found
