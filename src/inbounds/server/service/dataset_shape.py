"""How a dataset looks to those who may ask it: tables, columns, bounds; nothing of where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import Derived
from inbounds.query.contract.descriptions import Descriptions
from inbounds.query.overview import name_type
from inbounds.server.service.amounts import format_amount
from inbounds.server.state.open_datasets import Holding

Name = Annotated[str, Path(description="The name of a dataset.", min_length=1, max_length=200)]


class ColumnOut(BaseModel):
    """A column that can be queried."""

    name: str
    bounds: str | None = Field(default=None, description="Possible values of a column of numbers, dates or times.")
    keys: list[str | int | bool] | None = Field(default=None, description="Public categories of a categorical column.")
    type: str = Field(description="What it holds, in words: numbers, whole numbers, dates, categories, true or false.")
    made_of: str | None = Field(default=None, description="The expression of a derived column.")
    timezone: str | None = Field(default=None, description="The time zone whose local times these are, if it is known.")
    duration: str | None = Field(default=None, description="The unit of durations: us, ms, s, min, h or d.")
    description: str | None = Field(default=None, description="What the contract says of the column in words.")


class TableOut(BaseModel):
    """A table that can be used in FROM."""

    name: str
    public: bool = Field(description="Public tables are not protected. They can be joined on their join key.")
    unit: str | None = Field(
        description="The column that identifies the unit each row belongs to; 'row' if every row is a unit of its own."
    )
    key: str | None = Field(default=None, description="Join key of a public table.")
    max_rows_per_unit: int | None = None
    description: str | None = Field(default=None, description="What the contract says of the table in words.")
    columns: list[ColumnOut]


class DatasetOut(BaseModel):
    """The public description of a dataset."""

    name: str
    tables: list[TableOut]
    examples: list[str] = Field(description="Queries that fit this dataset, to start from.")
    tick: float = Field(description="Answers are sent at multiples of this many seconds after the query arrives.")
    max_epsilon_per_question: str | None = Field(
        default=None, description="The most ε that one of your queries may cost; null if there is no limit."
    )


def describe_dataset(holding: Holding) -> DatasetOut:
    """Return the public description of a dataset: nothing of where it is."""
    tables = holding.dataset.tables
    shapes = [
        TableOut(
            name=name,
            public=False,
            unit=table.unit,
            max_rows_per_unit=table.limit,
            description=tables.words_of(name).table,
            columns=_to_columns_out(table.columns, tables.words_of(name)),
        )
        for name, table in tables.private.items()
    ]
    for name, public in tables.public.items():
        words = tables.words_of(name)
        shapes.append(
            TableOut(
                name=name,
                public=True,
                unit=None,
                key=", ".join(public.key) or None,
                description=words.table,
                columns=_to_columns_out(public.columns, words),
            )
        )
    limit = holding.dataset.price_limit
    return DatasetOut(
        name=holding.name,
        tables=shapes,
        examples=list(holding.dataset.examples),
        tick=holding.tick,
        max_epsilon_per_question=None if limit is None else format_amount(limit.most),
    )


def _to_columns_out(columns: Mapping[str, Column], words: Descriptions) -> list[ColumnOut]:
    described = {name: _to_column_out(column) for name, column in columns.items()}
    return [shape.model_copy(update={"description": words.columns.get(name)}) for name, shape in described.items()]


def _to_column_out(column: Column) -> ColumnOut:
    formula = str(column.formula) if isinstance(column, Derived) else None
    kind = name_type(column)
    if isinstance(column, Keys):
        return ColumnOut(name=column.name, keys=list(column.keys), type=kind, made_of=formula)
    return ColumnOut(
        name=column.name,
        bounds=column.bounds.brief(),
        type=kind,
        made_of=formula,
        timezone=column.zone,
        duration=column.duration,
    )
