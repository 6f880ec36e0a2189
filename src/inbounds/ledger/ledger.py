"""The ledger: what was spent never exceeds a cap, whoever asks at the same time and whatever fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from uuid import uuid4

from inbounds.errors import InvalidParameter, LedgerUnavailable
from inbounds.exact.amount import Amount, change, delta_units, fraction
from inbounds.ledger.copies.backup import back_up
from inbounds.ledger.record.agreement import agree, record, refuse_other_terms, terms_of
from inbounds.ledger.record.answers import answer_to, repeat_receipt, store_answer
from inbounds.ledger.record.grants import record_grant
from inbounds.ledger.record.late_delta import add_delta, caps_of
from inbounds.ledger.record.opening import opening_of, record_opening
from inbounds.ledger.record.refusals import refuse_other_caps
from inbounds.ledger.record.rows import TOTAL, Book
from inbounds.ledger.record.spending import count_fitting, spend
from inbounds.ledger.record.statement import Statement
from inbounds.ledger.record.transactions import Transactions
from inbounds.ledger.record.verification import Verification, verify_entries
from inbounds.ledger.record.witness import Witness
from inbounds.ledger.stores.place import open_store
from inbounds.ledger.stores.schema import KNOWS_RESTORES
from inbounds.ledger.stores.store import Failure, Store
from inbounds.ledger.values.address import is_server, without_secrets
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost, pure_rho
from inbounds.ledger.values.entry import Entry, Head
from inbounds.ledger.values.names import check_name, check_text
from inbounds.ledger.values.receipt import Balance, Receipt, Repeats
from inbounds.ledger.values.restore_record import RestoreRecord, check_restore_reason
from inbounds.ledger.values.terms import Terms


class Ledger:
    """Accounts of privacy budget, in a file or in PostgreSQL; processes and threads may share it.

    Charge first, then answer: a charge is never undone, even if the answer is never given.
    """

    def __init__(self, store: Store, witness: Witness | None = None) -> None:
        self._store = store
        self._book = Book(store)
        self._transactions = Transactions(store, self._book, witness)

    @classmethod
    def open(cls, where: str | PathLike[str], *, create: bool = True, witness: Witness | None = None) -> Ledger:
        """Open the ledger at a path or a postgresql:// URL; it is created if there is none.

        With `create=False` a place without a ledger is refused with `LedgerMissing`, and is left as it was; one that
        cannot be reached raises `LedgerUnavailable` all the same.  A file that may not be written, or is in a folder
        that may not, then opens to be read; what would write it is refused.

        With a `witness` no ledger is created where the witness knows of one, and one that does not go through the heads
        that it has is refused with `LedgerReplaced`, whatever is asked of it.
        """
        try:
            known = () if witness is None else witness.heads()
            return cls(open_store(where, create and not known), witness)
        except Failure as failure:
            shown_place = "in PostgreSQL" if is_server(where) else without_secrets(fspath(where))
            message = f"the ledger {shown_place} cannot be opened: {failure}"
            raise LedgerUnavailable(message, lasting=failure.lasting) from None

    def close(self) -> None:
        """Close the file or the connection; closing twice does nothing."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def where(self) -> str:
        """The path, or the server and database; never a password."""
        return self._store.where

    @property
    def path(self) -> Path | None:
        """Its file; None for one on a server.  Messages have `where` instead."""
        return self._store.path

    @property
    def created(self) -> bool:
        """Whether opening it created it; then nothing is spent in it yet."""
        return self._store.created

    def __repr__(self) -> str:
        return f"<Ledger {self._store.where}>"

    def open_dataset(
        self,
        name: str,
        total: Amount,
        per_analyst: Amount | None = None,
        *,
        delta: Amount | None = None,
        delta_reserved: Amount | None = None,
        terms: Mapping[str, str] | None = None,
        create: bool = True,
    ) -> None:
        """Give a dataset its caps: a total and, if wanted, one for each analyst; the same again does nothing.

        With `delta` the promise is (total, delta), and rho is counted beside epsilon: a charge fits if the sum of
        either does.  `delta_reserved` is the part of it that is kept for charges with a delta of their own.

        `terms` are what a charge promises: the unit of privacy, the source, the bounds, in names and texts.  The first
        ones are recorded, and others are refused, here and by `charge`, until `change_terms` records them.

        With `create=False` nothing is written: a dataset that is not there, or has other caps or terms, is refused.
        """
        check_name(name, "a dataset")
        caps = Caps.of(total, per_analyst, delta, delta_reserved)
        agreed = None if terms is None else Terms.of(terms)
        if not create:
            with self._transactions.reading():
                refuse_other_caps(name, caps_of(self._book, opening_of(self._book, name)), caps)
                refuse_other_terms(self._book, name, agreed)
            return
        with self._transactions.writing("nothing was opened", "it may have been opened: open it again"):
            head = self._book.lock()
            opening = self._book.opening(name)
            if opening is None:
                head = record_opening(self._book, head, name, caps)
            else:
                refuse_other_caps(name, caps_of(self._book, opening), caps)
            agree(self._book, head, name, agreed)

    def terms(self, dataset: str) -> Terms | None:
        """Return the terms under which a dataset is charged; None if none are recorded."""
        with self._transactions.reading():
            opening_of(self._book, check_name(dataset, "a dataset"))
            return terms_of(self._book, dataset)

    def change_terms(self, dataset: str, terms: Mapping[str, str], reason: str) -> None:
        """Record new terms for a dataset, with the reason; later charges are made under them."""
        check_name(dataset, "a dataset")
        agreed = Terms.of(terms)
        if not check_text(reason, "reason").strip():
            raise InvalidParameter("a change of terms needs a reason, got none; say why, for the record")
        with self._transactions.writing("nothing was changed", "it may have been changed: look at the statement"):
            head = self._book.lock()
            opening_of(self._book, dataset)
            if terms_of(self._book, dataset) != agreed:
                record(self._book, head, dataset, agreed, reason)

    def add_delta(self, dataset: str, delta: Amount, reason: str, *, delta_reserved: Amount | None = None) -> None:
        """Give a dataset that was opened without one a delta, once and for good: from now on rho counts beside epsilon.

        What was charged before counts as whatever loses its epsilon.  The promise of all of it becomes (total, delta).
        """
        check_name(dataset, "a dataset")
        if not check_text(reason, "reason").strip():
            raise InvalidParameter("a delta that comes later needs a reason, got none; say why, for the record")
        with self._transactions.writing("nothing was changed", "it may have been changed: look at the statement"):
            head = self._book.lock()
            opening = opening_of(self._book, dataset)
            caps = Caps.of(fraction(opening.amount), None, delta, delta_reserved)
            if caps.filter_delta <= 0:
                raise InvalidParameter(
                    "delta must exceed its reserved part, or nothing is left for rho; grant a delta for charges instead"
                )
            add_delta(self._book, head, opening, caps, reason)

    def accept_restore(self, lost: Mapping[str, Head | None], reason: str, by: str) -> Head:
        """Record, for each dataset, that this ledger takes the place of one with another head, and why.

        `lost` has the head that was known last, None if none was; `by` is who accepts that.  Return the new head.
        """
        check_restore_reason(reason)
        check_name(by, "the name of the person who accepts")
        for dataset in lost:
            check_name(dataset, "a dataset")
        with self._transactions.writing("nothing was recorded", "it may have been recorded: look at the statement"):
            restored = head = self._book.lock()
            self._book.upgrade(KNOWS_RESTORES)
            for dataset, before in lost.items():
                text = RestoreRecord(before, restored, by, reason).dump()
                head = self._book.append(head, "restore", dataset, text=text).head
        return head

    def backup(self, target: str | PathLike[str]) -> Head:
        """Copy the ledger to a new file that its owner alone can read, verified, and return the head of the copy.

        Others may go on charging meanwhile.  The head is also written beside it, with `.head` at the end of the name.
        """
        with self._transactions.reading():
            pass  # an older copy, or another ledger, is not to be saved in the place of the right one
        try:
            return back_up(self._store, Path(target).absolute())
        except Failure as failure:
            raise LedgerUnavailable(f"the ledger {self._store.where} cannot be copied: {failure}") from None

    def grant(
        self,
        dataset: str,
        amount: Amount,
        analyst: str | None = None,
        note: str = "",
        *,
        delta: Amount | None = None,
    ) -> None:
        """Raise the cap of a dataset, or of one of its analysts; a negative amount lowers it, not below what is spent.

        `delta` is how much more charges with a delta of their own may have together; `amount` may then be 0.
        """
        who = _check(dataset, analyst)
        more = 0 if delta is not None and amount == 0 else change(amount, "amount")
        more_delta = None if delta is None else delta_units(delta)
        if more_delta is not None and who != TOTAL:
            raise InvalidParameter("delta is granted to a dataset, got a grant to an analyst; leave the analyst out")
        check_text(note, "note")
        with self._transactions.writing(
            "nothing was granted", "it may have been granted: look at the statement before you repeat it"
        ):
            head = self._book.lock()
            opening = opening_of(self._book, dataset)
            record_grant(self._book, head, opening, who, more, more_delta, note)

    def charge(  # noqa: PLR0913  who asks what of whom, and each thing that it costs
        self,
        dataset: str,
        analyst: str,
        amount: Amount,
        request_id: str | None = None,
        fingerprint: str = "",
        note: str = "",
        terms: Mapping[str, str] | None = None,
        *,
        rho: Fraction | None = None,
        delta: Amount | None = None,
        earlier: str | Sequence[str] = (),
    ) -> Receipt:
        """Take `amount` from what is left for `analyst`, durably, or raise and take nothing.

        `rho` is what the release has at most, for datasets with a delta; if not given, that of anything that loses
        `amount`.  `delta` is the release's own, if it needs one: it is taken from what is reserved.

        A request that was charged before is not charged again: its first receipt comes back, with its answer if it
        has one. The id then stands for the same analyst, dataset, amount, delta and fingerprint; anything else is
        refused.  `earlier` are fingerprints that go with the same request as well: what it had before they were made
        otherwise, or that of a request whose answer serves this one.
        With `terms` a charge under others than were recorded is refused.
        """
        check_name(dataset, "a dataset")
        check_name(analyst, "an analyst")
        cost = Cost.of(amount, rho, delta)
        request = uuid4().hex if request_id is None else check_name(request_id, "a request_id")
        others = (earlier,) if isinstance(earlier, str) else tuple(earlier)
        for text in (fingerprint, *others):
            check_text(text, "fingerprint")
        check_text(note, "note")
        agreed = None if terms is None else Terms.of(terms)
        unsure = f"it may have been charged: ask again with the same request id, {request!r}"
        with self._transactions.writing("nothing was charged", unsure):
            head = self._book.lock()
            first = self._book.charge(request)
            if first is not None:
                same = first.fingerprint if first.fingerprint in filter(None, others) else fingerprint
                return repeat_receipt(self._book, first, (dataset, analyst, cost.epsilon, cost.delta, same))
            self._transactions.settle()
            taken = spend(self._book, dataset, analyst, cost)
            head = agree(self._book, head, dataset, agreed)
            texts = {"request_id": request, "fingerprint": fingerprint, "text": note}
            numbers = {"amount": taken.epsilon, "rho": taken.rho, "delta": taken.delta}
            entry = self._book.append(head, "charge", dataset, analyst=analyst, **texts, **numbers)
        return Receipt.of(entry)

    def answered(self, receipt: Receipt, answer: str) -> str:
        """Store the answer to a charged request, and return the one to give out: the first that was stored."""
        check_text(answer, "answer")
        again = f"ask again with the same request id, {receipt.request_id!r}, which costs nothing more"
        unsure = f"the answer may have been kept: {again}, and give out what comes back"
        with self._transactions.writing(f"no answer was kept: {again}", unsure):
            head = self._book.lock()
            return store_answer(self._book, head, receipt, answer)

    def balance(self, dataset: str, analyst: str | None = None) -> Balance:
        """Return the balance of a dataset, or of one of its analysts."""
        who = _check(dataset, analyst)
        with self._transactions.reading(spent=True):
            opening = opening_of(self._book, dataset)
            caps = caps_of(self._book, opening)
            account = self._book.account(dataset, who) or caps.account(opening.per_analyst)
        return Balance.of(account, caps)

    def repeats(self, dataset: str, analyst: str | None = None) -> Repeats | None:
        """Return how many more charges like the last one the budget allows; None if there was none yet.

        The last one is that of the analyst, if one is given; then it has to fit what is left for both.
        """
        who = _check(dataset, analyst)
        with self._transactions.reading(spent=True):
            opening = opening_of(self._book, dataset)
            last = self._book.last_charge(dataset, analyst)
            if last is None:
                return None
            filters = caps_of(self._book, opening).filter_delta
            rho = pure_rho(last.amount) if last.rho is None and filters else last.rho
            return Repeats(
                count_fitting(self._book, opening, who, Cost(last.amount, rho, last.delta)), Receipt.of(last)
            )

    def fits(
        self,
        dataset: str,
        amount: Amount,
        analyst: str | None = None,
        *,
        rho: Fraction | None = None,
        delta: Amount | None = None,
    ) -> bool:
        """Return whether such a charge fits what is left, of an analyst's as well if one is given; nothing is taken."""
        who, cost = _check(dataset, analyst), Cost.of(amount, rho, delta)
        with self._transactions.reading(spent=True):
            return count_fitting(self._book, opening_of(self._book, dataset), who, cost) > 0

    def datasets(self) -> list[str]:
        """Return the names of all datasets."""
        with self._transactions.reading():
            return sorted(dataset for dataset, analyst in self._book.accounts() if analyst == TOTAL)

    def statement(self, dataset: str | None = None, analyst: str | None = None) -> Statement:
        """Return all entries, or those about a dataset, an analyst, or both."""
        if analyst is not None:
            check_name(analyst, "an analyst")
        with self._transactions.reading():
            if dataset is not None:
                opening_of(self._book, check_name(dataset, "a dataset"))
            return self._to_statement(self._book.entries(dataset, analyst))

    def page(self, after: int, most: int, dataset: str | None = None, analyst: str | None = None) -> Statement:
        """Return a page of entries in order: of all, or those about a dataset or an analyst."""
        with self._transactions.reading():
            return self._to_statement(self._book.entries(dataset, analyst, after=after, most=most))

    def _to_statement(self, entries: Iterator[Entry]) -> Statement:
        given_out = tuple(entries)
        self._book.give_out(given_out)
        return Statement(given_out)

    def request(self, request_id: str) -> tuple[Entry, Entry | None] | None:
        """Return the charge for a request, with its answer if there is one; None if it was never charged."""
        check_name(request_id, "a request_id")
        with self._transactions.reading():
            charge = self._book.charge(request_id)
            return None if charge is None else (charge, answer_to(self._book, charge))

    def requests(self, analyst: str, skip: int, most: int) -> list[tuple[Entry, Entry | None]]:
        """Return so many charges of an analyst after the first ones, each with its answer if it has one."""
        with self._transactions.reading():
            charges = list(self._book.entries(analyst=analyst, kind="charge", skip=skip, most=most))
            return [(charge, answer_to(self._book, charge)) for charge in charges]

    def charges(self, dataset: str | None = None, analyst: str | None = None) -> int:
        """Return how many charges there are: all, or those of a dataset, an analyst, or both."""
        for name, what in ((dataset, "a dataset"), (analyst, "an analyst")):
            if name is not None:
                check_name(name, what)
        with self._transactions.reading(spent=True):
            return self._book.charges(dataset, analyst)

    def head(self) -> Head:
        """Return the checkpoint at the end of the chain; stored elsewhere, it later reveals removed entries."""
        with self._transactions.reading():
            return self._book.head()

    def goes_through(self, head: Head | str) -> bool:
        """Return whether the chain contains this checkpoint; `verify` also checks the entries."""
        wanted = head if isinstance(head, Head) else Head.parse(head)
        with self._transactions.reading():
            return self._book.goes_through(wanted)

    def verify(self, head: Head | str | None = None) -> Verification:
        """Check every entry and every account, and that the chain contains the checkpoint `head`, if given."""
        saved = head if head is None or isinstance(head, Head) else Head.parse(head)
        with self._transactions.reading():
            return verify_entries(self._book.entries(), self._book.head(), self._book.accounts(), saved)

    def try_writing(self) -> None:
        """Write to the disk as a charge does, and leave nothing; what keeps a charge from being written is raised."""
        with self._transactions.writing("nothing was to be written", "nothing was to be written"):
            self._store.try_writing()


def _check(dataset: str, analyst: str | None) -> str:
    """Return the analyst of the account that is meant."""
    check_name(dataset, "a dataset")
    return TOTAL if analyst is None else check_name(analyst, "an analyst")
