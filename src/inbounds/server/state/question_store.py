"""Questions as they were written: an answer is kept as it was released, and shown as it was asked for."""

from __future__ import annotations

import json
from typing import Any

from inbounds.server.state.database import Database


class QuestionStore:
    """What was asked with each request id: SQL, epsilon and options, as they came in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, request_id: str, dataset: str, content: dict[str, Any]) -> None:
        """Keep a question that was charged; the first with an id counts, as it does in the ledger.

        What was refused is not kept: it would cost nothing to fill the disk, and hide what is asked with the id next.
        """
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO questions (request_id, dataset, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (request_id, dataset, json.dumps(content, default=str)),
            )

    def find(self, request_id: str) -> tuple[str, dict[str, Any]] | None:
        """Return the dataset and the question of a request, None if it was never kept here."""
        rows = self._database.rows("SELECT dataset, content FROM questions WHERE request_id = ?", (request_id,))
        return (rows[0][0], json.loads(rows[0][1])) if rows else None
