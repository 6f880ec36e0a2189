"""Related tables in Python: what is not said follows from the contract, and what could mean two things is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query, column
from tests.helpers.engine_places import InParquet
from tests.helpers.infirmary.asked import measurements, prescriptions, stays
from tests.helpers.infirmary.contract import opened
from tests.helpers.infirmary.exact import answer_without_noise

Ask = Callable[[Dataset], Query]


@pytest.fixture(scope="module")
def infirmary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The infirmary in files, where every row counts in full."""
    with opened(InParquet(tmp_path_factory.mktemp("loose")), "loose", loose=True) as found:
        yield found


SAME: list[tuple[Ask, Ask]] = [
    (lambda d: stays(d).join("measurements").count(), lambda d: measurements(d).join("stays").count()),
    (lambda d: stays(d).join("measurements").count(),
     lambda d: stays(d).join("measurements", on="stay_id").count()),
    (lambda d: stays(d).join("measurements").count(),
     lambda d: stays(d).join("measurements", on={"stays.stay_id": "stay_id"}).count()),
    (lambda d: prescriptions(d).join("drugs").count(), lambda d: prescriptions(d).join("drugs", on="drug").count()),
    (lambda d: d.exists("stays").exists("prescriptions").count(),
     lambda d: d.exists("prescriptions").exists("stays").count()),
    (lambda d: d.exists("stays").join("prescriptions").count(),
     lambda d: d.join("prescriptions").exists("stays").count()),
    (lambda d: d.exists("stays", where="ward = 'a1'").join("stays", name="b").count(),
     lambda d: d.join("stays", name="b").exists("stays", where=column("ward") == "a1").count()),
    (lambda d: stays(d).join("stays", name="b", where="b.admitted > stays.admitted").join("wards", on="b.ward").count(),
     lambda d: stays(d).join("stays", name="b").join("wards", on="b.ward").count()
     .where("b.admitted > stays.admitted")),
    (lambda d: d.join("stays", keep=True, where="urgent").join("stays", name="b").count(),
     lambda d: d.join("stays", name="b").join("stays", keep=True, where="stays.urgent").count()),
    (lambda d: d.join("stays", keep=True).join("prescriptions").count(),
     lambda d: d.join("prescriptions").join("stays", keep=True).count()),
    (lambda d: stays(d).join("patients").join("measurements").count(),
     lambda d: measurements(d).join("stays").join("patients").count()),
    (lambda d: measurements(d).join("prescriptions").count(), lambda d: prescriptions(d).join("measurements").count()),
    (lambda d: stays(d).per("stay_id", n="COUNT(*)").count(),
     lambda d: stays(d).per("patient_id", "stay_id", n="COUNT(*)", where="stay_id IS NOT NULL").count()),
    (lambda d: measurements(d).per("stay_id", n="LEAST(COUNT(*), 30)", having="n > 4").count(),
     lambda d: measurements(d).per("stay_id", n="LEAST(COUNT(*), 30)").count().where("n > 4")),
    (lambda d: measurements(d).per("stay_id", top="MAX(value)", having="COUNT(*) >= 3").mean("top"),
     lambda d: measurements(d).per("stay_id", top="MAX(value)", n="COUNT(*)", having="n >= 3").mean("top")),
    (lambda d: stays(d).join("measurements").per("stay_id", n="COUNT(*)").mean("n"),
     lambda d: stays(d).join("measurements").per("stays.stay_id", n="COUNT(*)").mean("n")),
    (lambda d: stays(d).join("measurements", keep=True).per("stay_id", n="COUNT(*)").mean("n"),
     lambda d: stays(d).join("measurements", keep=True).per("stays.stay_id", n="COUNT(*)").mean("n")),
    (lambda d: measurements(d).per("stay_id", top="MAX(value)").join("stays").mean("top"),
     lambda d: stays(d).join(measurements(d).per("stay_id", top="MAX(value)")).mean("top")),
    (lambda d: stays(d).exists(stays(d).join("wards", on="ward"), name="b", where="building = 'new'").count(),
     lambda d: stays(d).exists(stays(d).exists("wards", on="ward", where="building = 'new'"), name="b").count()),
    (lambda d: d.join("stays").join("wards", on="stays.ward").count().by("wards.building"),
     lambda d: d.join("stays").join("wards", on="ward").count().by("building")),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(SAME)))
def test_what_is_the_same_is_answered_alike(infirmary: Dataset, place: int) -> None:
    """Two ways to say the same have one answer, and so have their texts."""
    first, second = (ask(infirmary) for ask in SAME[place])
    answer = answer_without_noise(first)
    assert answer
    assert answer_without_noise(second) == answer
    for query in (first, second):
        assert answer_without_noise(infirmary.sql(str(query))) == answer


