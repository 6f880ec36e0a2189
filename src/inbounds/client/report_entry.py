"""A report in a server's list: what it asks, what it costs, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class ReportQuestionEntry:
    """A table of a report, and what it costs."""

    name: str
    title: str
    sql: str
    epsilon: Fraction


@dataclass(frozen=True)
class ReportEntry:
    """A report in the list: a proposal, or one that was decided about."""

    id: str
    state: str
    """proposed, approved (its queries are not all answered yet), published or rejected."""
    dataset: str
    name: str
    title: str
    description: str | None
    edition: str | None
    analyst: str
    """Who proposed it, and pays for it."""
    epsilon: Fraction
    """What all of it costs."""
    proposed: str
    """When it was proposed, in UTC."""
    decided: str | None
    decided_by: str | None
    note: str | None
    """Why it was rejected."""
    digest: str | None
    """The digest of the published report."""
    questions: tuple[ReportQuestionEntry, ...]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ReportEntry:
        """Read what a server says; what a newer one says besides is left out."""
        facts = {name: data[name] for name in cls.__dataclass_fields__}
        questions = tuple(
            ReportQuestionEntry(one["name"], one["title"], one["sql"], Fraction(one["epsilon"]))
            for one in data["questions"]
        )
        return cls(**{**facts, "epsilon": Fraction(data["epsilon"]), "questions": questions})
