"""Whether a ledger is what was once written: the chain is followed, and the accounts are kept a second time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from inbounds.errors import LedgerBroken
from inbounds.ledger.amount import written
from inbounds.ledger.book import TOTAL, Account
from inbounds.ledger.entry import FIELDS, KINDS, START, Entry, Head
from inbounds.ledger.terms import Terms

MOST = 100
"""How many problems are told one by one."""

_NUMBERS = ("seq", "amount")


@dataclass(frozen=True)
class Verification:
    """What a check of the whole ledger found."""

    entries: int
    """How many entries were checked."""
    head: Head
    """Where the chain ends: keep it, elsewhere, for the next time."""
    problems: tuple[str, ...]
    """A sentence for each, with the number of the entry where it is."""
    terms: Mapping[str, Terms] = field(default_factory=dict)
    """The terms that each dataset is charged under now, by its name."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def raise_if_broken(self) -> None:
        """Raise `LedgerBroken` if anything is wrong."""
        if not self.ok:
            raise LedgerBroken(f"{self}; stop charging, and restore a copy that agrees with a saved head")

    def __str__(self) -> str:
        if self.ok:
            return f"ok: {self.entries} entries, head {self.head}"
        return f"BROKEN: {len(self.problems)} problems in {self.entries} entries: {'; '.join(self.problems)}"


def verified(
    entries: Iterable[Entry], stored_head: Head, accounts: Mapping[tuple[str, str], Account], saved: Head | None
) -> Verification:
    """Check entries against themselves, against the accounts, and against a head that was saved."""
    replay = _Replay()
    found = saved in (None, START)
    for entry in entries:
        replay.take(entry)
        found = found or entry.head == saved
    if replay.head != stored_head:
        replay.problem(f"the head that is stored, {stored_head}, is not that of the last entry, {replay.head}")
    if not found:
        replay.problem(
            f"the saved head {saved} is not in the chain, which ends at entry {replay.head.seq}: entries were "
            "removed or rewritten, or the ledger was replaced by an older copy or another ledger"
        )
    replay.compare(accounts)
    return Verification(replay.count, replay.head, replay.told(), replay.terms)


