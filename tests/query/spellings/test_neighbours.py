"""Exact neighbours: however a question is written, one patient moves its totals by no more than is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from inbounds.query import Query
from tests.helpers import oracle
from tests.helpers.engine_places import distance
from tests.helpers.infirmary.exact import as_mean
from tests.helpers.sparing import sparing
from tests.helpers.spellings.hospital import MOST_VISITS, hospital, opened, without
from tests.helpers.spellings.not_yet import NOT_ANSWERED
from tests.helpers.spellings.outcome import EPSILON
from tests.helpers.spellings.questions import ASKED

ANSWERED = [asked for asked in ASKED if asked.name not in NOT_ANSWERED]


def busiest() -> int:
    """Return a patient with as many visits as there can be."""
    visits = Counter(visit.patient_id for visit in hospital().visits)
    return next(patient for patient, times in visits.items() if times == MOST_VISITS)


def silent() -> int:
    """Return a patient who never said how much it hurt."""
    said = {visit.patient_id for visit in hospital().visits if visit.pain is not None}
    return next(visit.patient_id for visit in hospital().visits if visit.patient_id not in said)


def absent() -> int:
    """Return a patient who has never come."""
    return hospital().patients[-1].patient_id


Totals = list[tuple[int, list[list[int]]]]
"""What one patient may change, and the totals, of each measure."""


def totals_of(query: Query) -> Totals:
    """Return the totals that are found for a question, by the statements that are run for it."""
    plans = query.plans(EPSILON)
    return [
        (oracle.sensitivity(as_mean(plan.question)), plan.totals(query.dataset.engine.run(plan.sql))) for plan in plans
    ]


@pytest.fixture(scope="module")
def of_everyone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Totals]:
    """What is found of all patients."""
    with opened(tmp_path_factory.mktemp("everyone")) as everyone:
        return {asked.name: totals_of(everyone.sql(asked.sql)) for asked in ANSWERED}


@pytest.mark.slow
@pytest.mark.parametrize("choose", sparing([silent, busiest, absent], 1))
def test_no_patient_changes_more_than_is_paid_for(
    tmp_path: Path, of_everyone: dict[str, Totals], choose: Callable[[], int]
) -> None:
    """Without a patient, all totals of a measure together change by no more than its sensitivity."""
    beyond, seen = [], 0
    with opened(tmp_path, without(choose())) as others:
        for asked in ANSWERED:
            there = totals_of(others.sql(asked.sql))
            for (most, some), (_, fewer) in zip(of_everyone[asked.name], there, strict=True):
                seen += some != fewer
                if distance(some, fewer) > most:
                    beyond.append(asked.name)
    assert beyond == []
    assert seen > 0, "the test saw no change"
