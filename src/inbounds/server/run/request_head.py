"""The head of a request: what h11 takes, and this server does not.

h11 joins a header that goes on in the next line, which proxies read in different ways (RFC 9112, 5.2), and has a limit
for heads that arrive in pieces only.
"""

from __future__ import annotations

import re
from typing import Any

import h11

from inbounds.server.basics.problem import Problem

LONGEST_LINE = 65_536
"""Bytes of the first line: the longest question fits into an address, with three bytes for each letter."""

LONGEST_FIELDS = 32_768
"""Bytes of all headers together: what proxies let through by default."""

NO_REQUEST = Problem("invalid-request", "this is not a valid HTTP request; check the client")
FOLDED = Problem("invalid-request", "a header must be on one line; send it without line breaks")
TOO_LARGE = Problem(
    "headers-too-large",
    f"the request line may have at most {LONGEST_LINE:,} bytes, and all headers together {LONGEST_FIELDS:,}; send less",
)

_END = re.compile(rb"\n\r?\n")
_FOLD = re.compile(rb"\n[ \t]")


class Heads(h11.Connection):
    """The server's side of a connection, which looks at each head before h11 reads it."""

    refusal = NO_REQUEST
    """What to say about the head that was refused last."""

    def next_event(self) -> Any:
        """Return the next event, or refuse the request that is about to begin."""
        if self.their_state is h11.IDLE:
            received, _ = self.trailing_data
            problem = refusal(received)
            if problem is not None:
                self.refusal = problem
                raise h11.RemoteProtocolError(problem.detail, error_status_hint=problem.status)
        return super().next_event()


def refusal(received: bytes) -> Problem | None:
    """Return what is wrong with bytes that begin a request, as far as they are there; None if nothing is."""
    end = _END.search(received)
    head = received if end is None else received[: end.start()]
    line, _, fields = head.partition(b"\n")
    if len(line) > LONGEST_LINE or len(fields) > LONGEST_FIELDS:
        return TOO_LARGE
    return FOLDED if _FOLD.search(head) else None
