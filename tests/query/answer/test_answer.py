"""Answers as people and programs get them: text, HTML, and frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.query import Answer
from inbounds.query.methods.contribution_bound import ADVICE, IN_FORCE, NOT_IN_NOISE, WHERE_EXPLAINED
from inbounds.results.answer_table import NO_ROOM
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "<b>"]
[columns.count]
keys = [1, 2]
[columns.size]
bounds = "[0, 100] step 1"
"""
TYPES = "who BIGINT, place VARCHAR, count BIGINT, size BIGINT"
LIMIT = f"{IN_FORCE}each who contributes at most 3 rows"


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    """A dataset with a row limit of 3."""
    with Playground(contract(COLUMNS, limit=3), TYPES, tmp_path / "ledger.db") as found:
        yield found


def test_the_notice_points_to_a_section_that_there_is() -> None:
    """The page that the notice about the contribution bound names has the section that it names."""
    page, _, anchor = WHERE_EXPLAINED.partition("#")
    text = (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    assert f"\n## {anchor.replace('-', ' ').capitalize()}\n" in text


def test_every_answer_says_that_a_row_limit_is_in_force(playground: Playground) -> None:
    """Text and HTML of an answer call the noise noise, and say what the limit does, which no figure can."""
    answer = playground.dataset.count().by("place").ask(1, analyst="ana", pooling=1)
    for shown in (" ".join(str(answer).split()), answer._repr_html_()):
        assert "expected noise" in shown
        assert "error" not in shown
        assert LIMIT in shown
        assert f"{NOT_IN_NOISE} ({WHERE_EXPLAINED})." in shown
    assert NOT_IN_NOISE not in str(playground.dataset.median("size").ask(1, analyst="ana").row_limit)
    assert "&lt;b&gt;" in answer._repr_html_()
    assert max(map(len, str(answer).splitlines())) <= 80


def test_where_rows_may_be_cut_a_better_limit_is_named(playground: Playground) -> None:
    """Once in an answer and its explanation, by what is asked alone; not where units or rows made of units count."""
    data = playground.dataset
    several = data.together(data.count(), data.mean("size"), data.median("size"))
    for query, times in (
        (data.count(), 1),
        (several.by("place"), 1),
        (data.count_units().by("place", "count"), 0),
        (data.per_unit(n="COUNT(*)").mean("n"), 0),
    ):
        assert query.explain(1).row_limit.count(ADVICE) == times
        assert str(query.ask(1, analyst="ana").row_limit).count(ADVICE) == times
    assert "at most 3 groups" in data.count_units().by("place", "count").explain(1).row_limit


def test_without_a_limit_none_is_spoken_of(tmp_path: Path) -> None:
    """Where each row is a unit of its own, an answer says nothing of a limit."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        answer = playground.dataset.median("size").ask(1, analyst="ana")
    assert answer.row_limit is None
    assert "limit" not in str(answer)
    assert "noise" not in str(answer)  # of a quantile, none is told


def test_columns_have_names_of_their_own(playground: Playground) -> None:
    """A measure is not called like a column that is grouped by, so that no answer is lost as data."""
    answer = playground.dataset.count().by("count").ask(1, analyst="ana", pooling=1)
    assert answer.columns == ("count", "count_")
    assert [row["count"] for row in answer.data()] == [1, 2]


@pytest.mark.parametrize("beside", ["COUNT(*)", "AVG(size)", "MEDIAN(size)", "COUNT_IF(size > 5)"])
def test_a_number_of_values_is_called_as_it_is_asked_for(playground: Playground, beside: str) -> None:
    """Whatever it is beside, and however it is summed, it has a name that a person would give it."""
    query = playground.dataset.sql(f"SELECT COUNT(size), {beside} FROM visits")
    assert query.released_columns[0] == "count_size"


def test_intervals_that_text_has_no_room_for_are_told(playground: Playground) -> None:
    """Beside three measures the text says where their intervals are; beside two they are in it."""
    data = playground.dataset
    three = data.sql("SELECT COUNT(*), COUNT(size), AVG(size) FROM visits").ask(1, analyst="ana", force=True)
    two = data.sql("SELECT COUNT(*), AVG(size) FROM visits").ask(1, analyst="ana", force=True)
    assert NO_ROOM in " ".join(str(three).split())
    assert NO_ROOM in " ".join(three._repr_html_().split())
    assert "low_count_noise_only" in three.by_column()
    assert NO_ROOM not in " ".join(str(two).split())


ANSWER = Answer(
    ("day", "sum"), ((date(2026, 1, 2), 5), (date(2026, 1, 3), -(2**70))), ((0.5,), (0.25,)), Fraction(1), "r"
)


@pytest.mark.parametrize(("name", "package"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")])
def test_answers_become_frames(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer becomes a frame of what it holds and its noise; without the package, the error names it."""
    pytest.importorskip(package)
    frame: Any = getattr(ANSWER, f"to_{name}")()
    rows = frame.to_dict("records") if name == "pandas" else frame.to_dicts() if name == "polars" else frame.to_pylist()
    assert [tuple(row.values()) for row in rows] == [(date(2026, 1, 2), 5.0, 0.5), (date(2026, 1, 3), -(2.0**70), 0.25)]
    assert list(rows[0]) == ["day", "sum", "expected_noise"]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"to_{name} needs {package}, which is not installed: pip install {package}"):
        getattr(ANSWER, f"to_{name}")()
