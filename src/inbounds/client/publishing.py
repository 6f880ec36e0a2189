"""What is published on a server: reports, and answers that their owners share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inbounds.client.link import Link
from inbounds.client.report_entry import ReportEntry
from inbounds.errors import InvalidReport
from inbounds.exact.amount import format_amount, units
from inbounds.report.report import Report
from inbounds.results.answer import Answer
from inbounds.results.answer_json import read_answer


class Publishing(ABC):
    """The reports and the links of a server; it decides by the key who may see and do what."""

    url: str

    @abstractmethod
    def get(self, path: str, **parameters: Any) -> Any:
        """Send a GET request."""

    @abstractmethod
    def consult(self, path: str, body: dict[str, Any], *, is_long: bool = False) -> Any:
        """Send a POST request that may be repeated."""

    @abstractmethod
    def post(self, path: str, body: dict[str, Any], request_id: str | None = None) -> Any:
        """Send a POST request."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Send a DELETE request."""

    # Reports.

    def reports(self) -> list[ReportEntry]:
        """Return the reports you may see, newest first: published ones, your own proposals, all for custodians."""
        return [ReportEntry.read(one) for one in self.get("/v1/reports")]

    def report(self, report_id: str) -> Report:
        """Return a published report: its tables, and a digest of everything in it."""
        return Report.read(self.get(_path_of(report_id)))

    def propose_report(
        self,
        dataset: str,
        name: str,
        title: str,
        questions: Iterable[Mapping[str, Any]],
        *,
        description: str | None = None,
        edition: str | None = None,
    ) -> ReportEntry:
        """Propose a report, for free: it is run, at your charge, once a custodian approves it.

        Each question is `{"name": …, "title": …, "sql": …, "epsilon": …}`, and may have a `description` and a `chart`.
        """
        asked = [{**one, "epsilon": format_amount(units(one.get("epsilon", "")))} for one in questions]
        body = {"dataset": dataset, "name": name, "title": title, "questions": asked}
        more = {"description": description, "edition": edition}
        sent = body | {field: value for field, value in more.items() if value is not None}
        return ReportEntry.read(self.post("/v1/reports", sent))

    def propose_report_file(self, dataset: str, path: str | PathLike[str]) -> ReportEntry:
        """Propose the report of a report file, for free; the server reads it, and finds what its queries cost."""
        try:
            text = Path(path).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidReport(f"{Path(path).name} is not UTF-8; save it as UTF-8") from None
        return ReportEntry.read(self.post(f"/v1/datasets/{_quoted(dataset)}/reports", {"file": text}))

    def approve_report(self, report_id: str) -> ReportEntry:
        """Run a report at the charge of its analyst, and publish it; for custodians.

        After an interruption approve it again: it goes on where it was, and nothing is paid twice.
        """
        return ReportEntry.read(self.consult(f"{_path_of(report_id)}/approve", {}, is_long=True))

    def reject_report(self, report_id: str, note: str = "") -> ReportEntry:
        """Reject a report that is not published yet, with a note to its analyst; for custodians."""
        return ReportEntry.read(self.post(f"{_path_of(report_id)}/reject", {"note": note}))

    # Answers that are shared.

    def shared(self) -> list[Link]:
        """Return the links to answers that others have shared with you, newest first."""
        return self._links("/v1/shared")

    def shared_answer(self, link_id: str) -> Answer:
        """Return an answer that was shared with you, for free."""
        return read_answer(self.get(f"/v1/shared/{_quoted(link_id)}"))

    def share_answer(
        self, request_id: str, title: str, people: Iterable[str], *, description: str | None = None
    ) -> Link:
        """Share one of your own answers with named people, for free; a link of its own leads to it."""
        more = {} if description is None else {"description": description}
        names = [people] if isinstance(people, str) else list(people)
        made = self.post(_links_of(request_id), {"title": title, "people": names, **more})
        return Link.read(made, self.url)

    def links(self, request_id: str) -> list[Link]:
        """Return the links to one of your own answers, newest first."""
        return self._links(_links_of(request_id))

    def revoke_link(self, request_id: str, link_id: str) -> None:
        """Revoke a link to one of your own answers, immediately."""
        self.delete(f"{_links_of(request_id)}/{_quoted(link_id)}")

    def _links(self, path: str) -> list[Link]:
        return [Link.read(one, self.url) for one in self.get(path)]


def _path_of(report_id: str) -> str:
    return f"/v1/reports/{_quoted(report_id)}"


def _links_of(request_id: str) -> str:
    return f"/v1/answers/{_quoted(request_id)}/shares"


def _quoted(name: str) -> str:
    return quote(name, safe="")
