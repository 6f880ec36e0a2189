"""Between the draw and the kept answer: whatever comes of a charge is drawn once, kept, and the same for ever after."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import AnswerFailed, EngineFailed, InvalidQuestion, LedgerUnavailable
from inbounds.ledger import Ledger, Receipt
from inbounds.ledger.values.names import LONGEST_TEXT
from inbounds.query import Answer, Dataset
from inbounds.query.answer import unfinished_table
from inbounds.query.answer.kept_answer import write_kept
from inbounds.query.ask import draw
from inbounds.query.ask.discovering.discovery import _read_key, _write_record
from inbounds.query.ask.discovering.key_selection import KeySelection
from inbounds.query.ask.steps import longest_text
from inbounds.query.methods.joint.joint_table import JointTable, Unprojected
from inbounds.query.methods.method import OneNumber
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing

COLUMNS = '[columns.age]\nbounds = "[0, 120] step 1"\n[columns.town]\nkeys = ["a", "b"]\n'
TYPES = "who BIGINT, age BIGINT, town VARCHAR"
ROWS = [(i, i % 100, "ab"[i % 2]) for i in range(200)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Playground]:
    """Two hundred people in two towns."""
    with Playground(contract(COLUMNS, budget="total = 1000000"), TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


class Counted:
    """What is done with a dataset while it is asked: statements that run, and draws."""

    def __init__(self, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        run, draw = dataset.engine.run, OneNumber.answer_all

        def running(statement: str) -> Any:
            self.done.append("run")
            return run(statement)

        def drawing(*given: Any) -> Any:
            self.done.append("draw")
            return draw(*given)

        monkeypatch.setattr(dataset.engine, "run", running)
        monkeypatch.setattr(OneNumber, "answer_all", drawing)


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a function that raises an error that holds a secret."""

    def raised(*_: Any, **__: Any) -> Any:
        raise error

    return raised


def raising_when_drawn(error: BaseException) -> Callable[..., str]:
    """Return a way to write answers that raises for one that was drawn, and not for the longest that there can be."""

    def raised(answer: Answer) -> str:
        if answer.confidence == CONFIDENCE:
            raise error
        return write_kept(answer)

    return raised


CONFIDENCE = 0.9

ERRORS = [ZeroDivisionError("Quillfeather-7"), MemoryError(), FloatingPointError(), RecursionError(), InvalidQuestion()]


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["drawing", "writing"])
def test_a_failure_after_the_draw_is_kept(
    place: Playground, monkeypatch: pytest.MonkeyPatch, error: Exception, where: str
) -> None:
    """Whatever is raised after a draw is kept under the request id, tells nothing, and comes back instead of a draw."""
    query, told = place.dataset.count(), []
    with monkeypatch.context() as patch:
        if where == "drawing":
            patch.setattr(OneNumber, "answer_all", raising(error))
        else:
            patch.setattr("inbounds.query.ask.steps.write_kept", raising_when_drawn(error))
        with pytest.raises(AnswerFailed) as first:
            query.ask(1, analyst="ana", request_id="one", pooling=1, confidence=CONFIDENCE)
        told.append(str(first.value))
        assert first.value.__cause__ is None
        assert first.value.__suppress_context__ or first.value.__context__ is None
    counted = Counted(place.dataset, monkeypatch)
    with pytest.raises(AnswerFailed) as again:
        query.ask(1, analyst="ana", request_id="one", pooling=1)
    assert str(again.value) == told[0]
    assert "'one'" in told[0]
    assert "Quill" not in told[0]
    assert counted.done == []
    ledger = place.dataset.ledger
    assert ledger.balance("visits").spent == 1
    assert [entry.text for entry in ledger.statement("visits").entries if entry.kind == "answer"] == ['{"failed":true}']
    assert query.owned("ana") is None
    assert query.ask(1, analyst="ana", request_id="another", pooling=1).value >= 0
    assert ledger.verify().ok


