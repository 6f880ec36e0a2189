"""Keys without a measure are those that the contract lists: public, and free."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion, UselessQuestion
from inbounds.query import Dataset
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.server.pages.parts.answer_table import describe_answer
from tests.helpers.audit_tables import Told, using
from tests.helpers.months_clinic import months_clinic

CLINICS = (("north",), ("south",), ("east",))


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Dataset]:
    """A clinic of which no row may be read."""
    with months_clinic(tmp_path) as found:
        using(found, Told({}, lambda: pytest.fail("a statement was run")))
        yield found


FREE: list[tuple[str, tuple[tuple[Any, ...], ...]]] = [
    ("SELECT DISTINCT clinic FROM visits", CLINICS),
    ("SELECT clinic AS c FROM visits GROUP BY 1 ORDER BY c LIMIT 2", (("east",), ("north",))),
    ("SELECT DISTINCT clinic FROM visits WHERE clinic <> 'east' AND age > 50", CLINICS[:2]),
    ("SELECT DISTINCT died, clinic FROM visits WHERE clinic = 'east'", ((True, "east"), (False, "east"))),
    ("SELECT clinic FROM visits GROUP BY clinic HAVING clinic <> 'east'", CLINICS[:2]),
    ("SELECT clinic FROM visits GROUP BY ROLLUP (clinic)", (*CLINICS, (None,))),
    (
        "SELECT DISTINCT DATE_TRUNC('quarter', day) FROM visits ORDER BY 1 DESC LIMIT 2",
        ((date(2025, 10, 1),), (date(2025, 7, 1),)),
    ),
]


@pytest.mark.parametrize(("sql", "rows"), FREE)
def test_keys_are_public_and_free(visits: Dataset, sql: str, rows: tuple[tuple[Any, ...], ...]) -> None:
    """All keys that the condition leaves by what is public are told, whether or not rows have them, for nothing."""
    query = visits.sql(sql)
    answer = query.ask(1, analyst="ana")
    assert answer.rows == rows
    assert answer.epsilon == 0
    assert not answer.request_id
    assert answer.public == answer.columns
    assert answer.is_public
    assert visits.ledger.statement("visits", "ana").entries == ()
    assert query.owned("ana") == answer
    explained = query.explain(1)
    assert explained.epsilon == 0
    assert explained.parts == ()
    assert explained.shown is None
    assert "public knowledge" in " ".join(str(explained).split())
    assert str(visits.sql(str(query))) == str(query)


def test_public_keys_are_shown_everywhere(visits: Dataset) -> None:
    """An answer of keys alone is shown in text, in JSON, in frames and on pages, without a number."""
    answer = visits.sql("SELECT DISTINCT clinic FROM visits").ask(1, analyst="ana")
    assert str(answer).splitlines()[2:5] == ["north", "south", "east"]
    assert answer.by_column() == {"clinic": ["north", "south", "east"]}
    read = read_answer(json.loads(json.dumps(write_answer(answer))))
    assert (read.rows, read.measures, read.is_public) == (answer.rows, 0, True)
    page = describe_answer(answer)
    assert page["reading"] == "Every value is public and exact."
    assert [row["cells"][0]["text"] for row in page["table"]["rows"]] == ["north", "south", "east"]


def test_a_condition_that_no_row_meets_has_no_keys(visits: Dataset) -> None:
    """What nobody can be is refused, as it is with a measure."""
    with pytest.raises(UselessQuestion, match="no row can meet"):
        visits.sql("SELECT DISTINCT clinic FROM visits WHERE age > 200").ask(1, analyst="ana")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT DISTINCT age FROM visits", "SELECT DISTINCT age would show values of rows"),
        ("SELECT day FROM visits GROUP BY day", "GROUP BY day would show values of rows"),
        ("SELECT DISTINCT patient FROM visits", "SELECT DISTINCT patient would show single people"),
        ("SELECT DISTINCT clinic, patient FROM visits", "SELECT DISTINCT patient would show single people"),
        ("SELECT DISTINCT * FROM visits", "rows are never shown"),
        ("SELECT DISTINCT ON (clinic) age FROM visits", "DISTINCT ON would show rows"),
        ("SELECT patient, clinic FROM visits", "single rows are never shown"),
        ("SELECT clinic FROM visits", "rows are never shown"),
    ],
)
def test_what_rows_would_tell_is_refused(visits: Dataset, sql: str, words: str) -> None:
    """Values without categories, units and rows are not public."""
    with pytest.raises(InvalidQuestion, match=words):
        visits.sql(sql)


def test_distinct_groups_stay_as_they_are(visits: Dataset) -> None:
    """DISTINCT is nothing where what is selected tells all groups apart, and refused elsewhere."""
    plain = visits.sql("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic")
    assert str(visits.sql("SELECT DISTINCT clinic, COUNT(*) FROM visits GROUP BY clinic")) == str(plain)
    with pytest.raises(InvalidQuestion, match="every column of GROUP BY"):
        visits.sql("SELECT DISTINCT COUNT(*) FROM visits GROUP BY clinic")
