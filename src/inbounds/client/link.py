"""A link to an answer, for people whom its owner names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Link:
    """An answer that is shared: what it is called, by whom and with whom."""

    id: str
    url: str
    """The page that shows the answer to these people."""
    title: str
    description: str | None
    owner: str
    created: str
    """When it was made, in UTC."""
    people: tuple[str, ...]
    """With whom it is shared; only its owner sees the names of others."""

    @classmethod
    def read(cls, data: Mapping[str, Any], server: str) -> Link:
        """Read what a server says; what a newer one says besides is left out."""
        facts = {name: data[name] for name in ("id", "title", "description", "owner", "created")}
        return cls(**facts, url=f"{server}{data['address']}", people=tuple(data["people"]))
