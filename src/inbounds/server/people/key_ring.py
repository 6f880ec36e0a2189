"""The keys of everybody, in the server's file: issued, listed, revoked, and found again when somebody shows one."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.server.basics import clock
from inbounds.server.basics.problem import Problem
from inbounds.server.basics.secret import digest_of
from inbounds.server.people.key import Key, mint, prefix_of
from inbounds.server.people.revocations import Revocations
from inbounds.server.state.database import Database

DAYS = 90
"""How long a key is valid, unless something else is said."""

MOST_DAYS = 3660

_NOBODY = ("", "", "0" * 64, "2000-01-01T00:00:00+00:00", "2000-01-02T00:00:00+00:00", None)
"""What is looked at where there is no key: it has expired, and no digest is like its."""


class KeyRing:
    """All keys."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._revocations = Revocations(database.path.with_name(f"{database.path.name}.revoked"))
        with suppress(Problem):  # it stays noted until it can be written
            self._settle()

    def issue(self, person: str, days: int = DAYS) -> tuple[str, Key]:
        """Make a key, and return it, this once, with what is kept of it."""
        if type(days) is not int or not 1 <= days <= MOST_DAYS:
            raise InvalidParameter(
                f"an API key is valid for 1 to {MOST_DAYS} days, got {days!r}; choose a number in this range"
            )
        text, now = mint(), clock.now()
        key = Key(prefix_of(text) or "", person, digest_of(text), now, now + timedelta(days=days))
        values = (key.prefix, key.person, key.digest, key.issued.isoformat(), key.expires.isoformat())
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO keys (prefix, person, digest, issued, expires) VALUES (?, ?, ?, ?, ?)", values
            )
        return text, key

    def issued(self) -> list[Key]:
        """Return all keys, the newest first."""
        pending = self._revocations.pending()
        return [_key(row, pending) for row in self._database.rows(f"{_SELECT} ORDER BY issued DESC, prefix")]

    def revoke(self, prefix: str) -> Key | None:
        """End a key at once; return what is known of it, None if there is no such key.  Twice does nothing more.

        Where the file cannot be written, as on a full disk, it is noted beside it.
        """
        key = self._find(prefix)
        if key is None or key.revoked is not None:
            return key
        now = clock.now().isoformat()
        try:
            self._settle({prefix: now})
        except Problem:
            if not self._revocations.note(prefix, now):
                raise
        return self._find(prefix)

    def _settle(self, more: Mapping[str, str] = MappingProxyType({})) -> None:
        """Write down in the file what is noted beside it, and some more."""
        pending = self._revocations.pending()
        if not pending and not more:
            return
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE keys SET revoked = ? WHERE prefix = ? AND revoked IS NULL",
                [(when, prefix) for prefix, when in {**more, **pending}.items()],
            )
        # Last: a crash before this leaves the notes, and to revoke a key twice does no harm.
        self._revocations.forget(pending)

    def holder(self, text: str) -> str | None:
        """Return whose key this is, None if it is nobody's, revoked or expired.

        Digests are compared in constant time.  Where there is no key, that of nobody is read and compared, so that the
        time of a refusal does not show whether a guessed prefix exists.
        """
        prefix = prefix_of(text)
        key = _key(_NOBODY) if prefix is None else self._find(prefix) or _key(_NOBODY)
        same = hmac.compare_digest(digest_of(text), key.digest)
        return key.person if same and key.is_valid(clock.now()) else None

    def is_valid(self, prefix: str) -> bool:
        """Return whether a key that was shown before still opens anything."""
        key = self._find(prefix)
        return key is not None and key.is_valid(clock.now())

    def _find(self, prefix: str) -> Key | None:
        pending = self._revocations.pending()  # before the file is read, to which notes go
        rows = self._database.rows(f"{_SELECT} WHERE prefix = ?", (prefix,))
        return _key(rows[0], pending) if rows else None


_SELECT = "SELECT prefix, person, digest, issued, expires, revoked FROM keys"


def _key(row: tuple[Any, ...], pending: Mapping[str, str] = MappingProxyType({})) -> Key:
    prefix, person, digest, issued, expires, revoked = row
    revoked = revoked or pending.get(prefix)
    ended = None if revoked is None else datetime.fromisoformat(revoked)
    return Key(prefix, person, digest, datetime.fromisoformat(issued), datetime.fromisoformat(expires), ended)
