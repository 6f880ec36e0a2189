"""Every exception of the package.

    InboundsError
    ├── InvalidBounds        a set of possible answers that makes no sense
    ├── InvalidParameter     a bad epsilon, sensitivity, pooling, guarantee, confidence or ledger address
    ├── InvalidAnswer        a true answer of a kind that cannot be released
    ├── LatticeTooFine       a step so small that the lattice needs more than 62 bits
    ├── NotPrivate           a privacy claim that was refuted or could not be proved
    ├── ProjectionFailed     measurements of a table that could not be made into a possible one
    ├── QueryError           about questions to tables
    │   ├── InvalidContract      the description of a table makes no sense, or does not fit the table
    │   ├── InvalidReport        the file of a report makes no sense, or does not fit the dataset
    │   ├── InvalidQuestion      a question outside the grammar, or one that does not fit the contract
    │   │   └── UselessQuestion      a question whose answer would tell nothing; nothing was charged
    │   ├── EngineFailed         the database could not run a statement
    │   └── AnswerFailed         no answer could be made of what was drawn
    ├── ServerError          about asking a server
    │   ├── ServerUnreachable    no connection to it
    │   └── ServerRefused        it does not know who asks, or may not or cannot do that
    └── LedgerError          about the record of what was spent
        ├── BudgetExceeded       a charge of more than is left
        ├── LedgerConflict       a request that contradicts what the ledger holds
        │   └── RequestReused        a request id that was charged for another question
        ├── LedgerMissing        there is no ledger, and none is to be created
        ├── LedgerUnavailable    the ledger cannot be read or written
        └── LedgerBroken         the ledger was altered
            └── LedgerReplaced       the ledger is an older copy, or another one

The first seven are exported by the package itself, those about tables and `BudgetExceeded` by its part `query`, those
about ledgers by `ledger`, those about servers by `client`, with all that a server may refuse.

Each message gives the rule, what was received and the remedy, in words that fit both Python and the command line. No
message ever contains a true value, or anything computed from one: the exceptions about answers name their type only.
"""

from __future__ import annotations

import contextlib
import linecache
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

    from inbounds.privacy.certificate import Certificate


PACKAGE = str(Path(__file__).parent)

LONGEST_LINE = 70
"""So much of the line that called is shown."""

OVERTIME = "it exceeded its time limit"
"""The kind of failure of a statement that was stopped."""


class InboundsError(Exception):
    """The root of every error that `inbounds` raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows instead of a traceback: what is wrong, what to do, and the line of the cell.

        A message with a mark below some SQL, or with a list of faults, is shown as it is.
        """
        kind, message = type(self).__name__, str(self)
        if "\n" in message:
            return f"{kind}: {message}".split("\n")
        rule, _, remedy = message.partition("; ")
        lines = [f"{kind}: {rule}", f"  {remedy}" if remedy else "", _calling_line(self.__traceback__)]
        return [line for line in lines if line]


class InvalidBounds(InboundsError, ValueError):
    """The description of the possible answers is contradictory or incomplete."""


class InvalidParameter(InboundsError, ValueError):
    """A parameter is outside its allowed range."""


class InvalidAnswer(InboundsError, ValueError):
    """The true answer is of a kind that cannot be released."""


class LatticeTooFine(InboundsError, ValueError):
    """The lattice has more points than 62 bits can number."""


class NotPrivate(InboundsError):
    """A privacy claim is false, or could not be proved; `certificate` holds the two answers that show it."""

    def __init__(self, message: str, certificate: Certificate) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[NotPrivate], tuple[str, Certificate]]:
        return NotPrivate, (str(self), self.certificate)


class ProjectionFailed(InboundsError):
    """No consistent table was found for the measurements; the measurements remain valid.

    `measurements` can be passed to `JointRelease.load`, which makes a table for free; None if nothing was measured.
    """

    measurements: str | None = None


class QueryError(InboundsError):
    """Something is wrong with a question to a table, or with the table."""


class InvalidContract(QueryError, ValueError):
    """The contract that describes a table is contradictory or incomplete, or does not match the table.

    `faults` are the messages of all its faults, if there are several; `path` is where the first one is, and `meant` the
    key that was meant by an unknown one.
    """

    faults: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    meant: str | None = None


class InvalidReport(QueryError, ValueError):
    """The file of a report is contradictory or incomplete, or one of its questions cannot be asked.

    `faults` are the messages of all its faults, each with its line.
    """

    faults: tuple[str, ...] = ()


class InvalidQuestion(QueryError, ValueError):
    """A question is outside the grammar, or does not match the contract."""


class UselessQuestion(InvalidQuestion):
    """The answer would cost budget and tell nothing, judged by public facts alone; `force` asks anyway."""


