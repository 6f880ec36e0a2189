"""`inbounds plan`: mechanisms compared, without data."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds, recommend
from inbounds.cli.commands.numbers import plan
from inbounds.cli.commands.numbers.plan import FIRST, LAST, epsilon_of, least
from tests.cli.conftest import Type, within_80

SMALL = ("--bounds", "[0, 8] step 1", "--sensitivity", "1")


def test_a_plan_compares_and_recommends(typed: Type) -> None:
    """Both forms hold the recommendation and its reason, and the text has no line over 80 columns."""
    text, data = typed("plan", *SMALL, "--epsilon", "0.5"), typed("plan", *SMALL, "--epsilon", "0.5", "--json").data
    assert (text.code, text.err) == (0, "")
    assert within_80(text.out)
    assert data["reason"] in " ".join(text.out.split())
    assert all(row["name"] in text.out for row in data["mechanisms"])
    assert data["recommended"] in {row["name"] for row in data["mechanisms"]}
    assert "Decimal" not in text.out


@pytest.mark.slow
def test_the_inverse_question(typed: Type) -> None:
    """The epsilon found reaches the error, and the one just below, at three digits, does not."""
    data = typed("plan", *SMALL, "--target-error", "1.2", "--json").data
    found = Decimal(repr(data["epsilon"]))
    bounds = Bounds(0, 8, step=1)
    assert recommend(bounds, 1, found, even_timing=True, optimum=False).error == data["error"] <= 1.2
    assert recommend(bounds, 1, found - Decimal("0.001"), even_timing=True).error > 1.2
    text = typed("plan", *SMALL, "--target-error", "1.2").out
    assert f"at most 1.2: {found}" in text
    assert within_80(text)


@given(answer=st.integers(FIRST, LAST + 1), guess=st.integers(FIRST, LAST))
def test_the_search_finds_the_least(answer: int, guess: int) -> None:
    """Wherever it starts, it finds the first number that reaches, in a few dozen steps; or that there is none."""
    tried: list[int] = []

    def reached(number: int) -> bool:
        assert FIRST <= number <= LAST
        tried.append(number)
        return number >= answer

    assert least(reached, guess) == (answer if answer <= LAST else None)
    assert len(tried) <= 24


@given(number=st.integers(FIRST, LAST - 1))
def test_epsilons_have_three_digits_and_grow(number: int) -> None:
    """The numbers count all epsilons of three digits."""
    assert epsilon_of(number) < epsilon_of(number + 1)
    assert len(epsilon_of(number).normalize().as_tuple().digits) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan.png", "plan.svg", "plan.html"])
def test_a_plan_is_drawn(typed: Type, tmp_path: Path, name: str) -> None:
    """The file is what its name says, and nothing else is left."""
    found = typed("plan", *SMALL, "--epsilon", "0.5", "--plot", str(tmp_path / name))
    assert found.code == 0
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".html": b"<!doctype html>"}[Path(name).suffix]
    assert (tmp_path / name).read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--epsilon", "1", "--target-error", "1"),
        ("--epsilon", "x"),
        ("--target-error", "0"),
        ("--target-error", "-1"),
        ("--epsilon", "1", "--plot", "plan.gif"),
        ("--epsilon", "1", "--plot", "/nowhere/plan.png"),
    ],
)
def test_a_bad_plan_is_refused_in_one_line(typed: Type, more: tuple[str, ...]) -> None:
    """What cannot be planned is bad input, with a remedy after a semicolon."""
    found = typed("plan", *SMALL, *more)
    assert (found.code, found.out) == (2, "")
    assert found.err.count("\n") == 1
    assert ";" in found.err


def test_an_error_that_no_epsilon_reaches(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said that there is none, and up to which epsilon was looked."""
    monkeypatch.setattr(plan, "recommend", lambda *_, **__: SimpleNamespace(error=2.0))
    found = typed("plan", *SMALL, "--target-error", "1.50")
    assert found.code == 2
    assert "no epsilon up to 1000 has a mean error of at most 1.50; allow a larger --target-error" in found.err


def test_without_matplotlib_the_extra_is_named(typed: Type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A picture needs a package, which is named if it is not there."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = typed("plan", *SMALL, "--epsilon", "0.5", "--plot", str(tmp_path / "plan.png"))
    assert found.code == 1
    assert "inbounds[plot]" in found.err
