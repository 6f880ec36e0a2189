"""Practice data: made-up rows that fit a contract, for whoever may preview queries."""

from __future__ import annotations

from inbounds.display.suggestion import suggest
from inbounds.exact.rational import shown
from inbounds.files.csv_text import write_table
from inbounds.query.practice.practice_engines import make_tables
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.service.service import Service

MOST_PRACTICE_ROWS = 10_000
"""So many rows are made up for one request."""


def practice_csv(service: Service, name: str, table: str | None, rows: int, seed: int, person: Person) -> bytes:
    """Return made-up rows of a private table as csv; neither the source nor the ledger is read."""
    tables = service.holdings.holding(name, person).dataset.tables
    wanted = tables.main.name if table is None else table
    if wanted not in tables.private:
        remedy = suggest(wanted, tables.private, "there are")
        raise Problem("invalid-parameter", f"there is no private table {shown(wanted)}; {remedy}")
    made = make_tables(tables, rows, seed)[wanted]
    return write_table(made.types, ([row[column] for column in made.types] for row in made.rows[:MOST_PRACTICE_ROWS]))
