"""A query whose SQL says its epsilon needs no `--epsilon`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Type

CLINIC = ("--dataset", "clinic.toml")
STATED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM visits"


def test_the_sql_says_the_cost(typed: Type, clinic: Path) -> None:
    """It is explained and charged at the epsilon of its SQL."""
    assert "0.5" in typed("explain", *CLINIC, STATED).out
    paid = typed("query", *CLINIC, "--analyst", "ana", STATED)
    assert paid.code == 0
    assert "cost (ε)" in paid.out
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 0.5


def test_another_cost_beside_it_is_refused(typed: Type, clinic: Path) -> None:
    """Another --epsilon, and --error, contradict it; nothing is charged."""
    asked = ("query", *CLINIC, "--analyst", "ana", STATED)
    other = typed(*asked, "--epsilon", "0.3")
    assert (other.code, "got 0.3 beside the SQL and 0.5 in it" in other.err) == (2, True)
    wanted = typed(*asked, "--error", "20", "--yes")
    assert (wanted.code, "its SQL says epsilon = 0.5; leave --error out" in wanted.err) == (2, True)
    assert not list(clinic.glob("*.db"))
