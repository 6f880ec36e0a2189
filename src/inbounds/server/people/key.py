"""Keys: 256 random bits that say who asks.  They are shown once; what is stored tells nobody what they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from inbounds.sampling.entropy import Entropy, system
from inbounds.server.basics.secret import new_secret

_KEY = re.compile(r"inb_([0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True)
class Key:
    """What is known of a key: everything but itself."""

    prefix: str
    """What a key is called; it is part of it, and no secret."""
    person: str
    digest: str
    """The SHA-256 of the whole key: with 256 random bits in it, nothing slower is needed."""
    issued: datetime
    expires: datetime
    revoked: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """Return whether the key opens anything."""
        return self.revoked is None and now < self.expires

    def state(self, now: datetime) -> str:
        """Say what has become of it."""
        if self.revoked is not None:
            return "revoked"
        return "valid" if now < self.expires else "expired"


def mint(entropy: Entropy = system) -> str:
    """Return a new key: a public prefix of 48 random bits, and 256 that are secret."""
    secret = new_secret(entropy)
    return f"inb_{entropy(6).hex()}_{secret}"


def prefix_of(text: str) -> str | None:
    """Return what a key is called, None if this cannot be one."""
    match = _KEY.fullmatch(text)
    return None if match is None else match[1]
