"""The report itself, as a file of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inbounds.publish.destinations.destination import FileDestination
from inbounds.publish.destinations.facts import report_text
from inbounds.report.report import Report


class JsonFile(FileDestination):
    """A file that is the report."""

    def make(self, report: Report, draft: Path) -> None:
        draft.write_text(report_text(report), "utf-8")

    def stored(self) -> dict[str, Any]:
        return self.read_stored(self.content())

    def faults(self, report: Report) -> Iterator[str]:
        return iter(())  # the digest is of all that stands there
