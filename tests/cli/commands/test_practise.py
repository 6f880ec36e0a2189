"""`inbounds practise`, and `--practise`: everything is tried on made-up rows, and nothing is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.query import Dataset
from inbounds.results.answer import PRACTICE
from tests.cli.conftest import Type, within_80

CLINIC = ("--dataset", "clinic.toml")
MEAN = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


@pytest.fixture
def alone(clinic: Path) -> Path:
    """A folder with the contract, whose table is gone."""
    (clinic / "visits.parquet").unlink()
    return clinic


def test_files_and_a_contract_are_written(typed: Type, alone: Path) -> None:
    """Every command works on the copy, and its answers say what they are; the table itself is not needed."""
    found = typed("practise", "clinic.toml", "--rows", "200", "--to", "made")
    assert (found.code, found.err) == (0, "")
    assert within_80(found.out)
    assert sorted(path.name for path in (alone / "made").iterdir()) == ["clinic.toml", "visits.parquet"]
    copy = ("--dataset", "made/clinic.toml")
    assert PRACTICE in typed("query", *copy, "--epsilon", "1", "--analyst", "ana", MEAN).out
    assert typed("query", *copy, "--epsilon", "1", "--analyst", "ana", "--json", MEAN).data["practice"] is True
    assert typed("explain", *copy, "--epsilon", "1", MEAN).code == 0
    assert typed("budget", "show", *copy, "--json").data["total"]["spent"] == 2
    assert typed("check", "made/clinic.toml", "--output", "figures.txt").code == 0
    with Dataset.load("made/clinic.toml") as made:
        assert made.is_practice


def test_the_same_seed_writes_the_same_rows(typed: Type, alone: Path) -> None:
    """Rows are those of contract, number and seed."""
    for folder, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        assert typed("practise", "clinic.toml", "--rows", "30", "--seed", seed, "--to", folder, "--json").data["rows"]
    first, again, other = ((alone / folder / "visits.parquet").read_bytes() for folder in "abc")
    assert first == again != other


def test_nothing_is_written_over(typed: Type, alone: Path) -> None:
    """A folder that is not empty is refused, and the name of another one works."""
    refused = typed("practise", "clinic.toml", "--to", ".")
    assert refused.code == 2
    assert "; name another one" in refused.err
    assert typed("practise", "clinic.toml", "--rows", "10").code == 0
    assert (alone / "clinic-practice" / "clinic.toml").exists()


def test_a_query_is_tried_without_analyst_and_ledger(typed: Type, alone: Path) -> None:
    """It is answered and marked, nothing is charged, and no file is made."""
    before = sorted(path.name for path in alone.iterdir())
    found = typed("query", *CLINIC, "--practise", "--epsilon", "0.5", MEAN)
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(PRACTICE)
    assert "not charged" in found.out
    assert "budget" not in found.out
    data = typed("query", *CLINIC, "--practise", "--error", "3", "--rows", "500", "--json", MEAN)
    assert '"practice": true' in data.out
    assert PRACTICE not in typed("explain", *CLINIC, "--practise", "--epsilon", "0.5", MEAN).err
    assert sorted(path.name for path in alone.iterdir()) == before


def test_practice_has_no_ledger(typed: Type, alone: Path) -> None:
    """A ledger that is named is refused, for nothing would be charged to it."""
    refused = typed("query", *CLINIC, "--practise", "--ledger", "other.db", "--epsilon", "0.5", MEAN)
    assert refused.code == 2
    assert "leave --ledger out" in refused.err
