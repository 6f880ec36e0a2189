"""Drawing: once for each charge, and whatever comes of it is kept before anybody sees it.

From the moment that rows are read until the ledger has kept something, everything that happens depends on data and on
random numbers, and so does what goes wrong.  A failure that was seen and not kept would be an output that nobody paid
for: asked again with the same request id, the question would be drawn again, until it succeeds.  So a failure is kept
under the request id like an answer, and asking again gives the same failure.  It says that there is no answer, and
nothing else.

Not kept is only what shows nothing of a draw: a statement fails before it, and an interrupt or a kill comes from
outside.  Where a ledger cannot be written, what was drawn waits in the process for whoever asks again: whether a disk
has room may depend on how long an answer is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from inbounds.errors import AnswerFailed, EngineFailed, LedgerUnavailable
from inbounds.exact.surroundings import sheltered
from inbounds.ledger import Ledger, Receipt
from inbounds.ledger.values.names import LONGEST_TEXT

FAILED = '{"failed":true}'
"""What a ledger keeps of a draw that came to nothing."""

MOST_WAITING = 8
"""So many draws wait for a ledger that could not be written; after that the first is forgotten, and drawn again."""

Charge: TypeAlias = "tuple[str, int, str]"
"""A request id, and by its entry's number and time which charge of it: a ledger that was put back may have another."""

_waiting: WeakKeyDictionary[Ledger, dict[Charge, str]] = WeakKeyDictionary()

Rows = TypeVar("Rows")


def is_failed(text: str) -> bool:
    """Return whether what a ledger kept says that there is no answer."""
    return text == FAILED


@sheltered()
def draw_once(ledger: Ledger, receipt: Receipt, run: Callable[[], Rows], draw: Callable[[Rows], str]) -> str:
    """Return what is kept for a charge: what was kept before, or what is drawn now from what `run` reads.

    `draw` returns the text to be kept.  Whatever it raises is kept as a failure, and told as `AnswerFailed`.
    """
    # What the ledger has comes before what waits for it in this process, and only without either is anything drawn.
    text = receipt.answer
    if text is None:
        text = _waiting.get(ledger, {}).get(_charge_of(receipt))
        if text is None:
            try:
                rows = run()
            except EngineFailed as failure:
                raise EngineFailed(failure.kind, receipt.request_id) from None
            text = _draw_text(rows, draw)
        text = _keep(ledger, receipt, text)
    else:
        _waiting.get(ledger, {}).pop(_charge_of(receipt), None)  # the ledger had kept it after all
    if is_failed(text):
        raise AnswerFailed(receipt.request_id)
    return text


def _charge_of(receipt: Receipt) -> Charge:
    return receipt.request_id, receipt.seq, receipt.time


def _draw_text(rows: Rows, draw: Callable[[Rows], str]) -> str:
    """Return the text to be kept: never one that a ledger refuses, for that would be seen and not kept."""
    try:
        text = draw(rows)
    except Exception:  # noqa: BLE001  what it says may hold data, and which one it is depends on them
        return FAILED
    return text if len(text) <= LONGEST_TEXT else FAILED


def _keep(ledger: Ledger, receipt: Receipt, text: str) -> str:
    """Keep what was drawn, and return what may leave; where that fails, the charge stands, and is to be told."""
    waiting = _waiting.setdefault(ledger, {})
    try:
        stored = ledger.answered(receipt, text)
    except LedgerUnavailable as failure:
        waiting[_charge_of(receipt)] = text
        while len(waiting) > MOST_WAITING:
            waiting.pop(next(iter(waiting)), None)
        raise LedgerUnavailable(str(failure), uncertain=True) from None
    waiting.pop(_charge_of(receipt), None)
    return stored
