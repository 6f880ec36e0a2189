"""A released table: possible, readable, kept."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import inbounds.joint
from inbounds import InvalidParameter, ProjectionFailed, joint
from inbounds.joint import Axis, JointRelease, Level, release
from inbounds.joint.measured import measurements

DISTRICTS = Axis("district", 5, (Level("region", (0, 0, 1, 1, 1)),))
SEX = Axis("sex", 2)
PEOPLE = np.array([[50, 61], [12, 9], [71, 70], [33, 40], [8, 5]])


def people(**others: Any) -> JointRelease:
    """Return a table with a hierarchy, names and a public margin."""
    given = {"groupings": [("district", "sex"), ("region", "sex"), "region"], "axes": [DISTRICTS, SEX], **others}
    return release(PEOPLE, 1, **given)


def zipf(*shape: int) -> Any:
    """Return a table with a few large cells and many that are small or empty."""
    size = int(np.prod(shape))
    return (3 * size / np.arange(1, size + 1) ** 1.5).astype(np.int64).reshape(shape)


def test_the_public_names() -> None:
    """What users import of joint tables is four names."""
    assert joint is inbounds.joint
    assert joint.__all__ == ["Axis", "JointRelease", "Level", "release"]


@pytest.mark.parametrize(
    ("shape", "groupings"),
    [
        ((30,), [(0,), ()]),
        ((6, 5), [(0, 1), (0,), (1,), ()]),
        ((6, 5), [(0,), ()]),
        ((4, 3, 2), [(0, 1, 2), (0, 1), (0,), ()]),
        ((), [()]),
        ((1, 1), [(0, 1)]),
    ],
)
def test_a_table_is_possible_and_adds_up(shape: tuple[int, ...], groupings: Any) -> None:
    """Cells are whole and not negative, in the shape of the counts, and every grouping is the sum of its cells."""
    for epsilon in (0.05, 1, 50):
        table = release(zipf(*shape), epsilon, groupings=groupings)
        assert table.cells.shape == shape
        assert table.cells.dtype == np.int64
        assert table.cells.min() >= 0
        assert table.spent == Fraction(str(epsilon)) == sum(table.split.values())
        for grouping in groupings:
            others = tuple(axis for axis in range(len(shape)) if axis not in grouping)
            assert (table.grouping(grouping) == table.cells.sum(axis=others)).all()
    assert abs(table.cells.sum() - zipf(*shape).sum()) <= 2 + np.sqrt(zipf(*shape).size)


def test_public_facts_are_true_in_the_table() -> None:
    """Known totals, single known groups and empty cells hold exactly, and what is known is not paid for."""
    zeros = np.zeros((5, 2), dtype=np.bool_)
    zeros[4] = True
    known = {(): 400, "region": {0: 130}, ("district", "sex"): {(1, 1): 9}}
    table = people(known=known, zeros=zeros)
    assert table.grouping(()) == 400
    assert table.grouping("region").tolist() == [130, 270]
    assert table.cells[1, 1] == 9
    assert table.cells[4].tolist() == [0, 0]
    assert table.interval(())[0] == table.interval(())[1] == 400
    assert table.interval("district")[1][4] == 0
    assert () not in release(PEOPLE, 1, groupings=[(0, 1), ()], known={(): 359}).split


def test_a_table_prints_with_totals_on_80_columns() -> None:
    """However large a table is, it is shown on 80 columns, and what is shown adds up to its totals."""
    for shape in [(3,), (2000,), (4, 3), (60, 50), (3, 4, 5), (2, 30, 40), ()]:
        table = release(zipf(*shape) * 1000, 1, groupings=[range(len(shape)), *([()] if shape else [])])
        lines = str(table).splitlines()
        assert max(map(len, lines)) <= 80
        rows = lines[2 : lines.index("")]
        last = [int(line.split()[-1].replace(",", "")) for line in rows]
        assert sum(last[:-1]) == last[-1] == table.cells.sum() or not shape
        assert "<table>" in table._repr_html_()
        assert len(repr(table)) < 120
    assert "more" in str(release(zipf(60, 50), 1, groupings=[(0, 1)]))


def test_what_is_public_is_marked_as_not_protected() -> None:
    """A printed table says what was public, and what each grouping cost."""
    text = str(people(known={"sex": [180, 190], "region": {0: 130}}))
    assert "public, and not protected: sex, 1 of 2 region" in " ".join(text.split())
    assert "cells: epsilon" in text


@pytest.mark.slow
def test_a_table_becomes_a_frame() -> None:
    """Frames have the keys, the count and an interval for each group of a grouping."""
    table = people()
    for frame in (table.to_pandas("region"), table.to_polars("region"), table.to_arrow("region").to_pandas()):
        assert list(frame.columns) == ["region", "count", "low", "high"]
        assert list(frame["count"]) == table.grouping("region").tolist()
    cells = table.to_pandas()
    assert list(cells.columns) == ["district", "sex", "count", "low", "high"]
    assert len(cells) == 10
    assert list(release(PEOPLE, 1, groupings=[(0,)]).to_pandas((1,)).columns) == ["axis 1", "count"]


def test_a_table_is_kept_and_read_again() -> None:
    """What is written down gives the same table, measurements, intervals and errors, and another table for free."""
    table = people(known={"sex": [180, 190]}, split=(0.5, 0.25, 0.25))
    kept = json.loads(table.dump())
    same = JointRelease.load(json.dumps(kept))
    assert (same.cells == table.cells).all()
    assert (same.split, same.kept, same.method, str(same)) == (table.split, table.kept, table.method, str(table))
    assert (same.measured("region") == table.measured("region")).all()
    assert same.certificate("region").holds
    for name in ("region", "sex", "district", ()):
        assert all((a == b).all() for a, b in zip(same.interval(name), table.interval(name), strict=True))
    assert same.again().cells.sum() == 370
    assert (pickle.loads(pickle.dumps(table)).cells == table.cells).all()


def test_a_table_of_an_older_split_is_read() -> None:
    """A text that does not say what was asked for is of a table that measured all of it."""
    table = people(split=(0.5, 0.3, 0.2))
    kept = json.loads(table.dump())
    asked = kept.pop("asked")
    old = JointRelease.load(json.dumps(kept))
    assert old.asked == table.asked == tuple(table.split)
    assert (old.again().cells.sum() > 0, str(old)) == (True, str(table))
    for wrong in (asked[1:], [*asked, [None, 0], [0]], 5):
        with pytest.raises(InvalidParameter):
            JointRelease.load(json.dumps(kept | {"asked": wrong}))


def test_what_gets_nothing_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grouping with nothing of epsilon is never measured: its error, intervals and sums are those of finer ones."""
    measured: list[Any] = []
    honest = measurements._measure_grouping

    def watched(plan: Any, truth: Any, grouping: Any, entropy: Any) -> Any:
        measured.append(grouping)
        return honest(plan, truth, grouping, entropy)

    monkeypatch.setattr(measurements, "_measure_grouping", watched)
    table = people(split=(1, 0, 0))
    cells = people(groupings=[("district", "sex")])
    assert measured == [(0, 0)] * 2
    assert table.split == cells.split == {("district", "sex"): 1}
    assert table.certificate().bound == cells.certificate().bound <= 1
    assert table.asked == (("district", "sex"), ("region", "sex"), ("region",)) == table.kept
    low, high = table.interval("region")
    assert (low + high == 2 * np.add.reduceat(table.measured(("district", "sex")).sum(axis=1), [0, 2])).all()
    assert "region: added up from finer groups, error" in str(table)
    with pytest.raises(InvalidParameter, match="was not measured"):
        table.measured("region")
    same = JointRelease.load(table.dump())
    assert (same.asked, same.split, str(same)) == (table.asked, table.split, str(table))
    assert (same.again().cells == table.cells).all()


