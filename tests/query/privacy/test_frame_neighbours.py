"""What one unit changes in frames of every library, whatever types rows make of their columns: exact, without draws.

Random contracts, questions and neighbours are those of `test_random_privacy`.  A statement is planned once, from one
frame, and run over all others: so it cannot depend on the types that rows have made.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.engines import by_contract
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.plan import Plan
from inbounds.query.statement.row_weights import RowWeights
from inbounds.query.tables.source import _columns_to_read
from tests.helpers.engine_places import totals_of
from tests.helpers.random_contracts import Row
from tests.helpers.random_places import RandomPlace
from tests.helpers.random_questions import Questions
from tests.helpers.sparing import sparing
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

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


def differences(folder: Path, seeds: range, asked_each: int = QUESTIONS) -> tuple[int, list[str]]:
    """Return how many totals of frames were compared with those of typed tables, and what is wrong."""
    compared, wrong = 0, []
    for seed in seeds:
        with RandomPlace(folder / str(seed), seed, PAIRS) as place:
            if len(place.scene.private) > 1:  # only the table of [dataset] can be a frame
                continue
            main, questions = place.dataset.table, Questions(place.dice, place.scene)
            wanted = _columns_to_read(main)
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
            while found < asked_each:
                text = questions.question()
                try:
                    query = asked.sql(text)
                    if len(query.questions) > 1:  # measures of different rows, each asked by itself
                        continue
                    plan, typed = quick_plan(query), quick_plan(place.dataset.sql(text))
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
@pytest.mark.parametrize(("seed", "asked"), sparing([(0, 3), *((seed, QUESTIONS) for seed in range(0, 12, 3))]))
def test_no_unit_changes_more_in_any_frame(tmp_path: Path, seed: int, asked: int) -> None:
    """In every library, and whatever types it makes of rows, totals are those of a typed table, on both sides."""
    compared, wrong = differences(tmp_path, range(seed, seed + 3), asked)
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
    assert any(differences(tmp_path, range(seed, seed + 1))[1] for seed in range(3, 30))


def loose(columns: Columns) -> Any:
    """Return a polars frame whose columns have the type that all their values can be turned into."""
    return polars.DataFrame(columns, strict=False, infer_schema_length=None)


D = Decimal
DAYS, TIME = [date(2026, 1, 1), date(2026, 1, 2)], datetime(2026, 1, 3, 4)
ODD: dict[str, tuple[list[Any], Any, list[str]]] = {
    "decimals below one": ([D("0.5"), D("0.0"), D("-0.25")], D("1.5"), ["arrow", "objects"]),
    "decimals with one of many digits": ([D("0.5"), D(3)], D(f"{10**40}.5"), ["arrow", "objects"]),
    "texts with bytes": (["K\u00f6ln", "a'b", "back\\slash"], b"\xff", ["arrow", "objects"]),
    "texts of numbers with bytes": (["7", "8"], b"\xff", ["arrow", "objects"]),
    "days with a time": (DAYS, TIME, ["polars", "objects"]),
    "whole numbers with a fraction": ([1, 2], 2.5, ["arrow", "polars", "objects"]),
}
"""Values, one that makes another type of their column, and where it does."""
WAYS: dict[str, Callable[[Columns], Any]] = {"arrow": pyarrow.table, "objects": objects, "polars": loose}
CASES = [(case, way) for case, (_, _, ways) in ODD.items() for way in ways]
SAID = '[dataset]\nname = "n"\nPLACE\n[columns]\nx.keys = KEYS\ny.keys = ["z"]\n[budget]\ntotal = 1\n'


def found(text: str, values: list[Any], way: str, file: Path | None) -> list[int]:
    """Return how many rows have each key, or how many units there are, in a frame or in a file that is made of it."""
    frame = WAYS[way]({"x": values, "y": ["z"] * len(values)})
    if hasattr(frame, "write_parquet") and file is not None:
        frame.write_parquet(file)
    elif file is not None:
        parquet.write_table(frame, file) if way == "arrow" else frame.to_parquet(file)
    text = text.replace("PLACE", "" if file is None else f"source = '{file}'")
    with Dataset.parse(text, frame=frame if file is None else None) as dataset:
        if "x.keys" in text:
            return [count for (count,) in totals_of(dataset.count().by("x"))]
        ((weight,),) = totals_of(dataset.count_units())
        return [weight // RowWeights.of(1, 1).one]


@pytest.mark.parametrize("as_file", [False, True], ids=["frame", "file"])
@pytest.mark.parametrize(("case", "way"), CASES)
def test_one_odd_value_changes_no_other_key(tmp_path: Path, case: str, way: str, as_file: bool) -> None:
    """A value that makes another type of its whole column leaves the keys of the others as they were."""
    values, odd, _ = ODD[case]
    file = tmp_path / "x.parquet" if as_file else None
    written = [str(one) if one else "0" for one in values]
    text = SAID.replace("[columns]", 'unit = "row"\n[columns]').replace("KEYS", json.dumps(written))
    for rows in (values * 3, [*values * 3, odd]):
        assert found(text, rows, way, file) == [3] * len(values), rows


@pytest.mark.parametrize("as_file", [False, True], ids=["frame", "file"])
@pytest.mark.parametrize(("case", "way"), CASES)
def test_one_odd_value_changes_no_other_unit(tmp_path: Path, case: str, way: str, as_file: bool) -> None:
    """A value that makes another type of its whole column leaves the units of the others as they were."""
    values, odd, _ = ODD[case]
    file = tmp_path / "x.parquet" if as_file else None
    text = SAID.replace("[columns]", 'unit = "x"\nmax_rows_per_unit = 1\n[columns]').replace("x.keys = KEYS\n", "")
    assert found(text, values * 3, way, file) == [len(values)]
    assert found(text, [*values * 3, odd], way, file)[0] in (len(values), len(values) + 1)


def test_texts_that_look_like_bytes_stay_apart_from_them() -> None:
    """Bytes that are no text, and a text that looks like what they are written as, are two units."""
    text = SAID.replace("[columns]", 'unit = "x"\nmax_rows_per_unit = 1\n[columns]').replace("x.keys = KEYS\n", "")
    for way in ("arrow", "objects"):
        assert found(text, [b"\xff", b"\\xFF", b"\xff"], way, None) == [2]
