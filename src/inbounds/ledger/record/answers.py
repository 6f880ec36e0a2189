"""Answers to requests that were charged: each is stored once, and the first one is given out again.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.errors import LedgerConflict, RequestReused
from inbounds.ledger.record.rows import Book
from inbounds.ledger.values.entry import Entry, Head
from inbounds.ledger.values.receipt import Receipt


def store_answer(book: Book, head: Head, receipt: Receipt, answer: str) -> str:
    """Store the answer to a charged request, and return the one to give out: the first that was stored."""
    charge = book.charge(receipt.request_id)
    if charge is None or (charge.seq, charge.time) != (receipt.seq, receipt.time):
        raise LedgerConflict(f"the request {receipt.request_id!r} was not charged here; charge it in this ledger first")
    stored = book.answer(receipt.request_id)
    if stored is None:
        fields = {"request_id": charge.request_id, "fingerprint": charge.fingerprint, "text": answer}
        stored = book.append(head, "answer", charge.dataset, analyst=charge.analyst, **fields)
    book.give_out([stored])
    return stored.text


def answer_to(book: Book, charge: Entry) -> Entry | None:
    """Return the answer to a request, to be given out."""
    answer = book.answer(charge.request_id)
    book.give_out([charge] if answer is None else [answer])
    return answer


def repeat_receipt(book: Book, first: Entry, asked: tuple[str, str, int, int | None, str]) -> Receipt:
    """Return the receipt of a request that was charged before; refuse its id for anything else."""
    if (first.dataset, first.analyst, first.amount, first.delta, first.fingerprint) != asked:
        raise RequestReused(
            f"the request id {first.request_id!r} was charged for another question, epsilon, analyst or dataset; "
            "ask that one again, or choose another id"
        )
    answer = answer_to(book, first)
    return Receipt.of(first, answer.text if answer else None, fresh=False)
