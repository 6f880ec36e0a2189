"""Misspelt names are met with the name that was meant, wherever they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inbounds.errors import InboundsError
from inbounds.query import Dataset
from tests.helpers.corpus import clinic


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The clinic, whose tables are nowhere: names are in the contract."""
    with clinic.read_only(tmp_path_factory.mktemp("suggestions")) as opened:
        yield opened


MISSPELT: list[tuple[Callable[[Dataset], Any], str]] = [
    (lambda d: d.mean("agee"), "age"),
    (lambda d: d.count().by("Clinic"), "clinic"),
    (lambda d: d.count().where("clinik = 'north'"), "clinic"),
    (lambda d: d.count().where("clinic = 'North'"), "'north'"),
    (lambda d: d.count().where("ward = '1'"), "1"),
    (lambda d: d.rows_of("prescription"), "prescriptions"),
    (lambda d: d.join("clincs"), "clinics"),
    (lambda d: d.sql("SELECT COUNT(*) FROM vists"), "visits"),
    (lambda d: d.sql("SELECT AVG(agee) FROM visits"), "age"),
    (lambda d: d.sql("SELECT v.clinc, COUNT(*) FROM visits v GROUP BY v.clinc"), "clinic"),
    (lambda d: d.sql("SELECT COUNT(*) FROM visits WHERE clinic IN ('nroth')"), "'north'"),
    (lambda d: d.sql("SELECT MEDAIN(age) FROM visits"), "MEDIAN"),
    (lambda d: d.sql("SELECT AVERAGE(age) FROM visits"), "AVG"),
    (lambda d: d.sql("SELECT AVG(FLOR(cost)) FROM visits"), "FLOOR"),
    (lambda d: d.sql("SELECT AVG(COALESC(cost, 0)) FROM visits"), "COALESCE"),
    (lambda d: d.sql("SELECT AVG(m) FROM (SELECT patient, COUNT(*) AS mm FROM visits GROUP BY patient)"), "mm"),
    (
        lambda d: d.sql(
            "SELECT AVG(p.csot) FROM visits v JOIN prescriptions p ON v.patient = p.taker"
        ),
        "cost",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "meant"), MISSPELT)
def test_a_misspelt_name_is_met_with_the_right_one(dataset: Dataset, ask: Callable[[Dataset], Any], meant: str) -> None:
    """In SQL and in Python, a misspelt column, category, table or function is told which one was meant."""
    with pytest.raises(InboundsError) as refusal:
        ask(dataset)
    assert f"did you mean {meant}?" in str(refusal.value).partition("\n")[0]


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ("max_rows_per_unit", "max_row_per_unit", "max_rows_per_unit"),
        ("[budget]", "[budgets]\n[budget]", "budget"),
        ("per_analyst", "per_anlyst", "per_analyst"),
        ("age.bounds", "age.bound", "bounds"),
    ],
)
def test_a_misspelt_field_of_a_contract_is_met_with_the_right_one(right: str, wrong: str, meant: str) -> None:
    """Sections and fields of a contract are suggested as well."""
    text = """
        [dataset]
        name = "visits"
        unit = "patient"
        max_rows_per_unit = 2
        [columns]
        age.bounds = "[0, 120] step 1"
        [budget]
        total = 10
        per_analyst = 1
    """
    with pytest.raises(InboundsError, match=f"did you mean {meant}\\?"):
        Dataset.parse(text.replace(right, wrong, 1))
