"""Who asks the questions of a report, and what that takes: a dataset at hand, or one on a server, in one way."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inbounds.display.progress import Progress
from inbounds.errors import InvalidParameter, LedgerConflict
from inbounds.exact.amount import fraction, units
from inbounds.ledger.values.cost import pure_rho
from inbounds.query.dataset import Dataset
from inbounds.query.methods.plan import rho_of

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset
    from inbounds.ledger import Ledger
    from inbounds.query import Answer

PAGE = 1000
"""So many of one's own requests a server lists at once."""


@dataclass(frozen=True)
class Preview:
    """What a question would cost and tell."""

    question: str
    """What is asked of the rows, in one text for all that is shown of it."""
    epsilon: Fraction
    """0 if all of it is public."""
    measures: tuple[str, ...]
    """What its parts measure."""
    errors: Mapping[str, float]
    """The expected error of each grouping, where it does not depend on how many rows there are."""
    words: str
    """The expected error in words."""
    useless: str | None
    fits: bool
    """Whether the budget is enough for it by itself."""
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, facts: Mapping[str, Any], *, fits: bool) -> Preview:
        """Read an explanation, which has the same facts here and from a server."""
        parts = facts["parts"]
        measures = tuple(part["measures"] for part in parts)
        noise = [part["expected_noise"] for part in parts]
        named = [f"{measure}: {words}" for measure, words in zip(measures, noise, strict=True)]
        errors = parts[0].get("expected_errors", {}) if len(parts) == 1 else {}
        return cls(
            facts["question"],
            Fraction(facts["epsilon"]),
            measures,
            errors.get("on average", {}) if len(errors) == 1 else {},
            "; ".join(named if len(named) > 1 else noise),
            facts["useless"],
            fits,
            tuple(facts["warnings"]),
        )


@dataclass(frozen=True)
class Paid:
    """A request that was charged before."""

    request_id: str
    epsilon: Fraction
    question: str
    day: str
    """The day of the charge, as YYYY-MM-DD."""
    head: str = ""
    """The head of the ledger after it, or after its answer; empty over a server, which tells analysts none."""


@dataclass(frozen=True)
class Left:
    """What is left of a budget; None where there is no cap."""

    total: Fraction | None
    own: Fraction | None

    @property
    def least(self) -> Fraction | None:
        """What both leave."""
        return min((left for left in (self.total, self.own) if left is not None), default=None)


class Asker(ABC):
    """Asks one dataset in one name."""

    analyst: str
    unit: str
    contract: str
    """The digest of the contract's terms; empty over a server, which tells analysts none."""

    def __init__(self, dataset: Dataset | RemoteDataset) -> None:
        self.dataset: Any = dataset

    @property
    def is_practice(self) -> bool:
        """Whether the rows are made up, and nothing is charged."""
        return bool(self.dataset.is_practice)

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.dataset.name)

    @abstractmethod
    def preview(self, sql: str, epsilon: Fraction) -> Preview:
        """Return what a question would cost and tell; nothing is spent."""

    @abstractmethod
    def identity(self, sql: str, preview: Preview) -> tuple[str, ...]:
        """Return what makes it this question, whatever is shown of it."""

    def epsilon_for(self, sql: str, error: Fraction | str, rows: int | None) -> Fraction:
        """Return the least epsilon at which a question has no larger expected error."""
        return Fraction(self.dataset.sql(sql).epsilon_for(error=error, rows=rows))

    @abstractmethod
    def paid(self, prefix: str) -> dict[str, Paid]:
        """Return the requests that were charged under ids that begin like this, in that order."""

    @abstractmethod
    def left(self) -> Left:
        """Return what is left of the budget."""

    @abstractmethod
    def fits(self, asked: Sequence[tuple[str, Fraction]]) -> bool:
        """Return whether the budget is enough for all of these questions together."""

    @abstractmethod
    def ask(self, sql: str, epsilon: Fraction, request_id: str, report: Progress) -> Answer:
        """Return the answer to a question, charged once under this request id."""


