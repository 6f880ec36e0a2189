"""Asking: first the charge, then the table, then the answer, and nothing of what was there before the noise."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from inbounds.errors import (
    BudgetExceeded,
    EngineFailed,
    InboundsError,
    InvalidParameter,
    InvalidQuestion,
    LedgerConflict,
    LedgerUnavailable,
)
from inbounds.ledger import Ledger
from inbounds.ledger.stores.store import Failure
from inbounds.query import Answer, Dataset
from inbounds.query.answer.kept_answer import read_kept, write_kept
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.engines.engine import Kind
from tests.helpers.audit_tables import Told, contract, measures, using
from tests.helpers.ledger_places import Place as Where
from tests.helpers.ledger_places import postgres_place

COLUMNS = """
[columns.place]
keys = ["a", "b"]
[columns.size]
bounds = "[0, 100] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.day]
bounds = "[2026-01-01, 2026-01-31]"
"""
KINDS = {"place": Kind.TEXT, "size": Kind.INTEGER, "weight": Kind.FLOAT, "day": Kind.DATE}
BUDGET = "total = 10\nper_analyst = 4"

SECRET = 7_654_321
"""The true count."""

FAINT = Fraction(1, 10**9)
"""At this epsilon an answer is the true count once in two thousand million times."""


class Asked:
    """A dataset whose engine does as it is told, and a note of what happened in which order."""

    def __init__(self, folder: Path) -> None:
        self.happened: list[str] = []
        self.run: Callable[[], Sequence[tuple[int, ...]]] = lambda: [(SECRET,)]
        self.engine = Told(KINDS, self._run)
        self.ledger = Ledger.open(folder / "ledger.db")
        self.dataset = using(
            Dataset.parse(contract(COLUMNS, unit="row", budget=BUDGET), ledger=self.ledger), self.engine
        )

    def _run(self) -> Sequence[tuple[int, ...]]:
        self.happened.append(f"run after {self.spent}")
        return self.run()

    @property
    def spent(self) -> Fraction | int:
        """What was spent in all."""
        self.dataset.ledger  # noqa: B018  opens the dataset there
        return self.ledger.balance("visits").spent

    @property
    def charges(self) -> int:
        """How often it was charged."""
        return sum(entry.kind == "charge" for entry in self.ledger.statement("visits").entries)

    def fail(self, error: BaseException) -> None:
        """Let the engine fail."""

        def run() -> Sequence[tuple[int, ...]]:
            raise error

        self.run = run


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """A dataset to ask, with a ledger of its own."""
    found = Asked(tmp_path)
    yield found
    assert found.ledger.verify().ok
    found.ledger.close()


def test_the_charge_comes_first(asked: Asked) -> None:
    """When the engine runs, the charge is already in the ledger."""
    asked.dataset.count().ask(1, analyst="ana")
    assert asked.happened == ["run after 1"]
    assert asked.charges == 1


def test_progress_that_cannot_be_told_is_refused_before_the_charge(asked: Asked) -> None:
    """What is no function cannot be told how far an answer is: that is said before anything is paid or run."""
    with pytest.raises(InvalidParameter, match="progress must be a function"):
        asked.dataset.count().ask(1, analyst="ana", progress="loud")  # type: ignore[arg-type]
    assert (asked.spent, asked.charges, asked.happened) == (0, 0, [])


def test_a_failed_engine_does_not_give_the_charge_back(asked: Asked) -> None:
    """If the engine fails, the charge stands and the error says so; the same request id answers, at no further cost."""
    asked.fail(EngineFailed("OutOfMemoryException"))
    with pytest.raises(EngineFailed, match=r"the charge remains.*same request id") as caught:
        asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert caught.value.kind == "OutOfMemoryException"
    assert str(caught.value).count("'one'") == 1
    assert (asked.spent, asked.charges) == (1, 1)
    asked.run = lambda: [(SECRET,)]
    answer = asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert answer.request_id == "one"
    assert (asked.spent, asked.charges) == (1, 1)
    assert len(asked.happened) == 2


def test_a_failed_engine_names_the_request_also_if_nobody_chose_it(asked: Asked) -> None:
    """Whoever gave no request id is told the one that was charged, once, and asks again with it for nothing."""
    asked.fail(EngineFailed("OutOfMemoryException"))
    with pytest.raises(EngineFailed) as caught:
        asked.dataset.count().ask(1, analyst="ana")
    named = caught.value.request_id
    assert named is not None
    assert str(caught.value).count(repr(named)) == 1
    asked.run = lambda: [(SECRET,)]
    assert asked.dataset.count().ask(1, analyst="ana", request_id=named).request_id == named
    assert (asked.spent, asked.charges) == (1, 1)


def test_an_answer_that_could_not_be_kept_names_its_request(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the ledger fails after the charge, the error names the request that was charged, whoever chose its id."""

    def run() -> Sequence[tuple[int, ...]]:
        monkeypatch.setattr(asked.ledger._store, "_commit", _full)
        return [(SECRET,)]

    asked.run = run
    with pytest.raises(LedgerUnavailable, match=r"no answer was kept: ask again with the same request id, '\w+'"):
        asked.dataset.count().ask(1, analyst="ana")
    monkeypatch.undo()
    asked.run = lambda: [(SECRET,)]
    (entry,) = (entry for entry in asked.ledger.statement("visits").entries if entry.kind == "charge")
    assert asked.dataset.count().ask(1, analyst="ana", request_id=entry.request_id).request_id == entry.request_id
    assert (asked.spent, asked.charges) == (1, 1)


