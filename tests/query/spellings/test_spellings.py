"""SQL as it is written: answered truly, refused for the right reason, and one question in all of its spellings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidQuestion, LedgerConflict
from inbounds.query import Dataset
from tests.helpers.spellings.hospital import hospital, opened, opened_plainly
from tests.helpers.spellings.not_yet import NOT_ANSWERED, NOT_AS_IN_SQL, NOT_EXPLAINED, NOT_ONE
from tests.helpers.spellings.outcome import Outcome, difference, outcome_of
from tests.helpers.spellings.questions import ASKED
from tests.helpers.spellings.refused import REFUSED
from tests.helpers.spellings.same import SAME, OneQuestion, why_not_one
from tests.helpers.spellings.spelling import Reason, Refused, Style
from tests.helpers.spellings.truths import Between

LEAST_ANSWERED = 0.85
"""The part of the questions that has to be answered."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The hospital, in which every row counts in full."""
    with opened(tmp_path_factory.mktemp("hospital")) as found:
        yield found


@pytest.fixture(scope="module")
def outcomes(dataset: Dataset) -> dict[str, Outcome]:
    """What came of each question."""
    return {asked.name: outcome_of(dataset, asked) for asked in ASKED}


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """The hospital with nothing protected."""
    with opened_plainly() as database:
        yield database


def names_of(outcomes: dict[str, Outcome], kind: str) -> set[str]:
    """Return which questions came out so."""
    return {name for name, outcome in outcomes.items() if outcome.kind == kind}


# The corpus itself.


def test_the_corpus_is_large_enough() -> None:
    """There are at least 220 different questions of every style, and refusals for every reason."""
    questions: list[Any] = [*ASKED, *REFUSED]
    assert len({one.name for one in questions}) == len(questions) >= 220
    assert len({one.sql for one in questions}) == len(questions)
    assert {one.style for one in ASKED} == set(Style)
    assert len(REFUSED) >= 30
    assert {one.reason for one in REFUSED} == set(Reason)
    assert len({one.name for one in SAME}) == len(SAME)


def test_what_is_listed_is_there() -> None:
    """Whatever is not yet as it should be is a question of the corpus."""
    assert {one.name for one in ASKED} >= NOT_ANSWERED | NOT_AS_IN_SQL
    assert {one.name for one in REFUSED} >= NOT_EXPLAINED
    assert {one.name for one in SAME} >= NOT_ONE


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name)
def test_plain_python_agrees_with_plain_sql(plain: duckdb.DuckDBPyConnection, asked: Any) -> None:
    """What plain Python says is true of the rows is what DuckDB says of them."""
    rows = plain.execute(asked.plain_sql).fetchall()
    assert any(None not in row for row in rows)
    assert difference(rows, asked.truth(hospital()), asked) is None


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name)
def test_a_wrong_answer_is_noticed(asked: Any) -> None:
    """Negative control: without a row, or with a number two parts in a hundred greater, an answer is not true."""
    true = [tuple(map(some_value, row)) for row in asked.truth(hospital())]
    assert difference(true, asked.truth(hospital()), asked) is None
    assert difference(true[1:], asked.truth(hospital()), asked) is not None
    *others, last = true
    numbers = [place for place, value in enumerate(last) if is_plain_number(value)]
    if numbers:
        odd = tuple(more(value) if place == numbers[-1] else value for place, value in enumerate(last))
        assert difference([*others, odd], asked.truth(hospital()), asked) is not None


def some_value(value: Any) -> Any:
    """Return a value that is true, of which there may be several."""
    return (value.low + value.high) / 2 if isinstance(value, Between) else value


def is_plain_number(value: Any) -> bool:
    """Return whether a value is a number other than 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0


def more(value: float) -> float:
    """Return a number that is surely not as it should be."""
    return value + 1 if isinstance(value, int) else value * 1.02 + (0.7 if abs(value) > 1 else 0.1)


# What is answered is true.


@pytest.mark.slow
def test_no_answer_has_another_meaning(outcomes: dict[str, Outcome]) -> None:
    """Whatever is answered is what plain Python says is true, by the names that were asked for, and nothing fails."""
    wrong = {name: outcomes[name].message for name in names_of(outcomes, "wrong") - NOT_AS_IN_SQL}
    assert wrong == {}
    assert {name: outcomes[name].message for name in names_of(outcomes, "failed")} == {}


@pytest.mark.slow
def test_what_is_answered_stays_answered(outcomes: dict[str, Outcome]) -> None:
    """Nothing is refused but what is listed as not answered yet."""
    refused = {name: outcomes[name].message for name in names_of(outcomes, "refused") - NOT_ANSWERED}
    assert refused == {}


@pytest.mark.slow
def test_nothing_is_listed_that_is_answered(outcomes: dict[str, Outcome]) -> None:
    """What is listed as not answered yet is not: so that the lists only become shorter."""
    answered = names_of(outcomes, "answered")
    assert NOT_ANSWERED - names_of(outcomes, "refused") == set(), "take these out of not_yet.py"
    assert NOT_AS_IN_SQL & answered == set(), "take these out of not_yet.py"


@pytest.mark.slow
def test_most_questions_are_answered(outcomes: dict[str, Outcome]) -> None:
    """At least 85 % of the questions that can be answered are."""
    assert len(names_of(outcomes, "answered")) >= LEAST_ANSWERED * len(ASKED)


# What is refused stays refused.


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_what_must_be_refused_is(dataset: Dataset, refused: Refused) -> None:
    """What shows rows or lets other people's rows decide is refused before the charge, with the reason and a remedy."""
    spent = dataset.ledger.balance("visits").spent
    with pytest.raises(InvalidQuestion) as refusal:
        dataset.sql(refused.sql).ask(1, analyst="ana")
    assert dataset.ledger.balance("visits").spent == spent
    message = str(refusal.value).splitlines()[0]
    assert ";" in message
    assert any(word in message for word in refused.reason.words) == (refused.name not in NOT_EXPLAINED), message


# One question, however it is spelt.


@pytest.mark.parametrize("one", SAME, ids=lambda one: one.name)
def test_spellings_of_one_question_are_paid_once(dataset: Dataset, one: OneQuestion) -> None:
    """Asked again in another spelling under its request id, a question is answered as before, and free."""
    spent = dataset.ledger.balance("visits").spent
    problems = why_not_one(dataset, one)
    assert dataset.ledger.balance("visits").spent <= spent + 1
    assert bool(problems) == (one.name in NOT_ONE), problems


def test_another_question_is_not_the_same(dataset: Dataset) -> None:
    """Negative control: under the request id of one question no other is answered, however alike they look."""
    alike = [
        ("SELECT COUNT(*) FROM visits WHERE age >= 65", "SELECT COUNT(*) FROM visits WHERE age > 65"),
        ("SELECT ward, AVG(cost) FROM visits GROUP BY ward", "SELECT ward, AVG(stay) FROM visits GROUP BY ward"),
        ("SELECT MEDIAN(stay) FROM visits", "SELECT QUANTILE(stay, 0.51) FROM visits"),
    ]
    for first, second in alike:
        dataset.sql(first).ask(1, analyst="ana", request_id=f"alike: {first}")
        with pytest.raises(LedgerConflict):
            dataset.sql(second).ask(1, analyst="ana", request_id=f"alike: {first}")
