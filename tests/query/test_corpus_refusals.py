"""What is refused is refused with a mark under the words that are to blame, a remedy, and nothing charged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.corpus import clinic
from tests.helpers.corpus.refusals import REFUSED, Refused

WIDEST = 40
"""A mark is not longer than this."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The clinic, whose tables are nowhere: no refusal needs a row."""
    with clinic.read_only(tmp_path_factory.mktemp("refusals")) as found:
        yield found


def marked(below: str) -> str:
    """Return the words above the mark in the two lines below a message; nothing if there are none."""
    line, _, marks = below.partition("\n")
    return line[marks.index("^") :][: marks.count("^")] if below else ""


def test_there_are_many_refusals() -> None:
    """There are at least 60 different ones, and nearly all have words to blame."""
    assert len({one.sql for one in REFUSED}) == len(REFUSED) >= 60
    assert sum(not one.marked for one in REFUSED) < 10


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.sql)
def test_the_right_words_are_blamed(dataset: Dataset, refused: Refused) -> None:
    """The mark is under exactly the words that are to blame, the message has a remedy, and nothing is charged."""
    with pytest.raises(InvalidQuestion) as refusal:
        dataset.sql(refused.sql).ask(1, analyst="ana")
    message, _, below = str(refusal.value).partition("\n")
    assert marked(below) == refused.marked[:WIDEST]
    assert refused.told in message
    assert ";" in message
    assert dataset.ledger.balance("visits").spent == 0
    assert all(entry.kind != "charge" for entry in dataset.ledger.statement().entries)


TYPED = [
    (
        "SELECT AVG(clinic) FROM visits",
        "ask for COUNT(*) and GROUP BY clinic",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    ),
    (
        'SELECT COUNT(*) FROM visits WHERE clinic = "north"',
        "for text write 'north'",
        "SELECT COUNT(*) FROM visits WHERE clinic = 'north'",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT clinic FROM visits)",
        "write SELECT DISTINCT patient, clinic",
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient, clinic FROM visits)",
    ),
    (
        "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM prescriptions",
        "write UNION ALL",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM prescriptions",
    ),
    (
        "SELECT DISTINCT age FROM visits",
        "count rows by bins with HISTOGRAM(age, 10)",
        "SELECT HISTOGRAM(age, 10) FROM visits",
    ),
    (
        "SELECT AVG(prescriptions.cost) FROM visits JOIN prescriptions ON visits.age = prescriptions.cost",
        "join it ON visits.patient = prescriptions.taker",
        "SELECT AVG(prescriptions.cost) FROM visits JOIN prescriptions ON visits.patient = prescriptions.taker",
    ),
]


@pytest.mark.parametrize(("sql", "remedy", "typed"), TYPED)
def test_a_remedy_is_accepted_when_it_is_typed(dataset: Dataset, sql: str, remedy: str, typed: str) -> None:
    """What a refusal says to write instead is a question that is read."""
    with pytest.raises(InvalidQuestion) as refusal:
        dataset.sql(sql)
    assert remedy in str(refusal.value)
    assert dataset.sql(typed).questions
