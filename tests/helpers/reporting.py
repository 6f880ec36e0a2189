"""Reports and links as people make them: what is proposed, and what comes of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import httpx2

from tests.helpers.served_hospital import As, Served

BY = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
TABLES = [
    {"name": "by_clinic", "title": "Visits by clinic", "sql": BY, "epsilon": "0.5", "description": "Both clinics."},
    {"name": "ages", "title": "Ages", "sql": "SELECT AVG(age) FROM visits", "epsilon": "0.25"},
]


def proposal(**instead: Any) -> dict[str, Any]:
    """Return a report about visits, with something in place of what it has."""
    return {"dataset": "visits", "name": "year", "title": "A year of visits", "questions": TABLES, **instead}


def propose(who: As | httpx2.Client, **instead: Any) -> str:
    """Propose a report, and return what it is called."""
    found = who.post("/v1/reports", json=proposal(**instead))
    assert found.status_code == 201, found.text
    return str(found.json()["id"])


def publish(served: Served, **instead: Any) -> str:
    """Let ana propose a report and carla approve it, and return what it is called."""
    name = propose(served.person("ana"), **instead)
    found = served.person("carla").post(f"/v1/reports/{name}/approve")
    assert found.status_code == 200, found.text
    return name


def rename(served: Served, names: Mapping[str, str]) -> None:
    """Call reports, links and saved questions otherwise, so that a test knows their addresses beforehand."""
    with closing(sqlite3.connect(served.file.state)) as file, file:
        for given, name in names.items():
            for table in ("reports", "shares", "share_people", "saved_questions"):
                file.execute(f"UPDATE {table} SET id = ? WHERE id = ?", (name, given))


def share(who: As | httpx2.Client, key: str, *people: str, title: str = "For you") -> str:
    """Share an answer, and return what the link is called."""
    found = who.post(f"/v1/answers/{key}/shares", json={"title": title, "people": list(people)})
    assert found.status_code == 201, found.text
    return str(found.json()["id"])
