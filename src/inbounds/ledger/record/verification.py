"""Whether a ledger is what was once written: the chain is followed, and the accounts are kept a second time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inbounds.errors import LedgerBroken
from inbounds.exact.amount import DELTA_UNIT, LIMIT, format_amount, format_delta
from inbounds.ledger.record.rows import TOTAL
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost, pure_rho
from inbounds.ledger.values.entry import FIELDS, KINDS, LATER, START, Entry, Head
from inbounds.ledger.values.restore_record import RestoreRecord
from inbounds.ledger.values.terms import Terms

MOST = 100
"""How many problems are told one by one."""

_NUMBERS = ("seq", "amount")

_NUMBERS_OR_NONE = ("per_analyst", *LATER)


@dataclass(frozen=True)
class Verification:
    """The result of checking the whole ledger."""

    entries: int
    """The number of entries checked."""
    head: Head
    """The checkpoint at the end of the chain: store it elsewhere for the next check."""
    problems: tuple[str, ...]
    """One sentence for each problem, with the number of its entry."""
    terms: Mapping[str, Terms] = field(default_factory=dict)
    """The terms that each dataset is charged under now, by its name."""
    restores: tuple[tuple[Entry, RestoreRecord], ...] = ()
    """Each entry by which a restored ledger was accepted, and what it says."""

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


def verify_entries(
    entries: Iterable[Entry], stored_head: Head, accounts: Mapping[tuple[str, str], Account], saved: Head | None
) -> Verification:
    """Check entries against themselves, against the accounts, and against a head that was saved."""
    # Book every entry again from the first on.  Then three things must agree with that: the stored head, the head that
    # was saved elsewhere, and every account.
    replay = _Replay()
    has_saved = saved in (None, START)
    for entry in entries:
        replay.take(entry)
        has_saved = has_saved or entry.head == saved
    if replay.head != stored_head:
        replay.add_problem(f"the head that is stored, {stored_head}, is not that of the last entry, {replay.head}")
    if not has_saved:
        replay.add_problem(
            f"the saved head {saved} is not in the chain, which ends at entry {replay.head.seq}: entries were "
            "removed or rewritten, or the ledger was replaced by an older copy or another ledger"
        )
    replay.compare(accounts)
    return Verification(replay.count, replay.head, replay.problems(), replay.terms, tuple(replay.restores))


class _Replay:
    """The accounts as the entries say that they should be."""

    def __init__(self) -> None:
        self.head = START
        self.count = 0
        self._problems: list[str] = []
        self._unlisted = 0
        self._accounts: dict[tuple[str, str], Account] = {}
        self._caps: dict[str, Caps] = {}
        self._pure: dict[tuple[str, str], Counter[int]] = {}
        """How often each account was charged how much without counting rho."""
        self._charged: dict[str, tuple[str, str]] = {}
        self._answered: set[str] = set()
        self.terms: dict[str, Terms] = {}
        self.restores: list[tuple[Entry, RestoreRecord]] = []

    def add_problem(self, sentence: str) -> None:
        """Note what is wrong, unless there is too much already."""
        if len(self._problems) < MOST:
            self._problems.append(sentence)
        else:
            self._unlisted += 1

    def problems(self) -> tuple[str, ...]:
        """Return what was noted."""
        return (*self._problems, f"and {self._unlisted} more") if self._unlisted else tuple(self._problems)

    def take(self, entry: Entry) -> None:
        """Check the next entry, and book it."""
        self.count += 1
        self._follow(entry)
        self.head = entry.head
        if not _well_typed(entry):
            self.add_problem(f"entry {entry.seq} holds a value of a wrong type")
            return
        checks = {
            "open": self._open,
            "grant": self._grant,
            "charge": self._charge,
            "answer": self._answer,
            "contract": self._contract,
            "delta": self._delta,
            "restore": self._restore,
        }
        wrong = checks[entry.kind](entry)
        if wrong is not None:
            self.add_problem(f"entry {entry.seq} {wrong}")

    def _follow(self, entry: Entry) -> None:
        if entry.seq != self.head.seq + 1:
            self.add_problem(f"entry {entry.seq} comes right after entry {self.head.seq}: one is missing or was moved")
        if entry.previous != self.head.digest:
            self.add_problem(f"entry {entry.seq} does not continue entry {self.head.seq}: one was altered or removed")
        if entry.digest != entry.computed():
            self.add_problem(f"entry {entry.seq} was altered: its digest is not that of its fields")

    def _open(self, entry: Entry) -> str | None:
        if entry.dataset in self._caps:
            return "opens a dataset that is already open"
        caps = self._caps[entry.dataset] = Caps.in_entry(entry)
        if not 0 <= (entry.reserved or 0) <= (entry.delta or 0) < DELTA_UNIT or entry.rho is not None:
            self._caps[entry.dataset] = Caps(entry.amount, entry.per_analyst)
            return "opens a dataset with an impossible delta"
        self._accounts[entry.dataset, TOTAL] = caps.account(entry.amount, reserve=entry.reserved or 0)
        return None if entry.amount > 0 else "opens a dataset with a cap that is not above 0"

    def _grant(self, entry: Entry) -> str | None:
        account = self._account(entry)
        if account is None or account.cap is None:
            return "changes a cap that does not exist"
        if (entry.delta or 0) < 0 or (entry.delta and entry.analyst != TOTAL):
            return "grants an impossible delta"
        cap = account.cap + entry.amount
        rho_cap = None if account.rho_cap is None else self._caps[entry.dataset].rho_cap(cap)
        changed = account._replace(cap=cap, rho_cap=rho_cap, reserve=account.reserve + (entry.delta or 0))
        self._accounts[entry.dataset, entry.analyst] = changed
        return _overspent(entry.dataset, entry.analyst, changed)

    def _charge(self, entry: Entry) -> str | None:
        if entry.request_id in self._charged:
            return "charges a request that was charged before"
        self._charged[entry.request_id] = entry.dataset, entry.analyst
        if self._account(entry) is None:
            return "charges a dataset that was not opened"
        problem = self._wrong_cost(entry)
        cost = Cost(entry.amount, entry.rho, entry.delta)
        for analyst in (TOTAL, entry.analyst):
            if entry.rho is None:
                self._pure.setdefault((entry.dataset, analyst), Counter())[entry.amount] += 1
            changed = self._accounts[entry.dataset, analyst].after(cost, is_total=analyst == TOTAL)
            self._accounts[entry.dataset, analyst] = changed
            problem = problem or _overspent(entry.dataset, analyst, changed)
        return problem

    def _wrong_cost(self, entry: Entry) -> str | None:
        """Return what is wrong with what an entry charges, whatever is left."""
        if entry.amount <= 0:
            return "charges an amount that is not above 0"
        if (entry.delta or 0) < 0:
            return "charges a delta below 0"
        if (entry.rho is not None) != (self._caps[entry.dataset].filter_delta > 0):
            return "counts rho where it does not count, or does not where it does"
        if entry.rho is not None and not (entry.amount <= LIMIT and 0 < entry.rho <= pure_rho(entry.amount)):
            return "counts a rho that a release of its epsilon cannot have"
        return None

    def _answer(self, entry: Entry) -> str | None:
        if entry.request_id in self._answered:
            return "is a second answer to the same request"
        self._answered.add(entry.request_id)
        if self._charged.get(entry.request_id) != (entry.dataset, entry.analyst):
            return "answers a request that was not charged"
        return None

    def _contract(self, entry: Entry) -> str | None:
        loaded = Terms.load(entry.text)
        if loaded is None or loaded[0].digest != entry.fingerprint:
            return "records terms that are not those of its fingerprint"
        if entry.dataset not in self._caps:
            return "records the terms of a dataset that was not opened"
        terms, reason = loaded
        if entry.dataset in self.terms and not reason:
            return "changes terms without a reason"
        self.terms[entry.dataset] = terms
        return None

    def _delta(self, entry: Entry) -> str | None:
        """Book a delta that came after the opening: what was charged before counts as whatever loses it."""
        account, caps = self._account(entry), self._caps.get(entry.dataset)
        if account is None or caps is None:
            return "adds a delta to a dataset that was not opened"
        if caps.delta is not None or entry.analyst != TOTAL:
            return "adds a delta to a dataset that has one, or to an analyst"
        delta, reserved = entry.delta or 0, entry.reserved or 0
        if not 0 <= reserved < delta < DELTA_UNIT - account.reserve or entry.rho is not None:
            return "adds an impossible delta"
        caps = self._caps[entry.dataset] = replace(caps, delta=entry.delta, reserved=entry.reserved)
        for whose, other in self._accounts.items():
            if whose[0] == entry.dataset:
                more = reserved if whose[1] == TOTAL else 0
                self._accounts[whose] = other._replace(
                    rho_cap=caps.rho_cap(other.cap), spent_rho=self._rho_before(whose), reserve=other.reserve + more
                )
        return None if entry.text.strip() else "adds a delta without a reason"

    def _restore(self, entry: Entry) -> str | None:
        record = RestoreRecord.load(entry.text)
        if record is None or record.found.seq >= entry.seq:
            return "accepts a restored ledger without saying which"
        self.restores.append((entry, record))
        return None if record.reason.strip() else "accepts a restored ledger without a reason"

    def _rho_before(self, whose: tuple[str, str]) -> int:
        """Return what an account's charges count that were made without rho; those that no ledger writes, nothing."""
        charged = self._pure.get(whose, Counter())
        return sum(times * pure_rho(amount) for amount, times in charged.items() if 0 < amount <= LIMIT)

    def _account(self, entry: Entry) -> Account | None:
        """Return the account that an entry is about, None if its dataset was never opened."""
        if entry.dataset not in self._caps:
            return None
        caps = self._caps[entry.dataset]
        self._accounts.setdefault((entry.dataset, TOTAL), Account(caps.total, 0))
        if (entry.dataset, entry.analyst) not in self._accounts:
            self._accounts[entry.dataset, entry.analyst] = caps.account(caps.per_analyst)
        return self._accounts[entry.dataset, entry.analyst]

    def compare(self, stored: Mapping[tuple[str, str], Account]) -> None:
        """Note every account that is not what the entries come to."""
        for account in sorted({*stored, *self._accounts}, key=repr):
            held, due = stored.get(account), self._accounts.get(account)
            if held != due:
                self.add_problem(
                    f"the account of {_whose(*account)} holds {_describe(held)}, and by the entries up to "
                    f"{self.head.seq} it should hold {_describe(due)}"
                )


