"""Trying a contract: what a text would do in place of the one that is served.  Nothing of it is applied or kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import shown
from inbounds.ledger.values.terms import Terms
from inbounds.query import Dataset, Inspection
from inbounds.query.columns.column import Numbers
from inbounds.query.contract.places import write_without_passwords
from inbounds.query.custodian.figures import UnitsFigures
from inbounds.query.custodian.limit_errors import LimitError, find_limit_errors, means_of
from inbounds.query.custodian.redraft import Redraft
from inbounds.query.custodian.trial import open_trial
from inbounds.query.tables.table import Table
from inbounds.server.service.inspecting import inspect_tables
from inbounds.server.service.service import Service
from inbounds.server.state.open_datasets import Holding, read_tick


@dataclass(frozen=True)
class Wish:
    """What somebody wants to see of a text."""

    text: str
    epsilon: str = "0.5"
    """For which errors are shown."""
    mean: str = ""
    """The table and the column whose mean is looked at, as `MeanChoice` calls them; the first one if there is none."""


@dataclass(frozen=True)
class MeanChoice:
    """A table, and a column of it whose mean is looked at, if it has one."""

    table: str
    column: Numbers | None

    @property
    def value(self) -> str:
        """What a form calls it."""
        return self.table if self.column is None else f"{self.table}.{self.column.name}"


@dataclass(frozen=True)
class LimitTrial:
    """What row limits do to one table."""

    table: str
    units: UnitsFigures
    served: int | None
    """The limit that is served; None if that is about other units."""
    errors: tuple[LimitError, ...]
    column: Numbers | None
    """The column whose mean was looked at."""

    @property
    def tried(self) -> int:
        """The limit that is tried."""
        return self.units.limit.limit

    def error_at(self, limit: int) -> LimitError:
        """Return what one of the limits does."""
        return next(error for error in self.errors if error.figures.limit == limit)


@dataclass(frozen=True)
class ContractTrial:
    """What a text would do."""

    inspection: Inspection
    terms: Terms
    content: Mapping[str, Any]
    choices: tuple[MeanChoice, ...]
    choice: MeanChoice | None
    limits: LimitTrial | None
    """None where each row is a unit of its own, or units do not match."""


def write_served(holding: Holding) -> str:
    """Return the contract that is served, as it was written; without a password, if there is one in it."""
    return write_without_passwords(holding.dataset.contract)


def draft_again(holding: Holding) -> str:
    """Return a fresh draft for the tables of a dataset, from names and types; no row is read."""
    return str(Redraft.of(holding.dataset))


def try_contract(service: Service, holding: Holding, wish: Wish) -> ContractTrial:
    """Return what a text would do; all of its faults are refused together."""
    epsilon = typed_decimal(wish.epsilon)
    if epsilon is None:
        raise InvalidParameter(f"the privacy cost must be a number, got {shown(wish.epsilon[:40])}; enter one like 0.5")
    with open_trial(wish.text, holding.dataset) as trial:
        try:
            read_tick(trial.contract)
        except InvalidContract as fault:
            fault.faults = (str(fault),)
            raise
        served = _same_limits(trial, holding.dataset)
        inspection = inspect_tables(service, trial, served)
        choices = tuple(_choices(trial, inspection))
        choice = _choose(choices, wish.mean, trial, served)
        limits = None
        if choice is not None:
            (figures,) = (one for one in (inspection, *inspection.others) if one.table == choice.table)
            assert figures.units is not None
            rows = trial.rows_of(choice.table)
            errors = find_limit_errors(rows, figures.units, choice.column, epsilon)
            limits = LimitTrial(choice.table, figures.units, served.get(choice.table), errors, choice.column)
        return ContractTrial(inspection, trial.terms, trial.contract.content, choices, choice, limits)


def _same_limits(trial: Dataset, present: Dataset) -> dict[str, int]:
    """Return the served limits of tables whose rows are counted for the same units in both."""
    tables = present.tables.private
    return {
        name: tables[name].limit
        for name, table in trial.tables.private.items()
        if name in tables and _owner(table) == _owner(tables[name])
    }


def _owner(table: Table) -> tuple[object, ...]:
    """Return whose rows they are."""
    parent = () if table.parent is None else (table.parent.on, *_owner(table.parent.table))
    return (table.unit, table.rows_are_units, *parent)


def _choices(trial: Dataset, inspection: Inspection) -> list[MeanChoice]:
    """Return the means that can be looked at: of tables that can be asked, and have rows of units."""
    found = []
    for figures in (inspection, *inspection.others):
        if figures.units is not None and figures.seconds is not None:
            table = trial.tables.private[figures.table]
            columns = means_of(table)
            found += [MeanChoice(table.name, column) for column in columns] or [MeanChoice(table.name, None)]
    return found


def _choose(
    choices: tuple[MeanChoice, ...], wanted: str, trial: Dataset, served: Mapping[str, int]
) -> MeanChoice | None:
    """Return the one that is wanted; else the first of a table whose limit is another one, or of any."""
    changed = (one for one in choices if trial.tables.private[one.table].limit != served.get(one.table))
    named = (one for one in choices if one.value == wanted)
    return next((one for some in (named, changed, choices) for one in some), None)
