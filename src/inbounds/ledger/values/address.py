"""Paths and addresses as messages may show them: nothing that may hold a password, however it was misspelt."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from inbounds.ledger.values.terms import with_digest

SERVERS = ("postgresql://", "postgres://")
"""How the address of a server begins."""

HIDDEN = "(not shown, since it may hold a password)"

_LIKE_ADDRESS = re.compile(
    r"\s*[A-Za-z][A-Za-z0-9+.-]+:|.*:.*@|.*\b(host|dbname|user|password|port|service)\s*=", re.DOTALL
)
"""What begins like an address, has a user and a password in it, or names parts of a connection as PostgreSQL does
(`host=... password=...`); a drive letter is a path's."""

_SECRETIVE = re.compile(r"@|pass|pwd|secret|token|postgres|://", re.IGNORECASE)

_USER = re.compile(r"(//?).*@", re.DOTALL)

_SECRET_VALUE = re.compile(r"((?:pass|pwd|secret|token|key|sig)[^=&;\s]*=)[^&;\s]*", re.IGNORECASE)

_PLAIN = re.compile(r"[\w.:-]*(/[\w.-]*)?", re.ASCII)


def is_server(place: object) -> bool:
    """Return whether a place is the address of a server."""
    return isinstance(place, str) and place.startswith(SERVERS)


def path_of(place: str) -> Path | None:
    """Return the path that a place is, None for an address."""
    return None if is_address(place) else Path(place)


def is_address(place: str) -> bool:
    """Return whether a text is meant as an address, and cannot be a path: also if it is misspelt."""
    return _LIKE_ADDRESS.match(place) is not None


def without_secrets(place: str) -> str:
    """Return a path as it is, and of an address the server and the database; nothing that could hold a password."""
    if not is_server(place):
        return HIDDEN if is_address(place) or _SECRETIVE.search(place) else place
    try:
        parts = urlsplit(place)
        # Without a user, what looks like a server, a port and a database may be a user and a password.
        named = f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}" if parts.username else ""
    except ValueError:
        named = ""
    return f"postgresql://{named}" if named and _PLAIN.fullmatch(named) else "postgresql://..."


def distinct_place(place: str) -> str:
    """Return what `without_secrets` returns, with a digest of what that leaves out, so that no two places are alike.

    Users and passwords do not enter the digest, as far as they can be told: they are not the place, they may change,
    and a password could be guessed from a digest.
    """
    named = without_secrets(place)
    rest = _SECRET_VALUE.sub(r"\1", _USER.sub(r"\1", place))
    if rest == named:
        return named
    return with_digest(named, rest)
