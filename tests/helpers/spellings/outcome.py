"""What comes of asking a question: an answer that is true, one that is not, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.spellings.hospital import hospital
from tests.helpers.spellings.spelling import Rows, Same, Spelling
from tests.helpers.spellings.truths import Between

EPSILON = 1000
"""So large that counts are exact, and other numbers nearly."""
RELATIVE = 1e-3
"""The part of a number by which noise may move it at that epsilon."""


@dataclass(frozen=True)
class Outcome:
    """What came of a question."""

    name: str
    kind: str
    """`answered`, `wrong`, `refused`, or `failed` if it was neither."""
    message: str = ""


TRIES = 6
"""How often an answer may miss the truth before it is wrong: noise moves it too far once in hundreds of runs, a wrong
meaning in each."""


def outcome_of(dataset: Dataset, asked: Spelling) -> Outcome:
    """Ask a question, and compare the answer with the truth; again with other noise, if it is not true."""
    outcomes = (_ask_once(dataset, asked) for _ in range(TRIES))
    return next((one for one in outcomes if one.kind != "wrong"), None) or _ask_once(dataset, asked)


def _ask_once(dataset: Dataset, asked: Spelling) -> Outcome:
    try:
        answer = dataset.sql(asked.sql).ask(EPSILON, analyst="ana")
    except InvalidQuestion as problem:
        return Outcome(asked.name, "refused", str(problem).splitlines()[0])
    except Exception as problem:  # noqa: BLE001  whatever it is, the other questions are asked as well
        return Outcome(asked.name, "failed", f"{type(problem).__name__}: {problem}".splitlines()[0])
    wrong = difference(answer.rows, asked.truth(hospital()), asked) or misnamed(answer.columns, asked)
    return Outcome(asked.name, "answered" if wrong is None else "wrong", wrong or "")


def misnamed(columns: Sequence[str], asked: Spelling) -> str | None:
    """Return what columns are called, if the question says otherwise: tools look for the names that they gave."""
    if asked.plain is not Same.SQL:
        return None
    tree = sqlglot.parse_one(asked.sql, dialect="duckdb")
    selected = tree.selects if isinstance(tree, exp.Select) else []
    if not selected or not all(isinstance(node, exp.Alias | exp.Column) and node.alias_or_name for node in selected):
        return None
    names = [node.alias_or_name for node in selected]
    # A name that several tables of a join have may be shown with its table.
    if "*" in names or [name.lower().split(".")[-1] for name in columns] == [name.lower() for name in names]:
        return None
    return f"columns {', '.join(columns)} instead of {', '.join(names)}"


def difference(found: Rows, true: Rows, asked: Spelling) -> str | None:
    """Return what is not true of the rows that were found; None if all of it is."""
    # A group without rows is counted as 0 here, and left out in SQL.
    if asked.ordered:
        found = [row for row in found if not is_empty(row) or any(same_row(row, one, asked.near) for one in true)]
        if len(found) != len(true):
            return f"{len(found)} rows instead of {len(true)}"
        pairs = zip(found, true, strict=True)
        return next((f"{tuple(a)} instead of {b}" for a, b in pairs if not same_row(a, b, asked.near)), None)
    missing = list(true)
    beyond = []
    for row in found:
        match = next((place for place, one in enumerate(missing) if same_row(row, one, asked.near)), None)
        if match is None:
            beyond.append(row)
        else:
            del missing[match]
    beyond, missing = ([row for row in rows if not is_empty(row)] for rows in (beyond, missing))
    return f"{tuple(beyond[0])} is not true" if beyond else f"{missing[0]} is missing" if missing else None


def is_empty(row: Sequence[Any]) -> bool:
    """Return whether nothing was counted for a group."""
    return type(row[-1]) is int and row[-1] == 0


def same_row(found: Sequence[Any], true: Sequence[Any], near: float) -> bool:
    """Return whether all values of a row are those that are true."""
    return len(found) == len(true) and all(same(a, b, near) for a, b in zip(found, true, strict=True))


def same(found: Any, true: Any, near: float) -> bool:
    """Return whether a value is the true one: keys and counts exactly, other numbers as nearly as the noise allows."""
    found = found.date() if isinstance(found, datetime) else found
    if isinstance(true, Between):
        return is_number(found) and true.low - near <= float(found) <= true.high + near
    if true is None or isinstance(true, bool | str | date):
        return type(found) is type(true) and found == true
    if not is_number(found):
        return False
    if isinstance(true, int) and not near:
        return bool(found == true)
    return abs(float(found) - true) <= RELATIVE * abs(true) + near + 1e-9


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and neither true nor false."""
    return isinstance(value, Real | Decimal | Fraction) and not isinstance(value, bool)
