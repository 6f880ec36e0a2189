"""`inbounds budget`: what was spent, more of it, and whether the record was altered."""

from __future__ import annotations

import json
import re
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
    assert text.out == "dataset       visits\ngranted       1\nana's budget  0 of 4 spent, 4 left\n"
    assert typed("budget", "grant", "-9", *CLINIC).code == 2
    entries = typed("budget", "statement", *CLINIC, "--json").data
    assert [entry["kind"] for entry in entries] == ["open", "contract", "grant", "grant", "grant"]
    statement = typed("budget", "statement", *CLINIC)
    assert within_80(statement.out)
    assert statement.out.count("grant") == 4
    assert "\ngrant of entry 5: more\n" in statement.out


@pytest.mark.slow
def test_another_contract_is_refused_until_the_change_is_recorded(typed: Type, clinic: Path) -> None:
    """A weaker unit is not charged to the same account; with a reason on record it is, and the record shows both."""
    asked = ("query", *CLINIC, "--epsilon", "0.1", "--analyst", "ana", "SELECT COUNT(*) FROM visits")
    assert typed(*asked).code == 0
    shown = typed("budget", "contract", *CLINIC)
    assert "\nunit               patient\n" in shown.out
    assert within_80(shown.out)
    contract = clinic / "clinic.toml"
    text = contract.read_text(encoding="utf-8")
    limit = re.search("max_rows_per_unit = .*", text)
    assert limit is not None
    contract.write_text(text.replace('unit = "patient"', 'unit = "row"').replace(limit[0], ""), encoding="utf-8")
    refused = typed(*asked)
    assert (refused.code, refused.out) == (2, "")
    assert "unit: patient, now each row is another person" in refused.err
    assert "inbounds budget contract" in refused.err
    assert "not recorded" in typed("budget", "contract", *CLINIC).out
    recorded = typed("budget", "contract", *CLINIC, "--reason", "each patient comes once", "--json").data
    assert recorded["recorded"]
    again = ("budget", "contract", *CLINIC, "--reason", "once more")
    assert not typed(*again, "--json").data["recorded"]
    assert "recorded           nothing; the contract has not changed\n" in typed(*again).out
    assert typed(*asked).code == 0
    verified = typed("budget", "verify", *CLINIC, "--json").data
    assert (verified["ok"], verified["contracts"]) == (True, {"visits": recorded["digest"]})
    assert f"contract  {recorded['digest'][:16]}… of visits\n" in typed("budget", "verify", *CLINIC).out
    assert "each patient comes once" in typed("budget", "statement", *CLINIC).out


@pytest.mark.slow
def test_who_creates_a_ledger_is_told(typed: Type, clinic: Path) -> None:
    """Once, on standard error, with its path; machines are told in what they read."""
    asked = ("query", *CLINIC, "--epsilon", "0.1", "--analyst", "ana", "SELECT COUNT(*) FROM visits")
    assert "a new ledger was created, " in (told := typed(*asked).err)
    assert "with --ledger, or as ledger under [budget]" in told
    assert typed(*asked).err == ""
    other = ("--ledger", str(clinic / "other.db"))
    assert "other.db: it starts with nothing spent" in typed("budget", "grant", "1", *CLINIC, *other).err
    new = ("--ledger", str(clinic / "new.db"), "--json")
    assert typed("budget", "grant", "1", *CLINIC, *new).data["ledger_created"]
    assert typed(*asked, *new).data["ledger_created"] is False


@pytest.mark.slow
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
    assert (text.code, text.out.splitlines()[0]) == (0, "ledger    intact, 4 entries")
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
    assert (altered.code, altered.out.splitlines()[0]) == (1, "ledger   ALTERED, 4 entries")
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


def test_a_budget_with_a_delta_is_told_in_rho(typed: Type, clinic: Path) -> None:
    """What is spent of both, how many more questions like the last one fit, and how much delta charges may have."""
    contract = clinic / "clinic.toml"
    contract.write_text(contract.read_text().replace("[budget]", "[budget]\ndelta = 1e-6"))
    assert typed("budget", "show", *CLINIC).code == 2  # there is no ledger yet
    assert typed("query", *CLINIC, "--epsilon", "0.1", "--analyst", "ana", "SELECT MEDIAN(age) FROM visits").code == 0
    told = typed("budget", "show", *CLINIC, "--analyst", "ana")
    assert within_80(told.out)
    assert "0.1 of 5 spent, 4.9 left; or in rho, at a delta of 1e-6: 0.00125" in told.out
    found = typed("budget", "show", *CLINIC, "--analyst", "ana", "--json").data
    assert found["total"]["rho"]["spent"] == 0.00125
    rho = found["analyst"]["rho"]
    assert found["like_the_last"] == {"count": int(rho["left"] / 0.00125), "epsilon": 0.1, "rho": 0.00125}
    assert f"remaining     {found['like_the_last']['count']} more queries at ε = 0.1 (rho 0.00125)" in told.out
    granted = typed("budget", "grant", "0", "--delta", "1e-7", *CLINIC, "--json").data
    assert granted["delta_reserved"] == {"cap": 1e-7, "spent": 0, "left": 1e-7}
    assert typed("budget", "grant", "0", *CLINIC).code == 2
    statement = typed("budget", "statement", *CLINIC)
    assert within_80(statement.out)
    assert "0.00125 in rho" in statement.out
    assert typed("budget", "verify", *CLINIC, "--json").data["ok"]
    contract.write_text(contract.read_text().replace("1e-6", "1e-5"))
    refused = typed("budget", "show", *CLINIC)
    assert refused.code == 2
    assert "at a delta of 1e-6, got a total of 5 and 3 per analyst at a delta of 1e-5" in refused.err.replace("\n", " ")


@pytest.mark.slow
def test_a_delta_is_added_on_the_record(typed: Type, clinic: Path) -> None:
    """A contract with a new delta is refused, saying how, until the custodian adds it; then what was spent counts."""
    contract = clinic / "clinic.toml"
    query = ("query", *CLINIC, "--epsilon", "0.1", "--analyst", "ana", "SELECT MEDIAN(age) FROM visits")
    assert typed(*query).code == 0
    none = typed("budget", "delta", *CLINIC, "--reason", "many small questions")
    assert (none.code, none.out) == (2, "")
    assert "the contract has no delta" in none.err
    contract.write_text(contract.read_text().replace("[budget]", "[budget]\ndelta = 1e-6"))
    refused = typed(*query)
    assert refused.code == 2
    assert "inbounds budget delta" in refused.err.replace("\n", " ")
    told = typed("budget", "delta", *CLINIC, "--reason", "many small questions")
    assert (told.code, told.err) == (0, "")
    assert "0.1 of 5 spent, 4.9 left; or in rho, at a delta of 1e-6: 0.004995" in " ".join(told.out.split())
    assert typed(*query).code == 0
    assert typed("budget", "verify", *CLINIC, "--json").data["ok"]
    statement = typed("budget", "statement", *CLINIC)
    assert within_80(statement.out)
    assert "many small questions" in statement.out


def test_without_a_delta_epsilon_alone_is_told(typed: Type, clinic: Path) -> None:
    """No rho anywhere, and how many more fit in epsilon."""
    assert typed("query", *CLINIC, "--epsilon", "0.1", "--analyst", "ana", "SELECT MEDIAN(age) FROM visits").code == 0
    found = typed("budget", "show", *CLINIC, "--json").data
    assert found["total"].keys() == {"cap", "spent", "left"}
    assert found["like_the_last"] == {"count": 49, "epsilon": 0.1}
    assert "rho" not in typed("budget", "statement", *CLINIC, "--json").out
