"""What a caller's process has set decides nothing: every question has the same answer, and none is raised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from inbounds.display.progress import silent
from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query
from inbounds.query.ask import steps
from inbounds.query.ask.discovering.discovery import Discovered, discover
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.caller_settings import SURROUNDINGS
from tests.helpers.corpus import clinic
from tests.helpers.engine_places import InParquet
from tests.helpers.scripted_entropy import Script
from tests.helpers.sparing import sparing
from tests.query.test_corpus import CORPUS

AGES = '[columns.age]\nbounds = "[0, 120] step 1"\n[columns.town]\nkeys = ["a", "b"]\n'
TYPES = "who BIGINT, age BIGINT, town VARCHAR"

surroundings = pytest.mark.parametrize("name", sparing(sorted(SURROUNDINGS, key=lambda one: one != "everything"), 2))


def kept(dataset: Dataset) -> list[dict[str, Any]]:
    """Return all that the ledger of a dataset keeps of its answers, but for what tells contracts apart."""
    texts = [entry.text for entry in dataset.ledger.statement(dataset.name).entries if entry.kind == "answer"]
    return [{name: value for name, value in json.loads(text).items() if name != "asked"} for text in texts]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InParquet]:
    """Where the tables of the clinic are."""
    found = InParquet(tmp_path_factory.mktemp("corpus"))
    yield found
    found.close()


ANSWERS: dict[tuple[str, int], list[dict[str, Any]]] = {}
"""What the corpus is answered with where nothing is set."""


def quickest(query: Query) -> int | None:
    """Return a pooling with which a question is quickly planned, None if it has none."""
    try:
        query.plans(500, pooling=1)
    except InvalidQuestion:
        return None
    return 1


def answered(place: InParquet, name: str, every: int) -> list[dict[str, Any]]:
    """Return what is kept of every so many questions of the corpus, drawn from the same random numbers."""
    setting = SURROUNDINGS[name] if name else nullcontext
    with clinic.opened(place, f"prescriptions_{len(ANSWERS)}") as dataset, setting():
        for number, asked in enumerate(CORPUS[::every]):
            query = dataset.sql(asked.sql)
            pooling = quickest(query)
            query.explain(500, pooling=pooling)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(steps, "system", Script(seed=number))
                str(query.ask(500, analyst="ana", pooling=pooling, force=True))
        return kept(dataset)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "every"),
    sparing([("everything", 6), *((name, 1) for name in ("everything", "raising NumPy", "raising warnings"))]),
)
def test_the_corpus_is_answered_alike(place: InParquet, name: str, every: int) -> None:
    """From the same random numbers, every question of the corpus has the same answer whatever the caller has set."""
    for one in ("", name):
        if (one, every) not in ANSWERS:
            ANSWERS[one, every] = answered(place, one, every)
    assert len(ANSWERS["", every]) == len(CORPUS[::every])
    assert ANSWERS[name, every] == ANSWERS["", every]


MEASURES = (
    "MEDIAN(age)",
    "QUANTILE(age, 0.9)",
    "MIN(age), MEDIAN(age), MAX(age)",
    "COUNT(*)",
    "SUM(age)",
    "AVG(age)",
    "COUNT(*), SUM(age), AVG(age)",
    "STDDEV(age)",
    "COUNT(DISTINCT town)",
    "COUNT(DISTINCT who)",
)


@pytest.fixture(scope="module")
def ages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table of ages."""
    folder = tmp_path_factory.mktemp("ages")
    with Playground(contract(AGES, budget="total = 1000000"), TYPES, folder / "ledger.db") as found:
        yield found


@pytest.mark.slow
@surroundings
@pytest.mark.parametrize("rows", [0, 1, 1416, 1417, 20_000])
def test_the_number_of_rows_decides_nothing(ages: Playground, name: str, rows: int) -> None:
    """Any measure of any number of rows is answered, also a median of 1,417, whose weights no double holds."""
    ages.run("DELETE FROM t")
    ages.run(f"INSERT INTO t SELECT i, 50, 'a' FROM range({rows}) r(i)")
    for measure in MEASURES:
        query = ages.dataset.sql(f"SELECT {measure} FROM visits")
        with SURROUNDINGS[name]():
            query.ask(1, analyst="ana")
            if "town" not in measure:
                ages.dataset.sql(f"SELECT town, {measure} FROM visits GROUP BY town").ask(1, analyst="ana")


def test_a_raising_numpy_can_be_noticed(ages: Playground) -> None:
    """Negative control: drawn without shelter, a median of 1,417 rows raises where one of 1,416 does not."""
    plan = ages.dataset.sql("SELECT MEDIAN(age) FROM visits").plan(1)
    totals = [ages.totals(plan, [(i, 50, "a") for i in range(rows)]) for rows in (1416, 1417)]
    with SURROUNDINGS["raising NumPy"]():
        plan.answering.answer_all(totals[0], 0.95, silent)
        with pytest.raises(FloatingPointError):
            plan.answering.answer_all(totals[1], 0.95, silent)


@surroundings
def test_keys_are_discovered_alike(tmp_path: Path, name: str) -> None:
    """From the same random numbers the same keys are published whatever the caller has set."""
    text = contract(AGES, unit="row", budget="total = 9\ndelta = 0.5\ndelta_reserved = 0.4")
    found: list[Discovered] = []
    for setting in (nullcontext, SURROUNDINGS[name]):
        with Playground(text, "name BIGINT", tmp_path / f"{len(found)}.db") as towns:
            towns.run("INSERT INTO t SELECT i % j FROM range(60) r(i), range(1, 20) s(j)")
            with setting(), pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    "inbounds.query.ask.discovering.discovery._open_engine", lambda dataset, _: dataset.engine
                )
                patch.setattr(towns.dataset.engine, "close", lambda: None)
                found.append(discover(towns.dataset, "name", 0.05, 0.001, analyst="ana", entropy=Script(seed=3)))
    assert found[0].keys == found[1].keys
    assert 0 < len(found[0].keys) < 19
