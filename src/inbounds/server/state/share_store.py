"""Links to answers: each is for some people whom the owner of the answer names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inbounds.server.basics import clock
from inbounds.server.basics.secret import new_id
from inbounds.server.state.database import Database

MOST_LINKS = 100
"""So many links of one person there can be; a link that is revoked makes room."""

_FIELDS = "id, owner, key, title, description, created"


@dataclass(frozen=True)
class Share:
    """A link to an answer, and for whom it is."""

    id: str
    owner: str
    key: str
    """The Idempotency-Key of the owner's request."""
    title: str
    description: str | None
    created: str
    """When, in UTC."""
    people: tuple[str, ...]


class ShareStore:
    """All links, in the server's file; one that is revoked is gone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, owner: str, key: str, title: str, description: str | None, people: Sequence[str]) -> str | None:
        """Keep a link, and return what it is called; None if this person has too many."""
        name = new_id()
        with self._database.writing() as connection:
            if connection.execute("SELECT count(*) FROM shares WHERE owner = ?", (owner,)).fetchone()[0] >= MOST_LINKS:
                return None
            connection.execute(
                f"INSERT INTO shares ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?)",
                (name, owner, key, title, description, clock.now().isoformat()),
            )
            connection.executemany(
                "INSERT INTO share_people (id, person) VALUES (?, ?)", [(name, person) for person in people]
            )
        return name

    def find(self, name: str) -> Share | None:
        """Return a link."""
        found = self._find("id = ?", name)
        return found[0] if found else None

    def of_answer(self, owner: str, key: str) -> list[Share]:
        """Return the links to one answer, the newest first."""
        return self._find("owner = ? AND key = ?", owner, key)

    def with_person(self, person: str) -> list[Share]:
        """Return the links that are for somebody, the newest first."""
        return self._find("id IN (SELECT id FROM share_people WHERE person = ?)", person)

    def _find(self, condition: str, *values: str) -> list[Share]:
        sql = f"SELECT {_FIELDS} FROM shares WHERE {condition} ORDER BY created DESC, rowid DESC"
        return [
            Share(name, owner, key, title, description, created, self._people(name))
            for name, owner, key, title, description, created in self._database.rows(sql, values)
        ]

    def _people(self, name: str) -> tuple[str, ...]:
        rows = self._database.rows("SELECT person FROM share_people WHERE id = ? ORDER BY person", (name,))
        return tuple(person for (person,) in rows)

    def revoke(self, name: str, owner: str, key: str) -> bool:
        """Take a link back; return False if this answer has none of this name."""
        with self._database.writing() as connection:
            sql = "DELETE FROM shares WHERE id = ? AND owner = ? AND key = ?"
            revoked = connection.execute(sql, (name, owner, key)).rowcount == 1
            if revoked:
                connection.execute("DELETE FROM share_people WHERE id = ?", (name,))
            return revoked
