"""Related tables: what is asked is what is true of them, in both ways and on every engine, or it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, Place, distance
from tests.helpers.infirmary.asked import Asked
from tests.helpers.infirmary.contract import opened, read_only
from tests.helpers.infirmary.exact import answer_without_noise, as_mean, totals_of
from tests.helpers.infirmary.questions import CORPUS
from tests.helpers.infirmary.refusals import REFUSED, Refused
from tests.helpers.infirmary.tables import private, without
from tests.helpers.infirmary.truth import opened_truth

Answers = dict[tuple[Any, ...], list[Any]]


@pytest.fixture(scope="module")
def truth() -> Iterator[duckdb.DuckDBPyConnection]:
    """The infirmary with nothing protected."""
    with opened_truth() as database:
        yield database


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The infirmary in files, where every row counts in full."""
    with opened(InParquet(tmp_path_factory.mktemp("loose")), "loose", loose=True) as found:
        yield found


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The infirmary, whose private tables are nowhere: no refusal needs a row."""
    with read_only(tmp_path_factory.mktemp("nowhere")) as found:
        yield found


def plain(value: Any) -> Any:
    """Return a number as a fraction, and anything else as it is."""
    return Fraction(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def near(value: Any) -> Any:
    """Return what a number of DuckDB is compared with: doubles nearly, others exactly."""
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else plain(value)


def true_answer(truth: duckdb.DuckDBPyConnection, asked: Asked, keys: int) -> Answers:
    """Return the true answer, of groups that have a key in every column and anything in them."""
    rows = [tuple(row) for row in truth.execute(asked.true_sql).fetchall() if None not in row[:keys]]
    return {tuple(map(plain, row[:keys])): list(map(near, row[keys:])) for row in rows if any(row[keys:])}


def answered(dataset: Dataset, asked: Asked) -> tuple[int, Answers]:
    """Return how many columns a question groups by, and what it answers without noise."""
    query = dataset.sql(asked.sql)
    found = answer_without_noise(query)
    return len(query.questions[0].groups), {tuple(map(plain, group)): values for group, values in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("asked", CORPUS, ids=lambda asked: asked.sql)
def test_what_is_answered_is_true(loose: Dataset, truth: duckdb.DuckDBPyConnection, asked: Asked) -> None:
    """Where every row counts in full and there is no noise, the answer is that of plain SQL."""
    keys, found = answered(loose, asked)
    assert found == true_answer(truth, asked, keys)


@pytest.mark.slow
def test_every_engine_answers_the_same(engine_place: Place, truth: duckdb.DuckDBPyConnection) -> None:
    """On every engine all of these answers are true."""
    wrong = []
    with opened(engine_place, f"infirmary_{engine_place.name}", loose=True) as found, engine_place.in_haste():
        for asked in CORPUS:
            keys, values = answered(found, asked)
            if values != true_answer(truth, asked, keys):
                wrong.append(asked.sql)
    assert wrong == []


@pytest.mark.parametrize("asked", [one for one in CORPUS if one.python is not None], ids=lambda asked: asked.sql)
def test_sql_and_python_ask_the_same(loose: Dataset, asked: Asked) -> None:
    """A question in Python has the answer of the one in SQL, and so has its text."""
    assert asked.python is not None
    python = asked.python(loose)
    assert answer_without_noise(python) == answer_without_noise(loose.sql(asked.sql))
    assert answer_without_noise(loose.sql(str(python))) == answer_without_noise(python)


@pytest.mark.parametrize("asked", CORPUS, ids=lambda asked: asked.sql)
def test_the_text_of_a_question_reads_as_itself(nowhere: Dataset, asked: Asked) -> None:
    """What the ledger keeps of a question is SQL that asks the same."""
    once = str(nowhere.sql(asked.sql))
    assert str(nowhere.sql(once)) == once


@pytest.mark.slow
def test_the_text_of_a_question_has_its_answer(loose: Dataset) -> None:
    """Of every question, the text that reads as itself is also answered as it is."""
    wrong = []
    for asked in CORPUS:
        query = loose.sql(asked.sql)
        if answer_without_noise(loose.sql(str(query))) != answer_without_noise(query):
            wrong.append(asked.sql)
    assert wrong == []


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.sql)
def test_what_is_not_owned_is_refused(nowhere: Dataset, refused: Refused) -> None:
    """What would show a patient or let rows of others decide is refused, with a remedy, and nothing is charged."""
    with pytest.raises(InvalidQuestion) as refusal:
        nowhere.sql(refused.sql).ask(1, analyst="ana")
    message, _, _ = str(refusal.value).partition("\n")
    assert ";" in message
    assert any(words in message for words in refused.reason.words)
    assert nowhere.ledger.balance("patients").spent == 0


@pytest.mark.slow
@pytest.mark.parametrize("patient", [1, 7, 41])
def test_no_patient_changes_more_than_is_paid_for(tmp_path: Path, patient: int) -> None:
    """Without a patient, all totals of a question together change by no more than its sensitivity."""
    rows = private()
    beyond = []
    with (
        opened(InParquet(tmp_path), "all") as everyone,
        opened(InParquet(tmp_path), "others", tables=without(rows, patient)) as others,
    ):
        for asked in CORPUS:
            some, fewer = everyone.sql(asked.sql), others.sql(asked.sql)
            for question, here, there in zip(some.questions, totals_of(some), totals_of(fewer), strict=True):
                if distance(here, there) > oracle.sensitivity(as_mean(question)):
                    beyond.append(asked.sql)
    assert beyond == []


@pytest.mark.slow
def test_no_patient_changes_more_in_python_than_is_paid_for(tmp_path: Path) -> None:
    """What is joined, looked for and grouped in Python changes without a patient by no more than its sensitivity."""
    rows, beyond, seen = private(), [], 0
    with (
        opened(InParquet(tmp_path), "all") as everyone,
        opened(InParquet(tmp_path), "others", tables=without(rows, 7)) as others,
    ):
        for asked in CORPUS:
            if asked.python is None:
                continue
            some, fewer = asked.python(everyone), asked.python(others)
            for question, here, there in zip(some.questions, totals_of(some), totals_of(fewer), strict=True):
                seen += here != there
                if distance(here, there) > oracle.sensitivity(as_mean(question)):
                    beyond.append(str(some))
    assert beyond == []
    assert seen > len(CORPUS) / 4, "the test saw too few changes"
