"""What the requests of a report are called, and which of them were charged before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from inbounds.publish.asker import Asker, Identity, Paid
from inbounds.publish.report_file import ReportFile

LONGEST_BEGINNING = 24
"""So much of a report's name stands in request ids, of which a server takes 80 characters."""

OF_NAMES, OF_QUESTION = 10, 24
"""So many digits of a request id tell whose names it has, and what is asked."""


class Charges(ABC):
    """The charges of one report."""

    @property
    @abstractmethod
    def is_begun(self) -> bool:
        """Whether anything of the report was charged."""

    @property
    def may_lack_rests(self) -> bool:
        """Whether questions may have been charged together before there was a rest."""
        return self.is_begun

    @abstractmethod
    def request_id(self, names: Sequence[str], identity: Identity, epsilon: Fraction) -> str:
        """Return a request id: the same one whenever the same is asked at this cost."""

    @abstractmethod
    def find(self, request_id: str) -> Paid | None:
        """Return the charge for a request, None if there is none."""

    def has(self, names: Sequence[str], identity: Identity, epsilon: Fraction) -> bool:
        """Return whether a request was charged."""
        return self.is_begun and self.find(self.request_id(names, identity, epsilon)) is not None

    def may_have(self, names: Sequence[str], epsilon: Fraction) -> bool:
        """Return whether questions of these names may have been charged together at this cost: else they were not."""
        return self.is_begun

    @abstractmethod
    def of_names(self, names: Sequence[str]) -> list[Paid]:
        """Return the charges for questions of these names, whatever was asked, in their order."""

    @abstractmethod
    def others(self, used: set[str]) -> list[Paid]:
        """Return the charges under other request ids than these, in their order."""


class FileCharges(Charges):
    """Those of a report's file: found by how their request ids begin, in a ledger or on a server."""

    def __init__(self, asker: Asker, file: ReportFile) -> None:
        whose = _digest(asker.name, asker.analyst, file.name, file.edition or "")
        self._prefix = f"{file.name[:LONGEST_BEGINNING]}.{whose[:12]}."
        self._asker = asker

    @cached_property
    def paid(self) -> dict[str, Paid]:
        """The charges by their request ids, as they are when this is first looked at."""
        return self._asker.paid(self._prefix)

    @cached_property
    def _beginnings(self) -> set[str]:
        return {name[:-OF_QUESTION] for name in self.paid}

    @property
    def is_begun(self) -> bool:
        return bool(self.paid)

    def request_id(self, names: Sequence[str], identity: Identity, epsilon: Fraction) -> str:
        return self._beginning_of(names) + _digest(*identity, str(epsilon))[:OF_QUESTION]

    def _beginning_of(self, names: Sequence[str]) -> str:
        return f"{self._prefix}{_digest(*names)[:OF_NAMES]}."

    def find(self, request_id: str) -> Paid | None:
        return self.paid.get(request_id)

    def may_have(self, names: Sequence[str], epsilon: Fraction) -> bool:
        return self.is_begun and self._beginning_of(names) in self._beginnings

    def of_names(self, names: Sequence[str]) -> list[Paid]:
        named = self._beginning_of(names)
        return [paid for request_id, paid in self.paid.items() if request_id.startswith(named)]

    def others(self, used: set[str]) -> list[Paid]:
        return [paid for request_id, paid in self.paid.items() if request_id not in used]


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()
