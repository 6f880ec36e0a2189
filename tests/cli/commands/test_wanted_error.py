"""`--error` instead of `--epsilon`: the epsilon is found and shown, and paid only if somebody agrees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inbounds.cli.shell import cost
from tests.cli.conftest import Type, within_80

CLINIC = ("--dataset", "clinic.toml")
COUNT = "SELECT COUNT(*) FROM visits WHERE age >= 65"


def test_explain_finds_the_epsilon(typed: Type, clinic: Path) -> None:
    """It says the epsilon, what was wanted and that a mean is no bound, and explains the query at that."""
    found = typed("explain", *CLINIC, "--error", "20", COUNT)
    assert found.code == 0
    assert within_80(found.out.partition("statement")[0])
    data = typed("explain", *CLINIC, "--error", "20", COUNT, "--json").data
    assert f"ε = {data['epsilon']:g} is the least for an error of 20" in data["wanted"]
    assert "An average is not a bound" in data["wanted"]
    assert data["wanted"] in " ".join(found.out.split())
    assert not list(clinic.glob("*.db"))


def test_a_mean_needs_rows(typed: Type, clinic: Path) -> None:
    """The remedy of the refusal works when it is typed."""
    words = ("explain", *CLINIC, "--error", "2 %", "SELECT AVG(age) FROM visits")
    refused = typed(*words)
    assert refused.code == 2
    assert "--rows 1000" in refused.err
    assert typed(*words, "--rows", "1000").code == 0


def test_without_a_terminal_somebody_must_have_agreed(typed: Type, clinic: Path) -> None:
    """A query with a wanted error is refused without --yes, before anything is planned, and charged with it."""
    words = ("query", *CLINIC, "--error", "20", "--analyst", "ana", COUNT, "--json")
    refused = typed(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "give --yes" in refused.err
    assert not list(clinic.glob("*.db"))
    paid = typed(*words, "--yes")
    assert paid.code == 0
    assert "is the least for an error of 20" in paid.err
    spent = typed("budget", "show", *CLINIC, "--json").data["total"]["spent"]
    assert f'"epsilon": {spent}' in paid.out


@pytest.mark.parametrize(("answer", "spent"), [("y\n", True), ("n\n", False)])
def test_on_a_terminal_it_is_asked(
    typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch, answer: str, spent: bool
) -> None:
    """The epsilon is shown before anything is paid, and a no spends nothing."""
    monkeypatch.setattr(cost, "_is_terminal", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    found = typed("query", *CLINIC, "--error", "20", "--analyst", "ana", COUNT, stdin=answer)
    assert "which spends" in found.err
    assert (found.code == 0) == spent
    assert bool(list(clinic.glob("*.db"))) == spent
    assert ("nothing was spent" in found.err) != spent


@pytest.mark.parametrize("words", [("--epsilon", "1", "--error", "20"), (), ("--epsilon", "1", "--rows", "10")])
def test_one_of_epsilon_and_error_is_given(typed: Type, clinic: Path, words: tuple[str, ...]) -> None:
    """Both, none, or rows without an error are refused, with what to do."""
    for command in ("explain", "query"):
        who = ("--analyst", "ana") if command == "query" else ()
        refused = typed(command, *CLINIC, *words, *who, COUNT)
        assert refused.code == 2
        assert "; give" in refused.err