def _full() -> None:
    raise Failure("the disk is full; make room")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def ledger_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Where]:
    """An empty place for a ledger, of each kind."""
    if request.param == "sqlite":
        yield Where("sqlite", str(tmp_path / "budget.db"))
        return
    yield from postgres_place()


def test_whoever_only_looks_creates_no_ledger(ledger_place: Where, tmp_path: Path) -> None:
    """With create_ledger=False neither looking nor asking creates a ledger; what needs none goes on as ever."""
    text = contract(COLUMNS, unit="row", budget=BUDGET)
    engine = Told(KINDS, lambda: [(SECRET,)])
    with using(Dataset.parse(text, ledger=ledger_place.where, create_ledger=False), engine) as dataset:
        assert dataset.count().explain(1).parts[0].bounds
        for look in (lambda: dataset.ledger, lambda: dataset.count().ask(1, analyst="ana")):
            with pytest.raises(InvalidParameter, match=r"there is no ledger at .*, or ask a question first"):
                look()
    assert engine.statements == []
    assert list(tmp_path.iterdir()) == []


def test_whoever_only_looks_enters_no_dataset(ledger_place: Where) -> None:
    """With create_ledger=False a ledger of other datasets stays as it is; one that knows the dataset is used."""
    text = contract(COLUMNS, unit="row", budget=BUDGET)
    with Ledger.open(ledger_place.where) as ledger:
        ledger.open_dataset("others", 1)
        before = ledger.head()
        for given in (ledger_place.where, ledger):
            dataset = Dataset.parse(text, ledger=given, create_ledger=False)
            with pytest.raises(LedgerConflict, match="has no dataset 'visits'; check the name and the ledger"):
                dataset.ledger  # noqa: B018  opens it
        assert ledger.head() == before
        with Dataset.parse(text, ledger=ledger_place.where) as dataset:
            assert dataset.ledger.datasets() == ["others", "visits"]
        with Dataset.parse(text, ledger=ledger_place.where, create_ledger=False) as dataset:
            assert dataset.ledger.balance("visits").spent == 0


def test_a_contract_that_is_loaded_may_be_for_looking_only(tmp_path: Path) -> None:
    """`load` hands create_ledger on: the ledger beside the contract is not created."""
    path = tmp_path / "visits.toml"
    path.write_text(contract(COLUMNS, unit="row", budget=BUDGET), encoding="utf-8")
    dataset = Dataset.load(path, create_ledger=False)
    with pytest.raises(InvalidParameter, match=r"there is no ledger at .*visits\.ledger\.db; check the path"):
        dataset.ledger  # noqa: B018  opens it
    assert list(tmp_path.iterdir()) == [path]


def test_a_request_id_has_one_answer_and_one_charge(asked: Asked) -> None:
    """The same question with the same request id gives the same answer, charged once and run once."""
    query = asked.dataset.count()
    first = query.ask(1, analyst="ana", request_id="one")
    assert [query.ask(1, analyst="ana", request_id="one") for _ in range(5)] == [first] * 5
    assert (asked.spent, asked.charges, len(asked.happened)) == (1, 1, 1)
    other = query.ask(1, analyst="ana")
    assert other.request_id not in ("", "one")
    assert (asked.spent, asked.charges, len(asked.happened)) == (2, 2, 2)


