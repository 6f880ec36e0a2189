"""`inbounds budget`: what was spent, more of it, and whether the record was altered."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Type, within_80

CLINIC = ("--dataset", "clinic.toml")
MEAN = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


def test_more_and_less_is_granted(typed: Type, clinic: Path) -> None:
    """A grant moves the cap, up or down, of everyone or of one analyst."""
    assert typed("budget", "grant", "0.5", *CLINIC, "--json").data["cap"] == 5.5
    assert typed("budget", "grant", "-0.25", *CLINIC, "--json").data["cap"] == 5.25
    text = typed("budget", "grant", "1", *CLINIC, "--analyst", "ana", "--note", "more")
    assert text.out == "dataset  visits\ngranted  1\nof ana   0 of 4 spent, 4 left\n"
    assert typed("budget", "grant", "-9", *CLINIC).code == 2
    entries = typed("budget", "statement", *CLINIC, "--json").data
    assert [entry["kind"] for entry in entries] == ["open", "grant", "grant", "grant"]
    statement = typed("budget", "statement", *CLINIC)
    assert within_80(statement.out)
    assert statement.out.count("grant") == 3


def test_another_ledger_can_be_named(typed: Type, clinic: Path) -> None:
    """The ledger may be elsewhere than the contract says."""
    other = ("--ledger", str(clinic / "other.db"))
    typed("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", *other, MEAN)
    typed("query", *CLINIC, "--epsilon", "0.5", "--analyst", "ana", MEAN)
    assert typed("budget", "show", *CLINIC, *other, "--json").data["total"]["spent"] == 1
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 0.5


def test_the_ledger_is_verified(typed: Type, clinic: Path) -> None:
    """An intact ledger gives 0 and its head; one that was altered or cut gives 1 and says where."""
    typed("budget", "grant", "1", *CLINIC)
    head = typed("budget", "verify", *CLINIC, "--json").data["head"]
    typed("budget", "grant", "1", *CLINIC)
    text = typed("budget", "verify", *CLINIC, "--head", head)
    assert (text.code, text.out.splitlines()[0]) == (0, "ledger  intact, 3 entries")
    assert within_80(text.out)
    assert typed("budget", "verify", *CLINIC, "--head", f"1:{'0' * 64}").code == 1
    (ledger,) = clinic.glob("*.db")
    with sqlite3.connect(ledger) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in tables:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE ledger_entries SET text = 'altered' WHERE seq = 2")
    connection.close()
    altered = typed("budget", "verify", *CLINIC)
    assert (altered.code, altered.out.splitlines()[0]) == (1, "ledger   ALTERED, 3 entries")
    assert json.loads(typed("budget", "verify", *CLINIC, "--json").out)["problems"]


@pytest.mark.parametrize("name", ["show", "verify", "statement"])
def test_only_who_spends_or_grants_makes_a_ledger(typed: Type, clinic: Path, name: str) -> None:
    """Looking at a ledger that is not there is bad input, and does not make one."""
    before = sorted(path.name for path in clinic.iterdir())
    found = typed("budget", name, *CLINIC, "--ledger", "mistyped.db")
    assert (found.code, found.out) == (2, "")
    assert "there is no ledger" in found.err
    assert sorted(path.name for path in clinic.iterdir()) == before
    assert typed("budget", "grant", "1", *CLINIC, "--ledger", "mistyped.db").code == 0
    assert typed("budget", name, *CLINIC, "--ledger", "mistyped.db").code == 0
