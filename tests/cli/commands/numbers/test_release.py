"""`inbounds release`: one answer, or one on each line."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbounds.cli.main import main
from tests.cli.conftest import Type, within_80

PERCENT = ("--bounds", "[0, 100]", "--sensitivity", "2", "--epsilon", "0.50")
COUNT = ("--bounds", "[0, 20] step 1", "--sensitivity", "1", "--epsilon", "1")
DAYS = ("--bounds", "[2026-01-01, 2026-12-31]", "--sensitivity", "3", "--epsilon", "1")


@pytest.mark.slow
def test_text_and_json_hold_the_same(typed: Type) -> None:
    """Both forms name the release, its expected error, what states its law, epsilon and the certificate."""
    text, data = typed("release", "97", *PERCENT), typed("release", "97", *PERCENT, "--json").data
    assert text.code == 0
    assert within_80(text.out)
    assert [line.split("  ")[0] for line in text.out.splitlines() if line[0] != " "] == [
        "released",
        "expected error",
        "mechanism",
        "scale",
        "step",
        "cost (ε)",
        "certificate",
    ]
    law = ["mechanism", "pooling", "width", "scale", "step", "bounds", "sensitivity", "epsilon", "guarantee", "trusted"]
    assert list(data) == ["released", "expected_error", *law, "certificate"]
    assert 0 <= data["released"] <= 100
    assert data["epsilon"] == 0.5
    assert data["certificate"].startswith("proved")
    assert data["mechanism"] in text.out


@pytest.mark.slow
@pytest.mark.parametrize("bounds", ["[0, 100]", "[0, 20] step 1", "[0, 5] | [7, inf)"])
def test_the_law_that_is_printed_can_be_certified(typed: Type, bounds: str) -> None:
    """Scale, pooling and step of bounded Laplace are those of a claim that is proved, and that fails at half of it."""
    for epsilon in ("0.5", "0.119", "0.063", "1.881"):
        printed_law_is_certified(typed, bounds, epsilon)


def printed_law_is_certified(typed: Type, bounds: str, epsilon: str) -> None:
    """Certify what a release prints, and refute half of its scale."""
    asked = ("--bounds", bounds, "--sensitivity", "2", "--epsilon", epsilon)
    found = typed("release", "7", *asked, "--pooling", "0.25", "--json").data
    on_step = bounds if "step" in bounds else f"{bounds} step {found['step']}"
    claim = ("--bounds", on_step, *asked[2:], "--pooling", str(found["pooling"]), "--scale")
    assert typed("certify", *claim, repr(found["scale"])).code == 0
    assert typed("certify", "--bounds", bounds, *claim[2:], repr(found["scale"])).code == 0
    assert typed("certify", *claim, repr(found["scale"] / 2)).code == 4


@pytest.mark.slow
@pytest.mark.parametrize("bounds", ["[0, 20] step 1", "[0, 3] step 1", "[0, 30]"])
def test_a_draw_takes_as_long_for_one_answer_as_for_another(typed: Type, bounds: str) -> None:
    """No mechanism is chosen that computes its law from the true answer, and it is the one that plan recommends."""
    asked = ("--bounds", bounds, "--sensitivity", "1", "--epsilon", "2", "--json")
    released, planned = typed("release", "1", *asked).data, typed("plan", *asked).data
    assert planned["recommended"].startswith(released["mechanism"])
    assert planned["reason"].startswith(planned["recommended"])
    assert not released["mechanism"].startswith(("optimal", "explicit fair"))
    assert "do the same work for every true answer" in planned["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["1_0", "٣", "９７", "0x1p3", "1e", "."])
def test_only_plain_numbers_are_numbers(typed: Type, value: str) -> None:
    """What Python would read but nobody writes is refused, as an answer without repeating it."""
    found = typed("release", value, *COUNT)
    assert (found.code, found.out) == (2, "")
    assert value not in found.err.replace("97.5", "")
    found = typed("release", "3", *COUNT[:-1], value)
    assert found.code == 2
    assert f"--epsilon must be a number, got {value!r}" in found.err


@pytest.mark.parametrize("value", ["inf", "-inf", "-Infinity", "1e999"])
def test_an_infinity_is_projected(typed: Type, value: str) -> None:
    """Where there are ends, an infinite answer is brought into range like any other."""
    assert typed("release", value, *COUNT, "--json").data["released"] in range(21)


@pytest.mark.slow
def test_numbers_are_shown_as_typed(typed: Type) -> None:
    """What was typed is repeated to the letter."""
    assert re.search(r"^cost \(ε\) +0\.50$", typed("release", "97", *PERCENT).out, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["-3", "-3.5", "-.5", "-1e0", "3"])
def test_a_negative_number_is_no_option(typed: Type, value: str) -> None:
    """An answer below zero needs no quoting, before or after the options."""
    bounds = ("--bounds", "[-10, 10] step 1", "--sensitivity", "1", "--epsilon", "1", "--json")
    for words in ((value, *bounds), (*bounds, value), (*bounds, "--", value)):
        assert -10 <= typed("release", *words).data["released"] <= 10


def test_a_day_is_released_as_a_day(typed: Type) -> None:
    """With bounds of days the answer and the release are days."""
    found = typed("release", "2026-05-05", *DAYS, "--json").data
    assert date(2026, 1, 1) <= date.fromisoformat(found["released"]) <= date(2026, 12, 31)
    assert " days" in typed("release", "2026-05-05", *DAYS).out


@pytest.mark.parametrize("more", [("--pooling", "0.25"), ("--guarantee", "distance"), ("--trusted",)])
def test_every_choice_is_passed_on(typed: Type, more: tuple[str, ...]) -> None:
    """Pooling, guarantee and trust are those that were typed."""
    found = typed("release", "7", *COUNT, *more, "--json").data
    assert found["released"] in range(21)
    assert more[0] != "--pooling" or "bounded Laplace" in found["mechanism"]


def test_lines_are_released_one_for_one(typed: Type) -> None:
    """From standard input each line has its release, and an empty line stays empty."""
    text = typed("release", "-", *COUNT, stdin="1\n\n5\n")
    first, empty, last = text.out.split("\n")[:3]
    assert (text.code, empty) == (0, "")
    assert {int(first), int(last)} <= set(range(21))
    data = typed("release", "-", *COUNT, "--json", stdin="1\n\n5").data
    assert data[1] is None
    assert len(data) == 3
    assert typed("release", "-", *COUNT, stdin="").out == ""


@pytest.mark.parametrize("stdin", ["1\n2\n9z7\n", b"1\n2\n\xff\n"])
def test_lines_are_read_before_anything_is_written(typed: Type, stdin: str | bytes) -> None:
    """A bad line anywhere means that nothing is released."""
    found = typed("release", "-", *COUNT, stdin=stdin)
    assert (found.code, found.out) == (2, "")
    assert "line" in found.err
    assert "9z7" not in found.err


SECRET = "731954"

MISUSES: list[tuple[str, ...]] = [
    ("release", SECRET),
    ("release", f"{SECRET}x", *PERCENT),
    ("release", f"-{SECRET},5", *PERCENT),
    ("release", f"--{SECRET}", *PERCENT),
    ("release", f"-x{SECRET}", *PERCENT),
    ("release", SECRET, SECRET, *PERCENT),
    ("release", SECRET, *DAYS),
    ("release", SECRET, *PERCENT, "--jsn"),
    ("release", SECRET, *PERCENT, "--pooling", "2"),
    ("release", SECRET, *PERCENT, "--guarantee", "x"),
    ("release", SECRET, *PERCENT, "--file", "a.csv"),
    ("release", SECRET, "--bounds", "[0, 1", *PERCENT[2:]),
    ("release", SECRET, "--bounds", "[1, 0]", *PERCENT[2:]),
    ("release", SECRET, *PERCENT[:2], "--sensitivity", "-1", "--epsilon", "1"),
    ("release", SECRET, *PERCENT[:4], "--epsilon", "0"),
    ("release", SECRET, *PERCENT[:4], "--epsilon", "nan"),
    ("release", SECRET, *PERCENT[:4], "--epsilon"),
    ("relaese", SECRET, *PERCENT),
    (SECRET, *PERCENT),
    (f"-{SECRET}", *PERCENT),
    ("budget", SECRET),
    ("plan", SECRET, *PERCENT),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", MISUSES, ids=" ".join)
def test_no_message_repeats_the_secret(typed: Type, words: tuple[str, ...]) -> None:
    """Whatever is wrong with a command, the message is one line, the code 2, and the true answer is not in it."""
    found = typed(*words)
    assert (found.code, found.out) == (2, "")
    assert re.fullmatch(r"inbounds: [^\n]+\n", found.err)
    assert SECRET not in found.err


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8), before=st.booleans())
def test_no_malformed_answer_is_repeated(capsys: pytest.CaptureFixture[str], noise: str, before: bool) -> None:
    """A true answer with anything typed next to it is released or refused, never repeated."""
    word = f"{noise}{SECRET}" if before else f"{SECRET}{noise}"
    capsys.readouterr()
    code = main(["release", word, *COUNT, "--pooling", "1"])
    assert code in (0, 2)
    assert SECRET not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_no_number_is_refused_in_words(typed: Type, value: str) -> None:
    """NaN, and infinity on a side without an end, are refused."""
    found = typed("release", value, "--bounds", "[0, inf)", "--sensitivity", "1", "--epsilon", "1")
    assert found.code == 2
    assert found.err.startswith("inbounds: the value m")


def test_several_answers_are_told_where_to_go(typed: Type) -> None:
    """Two answers as two words are refused, with the way to give several, and none of them is repeated."""
    found = typed("release", "97", "98", *PERCENT)
    assert found.code == 2
    assert "got 2; to release several answers, give - and pipe them into standard input" in found.err
    assert "98" not in found.err
