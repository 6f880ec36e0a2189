"""Every refusal's remedy, followed: the question is then accepted, or the next message is another one on the way.

Where a question of these lists is accepted by now, nothing is to be followed; where it is refused, its remedy works.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inbounds.errors import InboundsError
from inbounds.query import Dataset
from tests.helpers.corpus import clinic as corpus
from tests.helpers.infirmary import contract as related
from tests.helpers.remedies import (
    clinic,
    clinic_tables,
    in_python,
    infirmary,
    limits,
    released,
    several,
    times,
    translated,
)
from tests.helpers.remedies.followed import Final, Followed, Step
from tests.helpers.remedies.templates import Place, raised_at, templates

OPENED: dict[str, Callable[[Path], Dataset]] = {
    "clinic": corpus.read_only,
    "infirmary": related.read_only,
    "trips": limits.read_only,
    "shifts": times.read_only,
}
"""What is asked; the rows are nowhere, for no refusal needs one."""

CASES: list[tuple[str, Followed]] = [
    *(("clinic", case) for case in (*clinic.CASES, *clinic_tables.CASES, *in_python.CASES, *limits.CLINIC)),
    *(("clinic", case) for case in (*translated.CASES, *released.CASES, *several.CASES)),
    *(("shifts", case) for case in times.CASES),
    *(("infirmary", case) for case in (*infirmary.CASES, *limits.INFIRMARY)),
    *(("trips", case) for case in (*limits.ROWS, *translated.TRIPS, *released.TRIPS)),
]
FINAL: list[tuple[str, Final]] = [("infirmary", final) for final in infirmary.FINAL]

MOST_WORDS = 20

TYPED = (
    re.compile(r"did you mean (\S+?)\?$"),
    re.compile(r"join it ON (\S+ = \S+)$"),
    re.compile(r"write inside it (\S+ = \S+)$"),
    re.compile(r"write (SELECT .+ FROM .+)$"),
    re.compile(r"write (\S+ <> \S+),"),
    re.compile(r"write ((?:GROUP BY|SELECT DISTINCT) \w+(?:, \w+)*)$"),
    re.compile(r"(COUNT\(DISTINCT \w+\))$"),
)
"""Remedies that say what to type, letter by letter."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Dataset]]:
    """Everything that is asked."""
    datasets = {name: read_only(tmp_path_factory.mktemp(name)) for name, read_only in OPENED.items()}
    yield datasets
    for dataset in datasets.values():
        dataset.close()


def refusal_of(dataset: Dataset, step: Step) -> InboundsError | None:
    """Return how a question is refused; None if it is accepted."""
    try:
        dataset.sql(step) if isinstance(step, str) else step(dataset)
    except InboundsError as refusal:
        return refusal
    return None


def message_of(refusal: InboundsError) -> str:
    """Return the message, without the line of SQL and the mark below it."""
    return str(refusal).partition("\n")[0]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_a_remedy_works_when_it_is_typed(opened: dict[str, Dataset], name: str, case: Followed) -> None:
    """Each message is another one than those before, and whoever follows them all is answered."""
    messages: list[str] = []
    for step, after in zip(case.steps, (*case.then, None), strict=True):
        refusal = refusal_of(opened[name], step)
        if refusal is None:
            return
        assert after is not None, f"the last step is refused: {refusal}"
        message = message_of(refusal)
        assert message not in messages
        assert ";" in message
        messages.append(message)


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, case in CASES if isinstance(case.first, str)])
def test_what_is_to_be_typed_is_in_the_next_question(opened: dict[str, Dataset], name: str, case: Followed) -> None:
    """Where a remedy says letter by letter what to type, the next question of the list has just that."""
    for step, after in zip(case.steps, case.then, strict=False):
        refusal = refusal_of(opened[name], step)
        if refusal is None or not isinstance(after, str):
            return
        for pattern in TYPED:
            for typed in pattern.findall(message_of(refusal)):
                assert typed in after


@pytest.mark.parametrize(("name", "final"), FINAL)
def test_a_final_refusal_gives_its_reason(opened: dict[str, Dataset], name: str, final: Final) -> None:
    """What cannot be asked here at all is refused with the reason, and where to ask instead."""
    refusal = refusal_of(opened[name], final.first)
    assert refusal is not None
    assert final.reason in message_of(refusal)
    assert "ask the database itself, free" in message_of(refusal)


def test_messages_are_short() -> None:
    """No sentence of a message that refuses a question has more than 20 words; what is filled in counts as one."""
    sentences = {text: re.split(r"[;:.]\s", text) for text in templates().values()}
    assert {text for text, parts in sentences.items() if max(len(part.split()) for part in parts) > MOST_WORDS} == set()


OF_TABLES = "tables/column_types.py"
"""Its messages are about a table that does not hold what the contract says; whoever keeps it mends it."""

A_FAULT = "it is a fault of a contract"
A_SAFEGUARD = "whatever is known to come here is refused before"
ANOTHER_CONTRACT = "it needs other tables than these"

WITHOUT_CASE = {
    "the contract has no column …; …": A_FAULT,
    "… is derived from itself; derive it from other columns": A_FAULT,
    "… is not understood here; leave it out": A_SAFEGUARD,
    "CASE takes conditions, got …; compare a column with a constant": A_SAFEGUARD,
    "… holds no text, so LIKE does not apply; use = or IN": A_SAFEGUARD,
    "… has no column … to join … to; name one that the contract describes": A_SAFEGUARD,
    "a derived column has more than … parts; ask something simpler": A_SAFEGUARD,
    "… must span at most 2^35 steps, got …; round it, as in ROUND(price * quantity, 1)": A_SAFEGUARD,
    "values of … are too fine to be added up; …": ANOTHER_CONTRACT,
    "… spans more than … steps, too many for REST(); leave it out": ANOTHER_CONTRACT,
    "… has too wide a range (…); take LEAST(…, …)": ANOTHER_CONTRACT,
    "two keys of … are the same value of …; join it to a column of keys": ANOTHER_CONTRACT,
    "a column of … has the name of another one; give that table another name": ANOTHER_CONTRACT,
    "… is the unit of …, and no column of it; join it to a unit": ANOTHER_CONTRACT,
    '… may go with …; say which, as in on={"…": "…"}': ANOTHER_CONTRACT,
    "CASE takes conditions; write it like …": A_SAFEGUARD,
    "PIVOT makes columns of categories, got a measure; write it like …": A_SAFEGUARD,
    "at most … SELECTs can be put together, each as often as it is named; leave some out": A_SAFEGUARD,
    "… is used twice; give it another name with AS": A_SAFEGUARD,
    "… has more than … values, which are not listed; group by another column of …, or let the contract name a file of "
    'them, as in keys = "….csv"': ANOTHER_CONTRACT,
}
"""Messages that no question to these tables brings about, and why."""


def test_every_message_has_a_case(opened: dict[str, Dataset]) -> None:
    """Each message in the source by which a question is refused is met by one of the cases, so that it was followed."""
    met: set[Place] = set()
    for name, step in [(name, step) for name, case in CASES for step in case.steps]:
        refusal = refusal_of(opened[name], step)
        met |= set() if refusal is None else raised_at(refusal)
    for name, final in FINAL:
        refusal = refusal_of(opened[name], final.first)
        met |= set() if refusal is None else raised_at(refusal)
    texts = {templates()[place] for place in met}
    missing = {
        place: text
        for place, text in templates().items()
        if text not in texts and text not in WITHOUT_CASE and place[0] != OF_TABLES
    }
    assert missing == {}
