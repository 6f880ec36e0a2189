"""How a dataset looks to those who may ask it: tables, columns, bounds; nothing of where it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import Derived
from inbounds.server.state.open_datasets import Holding

Name = Annotated[str, Path(description="The name of a dataset.", min_length=1, max_length=200)]


class ColumnOut(BaseModel):
    """A column that can be queried."""

    name: str
    bounds: str | None = Field(default=None, description="Possible values of a column of numbers or dates.")
    keys: list[str | int | bool] | None = Field(default=None, description="Public categories of a categorical column.")
    made_of: str | None = Field(default=None, description="The expression of a derived column.")


class TableOut(BaseModel):
    """A table that can be used in FROM."""

    name: str
    public: bool = Field(description="Public tables are not protected. They can be joined on their join key.")
    unit: str | None = Field(
        description="The column that identifies the unit each row belongs to; 'row' if every row is a unit of its own."
    )
    key: str | None = Field(default=None, description="Join key of a public table.")
    max_rows_per_unit: int | None = None
    columns: list[ColumnOut]


class DatasetOut(BaseModel):
    """The public description of a dataset."""

    name: str
    tables: list[TableOut]
    tick: float = Field(description="Answers are sent at multiples of this many seconds after the query arrives.")


def describe_dataset(holding: Holding) -> DatasetOut:
    """Return the public description of a dataset: nothing of where it is."""
    tables = holding.dataset.tables
    shapes = [
        TableOut(
            name=name,
            public=False,
            unit=table.unit,
            max_rows_per_unit=table.limit,
            columns=[_to_column_out(column) for column in table.columns.values()],
        )
        for name, table in tables.private.items()
    ]
    for name, public in tables.public.items():
        columns = [_to_column_out(column) for column in public.columns.values()]
        shapes.append(TableOut(name=name, public=True, unit=None, key=public.key, columns=columns))
    return DatasetOut(name=holding.name, tables=shapes, tick=holding.tick)


def _to_column_out(column: Column) -> ColumnOut:
    formula = str(column.formula) if isinstance(column, Derived) else None
    if isinstance(column, Keys):
        return ColumnOut(name=column.name, keys=list(column.keys), made_of=formula)
    return ColumnOut(name=column.name, bounds=column.bounds.brief(), made_of=formula)