def test_a_request_id_is_for_one_question_only(asked: Asked) -> None:
    """Another question, analyst, epsilon or pooling under a known request id is refused, before anything is run."""
    query = asked.dataset.count()
    query.ask(1, analyst="ana", request_id="one")
    others: list[Callable[[], Answer]] = [
        lambda: query.where("size > 3").ask(1, analyst="ana", request_id="one"),
        lambda: asked.dataset.count().by("place").ask(1, analyst="ana", request_id="one"),
        lambda: query.ask(1, analyst="bob", request_id="one"),
        lambda: query.ask(2, analyst="ana", request_id="one"),
        lambda: query.ask(1, analyst="ana", request_id="one", pooling=1),
    ]
    for other in others:
        with pytest.raises(LedgerConflict):
            other()
    assert (asked.spent, asked.charges, len(asked.happened)) == (1, 1, 1)


def test_an_exhausted_budget_keeps_the_engine_still(asked: Asked) -> None:
    """Neither an analyst nor all of them together get more than their cap, and what is refused is not run."""
    query = asked.dataset.count()
    query.ask(3, analyst="ana")
    with pytest.raises(BudgetExceeded) as caught:
        query.ask(Fraction(3, 2), analyst="ana")
    assert caught.value.left_total == 7
    assert caught.value.left_analyst == 1
    query.ask(4, analyst="bob")
    query.ask(3, analyst="eve")
    with pytest.raises(BudgetExceeded) as caught:
        query.ask(1, analyst="ana")
    assert caught.value.left_total == 0
    assert caught.value.left_analyst == 1
    assert len(asked.happened) == asked.charges == 3
    assert asked.spent == 10


