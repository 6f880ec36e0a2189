"""Sign-ins at an identity provider that were begun and not ended: only the browser that began one can end it, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from inbounds.server.basics import clock
from inbounds.server.basics.secret import digest_of
from inbounds.server.state.database import Database

BACK = "/sign-in/provider/back"
"""Where the provider sends browsers to: register it there."""

MINUTES = 10
"""How long somebody may take to sign in there."""


@dataclass(frozen=True)
class SignIn:
    """What was told the provider, and which page was wanted."""

    state: str
    nonce: str
    verifier: str
    after: str


class SignIns:
    """All of them, in the server's file, each under the digest of a cookie."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, cookie: str, sign_in: SignIn) -> None:
        """Keep one, for some minutes."""
        now = clock.now()
        until = (now + timedelta(minutes=MINUTES)).isoformat()
        values = (digest_of(cookie), sign_in.state, sign_in.nonce, sign_in.verifier, sign_in.after, until)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sign_ins WHERE expires < ?", (now.isoformat(),))
            connection.execute(
                "INSERT INTO sign_ins (digest, state, nonce, verifier, after, expires) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )

    def take(self, cookie: str) -> SignIn | None:
        """Return one, and keep it no longer; None if there is none, or it took too long."""
        sql = "DELETE FROM sign_ins WHERE digest = ? AND expires >= ? RETURNING state, nonce, verifier, after"
        with self._database.writing() as connection:
            row = connection.execute(sql, (digest_of(cookie), clock.now().isoformat())).fetchone()
        return None if row is None else SignIn(*row)
