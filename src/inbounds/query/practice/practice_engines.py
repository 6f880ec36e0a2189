"""Made-up rows as tables of a database in memory, which is asked like any other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlglot import exp

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.query.engines.engine import Engine
from inbounds.query.engines.registry import engine_module
from inbounds.query.practice.made_rows import MadeTable, make_rows
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.public_table import PublicTable

MOST_ROWS = 1_000_000
"""So many rows may be made up for a table."""

MOST_REFERENCES = 10_000
"""So many keys of a large public table are referred to."""

IN_MEMORY = "practice"
"""Where the tables are said to be: each of them can be read beside the others."""


def read_row_number(rows: Any, most: int = MOST_ROWS) -> int:
    """Return how many rows are to be made up."""
    if type(rows) is not int or not 1 <= rows <= most:
        raise InvalidParameter(f"rows must be a whole number from 1 to {most:,}, got {shown(rows)}; give one like 1000")
    return rows


def read_seed(seed: Any) -> int:
    """Return a seed."""
    if type(seed) is not int or abs(seed) >= 2**63:
        raise InvalidParameter(f"seed must be a whole number of 64 bits, got {shown(seed)}; give one such as 0")
    return seed


def make_tables(tables: Tables, rows: Any, seed: Any) -> dict[str, MadeTable]:
    """Return made-up rows of all private tables, by name; public tables alone are looked at."""
    number, sown = read_row_number(rows), read_seed(seed)
    referred = dict.fromkeys(
        identifier.keys_of
        for table in tables.private.values()
        for identifier in table.identifiers.values()
        if identifier.keys_of is not None
    )
    return make_rows(tables, {name: _keys_of(tables.public[name]) for name in referred}, number, sown)


class PracticeTables:
    """Made-up rows of all private tables of a contract, in memory."""

    def __init__(self, made: Mapping[str, MadeTable]) -> None:
        self.made = made
        self._driver = engine_module("duckdb")
        self._connection = self._driver.start_database()
        for name, table in made.items():
            _store(self._connection, name, table)

    @classmethod
    def of(cls, tables: Tables, rows: int, seed: int) -> PracticeTables:
        """Make them up; public tables alone are looked at."""
        return cls(make_tables(tables, rows, seed))

    def engines(self) -> dict[str, Engine]:
        """Return what reads each table, by name."""
        return {
            name: self._driver.DuckDB(self._connection.cursor(), _table(name), path=IN_MEMORY) for name in self.made
        }

    def write_parquet(self, folder: Path) -> dict[str, str]:
        """Write each table as a parquet file into a folder, and return their names."""
        files = {}
        for number, name in enumerate(self.made, 1):
            plain = name if name.isascii() and name.isidentifier() else f"table_{number}"
            files[name] = f"{plain}.parquet"
            statement = f"COPY {_table(name).sql('duckdb')} TO ? (FORMAT parquet)"
            self._connection.execute(statement, [str(folder / files[name])])
        return files

    def close(self) -> None:
        """Forget them."""
        self._connection.close()


def _store(connection: Any, name: str, table: MadeTable) -> None:
    columns = ", ".join(f"{_quote(column)} {kind}" for column, kind in table.types.items()) or "nothing BOOLEAN"
    unique = f", UNIQUE ({', '.join(map(_quote, table.key))})" if table.key else ""
    connection.execute(f"CREATE TABLE {_table(name).sql('duckdb')} ({columns}{unique})")
    if table.rows and table.types:
        picked = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind in table.types.values())
        arrays = [table.column(column) for column in table.types]
        connection.execute(f"INSERT INTO {_table(name).sql('duckdb')} SELECT {picked}", arrays)
    elif table.rows:
        connection.execute(f"INSERT INTO {_table(name).sql('duckdb')} SELECT TRUE FROM range({len(table.rows)})")


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _quote(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def _keys_of(public: PublicTable) -> list[Any]:
    """Return some keys of a public table whose keys are too many to be listed, the same ones every time."""
    if public.rows is not None:
        return sorted(public.rows)[:MOST_REFERENCES]
    if public.engine is None:
        return []
    key = exp.column(exp.to_identifier(public.key[0], quoted=True))
    selected = exp.select(key).distinct().from_(public.engine.relation()).where(key.is_(exp.null()).not_())
    statement = public.engine.dialect.render(selected.order_by(key).limit(MOST_REFERENCES))
    found = [value for (value,) in public.engine.run(statement)]
    return found if public.has_whole_keys else list(map(str, found))
