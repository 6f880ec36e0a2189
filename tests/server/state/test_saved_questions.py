"""Saved questions: each person's own, by name, and not without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.server.state.database import Database
from inbounds.server.state.saved_questions import MOST_SAVED, SavedQuestions


@pytest.fixture
def saved(tmp_path: Path) -> SavedQuestions:
    """The questions of an empty file."""
    return SavedQuestions(Database(tmp_path / "server.db"))


def test_a_question_is_its_owners(saved: SavedQuestions) -> None:
    """Nobody else sees or removes it, and another one under its name takes its place."""
    for person, sql in (("ana", "SELECT 1"), ("ben", "SELECT 2"), ("ana", "SELECT 3")):
        assert saved.keep(person, "visits", "counted", sql, "0.5")
    (anas,) = saved.find_all("ana", "visits")
    assert (anas.sql, saved.find_all("ben")[0].sql, saved.find_all("ana", "births")) == ("SELECT 3", "SELECT 2", [])
    assert not saved.remove("ben", anas.id)
    assert saved.remove("ana", anas.id)
    assert saved.find_all("ana") == []
    assert len(saved.find_all("ben")) == 1


def test_one_person_saves_so_many(saved: SavedQuestions) -> None:
    """A hundred are kept of one person; one of them can still be changed, and others save theirs."""
    assert all(saved.keep("ana", "visits", str(number), "SELECT 1", "1") for number in range(MOST_SAVED))
    assert not saved.keep("ana", "visits", "one more", "SELECT 1", "1")
    assert saved.keep("ana", "visits", "0", "SELECT 2", "1")
    assert saved.keep("ben", "visits", "0", "SELECT 2", "1")
