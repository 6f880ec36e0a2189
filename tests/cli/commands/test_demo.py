"""`inbounds demo`: the story that it tells is true, and good."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from inbounds.cli.clinic.clinic import LIMIT, OPEN, true_rows
from inbounds.cli.clinic.questions import QUESTIONS
from tests.cli.conftest import Type, within_80

RUNS = 200


@pytest.mark.slow
def test_the_demonstration(typed: Type, tmp_path: Path) -> None:
    """Both forms hold ten questions within 80 columns; nothing in bounds is impossible, all is spent and verified."""
    text, data = typed("demo"), typed("demo", "--json", "--keep", str(tmp_path / "kept")).data
    assert (text.code, text.err) == (0, "")
    assert within_80(text.out)
    assert all(ask.sql() in text.out for ask in QUESTIONS)
    assert "none in bounds" in text.out
    assert "verified, 22 entries" in text.out
    assert {row["number"] for row in data["answers"]} == set(range(1, 11))
    assert data["impossible"]["in_bounds"] == 0
    assert data["budget"] == {"cap": 3, "spent": 3, "left": 0}
    assert data["ledger"]["ok"]
    assert "cannot spend 0.1" in data["one_more"]


@pytest.mark.slow
def test_the_folder_is_kept_and_can_be_asked(typed: Type, tmp_path: Path) -> None:
    """What is kept can be asked on; the demonstration again gives the same answers, free; another contract stays."""
    folder = tmp_path / "kept"
    first, again = (typed("demo", "--json", "--keep", str(folder)).data["answers"] for _ in range(2))
    assert [row["in_bounds"] for row in first] == [row["in_bounds"] for row in again]
    words = ("query", "--dataset", str(folder / "clinic.toml"), "--epsilon", "0.5", "--analyst", "you")
    assert typed(*words, "SELECT clinic, AVG(age) FROM visits GROUP BY clinic").code == 0
    (folder / "clinic.toml").write_text("mine", encoding="utf-8")
    assert typed("demo", "--keep", str(folder)).code == 2
    assert (folder / "clinic.toml").read_text("utf-8") == "mine"


@pytest.mark.slow
def test_plain_noise_tells_the_story(built: Path) -> None:
    """Over many runs plain noise nearly always has a negative count and a percentage above 100, often a closed day."""
    told = {"negative": 0, "above": 0, "closed": 0}
    asked = []
    for ask in QUESTIONS:
        truths, counts = true_rows(built, ask.sql()), true_rows(built, ask.sql("COUNT(*)"))
        groups = [("north",), ("south",), ("east",), ("west",)] if ask.by else [()]
        for group in groups:
            truth = {row[:-1]: row[-1] for row in truths}.get(group, 0)
            asked.append((ask, truth, {row[:-1]: row[-1] for row in counts}.get(group, 0)))
    for _ in range(RUNS):
        seen = set()
        for ask, truth, rows in asked:
            answer = ask.plain(truth, rows, ask.epsilon)
            if not ask.possible(answer):
                above = ask.percent is not None and answer * ask.percent > 100
                count = ask.percent is None and not isinstance(answer, date) and answer < 0
                seen.add("above" if above else "negative" if count else "closed" if isinstance(answer, date) else "")
        for name in told:
            told[name] += name in seen
    assert told["negative"] >= 0.93 * RUNS
    assert told["above"] >= 0.93 * RUNS
    assert told["closed"] >= 0.6 * RUNS


def test_every_truth_is_possible_and_the_visits_are_the_same(built: Path) -> None:
    """The clinic was open at every visit, patients come more than once, and the story's figures stand still."""
    days = true_rows(built, "SELECT DISTINCT day FROM visits")
    assert all(day in OPEN for (day,) in days)
    assert true_rows(built, "SELECT count(*), count(DISTINCT patient) FROM visits") == [(2131, 923)]
    assert true_rows(built, "SELECT count(*) FROM visits WHERE finding = 'rare'") == [(2,)]


@pytest.mark.parametrize(
    ("day", "is_open"),
    [("2026-08-03", False), ("2026-08-16", False), ("2026-12-25", False), ("2026-08-17", True), ("2027-01-04", False)],
)
def test_what_the_story_calls_open_is_what_the_contract_says(day: str, is_open: bool) -> None:
    """Weekends, holidays and other years are impossible, and so many visits count."""
    assert (date.fromisoformat(day) in OPEN) == is_open
    assert LIMIT == 4
