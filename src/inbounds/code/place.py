"""Where a question is asked, as Python opens it: a dataset at hand, or one on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

ELSEWHERE = (
    "this ledger does not hold the answer, and asking here would be charged; use the ledger that it was paid from"
)
"""What is said where an answer that was paid for is looked for in another ledger."""


class Place(ABC):
    """Where a dataset is, in Python."""

    imports: ClassVar[str]
    """The line that imports what opens it."""
    opened: ClassVar[str]
    """What is called by a name once it is open."""
    remark: ClassVar[str] = ""
    """What stands behind the call that opens it."""
    needs: ClassVar[str]
    """What somebody needs who runs the code, in Markdown."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What people call the dataset."""

    @abstractmethod
    def opening(self, *, is_answered: bool) -> str:
        """Return the call that opens it."""

    @property
    @abstractmethod
    def dataset(self) -> str:
        """The dataset, once it is open."""

    @property
    @abstractmethod
    def asked_by(self) -> Mapping[str, Any]:
        """What a question has to be told of who asks it."""

    @abstractmethod
    def fetching(self, request_id: str) -> str | None:
        """Return the call that fetches an earlier answer; None where it is asked again under its request id."""

    def checking(self, request_id: str) -> tuple[str, ...]:
        """Return the lines without which asking again for an earlier answer could be charged; none where it cannot."""
        return ()


@dataclass(frozen=True)
class AtHand(Place):
    """A dataset at hand: its contract, and the name that is charged."""

    imports = "from inbounds.query import Dataset"
    opened = "dataset"
    needs = "`pip install 'inbounds[query,plot]'`, and the contract at the path below"
    contract: str
    """The path of the contract, from the folder in which the code is run."""
    analyst: str
    ledger: str | None = None
    """The path of a ledger in place of the contract's."""
    is_practice: bool = False

    @property
    def name(self) -> str:
        return PurePath(self.contract).name

    def opening(self, *, is_answered: bool) -> str:
        ledger = "" if self.ledger is None else f", ledger={self.ledger!r}"
        # With a new ledger an answer that was paid for would be paid for once more.
        same = ", create_ledger=False" if is_answered else ""
        return f"Dataset.load({self.contract!r}{ledger}{same}){'.practice()' if self.is_practice else ''}"

    @property
    def dataset(self) -> str:
        return self.opened

    @property
    def asked_by(self) -> Mapping[str, Any]:
        return {"analyst": self.analyst}

    def fetching(self, request_id: str) -> str | None:
        return None

    def checking(self, request_id: str) -> tuple[str, ...]:
        return (
            f"if dataset.ledger.request({request_id!r}) is None:",
            f"    raise LookupError({ELSEWHERE!r})",
        )


@dataclass(frozen=True)
class OnServer(Place):
    """A dataset on a server, which knows by the key who asks."""

    imports = "import inbounds"
    opened = "connection"
    remark = "  # reads the API key from INBOUNDS_KEY"
    needs = (
        "`pip install 'inbounds[client,plot]'`, and your API key in the environment variable `INBOUNDS_KEY`. "
        "The key is not in this file"
    )
    url: str
    called: str
    """The name of the dataset."""
    is_practice: bool = False

    @property
    def name(self) -> str:
        return self.called

    def opening(self, *, is_answered: bool) -> str:
        return f"inbounds.connect({self.url!r})"

    @property
    def dataset(self) -> str:
        return f"connection.dataset({self.called!r}){'.practice()' if self.is_practice else ''}"

    @property
    def asked_by(self) -> Mapping[str, Any]:
        return {}

    def fetching(self, request_id: str) -> str | None:
        return f"answer({request_id!r})"
