"""A hospital whose names all try to be more than names: of a dataset, a column, its keys, a person."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tests.helpers.served import Served, build

TAG = "<img src=x onerror=alert(7)>"
QUOTE = "\"'><script>alert(7)</script>"
KEYS = ("</td><svg onload=alert(7)>", "{{'zy'*3}}", "javascript:alert(7)", QUOTE)
PERSON = f"mallory {TAG}"
DATASET = f"ward {TAG}"
COLUMN = f"age {QUOTE}"
NOTE = f"because </textarea></p>{QUOTE}{{{{'zy'*3}}}}{TAG}"

CONTRACT = """\
[dataset]
name = '{dataset}'
source = "cradle-records.parquet"
unit = "row"
tick = 0.05

[columns."{column}"]
bounds = "[0, 110] step 1"
[columns.kind]
keys = [{keys}]

[budget]
total = 5
per_analyst = 1
"""

PEOPLE = """
[people.'{person}']
role = "analyst"
datasets = ['{dataset}']
"""


def build_hostile(folder: Path) -> Served:
    """Write it into a folder, and issue everybody a key."""
    found = build(folder, more=PEOPLE.format(person=PERSON, dataset=DATASET))
    column, keys = COLUMN.replace('"', '\\"'), ", ".join('"' + one.replace('"', '\\"') + '"' for one in KEYS)
    (folder / "births.toml").write_text(CONTRACT.format(dataset=DATASET, column=column, keys=keys), encoding="utf-8")
    custodian = found.path.read_text("utf-8").replace('datasets = ["births"]', f"datasets = ['{DATASET}']")
    found.path.write_text(custodian, encoding="utf-8")
    listed = ", ".join("'" + one.replace("'", "''") + "'" for one in KEYS)
    named = COLUMN.replace('"', '""')
    with duckdb.connect() as connection:
        connection.execute(
            f'COPY (SELECT 20 + i % 61 AS "{named}", [{listed}][1 + i % {len(KEYS)}] AS kind FROM range(200) r(i)) '
            f"TO '{folder / 'cradle-records.parquet'}' (FORMAT parquet)"
        )
    return found
