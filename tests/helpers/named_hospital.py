"""A hospital with one more dataset, whose names and people a test chooses: hostile ones, or unwieldy ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.helpers.served_hospital import Served, build

CONTRACT = """\
[dataset]
name = {dataset}
source = "cradle-records.parquet"
unit = "row"
tick = 0.05
description = {described}

[columns.{column}]
description = {described}
bounds = "[0, {last}] step 1"
[columns.kind]
keys = [{keys}]

[budget]
total = 5
per_analyst = 1
"""

ANALYST = """
[people.{person}]
role = "analyst"
datasets = [{dataset}]
"""


@dataclass(frozen=True)
class Ward:
    """A table with a column of numbers from 0 on and one of keys, and the analysts who may ask it."""

    dataset: str
    column: str
    keys: Sequence[str]
    people: Sequence[str]
    last: int
    """The greatest number."""
    rows: int
    described: str = "what it is"
    """The description of the table and of its first column."""

    def build(self, folder: Path) -> Served:
        """Write it into a folder in place of the births, and issue everybody a key."""
        dataset = json.dumps(self.dataset)  # TOML writes such texts as JSON does
        found = build(
            folder, more="".join(ANALYST.format(person=json.dumps(one), dataset=dataset) for one in self.people)
        )
        keys = ", ".join(map(json.dumps, self.keys))
        named = {"column": json.dumps(self.column), "described": json.dumps(self.described)}
        contract = CONTRACT.format(dataset=dataset, last=self.last, keys=keys, **named)
        (folder / "births.toml").write_text(contract, encoding="utf-8")
        custodian = found.path.read_text("utf-8").replace('datasets = ["births"]', f"datasets = [{dataset}]")
        found.path.write_text(custodian, encoding="utf-8")
        listed = ", ".join("'" + one.replace("'", "''") + "'" for one in self.keys)
        column = self.column.replace('"', '""')
        with duckdb.connect() as connection:
            connection.execute(
                f'COPY (SELECT i % {self.last + 1} AS "{column}", [{listed}][1 + i % {len(self.keys)}] AS kind '
                f"FROM range({self.rows}) r(i)) TO '{folder / 'cradle-records.parquet'}' (FORMAT parquet)"
            )
        return found
