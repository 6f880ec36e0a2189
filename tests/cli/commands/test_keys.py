"""`inbounds keys discover`: keys that are found out stand in the contract afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.query.ask.discovering.test_discovery import made


def test_the_command_adds_keys_to_the_contract(typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Afterwards the contract has the column, the ledger its terms, and questions by it are asked as ever."""
    path = made(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ("--dataset", str(path), "--analyst", "ana")
    found = typed(
        "keys", "discover", *words, "--column", "town", "--epsilon", "1", "--delta", "1e-6", "--keys-per-unit", "2"
    )
    assert found.code == 0, found.err
    assert "2 published, added to the contract" in found.out
    assert 'keys = ["Oslo", "Rome"]' in path.read_text("utf-8")
    asked = typed("query", *words, "--epsilon", "1", "--json", "SELECT town, COUNT(*) FROM trips GROUP BY town")
    assert [row["town"] for row in json.loads(asked.out)["rows"]] == ["Oslo", "Rome"]


@pytest.mark.parametrize("number", ["1_0", "١", "１", "1.5", "", "0x1", "ten"])
def test_whole_numbers_are_in_the_digits_0_to_9(typed: Type, tmp_path: Path, number: str) -> None:
    """What only Python reads as a number is refused, by the option's name, and nothing is charged."""
    path = made(tmp_path)
    words = ("--dataset", str(path), "--analyst", "ana", "--column", "town", "--epsilon", "1", "--delta", "1e-6")
    for command in (
        ("keys", "discover", *words, f"--keys-per-unit={number}"),
        ("keys", "issue", "ana", "--custodian", str(path), f"--days={number}"),
        ("serve", "--demo", f"--port={number}"),
    ):
        found = typed(*command)
        assert found.code == 2
        assert f"{command[-1].partition('=')[0]} must be a whole number" in found.err
    assert "town" not in path.read_text("utf-8").split("[budget]")[0]
