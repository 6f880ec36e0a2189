"""What an analyst owns already: answers whose sums and parts answer a new question, for nothing.

A table that was released together adds up, so a coarser grouping of it is a sum of its rows, and a question about some
of its keys is a part of it.  Neither looks at the data again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from inbounds.query.answer import unfinished_table
from inbounds.query.answer.answer import Answer
from inbounds.query.columns.column import Keys
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.condition import Compare, Condition, In
from inbounds.query.question.question import Question

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a kept table is an answer to."""

    contract: str
    measure: str
    conditions: tuple[str, ...]
    columns: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, contract: str, question: Question) -> Asked:
        """Describe a question that is answered by a table that adds up."""
        return cls(
            sha256(contract.encode()).hexdigest() + _made_of(question),
            str(question.measure),
            tuple(str(one) for one in _parts(question.condition)),
            tuple(str(group.column.name) for group in question.groups),
            tuple(map(str, question.groups)),
        )

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)

    @classmethod
    def load(cls, kept: Mapping[str, Any]) -> Asked:
        """Read what `data` gave."""
        conditions, columns, groups = (tuple(kept[name]) for name in ("conditions", "columns", "groups"))
        return cls(kept["contract"], kept["measure"], conditions, columns, groups)


@dataclass(frozen=True)
class Derived:
    """Rows of an answer that follow from one that is owned."""

    request_id: str
    """Of the answer that is owned."""
    rows: tuple[tuple[Any, ...], ...]
    noise: tuple[tuple[float | None, ...], ...]
    intervals: tuple[tuple[tuple[Any, Any] | None, ...], ...]
    confidence: float
    note: str | None
    """Which rows are not in it, though they are in an answer to the question by itself."""


def derived(contract: str, question: Question, kept: Iterable[tuple[str, str]]) -> Derived | None:
    """Return the answer to a question that follows from the last of some kept texts; None if it follows from none."""
    if not question.measure.adds_up:  # units do not: each counts by the groups that it is in
        return None
    wanted = Asked.of(contract, question)
    for request_id, text in reversed(list(kept)):
        if '"asked"' not in text or unfinished_table.load(text) is not None:  # most add up to nothing, and are not read
            continue
        owned = Answer.load(text, Fraction(0), request_id)
        if owned.asked is not None and (found := _from(wanted, question, owned, owned.asked)) is not None:
            return found
    return None


def _from(wanted: Asked, question: Question, owned: Answer, said: Mapping[str, Any]) -> Derived | None:
    asked = Asked.load(said)
    if (asked.contract, asked.measure) != (wanted.contract, wanted.measure):
        return None
    extra = [one for one in _parts(question.condition) if str(one) not in asked.conditions]
    if not set(asked.conditions) <= set(wanted.conditions) or not all(_is_of_keys(question, one) for one in extra):
        return None
    if extra and not question.table.rows_are_units:  # a unit's rows would be weighed otherwise
        return None
    names = [str(group.column.name) for group in question.groups]
    finer = dict(zip(asked.groups, asked.columns, strict=True))
    if any(str(group) not in finer and not isinstance(group.column, Keys) for group in question.groups):
        return None
    return _summed(question, owned, asked.columns, extra, names)


def _summed(
    question: Question, owned: Answer, columns: Sequence[str], extra: Sequence[Condition], names: Sequence[str]
) -> Derived | None:
    """Add up rows of the coarsest sets that tell apart what is needed: for a set that is owned these are its own."""
    sets: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(owned.rows):
        told = tuple(name for name, key in zip(columns, row, strict=False) if key is not None)
        sets.setdefault(told, []).append(place)
    conditions = {one.this.name for one in extra if isinstance(one, Compare | In)}
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for asked in question.groupings:
        needed = conditions | {names[place] for place in asked}
        reachable = [told for told in sets if needed <= _reached(question, told)]
        if not reachable:
            return None
        for place in sets[min(reachable, key=lambda one: len(sets[one]))]:
            seen = _seen(question, columns, owned.rows[place])
            if all(_holds(one, seen) for one in extra):
                key = tuple(seen[name] if i in asked else None for i, name in enumerate(names))
                by_key.setdefault(key, []).append(place)
    told_of = conditions | _reached(question, names)
    return _rows(question, owned, by_key, _left_out([name for name in columns if name not in told_of]))


def _rows(question: Question, owned: Answer, by_key: Mapping[tuple[Any, ...], list[int]], note: str | None) -> Derived:
    labels = question.labels
    rows, noise, intervals = [], [], []
    for codes in question.rows:
        key = tuple(None if code is None else labels[i][code] for i, code in enumerate(codes))
        places = by_key.get(key, [])
        rows.append((*key, _sum([owned.rows[place][-1] for place in places])))
        one = len(places) == 1
        noise.append((owned.noise[places[0]][0] if one else None,))
        intervals.append((owned.intervals[places[0]][0] if one and owned.intervals else None,))
    return Derived(owned.request_id, tuple(rows), tuple(noise), tuple(intervals), owned.confidence, note)


def _left_out(added_up: Sequence[str]) -> str | None:
    """Say that rows without a key of a column that is added up are in no cell of the table."""
    if not added_up:
        return None
    return f"Summed from answers by {', '.join(added_up)}: rows outside the categories there are not included."


def _sum(values: Sequence[int | float]) -> int | float:
    """Return a sum of values as they are written, so that tenths add up to tenths."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return float(sum(Fraction(str(value)) for value in values))


def _reached(question: Question, told: Sequence[str]) -> set[str]:
    """Return the columns whose keys a row tells: those it is told apart by, and what these lie in."""
    columns = question.table.columns
    return {*told, *(name for one in told if one in columns for name, _ in ancestors(columns, columns[one]))}


def _seen(question: Question, columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """Return a row's key in every column that it tells."""
    found = {name: key for name, key in zip(columns, row, strict=False) if key is not None}
    table = question.table.columns
    for name in [name for name in found if name in table]:  # a column made of columns lies in no other
        column = table[name]
        for above, codes in ancestors(table, column):
            parent = table[above]
            assert isinstance(column, Keys)
            assert isinstance(parent, Keys)
            found[above] = parent.keys[codes[column.code(found[name])]]
    return found


def _made_of(question: Question) -> str:
    """Tell the tables of a contract apart, and what is made of them."""
    table = question.table
    return "" if table.relation is None and table.is_main else f" {table.text}"


def _parts(condition: Condition | None) -> tuple[Condition, ...]:
    """Return the conditions that must all hold."""
    return () if condition is None else condition.conjuncts()


def _is_of_keys(question: Question, condition: Condition) -> bool:
    """Return whether a condition is about the key of one column."""
    if not isinstance(condition, Compare | In):
        return False
    return isinstance(question.table.columns.get(condition.this.name), Keys)


def _holds(condition: Condition, row: Row) -> bool:
    assert isinstance(condition, Compare | In)
    return (row[condition.this.name] in condition.constants) == (condition.operator == "=")