def test_private_rows_match_within_a_patient(infirmary: Dataset) -> None:
    """Whatever private tables are joined by, rows are of one patient: other columns only leave out some of them."""
    same_day = stays(infirmary).join("prescriptions", on={"admitted": "started"})
    within = stays(infirmary).join("prescriptions").count().where("admitted = started")
    assert answer_without_noise(same_day.count()) == answer_without_noise(within)


@pytest.mark.parametrize(
    ("ask", "patients"),
    [
        (lambda d: stays(d).join("patients").count(), 1),
        (lambda d: measurements(d).join("stays").join("patients").mean("value"), 1),
        (lambda d: measurements(d).join("stays").count(), 1),
        (lambda d: stays(d).join("prescriptions").count(), 1),  # a stay of nobody takes no part
        (lambda d: stays(d).join("prescriptions", where="started > admitted").count(), 1),
        (lambda d: d.join("stays").join("measurements").join("wards", on="ward").count(), 1),
    ],
)
def test_a_parent_is_read_once(infirmary: Dataset, ask: Ask, patients: int) -> None:
    """In whatever order they are written, tables are joined so that whose rows they are is looked up once."""
    query = ask(infirmary)
    sql = infirmary.planned(query.question, Fraction(1), Fraction(1)).sql
    assert sql.count("loose_patients") == patients
    assert sql.count("loose_stays") == 1


REFUSED: list[tuple[Ask, str, Ask]] = [
    (lambda d: stays(d).per("ward", n="COUNT(*)").count(), 'write per("patient_id", "ward")',
     lambda d: stays(d).per("patient_id", "ward", n="COUNT(*)").count()),
    (lambda d: stays(d).join("stays").count(), 'name="stays_2"',
     lambda d: stays(d).join("stays", name="stays_2").count()),
    (lambda d: d.exists(stays(d).join("measurements")).join("stays").count(), 'name="stays_2"',
     lambda d: d.exists(stays(d).join("measurements")).join("stays", name="stays_2").count()),
    (lambda d: stays(d).join("wards").count(), 'its key code; name the column that holds it: on="…"',
     lambda d: stays(d).join("wards", on="ward").count()),
    (lambda d: measurements(d).join("norms").count(), 'on={"…": "norm_kind"}',
     lambda d: measurements(d).join("norms", on={"kind": "norm_kind"}).count()),
    (lambda d: prescriptions(d).join("offers", on="drug").count(), 'on={"drug": "offered"}',
     lambda d: prescriptions(d).join("offers", on={"drug": "offered"}).count()),
    (lambda d: stays(d).join("stays", name="b").join("measurements").count(), 'on={"stays.stay_id": "stay_id"}',
     lambda d: stays(d).join("stays", name="b").join("measurements", on={"stays.stay_id": "stay_id"}).count()),
    (lambda d: stays(d).join("stays", name="b").join("wards", on="ward").count(), "stays.ward or b.ward; write one",
     lambda d: stays(d).join("stays", name="b").join("wards", on="b.ward").count()),
    (lambda d: d.join("stays", on=3).count(), 'write on="stay_id"',  # type: ignore[arg-type]
     lambda d: stays(d).join("measurements", on="stay_id").count()),
    (lambda d: d.join("stays", name="").count(), 'write it like name="b"', lambda d: d.join("stays", name="b").count()),
    (lambda d: measurements(d).join("prescriptions", on={"patient_id": "drug"}).count(), "join it to a unit",
     lambda d: measurements(d).join("prescriptions", on={"patient_id": "taker"}).count()),
    (lambda d: d.exists("stays", where="nothing = 3").count(), "stays.ward",
     lambda d: d.exists("stays", where="stays.ward = 'a1'").count()),
    (lambda d: measurements(d).per("stay_id", kind="COUNT(*)", n="MAX(nothing)").count(), "it has number",
     lambda d: measurements(d).per("stay_id", n="MAX(number)").count()),
    (lambda d: measurements(d).per("stay_id", "kind", kind="COUNT(*)").count(), "kind is used twice",
     lambda d: measurements(d).per("stay_id", "kind", n="COUNT(*)").count()),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_could_mean_two_things_is_refused(infirmary: Dataset, place: int) -> None:
    """A refusal says what would do, and that is accepted."""
    wrong, said, right = REFUSED[place]
    with pytest.raises(InvalidQuestion) as refusal:
        wrong(infirmary)
    assert said in str(refusal.value)
    right(infirmary)
