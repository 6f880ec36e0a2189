"""The corpus of the infirmary itself: it is large and odd enough, and what is said to be true is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from tests.helpers.infirmary.questions import CORPUS
from tests.helpers.infirmary.refusals import REFUSED, Reason
from tests.helpers.infirmary.tables import Row, Tables, owners, private, without
from tests.helpers.infirmary.truth import opened_truth, possible_rows


@pytest.fixture(scope="module")
def truth() -> Iterator[duckdb.DuckDBPyConnection]:
    """The infirmary with nothing protected."""
    with opened_truth() as database:
        yield database


def count(truth: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Return the one number of a statement."""
    ((found,),) = truth.execute(sql).fetchall()
    return int(found)


def test_the_corpus_is_large_enough() -> None:
    """There are at least 150 different questions, 50 of them in Python too, and refusals for every reason."""
    assert len({one.sql for one in CORPUS}) == len(CORPUS) >= 150
    assert sum(one.python is not None for one in CORPUS) >= 50
    assert len({one.sql for one in REFUSED}) == len(REFUSED) >= 50
    assert {one.reason for one in REFUSED} == set(Reason)


def test_the_rows_are_odd_enough() -> None:
    """Rows refer to nothing, to nobody and to two patients; keys are missing, and there twice for one patient."""
    tables = private()
    of_stays, of_measurements = owners(tables)
    assert {len(one) for one in of_stays} == {0, 1}
    assert {len(one) for one in of_measurements} == {0, 1, 2}
    keys = Counter((row["patient_id"], row["stay_id"]) for row in tables["stays"])
    assert max(keys.values()) > 1
    for table, key in (("patients", "patient_id"), ("stays", "stay_id"), ("measurements", "stay_id")):
        assert None in {row[key] for row in tables[table]}
    takers = {row["taker"] for row in tables["prescriptions"]}
    assert takers - {row["patient_id"] for row in tables["patients"]}


@pytest.mark.parametrize("asked", CORPUS, ids=lambda asked: asked.sql)
def test_every_question_has_a_true_answer(truth: duckdb.DuckDBPyConnection, asked: Any) -> None:
    """Plain SQL answers each question, and not with nothing."""
    rows = truth.execute(asked.true_sql).fetchall()
    assert any(row[-1] for row in rows if None not in row)


def pairs(tables: Tables) -> list[tuple[Row, Row]]:
    """Return each measurement with each stay that it is of, of the same patient: by going through all of them."""
    of_stays, of_measurements = owners(tables)
    stays = [(row, own) for row, own in zip(tables["stays"], of_stays, strict=True) if row["stay_id"] is not None]
    return [
        (measurement, stay)
        for measurement, several in zip(tables["measurements"], of_measurements, strict=True)
        for patient in several
        for stay, own in stays
        if own == [patient] and stay["stay_id"] == measurement["stay_id"]
    ]


@pytest.mark.slow
def test_truth_is_that_of_plain_python(truth: duckdb.DuckDBPyConnection) -> None:
    """Joins along keys in plain SQL find the rows that plain Python finds in the odd tables, with their owners."""
    joined = "SELECT COUNT(*) FROM measurements JOIN stays USING (stay_id)"
    found = pairs(private())
    assert count(truth, joined) == len(found) > 0
    women = Counter(row["patient_id"] for row in private()["patients"] if row["sex"] == "f")
    of_women = sum(women[stay["patient_id"]] for _, stay in found)
    assert count(truth, f"{joined} JOIN patients USING (patient_id) WHERE sex = 'f'") == of_women > 0
    hot = sum(1 for measurement, stay in found if stay["ward"] == "a1" and measurement["kind"] == "heat")
    assert count(truth, f"{joined} WHERE ward = 'a1' AND kind = 'heat'") == hot > 0


@pytest.mark.slow
def test_a_join_without_owners_is_noticed(truth: duckdb.DuckDBPyConnection) -> None:
    """Negative control: rows that meet by key alone are others, for keys repeat among patients."""
    tables = private()
    keys = Counter(row["stay_id"] for row in tables["stays"] if row["stay_id"] is not None)
    by_key_alone = sum(keys[row["stay_id"]] for row in tables["measurements"])
    assert count(truth, "SELECT COUNT(*) FROM measurements JOIN stays USING (stay_id)") != by_key_alone


@pytest.mark.parametrize("patient", [0, 4, 7, 41, 150, 2000])
def test_a_patient_takes_nothing_of_others(patient: int) -> None:
    """Without a patient, all rows of others are there as before: also those whose keys were the patient's too."""
    before, after = possible_rows(), possible_rows(without(private(), patient))
    for table, owner in (("patients", "patient_id"), ("stays", "patient_id"), ("prescriptions", "taker")):
        assert list(map(repr, after[table])) == [repr(row) for row in before[table] if row[owner] != patient]
    own = f"{patient}:"
    others = [row for row in before["measurements"] if not row["stay_id"].startswith(own)]
    assert list(map(repr, after["measurements"])) == list(map(repr, others))
