"""Conditions on released values, for HAVING and CASE: true, false, or None where something needed is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from inbounds.query.answer.released.expression import Exact, Kind, Released, ReleasedRow, inner
from inbounds.query.columns.column import Comparison
from inbounds.query.columns.condition import literal


@dataclass(frozen=True)
class Compared(Released):
    """Two values compared."""

    left: Released
    operator: Comparison
    right: Released
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether it is true."""
        return compared(self.left.evaluate(row), self.operator, self.right.evaluate(row))

    def __str__(self) -> str:
        return f"{inner(self.left)} {self.operator} {inner(self.right)}"


@dataclass(frozen=True)
class Between(Released):
    """A value from one to another, both included."""

    this: Released
    low: Released
    high: Released
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether it is true."""
        this = self.this.evaluate(row)
        return _all([compared(this, ">=", self.low.evaluate(row)), compared(this, "<=", self.high.evaluate(row))])

    def __str__(self) -> str:
        return f"{inner(self.this)} BETWEEN {inner(self.low)} AND {inner(self.high)}"


@dataclass(frozen=True)
class OneOf(Released):
    """A value that is one of some constants."""

    this: Released
    values: tuple[Any, ...]
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether it is true."""
        found = self.this.evaluate(row)
        return None if found is None else found in self.values

    def __str__(self) -> str:
        return f"{inner(self.this)} IN ({', '.join(map(literal, self.values))})"


@dataclass(frozen=True)
class IsMissing(Released):
    """A value that is missing."""

    this: Released
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether it is missing."""
        return self.this.evaluate(row) is None

    def __str__(self) -> str:
        return f"{inner(self.this)} IS NULL"


@dataclass(frozen=True)
class Joined(Released):
    """All or any of some conditions."""

    word: Literal["AND", "OR"]
    conditions: tuple[Released, ...]
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether all are true, or any of them; None where that is not known."""
        found = [one.evaluate(row) for one in self.conditions]
        if self.word == "AND":
            return _all(found)
        return True if True in found else None if None in found else False

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({one})" for one in self.conditions)


@dataclass(frozen=True)
class Opposite(Released):
    """The opposite of a condition."""

    this: Released
    kind: Kind = "truth"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return whether the condition is false."""
        found = self.this.evaluate(row)
        return None if found is None else not found

    def __str__(self) -> str:
        return f"NOT ({self.this})"


@dataclass(frozen=True)
class Chosen(Released):
    """CASE: the value of the first condition that is true.  It has no interval: the truth may be another case."""

    cases: tuple[tuple[Released, Released], ...]
    default: Released

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """What its values are, which are alike."""
        values = [*(value for _, value in self.cases), self.default]
        return next((one.kind for one in values if one.kind != "nothing"), "nothing")

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the value of the first condition that is true."""
        found = next((value for condition, value in self.cases if condition.evaluate(row) is True), self.default)
        return found.evaluate(row)

    def __str__(self) -> str:
        cases = " ".join(f"WHEN {condition} THEN {value}" for condition, value in self.cases)
        return f"CASE {cases} ELSE {self.default} END"


def both(first: Released | None, second: Released) -> Released:
    """Return two conditions as one; those that are made of several are taken apart."""
    return second if first is None else Joined("AND", (*_all_of(first), *_all_of(second)))


def _all_of(one: Released) -> tuple[Released, ...]:
    return one.conditions if isinstance(one, Joined) and one.word == "AND" else (one,)


def compared(left: Any, operator: Comparison, right: Any) -> bool | None:
    """Return whether a comparison of two values that are alike is true; None if one of them is missing."""
    if left is None or right is None:
        return None
    if operator in ("=", "<>"):
        return bool((left == right) == (operator == "="))
    if operator in ("<", "<="):
        return bool(left < right or (operator == "<=" and left == right))
    return bool(left > right or (operator == ">=" and left == right))


def _all(found: list[Exact]) -> bool | None:
    return False if False in found else None if None in found else True
