"""What the custodian says of a table: whose privacy, how many rows a unit may count for, which columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inbounds.bounds import Bounds
from inbounds.errors import InboundsError, InvalidContract, InvalidParameter, InvalidQuestion, LatticeTooFine
from inbounds.exact.rational import shown
from inbounds.ledger.values.names import check_name
from inbounds.query.columns.column import Column, Keys, Numbers, as_value, refuse_column
from inbounds.query.columns.derived_column import Derived, derive
from inbounds.query.columns.kind import TRUTH_KEY
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.count_facts import refuse_contradictions
from inbounds.query.contract.csv_format import FORM_KEYS, refuse_forms
from inbounds.query.contract.hierarchy import with_parents
from inbounds.query.contract.public_counts import Known
from inbounds.query.contract.public_csv import read_public
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.expressions.normal_form import limit_size
from inbounds.query.grammar.rows import read_expression

if TYPE_CHECKING:
    from inbounds.query.tables.relation import Relation

ROW = "row"
"""The unit of a table each of whose rows is a different person."""

MOST_KEYS = 1000
"""A column may have so many keys."""

MOST_LIMIT = 2**20
"""A unit may count for so many rows at most."""

EXPRESSIVE = "+-*/("
"""One of these characters is in the text of every expression but CASE."""

FindByName = Callable[[str], Column]

DATASET_KEYS = ("name", "source", "table", *FORM_KEYS, "unit", "max_rows_per_unit", "units", "tick")
COLUMN_KEYS = ("bounds", "keys", "from", "weekdays", "closed", "date_format", "within", "map")


@dataclass(frozen=True, eq=False)
class Table:
    """A table, as the contract describes it."""

    name: str
    unit: str
    """The column that tells whose rows they are, or "row"."""
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
    _derived: dict[Node, Derived] = field(default_factory=dict, init=False, repr=False)
    """The columns made of columns that were asked about."""

    @classmethod
    def of(cls, contract: Contract) -> Table:
        """Read the table that a contract describes."""
        contract.refuse_unknown(("dataset", "columns", "tables", "budget", "known"))
        contract.refuse_unknown(DATASET_KEYS, "dataset")
        unit = contract.text_of("dataset", "unit")
        columns = columns_of(contract)
        if unit != ROW and unit in columns:
            raise contract.refuse(f"the unit {unit!r} cannot be queried as a column; leave it out", "columns", unit)
        units = contract.whole_of("dataset", "units") if contract.has("dataset", "units") else None
        known = Known.of(contract, columns, rows_are_units=unit == ROW)
        refuse_contradictions(contract, columns, known, units if unit == ROW else None)
        return cls(_name(contract), unit, limit_of(contract, unit), columns, units, known)

    @property
    def rows_are_units(self) -> bool:
        """Whether each row is a different person."""
        return self.unit == ROW

    @property
    def text(self) -> str:
        """What stands after FROM."""
        return quote_name(self.name) if self.relation is None else str(self.relation)

    @property
    def stored(self) -> dict[str, Column]:
        """The columns that the database has: those that are not made of others."""
        return {name: column for name, column in self.columns.items() if not column.is_derived}

    def column(self, asked: object) -> Column:
        """Return a column that the contract describes, or one made of columns: an expression, or its text in SQL."""
        # An expression in Python, a node, a name, or a text: a text that is no name may be an expression.
        name = _name_or_node(limit_size(asked.node) if isinstance(asked, Expression) else asked)
        if isinstance(name, str) and self._is_text(name):
            name = _name_or_node(read_expression(name).node)
        if isinstance(name, Node):
            return self._derive(name)
        if name == self.owner and isinstance(name, str):
            unit = quote_name(name)
            raise InvalidQuestion(f"{unit} is the unit; it can only be counted, with COUNT(DISTINCT {unit})")
        if not isinstance(name, str) or name not in self.columns:
            alike = [column for column in self.columns if self.relation is not None and column.endswith(f".{name}")]
            if alike:
                raise InvalidQuestion(f"{name} may be {' or '.join(alike)}; write one of them")
            known = ", ".join(list(self.columns)[:10]) or "none but the unit"
            whose = "the contract of " if self.relation is None else ""
            raise InvalidQuestion(f"{whose}{self.name} has no column {shown(name)}; it has {known}")
        return self.columns[name]

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
        known = name in self.columns or name in (self.unit, self.owner)
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
    return f"is categorical, and this needs a column with bounds; ask for COUNT(*) and GROUP BY {name}"


def _name(contract: Contract) -> str:
    """Return a name that the ledger can keep."""
    try:
        return check_name(contract.text_of("dataset", "name"), "name")
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "dataset", "name") from None


def _name_or_node(asked: object) -> object:
    """Return the name of a column, if that is what a node is."""
    return asked.name if isinstance(asked, ColumnRef) else asked


def columns_of(contract: Contract) -> dict[str, Column]:
    """Read the columns that a contract describes."""
    columns = with_parents(contract, _columns(contract))
    if not columns:
        raise contract.refuse("[columns] is empty; describe at least one column", "columns")
    refuse_forms(contract, columns)
    return columns


def limit_of(contract: Contract, unit: str) -> int:
    """Read how many rows of a unit count in full."""
    is_given = contract.has("dataset", "max_rows_per_unit")
    if is_given and contract.value("dataset", "max_rows_per_unit") == "auto":
        raise contract.refuse(
            "max_rows_per_unit is chosen by the custodian, not from the data; write a number that would suit any table "
            "of this kind, such as 4: `inbounds check` then shows what it cuts, and what other limits would",
            "dataset",
            "max_rows_per_unit",
        )
    if unit == ROW:
        if is_given and contract.whole_of("dataset", "max_rows_per_unit") != 1:
            raise contract.refuse(
                'max_rows_per_unit must be 1 if unit = "row"; leave it out, or name the column that tells whose rows '
                "they are",
                "dataset",
                "max_rows_per_unit",
            )
        return 1
    limit = contract.whole_of("dataset", "max_rows_per_unit")
    if limit > MOST_LIMIT:
        raise contract.refuse(
            f"max_rows_per_unit must be at most {MOST_LIMIT}, got {shown(limit)}; let fewer count",
            "dataset",
            "max_rows_per_unit",
        )
    return limit


def _columns(contract: Contract) -> dict[str, Column]:
    """Return the columns of a contract; those made of others once these are known."""
    columns: dict[str, Column | None] = {}  # None while a column is being read: then its `from` comes back to it

    def find(name: str) -> Column:
        """Return a column that a `from` names, which may be made of others."""
        if not contract.has("columns", name):
            known = ", ".join(list(contract.table("columns"))[:10])
            raise InvalidQuestion(f"the contract has no column {shown(name)}; it has {known}")
        if name in columns and columns[name] is None:
            raise InvalidQuestion(f"{name} is derived from itself; derive it from other columns")
        if columns.get(name) is None:
            columns[name] = None
            columns[name] = _column(contract, name, find)
        column = columns[name]
        assert column is not None
        return column

    return {name: find(name) for name in contract.table("columns")}


def _derived_column(contract: Contract, name: str, find: FindByName) -> Column:
    """Return a column that a contract makes of others."""
    path = ("columns", name, "from")
    text = contract.text_of(*path)
    others = [key for key in contract.table(*path[:2]) if key != "from"]
    if others:
        raise contract.refuse(f"column {name!r} is derived, so its {others[0]} follows; leave it out", *path)

    def resolve(node: Node) -> Column:
        return find(node.name) if isinstance(node, ColumnRef) else derive(node, resolve)

    try:
        return derive(read_expression(text).node, resolve, name)
    except InvalidContract:
        raise
    except InboundsError as problem:
        raise contract.refuse(f"from of {name!r}: {problem}", *path) from None


def _column(contract: Contract, name: str, find: FindByName) -> Column:
    path = ("columns", name)
    contract.refuse_unknown(COLUMN_KEYS, *path)
    table = contract.table(*path)
    if "from" in table:
        return _derived_column(contract, name, find)
    if ("bounds" in table) == ("keys" in table):
        both = "both" if "keys" in table else "neither"
        raise contract.refuse(
            f"column {name!r} needs either bounds or keys, got {both}; give one of the two, or make it of other "
            'columns, such as from = "MONTH(day)"',
            *path,
        )
    if "keys" in table:
        return Keys(name, _keys(contract, name, table["keys"]))
    numbers = Numbers(name, _bounds(contract, name, table))
    try:
        problem = refuse_column(numbers)
    except LatticeTooFine as too_fine:
        problem = str(too_fine)
    if problem is not None:
        raise contract.refuse(problem, *path, "bounds")
    return numbers


def _keys(contract: Contract, name: str, keys: Any) -> tuple[Any, ...]:
    path = ("columns", name, "keys")
    keys = _keys_in_file(contract, name, keys, *path) if isinstance(keys, str) else keys
    if not isinstance(keys, list) or not 1 <= len(keys) <= MOST_KEYS:
        got = f"{len(keys)} of them" if isinstance(keys, list) else shown(keys)
        raise contract.refuse(
            f"keys must be a list of 1 to {MOST_KEYS} texts, whole numbers or truth values, got {got}; "
            "list them in [ ]",
            *path,
        )
    kinds = {type(key) for key in keys}
    if len(kinds) > 1 or kinds & {str, int, bool} != kinds:
        raise contract.refuse(
            f"keys must be all texts, all whole numbers, or true and false, got {shown(keys)}; write them alike", *path
        )
    if len(set(keys)) < len(keys):
        raise contract.refuse(f"keys must differ from each other, got {shown(keys)}; list each once", *path)
    if any(isinstance(key, int) and abs(key) >= 2**63 for key in keys):
        raise contract.refuse(
            f"keys must be below 2^63, got {shown(keys)}; leave out what the table cannot hold", *path
        )
    if any(isinstance(key, str) and "\0" in key for key in keys):
        raise contract.refuse(
            f"keys must not hold a NUL character, got {shown(keys)}; leave out what the table cannot hold", *path
        )
    return tuple(keys)


def _keys_in_file(contract: Contract, name: str, path: str, *where: str) -> list[str]:
    """Return the keys that a public csv file lists, in the column of the same name or in its only one."""
    header, rows = read_public(contract, path, *where, instead="list the keys in [ ], or ")
    if name not in header and len(header) > 1:
        raise contract.refuse(
            f"{shown(path)} must have a column {name!r}, or only one; name it so in its header", *where
        )
    at = header.index(name) if name in header else 0
    return [row[at] for row in rows]


def _bounds(contract: Contract, name: str, table: Mapping[str, Any]) -> Bounds:
    path = ("columns", name)
    text = contract.text_of(*path, "bounds")
    try:
        bounds = Bounds.parse(text)
        if "weekdays" not in table and "closed" not in table:
            return bounds
        if not bounds.is_dates or len(bounds) != 1 or not bounds.bounded:
            raise contract.refuse(
                f"weekdays and closed need bounds that are dates, got {bounds.brief()}; leave them out, or write "
                "bounds like '[2026-01-01, 2026-12-31]'",
                *path,
            )
        closed = table.get("closed", [])
        if not isinstance(closed, list):
            raise contract.refuse(
                f"closed must be a list of days, and pairs of a first and a last day, got {shown(closed)}; "
                "put it in [ ]",
                *path,
                "closed",
            )
        closed = [tuple(day) if isinstance(day, list) else day for day in closed]
        return Bounds.dates(bounds.low, bounds.high, weekdays=table.get("weekdays"), closed=closed)  # type: ignore[arg-type]
    except InvalidContract:
        raise
    except InboundsError as problem:
        raise contract.refuse(f"bounds of {name!r}: {problem}", *path, "bounds") from None
