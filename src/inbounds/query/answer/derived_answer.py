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

from inbounds.errors import InvalidQuestion
from inbounds.query.answer import unfinished_table
from inbounds.query.answer.kept_answer import read_kept
from inbounds.query.columns.column import Keys
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.condition import Compare, Condition, In, conjuncts_of
from inbounds.query.grammar.rows import to_condition
from inbounds.query.identity.conditions import arrange
from inbounds.query.question.question import Question
from inbounds.results.answer import Answer

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StoredQuestion:
    """What a kept table is an answer to."""

    contract: str
    measure: str
    conditions: tuple[str, ...]
    columns: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, contract: str, question: Question) -> StoredQuestion:
        """Describe a question that is answered by a table that adds up."""
        return cls(
            sha256(contract.encode()).hexdigest() + _table_text(question),
            str(question.measure),
            tuple(str(condition) for condition in conjuncts_of(question.condition)),
            tuple(str(group.column.name) for group in question.groups),
            tuple(map(str, question.groups)),
        )

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> StoredQuestion:
        """Read what `data` gave."""
        conditions, columns, groups = (tuple(data[name]) for name in ("conditions", "columns", "groups"))
        return cls(data["contract"], data["measure"], conditions, columns, groups)


@dataclass(frozen=True)
class DerivedTable:
    """Rows of an answer that follow from one that is owned."""

    request_id: str
    """Of the answer that is owned."""
    rows: tuple[tuple[Any, ...], ...]
    noise: tuple[tuple[float | None, ...], ...]
    intervals: tuple[tuple[tuple[Any, Any] | None, ...], ...]
    confidence: float
    simultaneous: bool
    """Whether all intervals of the owned answer hold at once."""
    note: str | None
    """Which rows are not in it, though they are in an answer to the question by itself."""


def derive_table(contract: str, question: Question, texts: Iterable[tuple[str, str]]) -> DerivedTable | None:
    """Return the answer to a question that follows from the last of some kept texts; None if it follows from none."""
    if not question.measure.adds_up:  # units do not: each counts by the groups that it is in
        return None
    wanted = StoredQuestion.of(contract, question)
    for request_id, text in reversed(list(texts)):
        if '"asked"' not in text or unfinished_table.load(text) is not None:  # most add up to nothing, and are not read
            continue
        owned = read_kept(text, Fraction(0), request_id)
        if owned.asked and (table := _derive_from(owned, StoredQuestion.load(owned.asked), question, wanted)):
            return table
    return None


def _derive_from(
    owned: Answer, asked: StoredQuestion, question: Question, wanted: StoredQuestion
) -> DerivedTable | None:
    """Return what follows from an owned answer: if it is about the same rows, or about more that its keys tell."""
    if (asked.contract, asked.measure) != (wanted.contract, wanted.measure):
        return None
    wanted_by_form = {_form(condition): condition for condition in conjuncts_of(question.condition)}
    asked_forms = {_form_of_text(text, wanted, question) for text in asked.conditions}
    extra = [condition for form, condition in wanted_by_form.items() if form not in asked_forms]
    if not asked_forms <= wanted_by_form.keys():
        return None
    if not all(_is_of_keys(question, condition) for condition in extra):
        return None
    if extra and not question.table.rows_are_units:  # a unit's rows would be weighed otherwise
        return None
    names = [str(group.column.name) for group in question.groups]
    if any(str(group) not in asked.groups and group.column.has_order for group in question.groups):
        return None
    return _sum_rows(question, owned, asked.columns, extra, names)


def _form(condition: Condition) -> str:
    """Return the text that a condition has in all its spellings."""
    return str(arrange(condition))


def _form_of_text(text: str, wanted: StoredQuestion, question: Question) -> str:
    """Return the same of a condition that was kept as it was written."""
    if text in wanted.conditions:
        return _form(conjuncts_of(question.condition)[wanted.conditions.index(text)])
    try:
        return _form(to_condition(text, question.table))
    except InvalidQuestion:  # what was kept can be of a kind that is in no other question
        return text


