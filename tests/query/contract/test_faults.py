"""All faults of a contract are told at once, and none that only follows from another."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset

RIGHT = """\
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 120] step 1"
clinic.keys = ["north", "south"]
decade.from = "FLOOR(age / 10)"
[budget]
total = 10
per_analyst = 1
delta = 1e-6
delta_reserved = 1e-7
"""

FAULTS: list[tuple[str, str, str]] = [
    ('name = "visits"', "name = 3", "line 2, [dataset]: name must be a text, got 3"),
    ('unit = "patient"', 'unit = ""', "line 3, [dataset]: unit must be a text, got an empty one"),
    ("max_rows_per_unit = 2", "max_rows_per_unit = -1", "line 4, [dataset]: max_rows_per_unit must be a whole number"),
    ("[0, 120] step 1", "[0, ?]", "line 6, [columns.age]: bounds of 'age'"),
    ('["north", "south"]', '["north", "north"]', "line 7, [columns.clinic]: keys must differ from each other"),
    ("total = 10\nper", "total = 0\nper", "line 10, [budget]: total must not be 0"),
    (
        "per_analyst = 1",
        "per_anlyst = 1",
        "line 11, [budget]: unknown key 'per_anlyst' in [budget]; did you mean per_an",
    ),
    ("delta = 1e-6", "delta = 2", "line 12, [budget]: delta must be above 0 and below 1"),
]


def refusal_of(text: str) -> InvalidContract:
    """Return how a contract is refused."""
    with pytest.raises(InvalidContract) as refusal:
        Dataset.parse(text)
    return refusal.value


def test_the_contract_is_right() -> None:
    """Without a fault, the contract of these tests is read."""
    assert Dataset.parse(RIGHT).name == "visits"


@pytest.mark.parametrize(("right", "wrong", "told"), FAULTS)
def test_one_fault_is_one_line(right: str, wrong: str, told: str) -> None:
    """A single fault is told by itself, after the name of the contract and the line, without what follows from it."""
    refusal = refusal_of(RIGHT.replace(right, wrong, 1))
    line, _, words = told.partition(", [")
    assert str(refusal).startswith(f"contract, {line}: {words.partition(': ')[2]}")
    assert "\n" not in str(refusal)
    assert refusal.faults == ()


def test_all_faults_are_told_at_once() -> None:
    """Faults in every section are told together, in the order of their lines, each with its section and remedy."""
    text = RIGHT
    for right, wrong, _ in FAULTS:
        text = text.replace(right, wrong, 1)
    refusal = refusal_of(text)
    assert len(refusal.faults) == len(FAULTS)
    assert all(fault.startswith(told) for fault, (*_, told) in zip(refusal.faults, FAULTS, strict=True))
    assert all(";" in fault for fault in refusal.faults)
    assert str(refusal).split("\n  ") == ["contract has 8 faults; correct each of them:", *refusal.faults]


def test_every_pair_of_faults_is_told() -> None:
    """Whichever two lines are wrong, two faults are told: none hides another, and none adds one."""
    for place, (right, wrong, told) in enumerate(FAULTS):
        for other_right, other_wrong, other_told in FAULTS[place + 1 :]:
            faults = refusal_of(RIGHT.replace(right, wrong, 1).replace(other_right, other_wrong, 1)).faults
            assert [fault[: len(said)] for fault, said in zip(faults, (told, other_told), strict=True)] == [
                told,
                other_told,
            ]


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ('unit = "patient"\n', "unit is missing in [dataset]"),
        ("max_rows_per_unit = 2\n", "max_rows_per_unit is missing in [dataset]"),
        ("total = 10\n", "total is missing in [budget]"),
        (RIGHT[RIGHT.index("[budget]") :], "[budget] is missing"),
    ],
)
def test_what_is_missing_is_told_beside_the_rest(gone: str, told: str) -> None:
    """What a contract lacks is one of its faults."""
    faults = refusal_of(RIGHT.replace("[0, 120]", "[0, ?]").replace(gone, "", 1)).faults
    assert len(faults) == 2
    assert any(told in fault for fault in faults)


def test_other_tables_are_read_to_the_end(tmp_path: Path) -> None:
    """Faults of other tables are told with those of the first, and a table that is left out is missed by nobody."""
    text = RIGHT.replace("[0, 120]", "[0, ?]").replace(
        "[budget]",
        """\
[tables.stays]
unit = "patient"
max_rows_per_unit = 0
columns.days.bounds = "[1, 0]"
[tables.tests]
belongs_to = "stay"
on = { stay = "stay_id" }
[tables.wards]
public = true
source = "nowhere.csv"
key = "ward"
[budget]""",
        1,
    )
    (tmp_path / "visits.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidContract, match=r"visits.toml has 5 faults") as refusal:
        Dataset.load(tmp_path / "visits.toml")
    told = "\n".join(refusal.value.faults)
    for words in ("[columns.age]", "[tables.stays]: max_rows", "[tables.stays.columns.days]", "did you mean stays?"):
        assert words in told
    assert "[tables.wards]" in told


def test_a_refusal_with_faults_travels(tmp_path: Path) -> None:
    """Pickled and read again, a refusal has the same faults."""
    refusal = refusal_of(RIGHT.replace("total = 10", "total = 0").replace("[0, 120]", "[0, ?]"))
    again = pickle.loads(pickle.dumps(refusal))
    assert (str(again), again.faults, again.path) == (str(refusal), refusal.faults, refusal.path)
