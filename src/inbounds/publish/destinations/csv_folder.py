"""A folder of csv files: one for each table, with dates as ISO, empty fields for what is missing, and all digits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar

from inbounds.publish.destinations.comparison import describe_change
from inbounds.publish.destinations.folder import FolderDestination
from inbounds.publish.destinations.sheet import Sheet
from inbounds.report.report import Report


class CsvFolder(FolderDestination):
    """A folder of csv files."""

    ending: ClassVar[str] = ".csv"

    def make(self, report: Report, draft: Path) -> None:
        for name, sheet in self.files(report):
            (draft / name).write_bytes(sheet.csv())

    def compare(self, report: Report, sheet: Sheet, path: Path) -> Iterator[str]:
        published, found = sheet.csv(), path.read_bytes()
        if found == published:
            return
        pairs = zip_longest(found.splitlines(), published.splitlines(), fillvalue=b"")
        line, (is_now, was) = next(
            ((at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (1, (b"", b""))
        )
        if is_now == was:
            yield f"{path.name}: its line ends were changed"
        else:
            yield f"{path.name}, line {line}: {describe_change(is_now.decode(errors='replace'), was.decode())}"
