"""How a report looks in the interface before it is published: its questions, what they cost, and what became of it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from inbounds.publish.report_file import read_error
from inbounds.query.ask.options import settle_cost
from inbounds.query.ask.privacy_options import cut_options
from inbounds.report.report import EDITION, NAME, ChartKind
from inbounds.server.service.amounts import Amount, Size, format_amount
from inbounds.server.service.explaining import LONGEST_SQL, STATED
from inbounds.server.state.report_store import StoredReport

LONGEST_FILE = 200_000
"""So many characters may the file of a report have that is proposed."""

LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 2000
MOST_TABLES = 50

REPORT_ID = re.compile("[0-9a-f]{32}")


def _check_id(value: str) -> str:
    if REPORT_ID.fullmatch(value) is None:
        raise ValueError("the id of a report or a link has 32 characters, 0 to 9 and a to f; look it up in the list")
    return value


PublicId = Annotated[str, Path(json_schema_extra={"pattern": f"^{REPORT_ID.pattern}$"}), AfterValidator(_check_id)]
"""What a report or a shared answer is called."""

Title = Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)]
Description = Annotated[str | None, Field(default=None, max_length=LONGEST_DESCRIPTION)]


class ReportQuestion(BaseModel):
    """A table of a report."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("error")
    @classmethod
    def _check_error(cls, value: str | None) -> str | None:
        if value is not None:
            read_error(value)
        return value

    name: str = Field(
        pattern=f"^{NAME}$", description="Lower-case letters, digits and underscores.", examples=["by_clinic"]
    )
    title: Title
    sql: str = Field(min_length=1, max_length=LONGEST_SQL)
    epsilon: Amount | None = Field(default=None, description=STATED, examples=["0.5"])
    error: Size | None = Field(
        default=None,
        description="The largest expected error that it may have when it is released together with others.",
        examples=["20"],
    )
    description: Description = None
    chart: ChartKind | None = Field(
        default=None, description="By default it is chosen by the answer; none for no picture."
    )

    @property
    def cost(self) -> Fraction:
        """What it costs: its epsilon, or the one in its SQL."""
        return settle_cost(self.epsilon, cut_options(self.sql)[1].epsilon)


class Proposal(BaseModel):
    """A report to propose: queries of one dataset, to be run once and published for everybody with a role."""

    model_config = ConfigDict(extra="forbid")
    dataset: str = Field(max_length=200)
    name: str = Field(pattern=f"^{NAME}$", examples=["visits_by_clinic"])
    title: Title
    description: Description = None
    edition: str | None = Field(default=None, pattern=f"^{EDITION}$", examples=["2026-q1"])
    consistent: bool = Field(
        default=True,
        description="Release queries about the same counts together, so that their numbers agree.",
    )
    questions: list[ReportQuestion] = Field(min_length=1, max_length=MOST_TABLES)


class ProposedFile(BaseModel):
    """A report to propose, as its file says it."""

    model_config = ConfigDict(extra="forbid")
    file: str = Field(
        min_length=1,
        max_length=LONGEST_FILE,
        description="The text of a report file: SQL, with a name and a cost above each query.",
        examples=["-- report: year\n-- name: visits\n-- epsilon: 0.1\nSELECT COUNT(*) FROM visits;"],
    )


class Rejection(BaseModel):
    """Why a report is rejected."""

    model_config = ConfigDict(extra="forbid")
    note: str = Field(default="", max_length=900, description="The reason, shown to the analyst.")


class Foreseen(BaseModel):
    """What was planned when a report was proposed, to be shown beside it."""

    noise: dict[str, str] = {}
    """The expected noise of each query in words."""
    together: list[list[str]] = []
    """The names of queries that are released together, and so are one charge."""
    notes: list[str] = []


class ReportQuestionOut(BaseModel):
    """A table of a report, and what it costs."""

    name: str
    title: str
    sql: str
    epsilon: str
    expected_noise: str | None = Field(description="As planned when the report was proposed.")
    together: list[str] = Field(description="The other queries that it is released with, so that their numbers agree.")


class ReportOut(BaseModel):
    """A report in the list: what it asks, what it costs, and whether it is published."""

    id: str
    state: str = Field(description="proposed, approved (its queries are not all answered yet), published or rejected")
    dataset: str
    name: str
    title: str
    description: str | None
    edition: str | None
    analyst: str = Field(description="Who proposed it, and pays for it.")
    epsilon: str = Field(description="What all of it costs.")
    proposed: str
    decided: str | None
    decided_by: str | None
    note: str | None
    digest: str | None = Field(description="Digest of the published report.")
    notes: list[str] = Field(description="What to know of queries that are released together, or apart.")
    questions: list[ReportQuestionOut]


def to_report_out(stored: StoredReport) -> ReportOut:
    """Return a report as the list has it."""
    proposal, foreseen = proposal_of(stored), foreseen_of(stored)
    others = {name: [other for other in names if other != name] for names in foreseen.together for name in names}
    return ReportOut(
        id=stored.id,
        state=stored.state,
        dataset=proposal.dataset,
        name=proposal.name,
        title=proposal.title,
        description=proposal.description,
        edition=proposal.edition,
        analyst=stored.person,
        epsilon=stored.cost,
        proposed=stored.proposed,
        decided=stored.decided,
        decided_by=stored.decider,
        note=stored.note,
        digest=None if stored.published is None else stored.published["digest"],
        notes=foreseen.notes,
        questions=[
            ReportQuestionOut(
                name=question.name,
                title=question.title,
                sql=question.sql,
                epsilon=format_amount(question.cost) or "0",
                expected_noise=foreseen.noise.get(question.name),
                together=others.get(question.name, []),
            )
            for question in proposal.questions
        ],
    )


def content_of(proposal: Proposal, foreseen: Foreseen) -> dict[str, Any]:
    """Return what is kept of a proposal."""
    return {**proposal.model_dump(mode="json"), "foreseen": foreseen.model_dump(mode="json")}


def proposal_of(stored: StoredReport) -> Proposal:
    """Return a report as it was proposed."""
    content = {name: value for name, value in stored.content.items() if name != "foreseen"}
    # Proposals that do not say it are from when every question was asked by itself, and are paid in that way.
    return Proposal.model_validate({"consistent": False, **content})


def foreseen_of(stored: StoredReport) -> Foreseen:
    """Return what was planned when it was proposed; nothing is known of older ones."""
    return Foreseen.model_validate(stored.content.get("foreseen", {}))
