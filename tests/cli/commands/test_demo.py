"""`inbounds demo`: the story that it tells is true, and good."""

from __future__ import annotations

import shutil
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from inbounds.cli.clinic import comparison, draws, questions
from inbounds.cli.clinic.clinic import LIMIT, OPEN, true_rows
from inbounds.cli.clinic.plain_noise import NoisyMean
from inbounds.cli.clinic.questions import QUESTIONS, Ask
from inbounds.query import Dataset
from tests.cli.conftest import Type, within_80
from tests.helpers.scripted_entropy import Script
from tests.helpers.town_tables import quiet

RUNS = 2000


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw so few times that it takes no time."""
    monkeypatch.setattr(comparison, "DRAWS", 20)


@pytest.mark.slow
def test_the_demonstration(typed: Type, briefly: None) -> None:
    """Ten questions within 80 columns; nothing in bounds is impossible, all is spent and verified."""
    text = typed("demo")
    assert (text.code, text.err) == (0, "")
    assert within_80(text.out)
    assert all(ask.sql() in text.out for ask in QUESTIONS)
    assert "mean error over 20 draws" in text.out
    assert "none in bounds" in text.out
    assert "verified, 22 entries" in text.out


@pytest.mark.slow
def test_the_demonstration_ends_with_a_report(typed: Type, briefly: None, tmp_path: Path) -> None:
    """`--report` publishes the clinic's year from what is left of the budget; it can be verified, and made anew."""
    page = tmp_path / "year.html"
    for _ in range(2):
        text = typed("demo", "--report", str(page))
        assert (text.code, text.err) == (0, "")
        assert "year.html: 4 tables, paid once" in " ".join(text.out.split())
    assert "is unchanged: 4 tables" in typed("publish", "--verify", str(page)).out
    refused = typed("demo", "--report", str(tmp_path / "year.doc"))
    assert refused.code == 2


@pytest.mark.slow
def test_inbounds_is_nowhere_the_less_accurate_one(typed: Type, tmp_path: Path) -> None:
    """No mean error in bounds is above that of plain noise by more than chance, most are clearly below it, and nothing
    else is wrong with what machines are told."""
    data = typed("demo", "--json", "--keep", str(tmp_path / "kept")).data
    rows = data["answers"]
    assert {row["number"] for row in rows} == set(range(1, 11))
    assert data["draws"] == 1000
    assert all(row["in_bounds_error"] < 1.4 * row["plain_error"] for row in rows)  # six standard errors, and more
    assert sum(row["in_bounds_error"] < 0.8 * row["plain_error"] for row in rows) >= 11
    clear = [row for row in rows if row["nearer"] is not None]
    assert all((row["in_bounds_error"] < row["plain_error"]) == (row["nearer"] == "in_bounds") for row in clear)
    assert data["impossible"]["in_bounds"] == 0
    assert data["budget"] == {"cap": 3, "spent": 3, "left": 0}
    assert data["ledger"]["ok"]
    assert "cannot spend 0.1" in data["one_more"]


@pytest.mark.slow
def test_the_folder_is_kept_and_can_be_asked(typed: Type, briefly: None, tmp_path: Path) -> None:
    """What is kept can be asked on; the demonstration again gives the same answers, free; another contract stays."""
    folder = tmp_path / "kept"
    first, again = (typed("demo", "--json", "--keep", str(folder)).data["answers"] for _ in range(2))
    assert [row["in_bounds"] for row in first] == [row["in_bounds"] for row in again]
    words = ("query", "--dataset", str(folder / "clinic.toml"), "--epsilon", "0.5", "--analyst", "you")
    assert typed(*words, "SELECT clinic, AVG(age) FROM visits GROUP BY clinic").code == 0
    (folder / "clinic.toml").write_text("mine", encoding="utf-8")
    assert typed("demo", "--keep", str(folder)).code == 2
    assert (folder / "clinic.toml").read_text("utf-8") == "mine"


def answers_of_plain_noise(built: Path, ask: Ask, times: int) -> list[list[Any]]:
    """Return many answers of plain noise, for each group of a question but the total of all."""
    found = {row[: ask.by is not None]: row[ask.by is not None :] for row in true_rows(built, ask.counting_sql())}
    groups = [(name,) for name in ("north", "south", "east", "west")] if ask.by else [()]
    sums = [found.get(group, (0,)) for group in groups]
    drawn = [ask.plain.draw(of, Fraction(ask.epsilon) / (1 + ask.totals), times) for of in sums]
    return [[ask.plain.answer(number) for number in numbers] for numbers in drawn]


