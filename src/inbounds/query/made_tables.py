"""Other tables of a contract, and tables made of tables: joined along keys, looked for, grouped within a unit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

from inbounds.errors import InvalidQuestion
from inbounds.query.askable import Questions
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from inbounds.query.grammar.rows import to_condition
from inbounds.query.sql.subqueries import read_having
from inbounds.query.sql.unit_measures import parse_unit_measure
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.grouping import group_rows
from inbounds.query.tables.join import Joining, On, join_table, private_table
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitMeasure


class MadeTables(Questions):
    """What can be asked instead of a table: others of its contract, and what is made of them."""

    tables: Tables

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the dataset."""

    @abstractmethod
    def _with_table(self, table: Table) -> Self:
        """Return the same dataset with another table to ask."""

    def rows_of(self, table: str) -> Self:
        """Query another private table of the contract: `clinic.rows_of("prescriptions").count()`."""
        private = private_table(self.tables, table)
        return self if private is self.table else self._with_table(private)

    def per_unit(
        self, *, where: Condition | str | None = None, having: Condition | str | None = None, **measures: str
    ) -> Self:
        """Query units, one row for each: `visits.per_unit(n="COUNT(*)", oldest="MAX(age)").mean("n")`.

        Each measure of a unit's rows is written as in SQL.  With `where`, units are those that have such rows; with
        `having`, those whose measures meet it.
        """
        return self._group((), measures, where, having)

    def per(
        self,
        *keys: str | Expression,
        where: Condition | str | None = None,
        having: Condition | str | None = None,
        **measures: str,
    ) -> Self:
        """Query groups of a unit's rows, one row for each: `measurements.per("stay_id", top="MAX(value)").mean("top")`.

        Keys are identifiers that say whose rows they are, or the unit itself, and any other columns beside them.  Each
        group is of one unit.
        """
        return self._group(keys, measures, where, having)

    def _group(
        self,
        keys: Sequence[str | Expression],
        measures: Mapping[str, str],
        where: Condition | str | None,
        having: Condition | str | None,
    ) -> Self:
        condition = None if where is None else to_condition(where, self.table)
        unit_measures = {name: parse_unit_measure(measure, self.table) for name, measure in measures.items()}

        def group(measures: dict[str, UnitMeasure], having: Condition | None = None) -> Table:
            return group_rows(self.table, keys, measures, condition, having)

        if isinstance(having, str):
            unit_measures, having = read_having(having, self.table, unit_measures, group)
        return self._with_table(group(unit_measures, having))

    def join(
        self,
        other: str | Self,
        *,
        on: On | None = None,
        where: Condition | str | None = None,
        keep: bool = False,
        name: str | None = None,
    ) -> Self:
        """Query joined rows: `stays.join("measurements")`, or `visits.join("airports", on="destination")`.

        Private rows of the same unit are joined along the keys that the contract declares, else by the unit alone; and
        public ones by their key.

        * `on`: a column, or columns by those that they are equal to: `{"l_partkey": "ps_partkey"}`.
        * `where`: what else must be so of rows that match.
        * `keep`: whether rows without a match stay, as by LEFT JOIN.
        * `name`: what the other table is called, as in `stays.join("stays", name="b", where="b.day > stays.day")`.
        """
        return self._join(other, Joining(on, where, name, keep))

    def exists(
        self,
        other: str | Self,
        *,
        on: On | None = None,
        where: Condition | str | None = None,
        name: str | None = None,
    ) -> Self:
        """Query rows that have a match in another table: `patients.exists("stays", where="ward = 'b2'")`.

        Rows match as those that are joined do; in `where`, columns of the other table go first.
        """
        return self._join(other, Joining(on, where, name, semi="EXISTS"))

    def not_exists(
        self,
        other: str | Self,
        *,
        on: On | None = None,
        where: Condition | str | None = None,
        name: str | None = None,
    ) -> Self:
        """Query rows that have no match in another table: `patients.not_exists("stays", where="urgent")`."""
        return self._join(other, Joining(on, where, name, semi="NOT EXISTS"))

    def _join(self, other: str | Self, said: Joining) -> Self:
        if isinstance(other, MadeTables) and other.tables is not self.tables:
            raise InvalidQuestion(
                f"{other.name} is of another contract, whose units are not those of {self.name}; join tables of one "
                "contract, as one dataset has them"
            )
        table = other.table if isinstance(other, MadeTables) else other
        return self._with_table(join_table(self.tables, self.table, table, said))