class _Replay:
    """The accounts as the entries say that they should be."""

    def __init__(self) -> None:
        self.head = START
        self.count = 0
        self._problems: list[str] = []
        self._untold = 0
        self._accounts: dict[tuple[str, str], Account] = {}
        self._caps: dict[str, int | None] = {}
        self._charged: dict[str, tuple[str, str]] = {}
        self._answered: set[str] = set()
        self.terms: dict[str, Terms] = {}

    def problem(self, sentence: str) -> None:
        """Note what is wrong, unless there is too much already."""
        if len(self._problems) < MOST:
            self._problems.append(sentence)
        else:
            self._untold += 1

    def told(self) -> tuple[str, ...]:
        """Return what was noted."""
        return (*self._problems, f"and {self._untold} more") if self._untold else tuple(self._problems)

    def take(self, entry: Entry) -> None:
        """Check the next entry, and book it."""
        self.count += 1
        self._follow(entry)
        self.head = entry.head
        if not _well_typed(entry):
            self.problem(f"entry {entry.seq} holds a value of a wrong type")
            return
        checks = {
            "open": self._open,
            "grant": self._grant,
            "charge": self._charge,
            "answer": self._answer,
            "contract": self._contract,
        }
        wrong = checks[entry.kind](entry)
        if wrong is not None:
            self.problem(f"entry {entry.seq} {wrong}")

    def _follow(self, entry: Entry) -> None:
        if entry.seq != self.head.seq + 1:
            self.problem(f"entry {entry.seq} comes right after entry {self.head.seq}: one is missing or was moved")
        if entry.previous != self.head.digest:
            self.problem(f"entry {entry.seq} does not continue entry {self.head.seq}: one was altered or removed")
        if entry.digest != entry.computed():
            self.problem(f"entry {entry.seq} was altered: its digest is not that of its fields")

    def _open(self, entry: Entry) -> str | None:
        if entry.dataset in self._caps:
            return "opens a dataset that is open already"
        self._caps[entry.dataset] = entry.per_analyst
        self._accounts[entry.dataset, TOTAL] = Account(entry.amount, 0)
        return None if entry.amount > 0 else "opens a dataset with a cap that is not above 0"

    def _grant(self, entry: Entry) -> str | None:
        account = self._account(entry)
        if account is None or account.cap is None:
            return "changes a cap that there is not"
        changed = account._replace(cap=account.cap + entry.amount)
        self._accounts[entry.dataset, entry.analyst] = changed
        return _overspent(entry.dataset, entry.analyst, changed)

    def _charge(self, entry: Entry) -> str | None:
        if entry.request_id in self._charged:
            return "charges a request that was charged before"
        self._charged[entry.request_id] = entry.dataset, entry.analyst
        if self._account(entry) is None:
            return "charges a dataset that was not opened"
        problem = None if entry.amount > 0 else "charges an amount that is not above 0"
        for analyst in (TOTAL, entry.analyst):
            account = self._accounts[entry.dataset, analyst]
            changed = account._replace(spent=account.spent + entry.amount)
            self._accounts[entry.dataset, analyst] = changed
            problem = problem or _overspent(entry.dataset, analyst, changed)
        return problem

    def _answer(self, entry: Entry) -> str | None:
        if entry.request_id in self._answered:
            return "is a second answer to the same request"
        self._answered.add(entry.request_id)
        if self._charged.get(entry.request_id) != (entry.dataset, entry.analyst):
            return "answers a request that was not charged"
        return None

    def _contract(self, entry: Entry) -> str | None:
        found = Terms.load(entry.text)
        if found is None or found[0].digest != entry.fingerprint:
            return "records terms that are not those of its fingerprint"
        if entry.dataset not in self._caps:
            return "records the terms of a dataset that was not opened"
        terms, reason = found
        if entry.dataset in self.terms and not reason:
            return "changes terms without a reason"
        self.terms[entry.dataset] = terms
        return None

    def _account(self, entry: Entry) -> Account | None:
        """Return the account that an entry is about, None if its dataset was never opened."""
        if entry.dataset not in self._caps:
            return None
        return self._accounts.setdefault((entry.dataset, entry.analyst), Account(self._caps[entry.dataset], 0))

    def compare(self, stored: Mapping[tuple[str, str], Account]) -> None:
        """Note every account that is not what the entries come to."""
        for account in sorted({*stored, *self._accounts}, key=repr):
            kept, due = stored.get(account), self._accounts.get(account)
            if kept != due:
                self.problem(
                    f"the account of {_whose(*account)} holds {_told(kept)}, and by the entries up to "
                    f"{self.head.seq} it should hold {_told(due)}"
                )


def _well_typed(entry: Entry) -> bool:
    for name in FIELDS:
        value = getattr(entry, name)
        wanted = int if name in _NUMBERS else int | None if name == "per_analyst" else str
        if not isinstance(value, wanted):
            return False
    return entry.kind in KINDS


def _overspent(dataset: str, analyst: str, account: Account) -> str | None:
    if account.cap is None or account.spent <= account.cap:
        return None
    return f"takes {_whose(dataset, analyst)} over the cap: {written(account.spent)} of {written(account.cap)} spent"


def _whose(dataset: str, analyst: str) -> str:
    return f"{analyst!r} in {dataset!r}" if analyst != TOTAL else f"{dataset!r}"


def _told(account: Account | None) -> str:
    if account is None:
        return "nothing"
    spent, cap = (written(x) if isinstance(x, int) else repr(x) for x in (account.spent, account.cap))
    return f"{spent} spent of {cap}" if account.cap is not None else f"{spent} spent, no cap"