@pytest.mark.slow
def test_plain_noise_tells_the_story(built: Path) -> None:
    """Over many runs plain noise nearly always has a negative count, a day that is none, and often over 100 %."""
    told = {"negative": np.zeros(RUNS, bool), "above": np.zeros(RUNS, bool), "closed": np.zeros(RUNS, bool)}
    for ask in QUESTIONS:
        kind = "closed" if "MEDIAN" in ask.measure else "negative" if ask.percent is None else "above"
        for answers in answers_of_plain_noise(built, ask, RUNS):
            told[kind] |= [not ask.possible(answer) and (kind != "above" or answer > 1) for answer in answers]
    assert told["negative"].mean() >= 0.93
    assert told["closed"].mean() >= 0.93
    assert told["above"].mean() >= 0.6


def without(built: Path, patient: int, folder: Path) -> Path:
    """Return a folder with the visits of all patients but one."""
    folder.mkdir()
    with duckdb.connect() as connection:
        visits = connection.from_parquet(str(built / "visits.parquet"))
        visits.filter(f"patient <> {patient}").write_parquet(str(folder / "visits.parquet"))
    return folder


def test_plain_noise_is_private_for_whom_the_contract_protects(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No patient, however many visits they have, changes what noise is put on by more than its sensitivity."""

    def changes(ask: Ask, fewer: Path) -> list[float]:
        with_all, without_one = (
            {row[: ask.by is not None]: row[ask.by is not None :] for row in true_rows(folder, ask.counting_sql())}
            for folder in (built, fewer)
        )
        zeros = (0,) * len(ask.plain.sums)
        groups = [group for group in with_all if group != (None,)]  # the total has a part of epsilon of its own
        moved = [np.subtract(with_all[group], without_one.get(group, zeros), dtype=float) for group in groups]
        return [*np.abs(moved).sum(axis=0)]

    folders = [without(built, patient, tmp_path / str(patient)) for patient in (50, 402)]
    for ask in QUESTIONS:
        for folder in folders:
            found = zip(changes(ask, folder), ask.plain.sensitivities, strict=True)
            assert all(change <= most + 1e-9 for change, most in found), ask.sql()
    rows = QUESTIONS[4]
    monkeypatch.setattr(questions, "LIMIT", 9)  # who has nine visits then changes more
    assert changes(rows, folders[0])[1] > rows.plain.sensitivities[1]


@pytest.mark.parametrize("part", [0, 1])
def test_a_plain_mean_pays_for_its_sum_and_for_its_count(part: int) -> None:
    """Noise on either is that of half of epsilon: the mean distance is twice that of the whole, and not the same."""
    mean, epsilon, times = NoisyMean("age", 0, 100, 4), Fraction(1, 2), 20_000

    class Part(NoisyMean):
        def put_together(self, *noisy: Any) -> Any:
            return noisy[part]

    drawn = Part("age", 0, 100, 4).draw((0, 0), epsilon, times)
    whole = float(mean.sensitivities[part] / epsilon)
    assert np.abs(drawn).mean() == pytest.approx(2 * whole, rel=0.06)  # more than six standard errors
    assert np.abs(drawn).mean() != pytest.approx(whole, rel=0.06)


def test_many_draws_are_those_of_answers(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same random bytes, draws are the values of answers; what is spent on rows is all that is spent."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    with Dataset.load(tmp_path / "clinic.toml") as visits:
        for ask in QUESTIONS:
            (plan,) = visits.sql(ask.sql()).plans(ask.epsilon)
            totals = plan.totals(visits.engine.run(plan.sql))
            monkeypatch.setattr(draws, "system", Script(seed=5))
            drawn, script = draws.draw_often(plan, totals, 3), Script(seed=5)
            if "COUNT" in ask.measure or "MEDIAN" in ask.measure:
                answers = [plan.answering.answer_all(totals, 0.95, quiet, script) for _ in range(3)]
            else:  # many groups are drawn at once
                flat = plan.answering.answer_all(totals * 3, 0.95, quiet, script)
                answers = [flat[start : start + len(totals)] for start in range(0, len(flat), len(totals))]
            assert drawn.tolist() == [[draws.as_number(one.value) for (one,) in rows] for rows in answers]
            first, *_, last = draws.parts_of_epsilon(plan) * 2
            assert first + (last if ask.totals else 0) == plan.epsilon


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
