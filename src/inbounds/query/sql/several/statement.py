"""A statement, once it is read: one SELECT about rows, or several that are released and put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from inbounds.query.answer.released.evaluate import kind_of_node
from inbounds.query.answer.released.leaf import KeyRef, Kind, MeasureRef, Named
from inbounds.query.answer.released.source_column import SourceColumn, SourceKey
from inbounds.query.answer.view import View
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import quote_name
from inbounds.query.sql.shown.answer_select import InnerAnswer

if TYPE_CHECKING:
    from inbounds.query.sql.select import Select

Statement: TypeAlias = "Select | ValuesSelect | JoinedSelects | UnitedSelects"


@dataclass(frozen=True)
class Shown:
    """The columns that a statement shows, as they were selected."""

    columns: tuple[Named, ...]
    is_single: bool = False
    """Whether it shows one row at most."""

    @classmethod
    def of(cls, inner: InnerAnswer, view: View) -> Shown:
        """Return what a SELECT shows, by the names that it gives."""
        has_one = view.limit is not None and view.limit <= 1
        return cls(inner.listed, has_one or view.grouped == () or not any(map(is_key, inner.listed)))

    def renamed(self, names: list[str]) -> Shown | None:
        """Return the same by other names, as many as there are; None if they are not as many."""
        if names and len(names) != len(self.columns):
            return None
        pairs = zip(self.columns, names, strict=False)
        return replace(self, columns=tuple(replace(column, column=name) for column, name in pairs)) if names else self


def is_key(column: Named) -> bool:
    """Return whether a column is what is grouped by."""
    return isinstance(column.of, KeyRef)


@dataclass(frozen=True)
class ValuesSelect:
    """A SELECT without FROM, of single values that others release."""

    view: View
    beside: tuple[Statement, ...]
    shown: Shown


@dataclass(frozen=True)
class SelectSource:
    """A released SELECT after FROM or JOIN, and by which name."""

    statement: Statement
    name: str
    columns: Shown
    place: int
    on: Condition | None = None
    keep: bool = False
    chooses: bool = False
    """Whether it chooses groups: then each is to match one of its rows at most."""

    @cached_property
    def refs(self) -> tuple[KeyRef | MeasureRef, ...]:
        """What stands for each of its columns outside."""
        return tuple(
            KeyRef(SourceKey(self.name, column.column), kind_of_node(column))
            if is_key(column)
            else MeasureRef(self._value(place, column), kind_of_node(column))
            for place, column in enumerate(self.columns.columns)
        )

    def _value(self, place: int, column: Named) -> SourceColumn:
        return SourceColumn(self.place, place, f"{quote_name(self.name)}.{quote_name(column.column)}")

    @cached_property
    def named(self) -> Mapping[str, Named]:
        """All of them, by the names that they have inside."""
        pairs = zip(self.columns.columns, self.refs, strict=True)
        return {column.column: InSource(column.column, ref, self.name) for column, ref in pairs}


@dataclass(frozen=True)
class InSource(Named):
    """A column of one of several SELECTs."""

    source: str = ""

    def __str__(self) -> str:
        return f"{quote_name(self.source)}.{quote_name(self.column)}"


@dataclass(frozen=True)
class JoinedSelects:
    """A SELECT about what several others release."""

    sources: tuple[SelectSource, ...]
    view: View
    beside: tuple[Statement, ...]
    shown: Shown


@dataclass(frozen=True)
class UnitedSelects:
    """What several SELECTs release, one below the other."""

    branches: tuple[Statement, ...]
    shown: Shown


@dataclass(frozen=True)
class ColumnsSelect:
    """A SELECT that shows no row: all that it tells is which columns there would be."""

    columns: tuple[tuple[str, Kind], ...]
    """What they are called, and what is in them."""
    text: str
    """What was written."""


@dataclass(frozen=True)
class PivotedSelect:
    """What a SELECT releases, with a column for each category of a key."""

    select: Statement
    key: str
    """What is made columns of."""
    text: str
    """What is asked, in SQL."""