def test_an_interrupt_is_as_a_kill(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interrupt nothing is kept, since nothing was seen: the same request id answers later, free of charge."""
    query = place.dataset.count()
    with monkeypatch.context() as patch:
        patch.setattr("inbounds.query.ask.steps.write_kept", raising_when_drawn(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            query.ask(1, analyst="ana", request_id="one", pooling=1, confidence=CONFIDENCE)
    assert query.ask(1, analyst="ana", request_id="one", pooling=1).value >= 0
    assert place.dataset.ledger.balance("visits").spent == 1


def test_all_statements_run_before_the_first_draw(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the statement of one of several questions fails, nothing was drawn for any of them."""
    query = place.dataset.sql("SELECT COUNT(*), COUNT(DISTINCT who) FROM visits")
    counted, run = Counted(place.dataset, monkeypatch), place.dataset.engine.run
    with monkeypatch.context() as patch:
        statements: list[str] = []

        def failing(statement: str) -> Any:
            statements.append(statement)
            return run(statement) if len(statements) == 1 else raising(EngineFailed("IOException"))()

        patch.setattr(place.dataset.engine, "run", failing)
        with pytest.raises(EngineFailed, match="'one'"):
            query.ask(1, analyst="ana", request_id="one", pooling=1)
    assert counted.done == ["run"]
    query.ask(1, analyst="ana", request_id="one", pooling=1)
    assert counted.done == ["run", "run", "run", "draw", "draw"]
    assert place.dataset.ledger.balance("visits").spent == 1


def test_a_report_that_fails_stops_no_draw(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the caller's progress raises during a draw is raised once the answer is kept, and the answer is there."""
    query, counted = place.dataset.count(), Counted(place.dataset, monkeypatch)

    def broken(text: str) -> None:
        if "group" in text:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        query.ask(1, analyst="ana", request_id="one", pooling=1, progress=broken)
    assert query.ask(1, analyst="ana", request_id="one", pooling=1).value >= 0
    assert counted.done == ["run", "draw"]


def test_what_was_measured_is_kept_before_it_is_told(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that could not be made is kept as its measurements, within the length that was foreseen for them."""
    query = place.dataset.sql("SELECT town, COUNT(*) FROM visits GROUP BY town")
    made_of = JointTable.made_of
    monkeypatch.setattr(JointTable, "made_of", lambda _, measured, __: raising(Unprojected(measured))())
    with pytest.raises(Exception, match="measurements are kept"):
        query.ask(1, analyst="ana", request_id="one")
    monkeypatch.setattr(JointTable, "made_of", made_of)
    (kept,) = [one.text for one in place.dataset.ledger.statement("visits").entries if one.kind == "answer"]
    assert len(kept) <= unfinished_table.longest(query.plans(1))
    assert len(query.ask(1, analyst="ana", request_id="one").rows) == 2


# How long an answer can get.

WIDE = """
[columns.vast]
bounds = "[0, 9e149] step 1e145"
[columns.signed]
bounds = "[-9e149, 9e149] step 1e145"
[columns.tiny]
bounds = "[0, 1e-140] step 1e-149"
[columns.real]
bounds = "[-1e100, 1e100]"
[columns.day]
bounds = "[0001-01-01, 9999-12-31]"
[columns.place]
keys = ["é\\"\\\\", "\U0001f600", "c"]
"""
WIDE_TYPES = "who BIGINT, vast DOUBLE, signed DOUBLE, tiny DOUBLE, real DOUBLE, day DATE, place VARCHAR"
NUMBERS = ("vast", "signed", "tiny", "real")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table of numbers that take as many characters as a contract allows."""
    folder = tmp_path_factory.mktemp("wide")
    text = contract(WIDE, limit=3, budget="total = 1000000")
    with Playground(text, WIDE_TYPES, folder / "ledger.db") as found:
        found.run("INSERT INTO t SELECT i // 2, 9e149, -9e149, 1e-140, -1e100, '9999-12-31', 'c' FROM range(900) r(i)")
        yield found


QUESTIONS = [
    *(f"SELECT {call.format(name)} FROM visits" for name in NUMBERS for call in (
        "SUM({0})", "AVG({0})", "COUNT(*), SUM({0}), AVG({0})", "MEDIAN({0})", "STDDEV({0})", "SUM({0}), VARIANCE({0})"
    )),
    *(f"SELECT place, SUM({name}) FROM visits GROUP BY {by}" for name in NUMBERS for by in ("place", "ROLLUP(place)")),
    "SELECT MIN(day), MEDIAN(day), MAX(day) FROM visits",
    "SELECT place, AVG(signed), COUNT(DISTINCT who), MIN(day) FROM visits GROUP BY place",
    "SELECT COVAR_POP(vast, signed), CORR(vast, signed) FROM visits",
    "SELECT HISTOGRAM(vast, 3) FROM visits",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("sql", sparing(QUESTIONS[::-1], 18))
def test_no_answer_is_longer_than_was_foreseen(wide: Playground, sql: str) -> None:
    """What is kept of an answer is at most as long as the plan says, at any epsilon, and whatever the values are."""
    try:
        query = wide.dataset.sql(sql)
        plans = query.plans(1)
    except InvalidQuestion:
        if "real" in sql:
            pytest.skip("this needs a step")
        raise
    most = longest_text(query, plans)
    for epsilon in ("0.0001", 1, 900):
        query.ask(epsilon, analyst="ana")
    texts = [entry.text for entry in wide.dataset.ledger.statement("visits").entries if entry.kind == "answer"]
    assert max(map(len, texts[-3:])) <= most


@pytest.mark.slow
def test_integers_of_many_digits_are_counted(tmp_path: Path) -> None:
    """60,000 sums of 151 digits are refused before they are charged, since they cannot all be kept."""
    keys = "[columns.{0}]\nkeys = {1}\n"
    columns = '[columns.money]\nbounds = "[0, 9e149] step 1e145"\n'
    columns += keys.format("one", list(range(300))) + keys.format("two", list(range(200)))
    with Playground(contract(columns), "who BIGINT, money DOUBLE, one INT, two INT", tmp_path / "ledger.db") as place:
        query = place.dataset.sql("SELECT one, two, SUM(money) FROM visits GROUP BY one, two").alone()
        with pytest.raises(InvalidQuestion, match="60000 groups is too long"):
            query.ask(1, analyst="ana", pooling=1)
        assert place.dataset.ledger.balance("visits").spent == 0


# Keys.

TRIPS = """\
[dataset]
name = "trips"
source = "trips.parquet"
unit = "row"
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 50
delta = 0.5
delta_reserved = 0.5
"""
MANY = 81_000
"""So many keys of 200 characters are more than a ledger keeps."""


@pytest.mark.slow
def test_more_keys_than_can_be_kept_are_kept_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of more than 16,000,000 characters are drawn once: as many as fit are kept, and come back whenever asked."""
    units = KeySelection(Fraction(9), Fraction(1, 4)).certain
    duckdb.sql(
        f"COPY (SELECT lpad(i::VARCHAR, 200, '\"') AS town, 5 AS age FROM range({MANY}) r(i), range({units})) "
        f"TO '{tmp_path}/trips.parquet'"
    )
    (tmp_path / "trips.toml").write_text(TRIPS, encoding="utf-8")
    with Dataset.load(tmp_path / "trips.toml") as trips:
        first = trips.discover_keys("town", 9, 0.25, analyst="ana", request_id="towns")
        assert first.published == MANY
        assert 39_000 < len(first.keys) < MANY
        assert list(first.keys) == sorted(first.keys)
        assert f"the first 1000 of {MANY}" in first.section()
        (kept,) = [entry.text for entry in trips.ledger.statement("trips").entries if entry.kind == "answer"]
        assert LONGEST_TEXT - 500 < len(kept) <= LONGEST_TEXT
        monkeypatch.setattr(KeySelection, "publishes", raising(AssertionError("drawn again")))
        assert trips.discover_keys("town", 9, 0.25, analyst="ana", request_id="towns") == first
        assert trips.ledger.balance("trips").spent == 9


@pytest.mark.parametrize("keys", [[], ["a"], [True, False], [2**62, -1], ['é"\\', "\U0001f600"]])
def test_few_keys_are_kept_as_before(keys: list[Any]) -> None:
    """Keys that fit are kept as they always were, so that what an earlier version kept can be read."""
    assert _write_record(keys) == json.dumps({"keys": keys}, ensure_ascii=False)


def test_a_failure_while_keys_are_drawn_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is raised while keys are drawn is kept under the request id, and comes back instead of a draw."""
    duckdb.sql(f"COPY (SELECT 'x' AS town, 5 AS age FROM range(100)) TO '{tmp_path}/trips.parquet'")
    (tmp_path / "trips.toml").write_text(TRIPS, encoding="utf-8")
    with Dataset.load(tmp_path / "trips.toml") as trips:
        with monkeypatch.context() as patch:
            patch.setattr(KeySelection, "publishes", raising(ValueError("x")))
            with pytest.raises(AnswerFailed, match="towns"):
                trips.discover_keys("town", 1, 0.25, analyst="ana", request_id="towns")
        with pytest.raises(AnswerFailed, match="towns"):
            trips.discover_keys("town", 1, 0.25, analyst="ana", request_id="towns")
        assert trips.ledger.balance("trips").spent == 1


def test_bytes_that_are_no_text_are_no_key() -> None:
    """Bytes that a database holds for a text, and that cannot be read, are passed over: they must not raise."""
    assert (_read_key(b"Rome"), _read_key(b"\xff"), _read_key(7)) == ("Rome", None, 7)


# A ledger that cannot be written.


def test_a_ledger_that_fails_tells_that_it_was_charged(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an answer cannot be kept, none is given; asking again keeps that very draw, and costs nothing more."""
    query, counted = place.dataset.count(), Counted(place.dataset, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "answered", raising(LedgerUnavailable("disk full")))
        with pytest.raises(LedgerUnavailable) as told:
            query.ask(1, analyst="ana", request_id="one", pooling=1)
    assert told.value.uncertain
    assert counted.done == ["run", "draw"]
    assert query.ask(1, analyst="ana", request_id="one", pooling=1).value >= 0
    assert place.dataset.ledger.balance("visits").spent == 1
    assert counted.done == ["run", "draw"]


def test_a_draw_waits_for_its_own_charge(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a ledger that was put back the same request id may be charged again: that is another charge, drawn anew."""
    ledger = place.dataset.ledger
    receipt = Receipt(7, "one", Fraction(1), "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledger, "answered", raising(LedgerUnavailable("full")))
    with pytest.raises(LedgerUnavailable):
        draw.draw_once(ledger, receipt, list, lambda _: "first")
    monkeypatch.setattr(ledger, "answered", lambda _, text: text)
    for other in (replace(receipt, seq=6), replace(receipt, time="2026-01-02T00:00:00Z")):
        assert draw.draw_once(ledger, other, list, lambda _: "second") == "second"
    assert draw.draw_once(ledger, receipt, list, lambda _: "second") == "first"


def test_few_draws_wait_for_a_ledger(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be kept waits in memory a few times only; what is forgotten is drawn again, for nobody saw it."""
    query, counted = place.dataset.count(), Counted(place.dataset, monkeypatch)
    requests = [f"request {number}" for number in range(draw.MOST_WAITING + 1)]
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "answered", raising(LedgerUnavailable("disk full")))
        for request in requests:
            with pytest.raises(LedgerUnavailable):
                query.ask(1, analyst="ana", request_id=request, pooling=1)
    before = len(counted.done)
    for request in requests[::-1]:
        query.ask(1, analyst="ana", request_id=request, pooling=1)
    assert counted.done[before:] == ["run", "draw"]
    assert place.dataset.ledger.balance("visits").spent == len(requests)


def test_a_group_that_is_none_is_kept_as_a_failure(place: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a database returns a group that there is not, no answer is made of the others, now or later."""
    query = place.dataset.count().by("town")
    with monkeypatch.context() as patch:
        patch.setattr(place.dataset.engine, "run", lambda _: [(0, 100), (1, 99), (-1, 1)])
        with pytest.raises(AnswerFailed, match="'one'"):
            query.ask(1, analyst="ana", request_id="one", pooling=1)
    with pytest.raises(AnswerFailed, match="'one'"):
        query.ask(1, analyst="ana", request_id="one", pooling=1)
