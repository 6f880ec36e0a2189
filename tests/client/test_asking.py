"""Asking a server: what comes back is what a dataset at hand would have given."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from inbounds import errors
from inbounds.client import Connection, RemoteDataset
from inbounds.ledger import Ledger
from inbounds.query import Dataset
from tests.client.conftest import Clinic

pytestmark = pytest.mark.slow

QUESTIONS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT clinic, finding, COUNT(*) FROM visits GROUP BY clinic, finding",
    "SELECT clinic, AVG(age), AVG(satisfied) FROM visits GROUP BY clinic",
    "SELECT clinic, MEDIAN(day) FROM visits GROUP BY clinic",
    "SELECT AVG(day), STDDEV(age), SUM(minutes) FROM visits",
    "SELECT finding, COUNT(*) FROM visits WHERE age < 200 GROUP BY finding ORDER BY 2 DESC LIMIT 1",
    "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*) > 100",
)


@pytest.fixture
def ana(clinic: Clinic) -> Iterator[Connection]:
    """Somebody who may ask."""
    with clinic.connect() as found:
        yield found


@pytest.fixture
def visits(ana: Connection) -> RemoteDataset:
    """What she may ask."""
    return ana.dataset("visits")


def test_who_and_what(ana: Connection, visits: RemoteDataset) -> None:
    """A connection tells who one is, which datasets are there, and what is public of them."""
    me = {"name": "ana", "role": "analyst", "datasets": ["visits"], "max_epsilon_per_question": None}
    assert ana.me() == me
    assert ana.datasets() == ["visits"]
    assert visits.name == "visits"
    told = str(visits)
    assert "north, south, east, west" in told
    assert "[0, 110]" in told
    assert "patient" in told


@pytest.mark.parametrize("number", ["1_0", "١", "\u20031", "1/2", "NaN", "much"])
def test_numbers_are_decimals(visits: RemoteDataset, number: str) -> None:
    """What the server would refuse is not made another number on the way there."""
    query = visits.sql("SELECT COUNT(*) FROM visits")
    for options in ({"pooling": number}, {"weights": [number]}):
        with pytest.raises(errors.InvalidParameter, match="must be a finite decimal number"):
            query.ask(1, **options)
    with pytest.raises(errors.InvalidParameter, match="epsilon must be a finite number"):
        query.ask(number)


def test_what_tells_nothing_is_refused_as_at_hand(visits: RemoteDataset) -> None:
    """The same error is raised as by a dataset, and force is sent; what is public says so and is free."""
    query = visits.sql("SELECT COUNT(*) FROM visits WHERE age > 200")
    with pytest.raises(errors.UselessQuestion, match="no row can meet"):
        query.ask(1)
    assert query.ask(1, force=True).epsilon == 1
    public = visits.sql("SELECT AVG(age) FROM visits WHERE age = 40").ask(1)
    assert (public.value, public.public) == (40.0, ("mean_age",))
    assert public.epsilon == 0


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_an_answer_is_the_one_that_a_dataset_gives(
    clinic: Clinic, visits: RemoteDataset, sql: str, alone: bool
) -> None:
    """Over the network and at hand a request has one and the same answer: in cells, intervals, text and frames."""
    name = f"same-{QUESTIONS.index(sql)}-{alone}"
    asked = visits.sql(sql).alone() if alone else visits.sql(sql)
    there = asked.ask(1, request_id=name, confidence=0.9)
    with Ledger.open(clinic.ledger) as ledger, Dataset.load(clinic.contract, ledger=ledger) as dataset:
        question = dataset.sql(sql).alone() if alone else dataset.sql(sql)
        here = question.ask(1, analyst="ana", request_id=f"ana/{name}", confidence=0.9)
    assert there == replace(here, request_id=name)
    assert [[type(cell) for cell in row] for row in there.rows] == [[type(cell) for cell in row] for row in here.rows]
    assert str(there) == str(here)
    assert there.sql == sql  # as it was sent; at hand, as it was read
    assert replace(there, sql=None)._repr_html_() == replace(here, sql=None)._repr_html_()
    assert there.to_pandas().equals(here.to_pandas())
    assert there.to_arrow().equals(here.to_arrow())


def test_intervals_at_once_are_asked_for_and_explained(visits: RemoteDataset) -> None:
    """Over the network, too, intervals can hold at once, and the explanation says how many."""
    query = visits.sql("SELECT COUNT(*), AVG(minutes) FROM visits")
    assert "All 2 intervals hold at once" in str(query.explain(1, simultaneous=True))
    assert all("simultaneous" in (name or "") for name in query.ask(1, simultaneous=True).interval_names)


def test_days_are_days(visits: RemoteDataset) -> None:
    """A median of days is a day, and so are the ends of an interval, if there are any."""
    found = visits.sql("SELECT MEDIAN(day), AVG(day) FROM visits").ask(2)
    assert all(type(cell) is date for cell in found.rows[0])
    assert all(type(end) is date for one in found.intervals[0] if one is not None for end in one)
    assert found.to_pandas().shape[0] == 1


def test_an_explanation_is_free(visits: RemoteDataset) -> None:
    """What a question would do is told without a charge, with what is left afterwards."""
    before = visits.budget()
    found = visits.sql(QUESTIONS[2]).explain("0.5", weights=[2, 1], pooling="0.5")
    assert found.fits
    assert found.epsilon == Fraction(1, 2)
    assert "epsilon" in str(found)
    assert found.data()["parts"][0]["mechanism"]
    assert visits.budget() == before
    assert not visits.sql(QUESTIONS[0]).explain(1000).fits


def test_the_same_request_is_free(visits: RemoteDataset) -> None:
    """Asked again with the same request id, a question costs nothing; its answer can also be looked up."""
    first = visits.sql(QUESTIONS[1]).ask(1, request_id="twice")
    spent = visits.budget()["own"]["spent"]
    again = visits.sql(QUESTIONS[1]).ask(1, request_id="twice")
    assert again == first
    assert visits.answer("twice").rows == first.rows
    assert visits.budget()["own"]["spent"] == spent


REFUSED: list[tuple[str, type[Exception], Callable[[Any, dict[str, Any]], Any]]] = [
    ("a column", errors.InvalidQuestion, lambda one, who: one.sql("SELECT AVG(salary) FROM visits").ask(1, **who)),
    ("no SQL", errors.InvalidQuestion, lambda one, who: one.sql("SELEC").ask(1, **who)),
    ("nothing", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[0]).ask(0, **who)),
    ("less than nothing", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[0]).ask(-1, **who)),
    ("no number", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[0]).ask("much", **who)),
    ("pooling", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[0]).ask(1, pooling=2, **who)),
    ("weights", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[2]).ask(1, weights=[1, 2, 3], **who)),
    ("confidence", errors.InvalidParameter, lambda one, who: one.sql(QUESTIONS[0]).ask(1, confidence=2, **who)),
    ("budget", errors.BudgetExceeded, lambda one, who: one.sql(QUESTIONS[0]).ask(1000, **who)),
]


@pytest.mark.parametrize(("kind", "refuse"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED])
def test_errors_are_those_of_a_dataset(
    clinic: Clinic, visits: RemoteDataset, kind: type[Exception], refuse: Callable[[Any, dict[str, Any]], Any]
) -> None:
    """A question that cannot be answered raises over the network what it raises at hand."""
    with pytest.raises(errors.InboundsError) as there:
        refuse(visits, {})
    with (
        Ledger.open(clinic.ledger) as ledger,
        Dataset.load(clinic.contract, ledger=ledger) as dataset,
        pytest.raises(errors.InboundsError) as here,
    ):
        refuse(dataset, {"analyst": "ana"})
    assert isinstance(there.value, kind)
    assert type(there.value) is type(here.value)
    copied = pickle.loads(pickle.dumps(there.value))
    assert (type(copied), str(copied)) == (type(there.value), str(there.value))


def test_what_is_left_is_told_exactly(visits: RemoteDataset) -> None:
    """A budget that is refused says what is left, as numbers."""
    with pytest.raises(errors.BudgetExceeded) as refused:
        visits.sql(QUESTIONS[0]).ask(1000)
    left = visits.budget()
    assert refused.value.requested == 1000
    assert (refused.value.analyst, refused.value.dataset) == ("ana", "visits")
    assert str(left["own"]["left"]) == str(float(refused.value.left_analyst or 0)).removesuffix(".0")


def test_a_request_id_is_for_one_question(visits: RemoteDataset) -> None:
    """Another question under a request id that is taken is refused, and not charged."""
    visits.sql(QUESTIONS[0]).ask(1, request_id="taken")
    spent = visits.budget()["own"]["spent"]
    with pytest.raises(errors.RequestReused):
        visits.sql(QUESTIONS[1]).ask(1, request_id="taken")
    with pytest.raises(errors.RequestReused):
        visits.sql(QUESTIONS[0]).ask(2, request_id="taken")
    assert visits.budget()["own"]["spent"] == spent


def test_what_is_not_hers(clinic: Clinic, ana: Connection) -> None:
    """A dataset that is not there, a role that may not, and a key that is nobody's are refused by code."""
    with pytest.raises(errors.ServerRefused) as missing:
        ana.dataset("../keys")
    assert (missing.value.code, missing.value.status) == ("not-found", 404)
    with clinic.connect("carla") as carla, pytest.raises(errors.ServerRefused) as refused:
        carla.dataset("visits").sql(QUESTIONS[0]).ask(1)
    assert refused.value.code == "not-allowed"
    with clinic.connect("ben") as ben, pytest.raises(errors.ServerRefused) as unknown:
        ben.dataset("visits").answer("twice")
    assert unknown.value.code == "not-found"
