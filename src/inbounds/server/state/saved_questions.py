"""Questions that somebody has saved under a name, to ask them again or to put them into a report."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.server.basics.secret import new_id
from inbounds.server.state.database import Database

MOST_SAVED = 100
"""So many has one person."""


@dataclass(frozen=True)
class SavedQuestion:
    """A question with a name."""

    id: str
    dataset: str
    name: str
    sql: str
    epsilon: str


class SavedQuestions:
    """All of them, in the server's file; each is its owner's alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, person: str, dataset: str, name: str, sql: str, epsilon: str) -> bool:
        """Save a question, in place of one of the same name; return False if this person has too many."""
        with self._database.writing() as connection:
            others = "SELECT count(*) FROM saved_questions WHERE person = ? AND NOT (dataset = ? AND name = ?)"
            if connection.execute(others, (person, dataset, name)).fetchone()[0] >= MOST_SAVED:
                return False
            connection.execute(
                "INSERT INTO saved_questions (id, person, dataset, name, sql, epsilon) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (person, dataset, name) DO UPDATE SET sql = excluded.sql, epsilon = excluded.epsilon",
                (new_id(), person, dataset, name, sql, epsilon),
            )
            return True

    def find_all(self, person: str, dataset: str | None = None) -> list[SavedQuestion]:
        """Return a person's questions by name: all, or those of a dataset."""
        condition, values = ("", (person,)) if dataset is None else (" AND dataset = ?", (person, dataset))
        sql = f"SELECT id, dataset, name, sql, epsilon FROM saved_questions WHERE person = ?{condition} ORDER BY name"
        return [SavedQuestion(*row) for row in self._database.rows(sql, values)]

    def remove(self, person: str, name: str) -> bool:
        """Remove a question by its id; return False if it is not this person's."""
        with self._database.writing() as connection:
            sql = "DELETE FROM saved_questions WHERE id = ? AND person = ?"
            return connection.execute(sql, (name, person)).rowcount == 1
