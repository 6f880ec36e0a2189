"""What one unit changes in frames of every library, whatever types rows make of their columns: exact, without draws.

Random contracts, questions and neighbours are those of `test_random_privacy`.  A statement is planned once, from one
frame, and run over all others: so it cannot depend on the types that rows have made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.engines import by_contract
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.plan import Plan
from inbounds.query.tables.source import _wanted
from tests.helpers.random_contracts import Row
from tests.helpers.random_places import RandomPlace
from tests.helpers.random_questions import Questions
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

QUESTIONS, PAIRS = 6, 2
Columns = dict[str, list[Any]]


def objects(columns: Columns) -> Any:
    """Return a pandas frame of Python objects."""
    return pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in columns.items()})


FORMS: dict[str, Callable[[Columns], Any]] = {
    "pandas": pandas.DataFrame,
    "pandas, objects": objects,
    "pandas, types that can be missing": lambda columns: pandas.DataFrame(columns).convert_dtypes(),
    "pandas, categories": lambda columns: objects(columns).astype("category"),
    "polars": lambda columns: polars.DataFrame(columns, strict=False, infer_schema_length=None),
    "polars, objects": lambda columns: polars.DataFrame(
        {name: polars.Series(name, values, dtype=polars.Object) for name, values in columns.items()}
    ),
    "arrow": pyarrow.table,
    "arrow, encoded": lambda columns: pyarrow.table(
        {name: pyarrow.array(values).dictionary_encode() for name, values in columns.items()}
    ),
}


def columns_of(rows: list[Row], names: list[str]) -> Columns:
    """Return rows as columns; of what type they are is for the library to say, by what they hold."""
    return {name: [row[name] for row in rows] for name in names}


def differences(folder: Path, seeds: range) -> tuple[int, list[str]]:
    """Return how many totals of frames were compared with those of typed tables, and what is wrong."""
    compared, wrong = 0, []
    for seed in seeds:
        with RandomPlace(folder / str(seed), seed, PAIRS) as place:
            if len(place.scene.private) > 1:  # only the table of [dataset] can be a frame
                continue
            main, questions = place.dataset.table, Questions(place.dice, place.scene)
            wanted = _wanted(main)
            sides = {
                f"{side}{i}": pair[j][main.name]
                for i, pair in enumerate(place.pairs)
                for j, side in ((0, "more"), (1, "less"))
            }
            frames = {
                (side, form): DuckDB.of_frame(make(columns_of(rows, list(wanted))), wanted)
                for side, rows in sides.items()
                for form, make in FORMS.items()
            }
            first = frames["more0", "arrow"]
            asked = Dataset.load(folder / str(seed) / "contract.toml", frame=first._frame)
            asked.__dict__["engine"] = first
            found = 0
            while found < QUESTIONS:
                text = questions.question()
                try:
                    plan, typed = quick_plan(asked.sql(text)), quick_plan(place.dataset.sql(text))
                except InvalidQuestion:
                    continue
                found += 1
                totals = {at: _totals(plan, engine) for at, engine in frames.items()}
                for (side, form), one in totals.items():
                    compared += 1
                    if one != place.totals(typed, side):
                        wrong.append(f"{form} {side}: {text}\n{place.scene.contract}")
                for form in FORMS:
                    changes = [
                        part_of_sensitivity(plan, totals[f"more{i}", form], totals[f"less{i}", form])
                        for i in range(PAIRS)
                    ]
                    wrong += [f"{form} changes too much: {text}"] if max(changes) > 1 else []
            asked.close()
            for engine in frames.values():
                engine.close()
    return compared, wrong


def _totals(plan: Plan, engine: DuckDB) -> list[list[int]]:
    return plan.totals(engine.run(plan.sql))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 12, 6))
def test_no_unit_changes_more_in_any_frame(tmp_path: Path, seed: int) -> None:
    """In every library, and whatever types it makes of rows, totals are those of a typed table, on both sides."""
    compared, wrong = differences(tmp_path, range(seed, seed + 6))
    assert wrong == []
    assert compared > 0


@pytest.mark.slow
def test_a_day_that_is_read_wrongly_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: frames whose days are read as the next ones have other totals than a typed table."""
    later = by_contract.DAY.replace("TRY_CAST(x AS DATE)", "TRY_CAST(x AS DATE) + 1")
    assert later != by_contract.DAY
    monkeypatch.setattr(
        "inbounds.query.engines.duckdb.MACROS",
        tuple(later if one == by_contract.DAY else one for one in by_contract.MACROS),
    )
    assert differences(tmp_path, range(6))[1]