def _sum_rows(
    question: Question, owned: Answer, columns: Sequence[str], extra: Sequence[Condition], names: Sequence[str]
) -> DerivedTable | None:
    """Add up rows of the coarsest sets that tell apart what is needed: for a set that is owned these are its own."""
    # The rows of the owned table by the columns that they have keys in; then, for each grouping that is asked for, the
    # rows of the smallest such set that has a key for everything needed, under the keys that they add up to.
    sets: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(owned.rows):
        keyed = tuple(name for name, key in zip(columns, row, strict=False) if key is not None)
        sets.setdefault(keyed, []).append(place)
    conditions = {condition.this.name for condition in extra if isinstance(condition, Compare | In)}
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for grouping in question.groupings:
        needed = conditions | {names[place] for place in grouping}
        reachable = [keyed for keyed in sets if needed <= _reachable_columns(question, keyed)]
        if not reachable:
            return None
        for place in sets[min(reachable, key=lambda keyed: len(sets[keyed]))]:
            keys = _read_keys(question, columns, owned.rows[place])
            if all(_holds(condition, keys) for condition in extra):
                key = tuple(keys[name] if i in grouping else None for i, name in enumerate(names))
                by_key.setdefault(key, []).append(place)
    asked_about = conditions | _reachable_columns(question, names)
    return _build_table(question, owned, by_key, _write_note([name for name in columns if name not in asked_about]))


def _build_table(
    question: Question, owned: Answer, by_key: Mapping[tuple[Any, ...], list[int]], note: str | None
) -> DerivedTable:
    rows, noise, intervals = [], [], []
    for key in question.row_keys:
        places = by_key.get(key, [])
        rows.append((*key, _sum([owned.rows[place][-1] for place in places])))
        is_single = len(places) == 1
        noise.append((owned.noise[places[0]][0] if is_single else None,))
        intervals.append((owned.intervals[places[0]][0] if is_single and owned.intervals else None,))
    return DerivedTable(
        owned.request_id, tuple(rows), tuple(noise), tuple(intervals), owned.confidence, owned.simultaneous, note
    )


def _write_note(added_up: Sequence[str]) -> str | None:
    """Say that rows without a key of a column that is added up are in no cell of the table."""
    if not added_up:
        return None
    return f"Summed from answers by {', '.join(added_up)}: rows outside the categories there are not included."


def _sum(values: Sequence[int | float]) -> int | float:
    """Return a sum of values as they are written, so that tenths add up to tenths."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return float(sum(Fraction(str(value)) for value in values))


def _reachable_columns(question: Question, names: Sequence[str]) -> set[str]:
    """Return the columns whose keys a row tells: those it is told apart by, and what these lie in."""
    columns = question.table.columns
    return {*names, *(name for below in names if below in columns for name, _ in ancestors(columns, columns[below]))}


def _read_keys(question: Question, columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """Return a row's key in every column that it tells."""
    keys = {name: key for name, key in zip(columns, row, strict=False) if key is not None}
    table = question.table.columns
    for name in [name for name in keys if name in table]:  # a column made of columns lies in no other
        column = table[name]
        for above, codes in ancestors(table, column):
            parent = table[above]
            assert isinstance(column, Keys)
            assert isinstance(parent, Keys)
            keys[above] = parent.keys[codes[column.code(keys[name])]]
    return keys


def _table_text(question: Question) -> str:
    """Tell the tables of a contract apart, and what is made of them."""
    table = question.table
    return "" if table.relation is None and table.is_main else f" {table.text}"


def _is_of_keys(question: Question, condition: Condition) -> bool:
    """Return whether a condition is about the key of one column."""
    if not isinstance(condition, Compare | In):
        return False
    return isinstance(question.table.columns.get(condition.this.name), Keys)


def _holds(condition: Condition, row: Row) -> bool:
    assert isinstance(condition, Compare | In)
    return (row[condition.this.name] in condition.constants) == (condition.operator == "=")
