"""Sessions: who is signed in with a browser.  What is stored tells nobody what a cookie says."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

from inbounds.sampling.entropy import Entropy, system
from inbounds.server.basics import clock
from inbounds.server.basics.secret import digest_of, new_secret
from inbounds.server.state.database import Database

HOURS = 12
"""How long somebody stays signed in."""


@dataclass(frozen=True)
class Session:
    """Somebody who signed in."""

    person: str
    key: str | None
    """The prefix of the key that was shown; a session ends with its key.  None if a provider vouched."""
    token: str
    """What forms carry, so that no other site can send them."""
    expires: datetime

    def has_token(self, token: str) -> bool:
        """Return whether a form carries the token of this session."""
        return hmac.compare_digest(token.encode(), self.token.encode())


class Sessions:
    """All sessions, in the server's file."""

    def __init__(self, database: Database, entropy: Entropy = system) -> None:
        self._database = database
        self._entropy = entropy

    def begin(self, person: str, key: str | None) -> str:
        """Begin a session, and return what its cookie says: always a new one, whatever the browser had before."""
        cookie, token = new_secret(self._entropy), new_secret(self._entropy)
        now = clock.now()
        values = (digest_of(cookie), person, key, token, (now + timedelta(hours=HOURS)).isoformat())
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE expires < ?", (now.isoformat(),))
            connection.execute(
                "INSERT INTO sessions (digest, person, key, token, expires) VALUES (?, ?, ?, ?, ?)", values
            )
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Return the session that a cookie stands for, None if it is over."""
        sql = "SELECT person, key, token, expires FROM sessions WHERE digest = ?"
        rows = self._database.rows(sql, (digest_of(cookie),))
        if not rows:
            return None
        person, key, token, expires = rows[0]
        session = Session(person, key, token, datetime.fromisoformat(expires))
        return session if clock.now() < session.expires else None

    def end(self, cookie: str) -> None:
        """End a session, at once."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE digest = ?", (digest_of(cookie),))
