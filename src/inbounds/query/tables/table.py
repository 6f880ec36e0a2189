"""What the custodian says of a table: whose privacy, how many rows a unit may count for, which columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from inbounds.display.suggestion import suggest
from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Keys, Numbers, as_value
from inbounds.query.columns.derived_column import Derived, derive
from inbounds.query.columns.identifier import UNIT, Domain, Identifier
from inbounds.query.columns.kind import TRUTH_KEY, WHOLE_KEY
from inbounds.query.columns.raw_keys import RawKeys
from inbounds.query.contract.public_counts import Known
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.expressions.normal_form import limit_size
from inbounds.query.expressions.raw import Raw
from inbounds.query.grammar.rows import read_expression

if TYPE_CHECKING:
    from inbounds.query.tables.relation import Relation


class RowUnit(str):
    """What a contract writes for the unit where each row is a different person; no column is that, whatever its name.

    A question may call the unit of a subquery `row`, so being equal to the word does not do.
    """

    __slots__ = ()


ROW = RowUnit("row")
"""The unit of a table each of whose rows is a different person."""

MOST_LIMIT = 2**20
"""A unit may count for so many rows at most."""

EXPRESSIVE = "+-*/(|"
"""One of these characters is in the text of every expression but CASE."""


@dataclass(frozen=True, eq=False)
class Parent:
    """The table whose rows those of another belong to, and the columns that tell which."""

    table: Table
    on: tuple[tuple[str, str], ...]
    """The columns of the child, and those of the parent that they refer to."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table, as the contract describes it."""

    name: str
    unit: str
    """The column that tells whose rows they are, or `ROW`."""
    limit: int
    """How many rows of a unit count in full."""
    columns: Mapping[str, Column]
    units: int | None = None
    """How many units there are, if that is public."""
    known: Known = field(default_factory=Known)
    """What else is public of the numbers of rows."""
    relation: Relation | None = None
    """What the table is made of, if it is not one of the contract's."""
    is_main: bool = True
    """Whether it is the table of [dataset], if it is one of the contract's."""
    identifiers: Mapping[str, Identifier] = field(default_factory=dict)
    """The columns that rows are only matched by."""
    key: tuple[str, ...] = ()
    """The columns that tell its rows apart, if the contract says so."""
    parent: Parent | None = None
    """The table whose units its rows belong to, if it has no unit of its own."""
    whole: frozenset[str] = frozenset()
    """The identifiers, and the unit, that are whole numbers, as the contract says: what files hold tells of rows."""
    said_today: date | None = None
    """Which day is today, if the contract says so."""
    _derived: dict[Node, Derived] = field(default_factory=dict, init=False, repr=False)
    """The columns made of columns that were asked about."""

    @property
    def today(self) -> date | None:
        """Which day is today, None if that is not known."""
        return self.said_today if self.relation is None else self.relation.parts[0].today

    @property
    def is_stored(self) -> bool:
        """Whether a database has it as it is, with a column that tells whose rows they are if there are others."""
        return self.relation is None and self.parent is None

    @property
    def depth(self) -> int:
        """How many tables lie between its rows and those that name their unit."""
        return 0 if self.parent is None else 1 + self.parent.table.depth

    def domain(self, name: str) -> Domain:
        """Return what the values of a column refer to."""
        if self.parent is not None and name in (on := dict(self.parent.on)):
            return self.parent.table.domain(on[name])
        if self.relation is None and name == self.unit and self.parent is None:
            return UNIT
        if name in self.identifiers:
            return self.identifiers[name].domain
        if name == self.owner:  # which is no column of theirs, if rows belong to others
            return UNIT
        # What is made has no domain of the contract, even if the question calls it like a table that has one.
        return (self.name, name) if self.relation is None else (" ", name)

    @property
    def ties(self) -> set[frozenset[Domain]]:
        """What two rows must have in common to be of one unit: any of these sets of domains."""
        if self.relation is not None:
            return self.relation.ties
        ties = {frozenset({UNIT})}
        if self.key:
            ties.add(frozenset(map(self.domain, self.key)))
        if self.parent is not None:
            ties.add(frozenset(self.domain(name) for name, _ in self.parent.on))
        return ties

    @property
    def rows_are_units(self) -> bool:
        """Whether each row is a different person."""
        return isinstance(self.unit, RowUnit)

    @property
    def text(self) -> str:
        """What stands after FROM, and after WHERE if it is about rows that are looked for."""
        return self.write()

    def write(self, condition: Condition | None = None) -> str:
        """Return what stands after FROM, with a condition after WHERE."""
        if self.relation is None:
            source, tests = quote_name(self.name), list[str]()
        else:
            source, tests = self.relation.source, list(self.relation.tests)
        if condition is not None:
            tests = [*tests, *(f"({part})" for part in condition.conjunct_texts())] if tests else [str(condition)]
        return f"{source} WHERE {' AND '.join(tests)}" if tests else source

    @property
    def names(self) -> Mapping[str, Mapping[str, str]]:
        """For each table that is joined in it, as it is called: what its columns are called here."""
        return {} if self.relation is None else self.relation.names

    @property
    def matched(self) -> Mapping[str, str]:
        """The tables of a join that a row may have no match in, by what their units are called."""
        return {} if self.relation is None else self.relation.matched

    @property
    def stored(self) -> dict[str, Column]:
        """The columns that the database has: those that are not made of others."""
        return {name: column for name, column in self.columns.items() if not column.is_derived}

    def column(self, asked: object) -> Column:
        """Return a column that the contract describes, or one made of columns: an expression, or its text in SQL."""
        # An expression in Python, a node, a name, or a text: a text that is no name may be an expression.
        name = self.find_name(limit_size(asked.node) if isinstance(asked, Expression) else asked)
        if isinstance(name, str) and self._is_text(name):
            name = self.find_name(read_expression(name, self.names).node)
        if isinstance(name, Raw):
            if name.column not in self.identifiers and not (name.function == "PRESENT" and name.column in self.matched):
                return self.column(name.column)  # which is refused
            return RawKeys.of(name)
        if isinstance(name, Node):
            return self._derive(name)
        if name == self.owner and isinstance(name, str):
            unit = quote_name(name)
            raise InvalidQuestion(f"{unit} is the unit; it can only be counted, with COUNT(DISTINCT {unit})")
        if isinstance(name, str) and name in self.identifiers:
            raise InvalidQuestion(f"{quote_name(name)} cannot be asked about; {self.identifiers[name].remedy}")
        if not isinstance(name, str) or name not in self.columns:
            alike = [
                f"{quote_name(table)}.{quote_name(own)}"
                for table, names in self.names.items()
                for own, label in names.items()
                if own == name and (label in self.columns or label in self.identifiers)
            ]
            if alike:
                raise InvalidQuestion(f"{name} may be {' or '.join(alike)}; write one of them")
            whose = "the contract of " if self.relation is None else ""
            remedy = suggest(name, self.shown_names or ["none but the unit"], "it has", write=quote_name)
            raise InvalidQuestion(f"{whose}{self.name} has no column {shown(name)}; {remedy}")
        return self.columns[name]

    def find_name(self, asked: object) -> object:
        """Return the name of a column, if that is what is asked for: in a join, also one after that of its table."""
        node = asked.node if isinstance(asked, Expression) else asked
        name = node.name if isinstance(node, ColumnRef) else node
        if not isinstance(name, str) or name in self.columns:
            return name
        labels = (names[own] for table, names in self.names.items() for own in names if name == f"{table}.{own}")
        return next(labels, name)

    def is_of_one_unit(self, names: Sequence[str]) -> bool:
        """Return whether rows that are equal in some columns are always of one unit."""
        known = self.identifiers
        domains = {UNIT} if self.owner in names else {known[name].domain for name in names if name in known}
        return any(tie <= domains for tie in self.ties)

    @property
    def shown_names(self) -> list[str]:
        """What can be named in a question: columns that can be asked about, then identifiers and the unit."""
        return list(dict.fromkeys((*self.columns, *self.identifiers, *([] if self.owner is None else [self.owner]))))

    @property
    def owner(self) -> str | None:
        """The column that tells whose rows they are, None if the contract says that each row is another person."""
        if self.relation is not None:
            return self.relation.unit
        return None if self.rows_are_units else self.unit

    def _derive(self, formula: Node) -> Column:
        if formula.name in self.columns:
            raise InvalidQuestion(
                f'the contract of {self.name} has a column called {formula}; write "{formula}" for that one'
            )
        if formula not in self._derived:
            self._derived[formula] = derive(formula, self.column)
        return self._derived[formula]

    def _is_text(self, name: str) -> bool:
        """Return whether something is no name of a column, and may be the text of an expression."""
        known = name in self.columns or name in self.identifiers or name in (self.unit, self.owner)
        expressive = any(sign in name for sign in EXPRESSIVE) or name.lstrip().upper().startswith("CASE ")
        return not known and not name.isidentifier() and expressive

    def numbers(self, name: object) -> Numbers:
        """Return a column that holds numbers or days, and not always the same."""
        column = self.column(name)
        if isinstance(column, Keys):
            raise InvalidQuestion(f"{column.name} {_remedy(column)}")
        if column.steps < 1:
            only = as_value(column, column.low)
            raise InvalidQuestion(f"{column.name} is always {only}; ask for another column")
        return column

    def addends(self, name: object) -> Numbers:
        """Return a column that holds numbers, which can be added up."""
        column = self.numbers(name)
        if not column.kind.adds_up:
            raise InvalidQuestion(
                f"{column.name} holds {column.kind.plural}, which have no sum; ask for AVG or MEDIAN, or sum a "
                "difference, such as discharged - admitted"
            )
        return column


def _remedy(column: Keys) -> str:
    """Say what can be asked of a categorical column instead."""
    name = column.node
    if column.kind == TRUTH_KEY:
        return f"is true or false, and this needs a column with bounds; ask for PROPORTION({name})"
    if column.kind == WHOLE_KEY:
        return (
            f"is categorical, and this needs a column with bounds; ask for COUNT(*) and GROUP BY {name}, or give it "
            "bounds beside its keys in the contract"
        )
    return f"is categorical, and this needs a column with bounds; ask for COUNT(*) and GROUP BY {name}"