def _well_typed(entry: Entry) -> bool:
    for name in FIELDS:
        value = getattr(entry, name)
        wanted = int if name in _NUMBERS else int | None if name in _NUMBERS_OR_NONE else str
        if not isinstance(value, wanted):
            return False
    return entry.kind in KINDS


def _overspent(dataset: str, analyst: str, account: Account) -> str | None:
    if account.spent_delta > account.reserve:
        spent = f"{format_delta(account.spent_delta)} of {format_delta(account.reserve)}"
        return f"takes {_whose(dataset, analyst)} over the delta for charges: {spent} spent"
    if account.is_within:
        return None
    spent = f"{format_amount(account.spent)} of {format_amount(account.cap or 0)} spent"
    if account.rho_cap is not None:
        spent += f", and {format_amount(account.spent_rho)} of {format_amount(account.rho_cap)} in rho"
    return f"takes {_whose(dataset, analyst)} over the cap: {spent}"


def _whose(dataset: str, analyst: str) -> str:
    return f"{analyst!r} in {dataset!r}" if analyst != TOTAL else f"{dataset!r}"


def _describe(account: Account | None) -> str:
    if account is None:
        return "nothing"
    spent, cap, rho, rho_cap = (
        format_amount(x) if isinstance(x, int) else repr(x)
        for x in (account.spent, account.cap, account.spent_rho, account.rho_cap)
    )
    text = f"{spent} spent of {cap}" if account.cap is not None else f"{spent} spent, no cap"
    if account.rho_cap is not None or account.spent_rho:
        text += f", {rho} of {rho_cap} in rho"
    if account.reserve or account.spent_delta:
        text += f", {account.spent_delta!r} of {account.reserve!r} units of delta"
    return text