class EngineFailed(QueryError):
    """The database could not run a statement; its message may contain data, so only the kind of failure is kept."""

    def __init__(self, kind: str, request_id: str | None = None, *, charged: bool = True) -> None:
        named = "" if request_id is None else f", {request_id!r}"
        remedy = (
            f"the charge remains. Ask again with the same request id{named}, which costs nothing more; the database's "
            "own log says why"
        )
        super().__init__(
            f"the database could not run the statement ({kind}); "
            + (remedy if charged else "nothing was charged. Try again; the database's own log says why")
        )
        self.kind = kind
        self.request_id = request_id
        self.charged = charged

    @property
    def stopped(self) -> bool:
        """Whether the statement was over the time that it was given."""
        return self.kind == OVERTIME

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(EngineFailed, charged=self.charged), (self.kind, self.request_id)


class AnswerFailed(QueryError):
    """No answer could be computed for a charged question; the reason is not given, because it depends on the data."""

    def __init__(self, request_id: str | None = None) -> None:
        named = "this request id" if request_id is None else f"the request id {request_id!r}"
        super().__init__(
            f"no answer could be computed; the charge remains, and {named} always fails like this. Please report it "
            "with the query, and ask with another request id, which is charged again"
        )
        self.request_id = request_id

    def __reduce__(self) -> tuple[Any, ...]:
        return AnswerFailed, (self.request_id,)


class ServerError(InboundsError):
    """A request to a server failed."""


class ServerUnreachable(ServerError):
    """A server could not be reached; a question that was sent may have been charged."""

    def __init__(self, kind: str, request_id: str | None = None) -> None:
        again = (
            ""
            if request_id is None
            else (
                f". If this was charged, ask again with the same request id, {request_id!r}, which costs nothing more"
            )
        )
        super().__init__(f"the server cannot be reached ({kind}); check its address and the network{again}")
        self.kind = kind
        self.request_id = request_id

    def __reduce__(self) -> tuple[type[ServerUnreachable], tuple[str, str | None]]:
        return ServerUnreachable, (self.kind, self.request_id)


class ServerRefused(ServerError):
    """A server refused; `code` says why, in a word that stays the same, and `status` is that of its response."""

    def __init__(self, message: str, code: str, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    def __reduce__(self) -> tuple[type[ServerRefused], tuple[str, str, int]]:
        return ServerRefused, (str(self), self.code, self.status)


class LedgerError(InboundsError):
    """Something is wrong with the record of what was spent."""


class BudgetExceeded(LedgerError):
    """A charge was refused because it exceeds what is left; nothing was charged.

    `requested`, `left_total` and `left_analyst` are in epsilon; `left_analyst` is None if analysts have no cap.
    """

    def __init__(
        self,
        message: str,
        dataset: str,
        analyst: str,
        requested: Fraction,
        left_total: Fraction,
        left_analyst: Fraction | None,
    ) -> None:
        super().__init__(message)
        self.dataset = dataset
        self.analyst = analyst
        self.requested = requested
        self.left_total = left_total
        self.left_analyst = left_analyst

    def __reduce__(self) -> tuple[type[BudgetExceeded], tuple[Any, ...]]:
        state = (self.dataset, self.analyst, self.requested, self.left_total, self.left_analyst)
        return BudgetExceeded, (str(self), *state)


class LedgerConflict(LedgerError):
    """A request contradicts what the ledger holds; nothing was written."""


class RequestReused(LedgerConflict):
    """A request id was charged for another question, epsilon, analyst or dataset; nothing was written."""


class LedgerMissing(LedgerError, InvalidParameter):
    """There is no ledger at this place, and none was to be created; nothing was written."""


class LedgerUnavailable(LedgerError):
    """A ledger could not be read or written; if `uncertain`, a charge was kept, or may have been.

    If `lasting`, it stays so until somebody mends it: a damaged file, say, and not a server that is away.
    """

    def __init__(self, message: str, uncertain: bool = False, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.uncertain = uncertain
        self.lasting = lasting

    def __reduce__(self) -> tuple[partial[LedgerUnavailable], tuple[str, bool]]:
        return partial(LedgerUnavailable, lasting=self.lasting), (str(self), self.uncertain)


class LedgerBroken(LedgerError):
    """A ledger was checked and found to be altered or inconsistent."""


class LedgerReplaced(LedgerBroken):
    """A ledger lacks a known checkpoint: it is an older copy, or another ledger."""


def _calling_line(trace: TracebackType | None) -> str:
    """Return the line of code outside of the package that called it, as a notebook keeps its cells; nothing if none."""
    calling = None
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        if trace.tb_frame.f_code.co_filename != contextlib.__file__:  # between a decorator and its function
            calling = trace
        trace = trace.tb_next
    if calling is None:
        return ""
    code = linecache.getline(calling.tb_frame.f_code.co_filename, calling.tb_lineno).strip()
    cut = code if len(code) <= LONGEST_LINE else f"{code[: LONGEST_LINE - 1]}…"
    return f"  line {calling.tb_lineno}: {cut}" if code else ""