@pytest.mark.parametrize(
    ("epsilon", "split"),
    [
        (0.3, (0.1, 0.2)),
        (0.3, [0.2, 0.1]),
        (0.1 + 0.2, (0.1, 0.2)),
        (0.3, (0.1 + 0.2, 0)),
        (0.1, (0.1 * 0.7, 0.1 * 0.3)),
        (1, (1 / 3, 2 / 3)),
        (1, {(0, 1): 1 / 7, (0,): 6 / 7}),
        (1, np.array([0.25, 0.75]).tolist()),
        (Fraction(1, 3), (Fraction(1, 9), Fraction(2, 9))),
    ],
)
def test_a_split_means_what_is_written(epsilon: Any, split: Any) -> None:
    """Floats are the decimals that they print as, in any order; what rounding leaves goes to the largest part."""
    table = release(PEOPLE, epsilon, groupings=[(0, 1), (0,)], split=split)
    written = [float(part) for part in (split.values() if isinstance(split, dict) else split) if part]
    assert sum(table.split.values()) == table.spent == Fraction(str(epsilon))
    assert [float(part) for part in table.split.values()] == pytest.approx(written, rel=1e-12)


def test_a_public_grouping_has_no_part() -> None:
    """Where the total is public, a list of parts says 0 for it; anything else is refused."""
    given: dict[str, Any] = {"groupings": [(0, 1), ()], "known": {(): 359}}
    assert release(PEOPLE, 1, split=(1, 0), **given).split == {(0, 1): 1}
    with pytest.raises(InvalidParameter, match="is public; leave it out"):
        release(PEOPLE, 1, split=(0.5, 0.5), **given)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"epsilon": "2"},
        {"measured": [[1]]},
        {"axes": []},
        {"split": 5},
        {"cells": [1]},
        {"kept": 5},
        None,
    ],
)
def test_what_was_not_written_is_not_read(change: Any) -> None:
    """A text that no table wrote is refused."""
    kept = json.loads(people().dump())
    with pytest.raises(InvalidParameter):
        JointRelease.load("{" if change is None else json.dumps(kept | change))


