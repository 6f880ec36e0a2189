"""A connection to PostgreSQL that is given up when the server says nothing for too long.

A server that is frozen keeps its connections: the system confirms what it is sent, and no limit of its own is obeyed.
So it is counted here how often one looks for an answer.  See docs/decisions/0062-nothing-outlives-its-time.md.
"""

from __future__ import annotations

from collections.abc import Generator
from math import ceil
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict

LOOK = 0.1
"""Seconds between two looks at a server that is being waited for."""

UNLESS_GIVEN = {
    "connect_timeout": 5,
    # A machine that is away, or a network, is found out after half a minute, also where a statement has no limit.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""In seconds, the last in milliseconds; an address that names one of them decides."""


class Silent(psycopg.OperationalError):
    """The server has said nothing for too long, and the connection is over; what became of it there is not known."""


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection on which nobody waits for ever."""

    silence: float | None = None
    """Seconds after which it is given up, if the server says nothing; None to wait as long as it takes."""

    def wait(self, gen: PQGen[RV], interval: float = LOOK, *more: Any, **named: Any) -> RV:
        """Do something on the connection that the server has to answer."""
        if self.silence is None:
            return super().wait(gen, interval, *more, **named)
        try:
            return super().wait(_heard(gen, ceil(self.silence / LOOK)), LOOK, *more, **named)
        except Silent:
            self.pgconn.finish()
            raise


def connect(url: str, silence: float | None, **settings: Any) -> PatientConnection:
    """Return a connection to the server at an address."""
    given: dict[str, Any] = {**UNLESS_GIVEN, **conninfo_to_dict(url)}
    connection = PatientConnection.connect(**{**given, **settings})
    connection.silence = silence
    return connection


def _heard(waiting: Any, looks: int) -> Generator[Any, Any, Any]:
    """Hand on what waits for a server, until so many looks in a row have seen nothing."""
    silent = 0
    try:
        wanted = next(waiting)
        while True:
            ready = yield wanted
            silent = 0 if ready else silent + 1
            if silent >= looks:
                raise Silent("the server says nothing")
            wanted = waiting.send(ready)
    except StopIteration as end:
        return end.value
