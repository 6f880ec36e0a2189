"""The terms of a dataset: what a charge promises to whom, as the contract says; the ledger keeps them, and a digest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from inbounds.errors import InvalidParameter
from inbounds.ledger.values.names import check_text

DIGITS = 32
"""Digits of a digest that stands within a text: 128 bits, which a line has room for."""

LONGEST = 100_000
"""Characters of all terms together; whoever has more gives a digest of the longest."""


@dataclass(frozen=True)
class Terms(Mapping[str, str]):
    """Names and texts: the unit of privacy, the most rows of one unit, the source, the bounds of every column."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Terms:
        """Take terms from a mapping of texts; their order does not matter."""
        if isinstance(given, Terms):
            return given
        if not given:
            raise InvalidParameter(
                "terms must have at least one name and text, got none; give the unit, the limit and the bounds"
            )
        items = tuple(sorted((check_text(name, "terms"), check_text(text, "terms")) for name, text in given.items()))
        if sum(len(name) + len(text) for name, text in items) > LONGEST:
            raise InvalidParameter(f"terms must have at most {LONGEST} characters together; shorten the longest")
        return cls(items)

    def __getitem__(self, name: str) -> str:
        return dict(self.pairs)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.pairs))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def digest(self) -> str:
        """The SHA-256 of the terms, the same in whatever order they were given."""
        canonical = json.dumps(dict(self.pairs), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return sha256(canonical.encode("ascii")).hexdigest()

    def __str__(self) -> str:
        return "; ".join(f"{name}: {text}" for name, text in self.pairs)

    def changes(self, later: Terms) -> str:
        """Say what is different in other terms."""
        names = [name for name in dict.fromkeys([*self, *later]) if self.get(name) != later.get(name)]
        return "; ".join(f"{name}: {self.get(name, 'nothing')}, now {later.get(name, 'nothing')}" for name in names)

    def dump(self, reason: str) -> str:
        """Write them, and why they were changed, as an entry keeps them."""
        return json.dumps({"terms": dict(self.pairs), "reason": reason}, ensure_ascii=False, sort_keys=True)

    @classmethod
    def load(cls, text: str) -> tuple[Terms, str] | None:
        """Read what `dump` wrote; None if it is something else, as in a ledger that was altered."""
        try:
            read = json.loads(text)
            return cls.of(read["terms"]), str(read["reason"])
        except (ValueError, TypeError, KeyError):  # InvalidParameter is a ValueError
            return None


def with_digest(part: str, whole: str) -> str:
    """Return what is shown of a text, with a digest of all of it, so that two texts that differ are told apart."""
    return f"{part} (SHA-256 {sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:DIGITS]}…)"
