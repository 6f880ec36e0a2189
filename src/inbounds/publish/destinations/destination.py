"""What every destination of a report can do: be checked before anything is spent, written, and read back."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.files.whole_file import replacing
from inbounds.ledger.values.address import without_secrets
from inbounds.report.report import FORMAT, Report


class Destination(ABC):
    """A place for one report, which it holds whole or not at all."""

    def __init__(self, target: str) -> None:
        self.target = target

    @property
    def called(self) -> str:
        """What messages call it: nothing that could hold a password."""
        return without_secrets(self.target)

    @abstractmethod
    def check(self, name: str | None, *, practice: bool) -> None:
        """Refuse a place that cannot be written, or that holds anything but a report, of this name if one is given.

        Practice never replaces what was published.
        """

    @abstractmethod
    def write(self, report: Report) -> None:
        """Write the report; what was there is replaced at the end."""

    @abstractmethod
    def stored(self) -> dict[str, Any]:
        """Return the report as it is stored there, or refuse what is none."""

    @abstractmethod
    def faults(self, report: Report) -> Iterator[str]:
        """Yield whatever is not as a report says that is stored there."""

    def refuse_another(self, there: dict[str, Any] | None, name: str | None, *, practice: bool) -> None:
        """Refuse what is there if it is no report, or another one."""
        if there is None:
            raise InvalidParameter(
                f"only a report may be replaced, but {self.called!r} was not written by one; choose another name"
            )
        if name is not None and there.get("name") != name:
            raise InvalidParameter(
                f"only the same report may be replaced, but {self.called!r} holds {shown(there.get('name'))}, got "
                f"{name!r}; choose another name"
            )
        if practice and there.get("practice") is not True:
            raise InvalidParameter(
                f"a practice report may not replace a published one, but {self.called!r} holds one; choose another name"
            )

    def found(self) -> dict[str, Any] | None:
        """Return the report that is there, None if there is none."""
        try:
            return self.stored()
        except InvalidParameter:
            return None

    def read_stored(self, text: str | bytes | None) -> dict[str, Any]:
        """Return a report that is stored as JSON, or refuse it."""
        try:
            data = json.loads(text or "")
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise self.no_report()
        return data

    def as_report(self, data: dict[str, Any]) -> Report:
        """Return the report that is stored, or refuse what has not all of its parts."""
        try:
            return Report.read(data)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            raise self.no_report() from None

    def no_report(self) -> InvalidParameter:
        """Return the refusal of a place in which there is no report."""
        return InvalidParameter(
            f"a destination that a report was published to is needed, but {self.called!r} holds none; check the name"
        )


class FileDestination(Destination):
    """One file."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.path = Path(target)

    def check(self, name: str | None, *, practice: bool) -> None:
        if self.path.is_dir():
            raise InvalidParameter(f"the output must be a file, got the folder {self.called!r}; name a file in it")
        refuse_folder(self.path.resolve().parent)
        if self.path.exists():
            self.refuse_another(self.found(), name, practice=practice)

    def write(self, report: Report) -> None:
        with replacing(self.path) as draft:
            self.make(report, draft)

    @abstractmethod
    def make(self, report: Report, draft: Path) -> None:
        """Make the file."""

    def content(self) -> bytes:
        """Return what is in the file."""
        if not self.path.is_file():
            raise self.no_report()
        return self.path.read_bytes()


def refuse_folder(folder: Path) -> None:
    """Refuse a folder that is not there, or that takes no files."""
    if not folder.is_dir():
        raise InvalidParameter(f"the output folder {str(folder)!r} does not exist; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidParameter(f"cannot write to the folder {str(folder)!r}; choose another, or change its permissions")