class LocalAsker(Asker):
    """Asks a dataset at hand."""

    def __init__(self, dataset: Dataset, analyst: str) -> None:
        super().__init__(dataset)
        self.analyst, self.unit, self.contract = analyst, dataset.table.unit, dataset.terms.digest

    @contextmanager
    def _ledger(self) -> Iterator[Ledger | None]:
        """Yield the ledger as it is; None if there is none yet: looking at it creates none."""
        if "ledger" in self.dataset.__dict__:  # open already
            yield self.dataset.ledger
            return
        try:
            opened = self.dataset.unchecked_ledger()
            ledger = opened.__enter__()
        except InvalidParameter:
            yield None
            return
        try:
            yield ledger
        finally:
            opened.__exit__(None, None, None)

    def preview(self, sql: str, epsilon: Fraction) -> Preview:
        return Preview.of(self.dataset.sql(sql).explain(epsilon).data(), fits=True)

    def identity(self, sql: str, preview: Preview) -> tuple[str, ...]:
        return tuple(self.dataset.sql(sql).facts)

    def paid(self, prefix: str) -> dict[str, Paid]:
        with self._ledger() as ledger:
            try:
                entries = () if ledger is None else ledger.statement(self.name, self.analyst).entries
            except LedgerConflict:  # it does not know the dataset yet
                return {}
        ours = [entry for entry in entries if entry.request_id.startswith(prefix)]
        ends = {entry.request_id: str(entry.head) for entry in ours}
        return {
            entry.request_id: Paid(
                entry.request_id, fraction(entry.amount), entry.text, entry.time[:10], ends[entry.request_id]
            )
            for entry in ours
            if entry.kind == "charge"
        }

    def left(self) -> Left:
        if self.is_practice:  # of which there is no end
            return Left(None, None)
        with self._ledger() as ledger:
            if ledger is not None and self.name in ledger.datasets():
                balances = ledger.balance(self.name), ledger.balance(self.name, self.analyst)
                return Left(*(balance.left for balance in balances))
        own = self.dataset.per_analyst
        return Left(fraction(self.dataset.total), None if own is None else fraction(own))

    def fits(self, asked: Sequence[tuple[str, Fraction]]) -> bool:
        total = sum((epsilon for _, epsilon in asked), Fraction(0))
        if not total:
            return True
        rho = sum((rho_of(self.dataset.sql(sql).plans(epsilon)) for sql, epsilon in asked), Fraction(0))
        with self._ledger() as ledger:
            if ledger is not None and self.name in ledger.datasets():
                return ledger.fits(self.name, total, self.analyst, rho=rho or None)
        lasting = self.dataset.lasting(total, rho)
        if lasting is not None:
            return bool(lasting.fits if lasting.fits_for_analyst is None else lasting.fits_for_analyst)
        least = self.left().least
        return least is None or total <= least

    def ask(self, sql: str, epsilon: Fraction, request_id: str, report: Progress) -> Answer:
        query = self.dataset.sql(sql)
        answer: Answer = query.ask(epsilon, analyst=self.analyst, request_id=request_id, progress=report)
        return answer


class RemoteAsker(Asker):
    """Asks a dataset on a server, which knows by the key who asks."""

    def __init__(self, dataset: RemoteDataset) -> None:
        super().__init__(dataset)
        self.analyst, self.unit, self.contract = str(dataset.connection.me()["name"]), dataset.unit, ""
        self._previews: dict[tuple[str, Fraction], Preview] = {}

    def preview(self, sql: str, epsilon: Fraction) -> Preview:
        known = self._previews.get((sql, epsilon))
        if known is None:
            explained = self.dataset.sql(sql).explain(epsilon)
            known = self._previews[sql, epsilon] = Preview.of(explained.data(), fits=explained.fits)
        return known

    def identity(self, sql: str, preview: Preview) -> tuple[str, ...]:
        description = self.dataset.description
        public = {name: description[name] for name in ("name", "tables")}
        return json.dumps(public, sort_keys=True), preview.question

    def paid(self, prefix: str) -> dict[str, Paid]:
        charges = (charge for charge in self._charges() if charge["dataset"] == self.name)
        return {
            charge["id"]: Paid(charge["id"], Fraction(charge["epsilon"]), charge["question"], charge["asked_at"][:10])
            for charge in charges
            if charge["id"].startswith(prefix)
        }

    def _charges(self) -> Iterator[dict[str, Any]]:
        """Yield one's own requests, page by page."""
        after, is_last = 0, False
        while not is_last:
            page = self.dataset.connection.get("/v1/answers", after=after, most=PAGE)
            yield from page
            after, is_last = after + len(page), len(page) < PAGE

    def left(self) -> Left:
        if self.is_practice:
            return Left(None, None)
        facts = self.dataset.budget()
        accounts = [facts["total"], facts["own"] or {"left": None}]
        return Left(*(None if account["left"] is None else Fraction(account["left"]) for account in accounts))

    def fits(self, asked: Sequence[tuple[str, Fraction]]) -> bool:
        """Return whether they fit; in rho, of which a server tells no question's, they count as anything would."""
        if self.is_practice:
            return True
        facts = self.dataset.budget()
        total = sum((epsilon for _, epsilon in asked), Fraction(0))
        most_rho = sum((fraction(pure_rho(units(epsilon))) for _, epsilon in asked), Fraction(0))
        for account in (facts["total"], facts["own"]):
            if account is None or account["left"] is None:
                continue
            rho_left = account.get("rho_left")
            if total > Fraction(account["left"]) and (rho_left is None or most_rho > Fraction(rho_left)):
                return False
        return all(self.preview(sql, epsilon).fits for sql, epsilon in asked)

    def ask(self, sql: str, epsilon: Fraction, request_id: str, report: Progress) -> Answer:
        del report  # a server tells none
        answer: Answer = self.dataset.sql(sql).ask(epsilon, request_id=request_id)
        return answer


def asker_of(dataset: Dataset | RemoteDataset, analyst: str | None) -> Asker:
    """Return who asks a dataset: at hand in a name that is given, on a server whoever has the key."""
    if isinstance(dataset, Dataset):
        if analyst is None:
            raise InvalidParameter("a report needs an analyst who pays for it, got none; give a name")
        return LocalAsker(dataset, analyst)
    if analyst is not None:
        raise InvalidParameter("an analyst cannot be named to a server, which knows them by their key; leave it out")
    return RemoteAsker(dataset)
