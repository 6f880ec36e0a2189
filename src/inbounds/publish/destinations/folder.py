"""A folder with a file for each table, and the report itself beside them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import flush, flush_folder, folder_beside
from inbounds.publish.destinations.destination import Destination, refuse_folder
from inbounds.publish.destinations.facts import MARK, report_text
from inbounds.publish.destinations.sheet import Sheet, sheets_of
from inbounds.report.report import Report

REPORT = "report.json"
LONGEST = 200
"""So many bytes has the name of a file at most, without what is put around it."""


class FolderDestination(Destination):
    """A folder that is made beside its place and takes it at the end."""

    ending: ClassVar[str]

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.path = Path(target)

    def check(self, name: str | None, *, practice: bool) -> None:
        place = self.path.resolve()
        refuse_folder(place.parent)
        if not place.exists():
            return
        if not place.is_dir():
            raise InvalidParameter(f"the output must be a folder, but {self.called!r} is a file; choose another name")
        there = {path.name for path in place.iterdir()}
        if not there:
            return
        self.refuse_another(self.found(), name, practice=practice)
        strangers = sorted(path for path in there if path != REPORT and not path.endswith(self.ending))
        if strangers:
            raise InvalidParameter(
                f"a folder that is replaced may hold nothing but a report, got {strangers[0]!r} in {self.called!r}; "
                "move it, or choose another name"
            )

    def write(self, report: Report) -> None:
        place = self.path.resolve()
        with folder_beside(place) as beside:
            draft = beside / "new"
            draft.mkdir()
            (draft / REPORT).write_text(report_text(report), "utf-8")
            self.make(report, draft)
            for path in draft.iterdir():
                flush(path)
            if place.exists():  # a folder cannot be replaced in one step: the old one stays beside until it is done
                os.rename(place, beside / "old")
            try:
                os.rename(draft, place)
            except OSError:
                if (beside / "old").exists():
                    os.rename(beside / "old", place)
                raise
            flush_folder(place)

    @abstractmethod
    def make(self, report: Report, draft: Path) -> None:
        """Make the files of the tables."""

    def files(self, report: Report) -> Iterator[tuple[str, Sheet]]:
        """Yield each table with the name of its file; those of a practice report say so."""
        mark = MARK if report.practice else ""
        for sheet in sheets_of(report, LONGEST):
            yield f"{mark}{sheet.name}{self.ending}", sheet

    def stored(self) -> dict[str, Any]:
        path = self.path / REPORT
        if not path.is_file():
            raise self.no_report()
        return self.read_stored(path.read_bytes())

    def faults(self, report: Report) -> Iterator[str]:
        named = dict(self.files(report))
        there = {path.name for path in self.path.iterdir()} - {REPORT}
        yield from (f"{name}: this file is missing" for name in sorted(named.keys() - there))
        yield from (f"{name}: this file is not part of the report" for name in sorted(there - named.keys()))
        for name, sheet in named.items():
            if name in there:
                yield from self.compare(report, sheet, self.path / name)

    @abstractmethod
    def compare(self, report: Report, sheet: Sheet, path: Path) -> Iterator[str]:
        """Yield what a file has that is not as the report says."""