def test_cells_that_break_a_fact_are_not_read() -> None:
    """A kept table is verified again: one with a changed cell is refused."""
    kept = json.loads(people(known={"sex": [180, 190]}).dump())
    kept["cells"][0] += 1
    with pytest.raises(ProjectionFailed):
        JointRelease.load(json.dumps(kept))


def test_what_was_not_measured_is_named() -> None:
    """Raw values and certificates are of measured groupings; for others it is said which were measured."""
    table = people()
    for ask in (table.measured, table.certificate):
        with pytest.raises(InvalidParameter, match="was not measured; choose one of"):
            ask("district")
    assert table.error("district") > 0
    assert np.isinf(release(PEOPLE, 1, groupings=[(0,)]).error((0, 1)))


def test_a_table_cannot_be_changed() -> None:
    """Cells and measurements are what was released."""
    table = people(split=(0.5, 0.25, 0.25))
    for array in (table.cells, table.measured("region")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


GOOD: dict[str, Any] = {"counts": PEOPLE, "epsilon": 1, "groupings": [(0, 1), (0,)]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0}, "epsilon must be"),
    ({"epsilon": float("nan")}, "epsilon must be"),
    ({"epsilon": 1e9}, "epsilon must be"),
    ({"sensitivity": 0}, "sensitivity must be positive"),
    ({"sensitivity": -1}, "sensitivity must be positive"),
    ({"sensitivity": float("inf")}, "sensitivity must be a finite"),
    ({"groupings": []}, "at least one grouping"),
    ({"groupings": [(2,)]}, "names axes"),
    ({"groupings": ["region"]}, "names axes"),
    ({"groupings": [(0,), (0,)]}, "once"),
    ({"groupings": "cells"}, "list of tuples"),
    ({"groupings": 5}, "list of tuples"),
    ({"axes": [5]}, "must each be an Axis"),
    ({"axes": [SEX, DISTRICTS], "groupings": ["sex"]}, "shape"),
    ({"split": {(0, 1): 1}}, "every grouping"),
    ({"split": {(0, 1): 0.7, (0,): 0.2}}, "add up to epsilon"),
    ({"split": {(0, 1): 0.7, (0,): 0.2, (): 0.1}}, "not asked for or is public"),
    ({"split": {(0, 1): 1.5, (0,): -0.5}}, "0 or more"),
    ({"split": {(0, 1): 0, (0,): 1}}, "measured or contain one that is"),
    ({"split": {(0, 1): 1, (0,): 0, (): 0}}, "not asked for or is public"),
    ({"split": [0.5]}, "by grouping"),
    ({"split": 0.5}, "by grouping"),
    ({"split": "ab"}, "by grouping"),
    ({"split": [0.5, 0.4]}, "add up to epsilon"),
    ({"split": [0.5, 0.5 + 1e-9]}, "add up to epsilon"),
    ({"split": [Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**15)]}, "add up to epsilon"),
    ({"split": {(0, 1): 0.5, (0,): 0.25, 0: 0.25}}, "once"),
    ({"known": {(): -1}}, "whole numbers from 0"),
    ({"known": {(): 1.5}}, "whole numbers from 0"),
    ({"known": {(): float("nan")}}, "whole numbers from 0"),
    ({"known": {(): 2**60}}, "whole numbers from 0"),
    ({"known": {(): "many"}}, "whole numbers from 0"),
    ({"known": {(0,): [1, 2]}}, "shape"),
    ({"known": {(0,): {9: 1}}}, "a key of"),
    ({"known": {(0,): {(0, 0): 1}}}, "a key of"),
    ({"known": {(3,): [1]}}, "names axes"),
    ({"known": {(0,): [1] * 5, 0: [1] * 5}}, "once"),
    ({"known": [1]}, "by grouping"),
    ({"known": {(0,): [1] * 5, (): 6}}, "possible together"),
    ({"known": {(0,): [1] * 5, (1,): [1, 1]}}, "possible together"),
    ({"known": {(0, 1): np.ones((5, 2))}, "zeros": np.eye(5, 2, dtype=bool)}, "empty"),
    ({"zeros": np.eye(5, 2)}, "true or false"),
    ({"zeros": np.ones(5, dtype=bool)}, "true or false"),
    ({"known": {(0, 1): np.ones((5, 2))}}, "not be public"),
    ({"counts": PEOPLE * 1.0}, "whole numbers"),
    ({"counts": [[1, 2], [3]]}, "counts must be an array"),
    ({"counts": np.zeros((5000, 5000), dtype=np.int8)}, "at most 20000000 cells"),
    ({"counts": np.zeros((0, 2), dtype=np.int8)}, "at least one key"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_bad_input_is_refused_before_anything_is_measured(
    given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes no sense is refused with the rule and the remedy, and no random byte is drawn for it."""
    monkeypatch.setattr("inbounds.joint.measured.measurements._measure_grouping", lambda *_: pytest.fail("measured"))
    with pytest.raises(InvalidParameter, match=message) as refused:
        release(**{**GOOD, **given})
    assert ";" in str(refused.value)


def test_counts_do_not_decide_about_errors() -> None:
    """Negative and vast counts give a table like any other."""
    for counts in ([-5, -5, -5], [2**63 - 1, 0, 0], [-(2**63), 1, 2**62]):
        table = release(np.array(counts), 1, groupings=[(0,), ()])
        assert table.cells.min() >= 0


def test_measurements_outlive_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no table is found, the error holds what was paid for, pickled too, and a table can be made of it later."""

    def fails(*_: Any, **__: Any) -> None:
        raise ProjectionFailed("no table; take more time")

    with monkeypatch.context() as patched:
        patched.setattr("inbounds.joint.joint_release.solve", fails)
        with pytest.raises(ProjectionFailed) as failed:
            people()
    kept = pickle.loads(pickle.dumps(failed.value)).measurements
    assert JointRelease.load(kept).cells.shape == (5, 2)
    assert set(json.loads(kept)) < set(json.loads(people().dump()))


def test_least_squares_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its time the reconciling gives way, and the measurements themselves are what the table comes near to."""

    def fails(*_: Any, **__: Any) -> None:
        raise ProjectionFailed("no time; take more")

    monkeypatch.setattr("inbounds.joint.measured.estimate.project", fails)
    table = people()
    assert table.cells.min() >= 0
    assert abs(table.cells.sum() - PEOPLE.sum()) < 200
