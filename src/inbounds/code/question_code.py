"""A question as code: in SQL, in Python, and as it stands in the file of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from inbounds.code.place import Place


@dataclass(frozen=True)
class WrittenQuestion:
    """A question to be written as code, with what it costs and how it is asked."""

    place: Place
    sql: str
    epsilon: str
    request_id: str | None = None
    """What its request is called, if the code is to ask under that id."""
    is_answered: bool = False
    """Whether it was paid for under that id: then the code pays nothing."""
    alone: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else it is asked with, by the names of Python."""

    @property
    def text(self) -> str:
        """The SQL, without a semicolon."""
        return self.sql.strip().rstrip(";").rstrip()

    def query(self, dataset: str, sql: str) -> str:
        """Return the query in Python, of what stands for the dataset and for the SQL."""
        return f"{dataset}.sql({sql}){'.alone()' if self.alone else ''}"

    def asking(self, epsilon: str) -> str:
        """Return the call that asks a query, of what stands for ε."""
        request = {} if self.request_id is None else {"request_id": self.request_id}
        return f"ask({_arguments(epsilon, {**self.place.asked_by, **request, **self.options})})"

    def answering(self, dataset: str, sql: str, epsilon: str) -> tuple[str, ...]:
        """Return the lines that give the answer: it is fetched if it was paid for, and asked for otherwise."""
        asked = f"answer = {self.query(dataset, sql)}.{self.asking(epsilon)}"
        if not self.is_answered or self.request_id is None:
            return (asked,)
        fetching = self.place.fetching(self.request_id)
        if fetching is not None:
            return (f"answer = {dataset}.{fetching}",)
        return (*self.place.checking(self.request_id), asked)

    def explaining(self, epsilon: str) -> str:
        """Return the call that previews it."""
        known = {name: value for name, value in self.options.items() if name in EXPLAINED}
        return f"explain({_arguments(epsilon, known)})"


EXPLAINED = ("pooling", "weights", "simultaneous")
"""What a preview takes of the options with which a question is asked."""


@dataclass(frozen=True)
class QuestionCode:
    """The same question, for whoever goes on elsewhere."""

    sql: str
    python: str
    report: str


def write_code(question: WrittenQuestion) -> QuestionCode:
    """Return a question as code; what somebody named or wrote stands in it as a constant of that language."""
    place, text = question.place, question.text
    answering = question.answering(place.dataset, repr(text), repr(question.epsilon))
    opening = f"with {place.opening(is_answered=question.is_answered)} as {place.opened}:{place.remark}"
    python = "\n    ".join((f"{place.imports}\n\n{opening}", *answering, "print(answer)"))
    report = f"-- name: table_1\n-- title: Say what this table shows\n-- epsilon: {question.epsilon}\n{text};"
    return QuestionCode(f"{text};", python, report)


def _arguments(first: str, options: Mapping[str, Any]) -> str:
    return ", ".join((first, *(f"{name}={_write_value(value)}" for name, value in options.items())))


def _write_value(value: Any) -> str:
    """Return a value in Python; a decimal as the number that it is written as."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    return str(value) if isinstance(value, Decimal) else repr(value)
