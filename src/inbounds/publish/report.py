"""A report: titled tables of private answers, and what they were paid with.

It holds nothing but what was released, so whoever has it may do with it what they like.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from inbounds.bounds.notation import write_end
from inbounds.results.answer import Answer
from inbounds.results.answer_json import read_answer, write_answer

FORMAT = "inbounds report 1"

ChartKind = Literal["bars", "line", "none"]
"""The kinds of pictures that can be asked for; `none` for no picture."""

LONGEST_NAME = 63
"""No longer name is taken by every database."""

NAME = rf"[a-z][a-z0-9_]{{0,{LONGEST_NAME - 1}}}"
"""What a report, or a table of one, can be called: every database takes it."""

EDITION = r"[A-Za-z0-9][A-Za-z0-9._-]{0,29}"
"""What an edition can be called."""


@dataclass(frozen=True)
class PublishedTable:
    """One question of a report, and its answer."""

    name: str
    """A name that every database takes: lower-case letters, digits and underscores."""
    title: str
    sql: str
    answer: Answer
    description: str | None = None
    chart: str | None = None
    """The kind of picture that was asked for; None to choose one by the answer."""

    @property
    def epsilon(self) -> Fraction:
        """What it cost."""
        return self.answer.epsilon

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Everything by columns: categories, numbers, their expected noise and the ends of their intervals."""
        return self.answer.by_column()

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "sql": self.sql,
            "chart": self.chart,
            "answer": write_answer(self.answer),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> PublishedTable:
        """Return the table that was written."""
        answer = replace(read_answer(data["answer"]), sql=data["sql"])
        return cls(data["name"], data["title"], data["sql"], answer, data["description"], data["chart"])


@dataclass(frozen=True)
class Report:
    """Tables that were released together, for everybody to read."""

    name: str
    title: str
    dataset: str
    unit: str
    """Whose privacy is protected: the unit of the contract."""
    tables: tuple[PublishedTable, ...]
    contract: str
    """The digest of the contract's terms, as the ledger has it."""
    ledger_head: str
    """The head of the ledger's chain after the last of these charges: whoever has the ledger can find them below it."""
    published: str
    """The day of publication, as YYYY-MM-DD."""
    description: str | None = None
    edition: str | None = None
    analyst: str | None = None
    """Who paid, as the ledger calls them."""
    practice: bool = False
    """Whether these are answers about made-up rows, which tell nothing about anybody."""

    @property
    def epsilon(self) -> Fraction:
        """What all of it cost: several tables may share the cost of one request."""
        paid = {table.answer.request_id: table.epsilon for table in self.tables}
        return sum(paid.values(), Fraction(0))

    @cached_property
    def digest(self) -> str:
        """What tells this report from every other: of all its numbers and words."""
        return digest_of(self._content())

    def table(self, name: str) -> PublishedTable:
        """Return the table of this name."""
        return next(table for table in self.tables if table.name == name)

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it, with its digest."""
        return self._content() | {"digest": self.digest}

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "edition": self.edition,
            "dataset": self.dataset,
            "unit": self.unit,
            "analyst": self.analyst,
            "published": self.published,
            "practice": self.practice,
            "epsilon": write_end(self.epsilon),
            "contract": self.contract,
            "ledger_head": self.ledger_head,
            "tables": [table.data() for table in self.tables],
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Report:
        """Return the report that was written; its digest says whether it is still the same."""
        return cls(
            name=data["name"],
            title=data["title"],
            dataset=data["dataset"],
            unit=data["unit"],
            tables=tuple(map(PublishedTable.read, data["tables"])),
            contract=data["contract"],
            ledger_head=data["ledger_head"],
            published=data["published"],
            description=data["description"],
            edition=data["edition"],
            analyst=data["analyst"],
            practice=data["practice"],
        )


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the digest of what a report says, whatever order and blanks a file gives it."""
    text = json.dumps(
        {name: value for name, value in content.items() if name != "digest"},
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()