def test_an_interrupt_leaves_a_true_ledger(asked: Asked) -> None:
    """Whoever presses Ctrl-C while the engine runs has been charged, and gets the answer by the same request id."""
    asked.fail(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert (asked.spent, asked.charges) == (1, 1)
    assert asked.ledger.verify().ok
    asked.run = lambda: [(SECRET,)]
    asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert (asked.spent, asked.charges) == (1, 1)


def test_no_answer_without_a_ledger(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the ledger cannot charge, nothing is run; if it cannot keep the answer, none is given."""

    def broken(*_args: object, **_named: object) -> None:
        raise LedgerUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "charge", broken)
        with pytest.raises(LedgerUnavailable):
            asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert (asked.spent, asked.happened) == (0, [])
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "answered", broken)
        with pytest.raises(LedgerUnavailable):
            asked.dataset.count().ask(1, analyst="ana", request_id="one")
    assert (asked.spent, len(asked.happened)) == (1, 1)


def test_of_two_at_once_the_first_answer_leaves(asked: Asked) -> None:
    """If the same request is answered meanwhile, by another process, that answer is given and not a second draw."""
    theirs: list[Answer] = []

    def run() -> Sequence[tuple[int, ...]]:
        if not theirs:
            theirs.append(Answer((), (), (), Fraction(1), ""))
            theirs[0] = asked.dataset.count().ask(Fraction(1, 1000), analyst="ana", request_id="one")
        return [(SECRET,)]

    asked.run = run
    ours = asked.dataset.count().ask(Fraction(1, 1000), analyst="ana", request_id="one")
    assert [ours] == theirs
    assert asked.charges == 1


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "much", 10**7, "1001", "0.0000000001"])
def test_a_bad_epsilon_costs_nothing(asked: Asked, epsilon: Any) -> None:
    """What is no amount of epsilon is refused before anything is charged or run, whatever is asked."""
    for query in measures(asked.dataset, "size", "size > 5"):
        with pytest.raises(InvalidParameter):
            query.ask(epsilon, analyst="ana")
    with pytest.raises(InvalidQuestion):
        asked.dataset.median("size").ask(1, analyst="ana", pooling=1)
    assert (asked.spent, asked.happened) == (0, [])


def test_answers_are_kept_as_they_are() -> None:
    """An answer that was kept is read back as it was: whole numbers, floats, days, texts and truth values."""
    rows = ((1, 0.1, date(2026, 1, 2), "ä'\"\n", True), (-(2**70), 1e-300, date(1, 1, 1), "", False))
    answer = Answer(
        ("a", "b", "c", "d", "e"),
        rows,
        ((0.5,), (None,)),
        Fraction(1, 3),
        "one",
        None,
        (((1, date(2026, 1, 2)),), (None,)),
    )
    again = read_kept(write_kept(answer), Fraction(1, 3), "one")
    assert again == answer
    assert [list(map(type, row)) for row in again.rows] == [list(map(type, row)) for row in rows]


def test_every_kind_of_answer_comes_back_from_the_ledger(asked: Asked) -> None:
    """Numbers, days and groups are the same when they are asked for again, and in the ledger there is nothing else."""
    dataset = asked.dataset
    asks: list[tuple[Any, list[tuple[int, ...]]]] = [
        (dataset.count(), [(5,)]),
        (dataset.mean("weight"), [(5, 2**26)]),
        (dataset.mean("day"), [(5, 70)]),
        (dataset.median("day"), [(3, 2), (9, 4)]),
        (dataset.count().by("place"), [(0, 4), (1, 6)]),
    ]
    for number, (query, rows) in enumerate(asks):
        asked.run = lambda rows=rows: rows  # type: ignore[misc]
        first = query.ask(Fraction(1, 2), analyst="ana", request_id=f"r{number}")
        asked.fail(AssertionError("it was run again"))
        assert query.ask(Fraction(1, 2), analyst="ana", request_id=f"r{number}") == first
        kept = [entry.text for entry in asked.ledger.statement("visits").entries if entry.kind == "answer"][-1]
        asked_for = {"asked"} if query.question.groups else set()  # of a table that adds up
        assert json.loads(kept).keys() == {"columns", "rows", "noise", "intervals", "confidence", *asked_for}


def shown(error: BaseException) -> str:
    """Return all that an exception tells: its message, its arguments, and what it came from."""
    return f"{error!s} {error!r} {error.args} {''.join(traceback.format_exception(error))} {error.__dict__}"


def test_nothing_tells_what_was_there_before_the_noise(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception, plan, answer or ledger entry holds a true total, whatever fails and when."""
    query = asked.dataset.count()
    told: list[str] = []

    def broken(*_args: object, **_named: object) -> None:
        raise LedgerUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "answered", broken)
        with pytest.raises(LedgerUnavailable) as caught:
            query.ask(FAINT, analyst="ana", request_id="one")
    told.append(shown(caught.value))
    answer = query.ask(FAINT, analyst="ana", request_id="one")
    told += [repr(answer), str(answer), write_kept(answer), repr(query), repr(query.plan(1)), str(query.explain(1))]
    told += [repr(asked.dataset), repr(asked.ledger), str(asked.ledger.statement())]
    told += [repr(entry) for entry in asked.ledger.statement().entries]
    asked.fail(EngineFailed("ConversionException"))
    with pytest.raises(EngineFailed) as failed:
        query.ask(1, analyst="ana")
    told.append(shown(failed.value))
    assert not [text for text in told if re.search(rf"\b{SECRET}\b", text)]


def test_nothing_of_what_a_database_says_is_passed_on(tmp_path: Path) -> None:
    """A database's own message, which may hold a value of the table, is not in the error that is raised."""
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE raw AS SELECT 'secret-4711' AS x")
    rest = "'a' AS place, 1.5::DOUBLE AS weight, DATE '2026-01-01' AS day"
    connection.execute(f"CREATE VIEW t AS SELECT CAST(x AS BIGINT) AS size, {rest} FROM raw")
    with pytest.raises(duckdb.ConversionException, match="secret-4711"):
        connection.execute("SELECT SUM(size) FROM t")
    engine = DuckDB(connection, exp.to_table("t"))
    with using(Dataset.parse(contract(COLUMNS, unit="row"), ledger=tmp_path / "ledger.db"), engine) as dataset:
        with pytest.raises(EngineFailed) as caught:
            dataset.sum("size").ask(1, analyst="ana", request_id="one")
        assert dataset.ledger.balance("visits").spent == 1
    assert caught.value.kind == "ConversionException"
    assert "secret" not in shown(caught.value)


def test_an_answer_too_long_to_keep_is_refused_before_it_is_paid_for(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether an answer can be kept does not depend on the noise: it is known, and refused, before the charge."""
    monkeypatch.setattr("inbounds.query.ask.steps.LONGEST_TEXT", 500)
    asked.run = lambda: [(place, size, 3) for place in (0, 1) for size in range(101)]
    with pytest.raises(InboundsError):
        asked.dataset.count().by("place", "size").ask(1, analyst="ana")
    assert (asked.spent, asked.happened) == (0, [])
