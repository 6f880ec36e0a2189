"""`inbounds certify`: somebody else's scale is proved or refuted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inbounds.privacy import second_opinion
from tests.cli.conftest import Type, within_80
from tests.helpers.certificates import HOLDS, REFUTED, found


@pytest.mark.parametrize(("scale", "code"), [("1", 4), ("2", 0)])
def test_a_scale_is_judged_with_a_witness(typed: Type, scale: str, code: int) -> None:
    """The exit code is the verdict, and both forms name two answers that are easiest to tell apart."""
    words = ("certify", "--bounds", "[0, inf)", "--sensitivity", "1", "--epsilon", "1", "--scale", scale)
    text, data = typed(*words), typed(*words, "--json")
    assert (text.code, data.code) == (code, code)
    assert within_80(text.out)
    assert "the true values 0 and 1" in text.out
    assert '"worst_pair": [\n    0,\n    1\n  ]' in data.out
    assert ("REFUTED" in text.out, '"refuted": true' in data.out) == (code == 4, code == 4)


def test_a_scale_over_days_is_judged(typed: Type) -> None:
    """The witness for bounds of days is two days."""
    words = ("certify", "--bounds", "[2026-01-01, 2026-03-31]", "--sensitivity", "3", "--epsilon", "1")
    data = typed(*words, "--scale", "9", "--pooling", "1", "--guarantee", "distance", "--trusted", "--json").data
    assert all(day.startswith("2026-") for day in data["worst_pair"])
    assert typed(*words, "--scale", "-9").code == 2


@pytest.mark.parametrize(("scale", "code", "word"), [("1", 4, "refuted"), ("2", 0, "holds")])
def test_a_scale_is_judged_by_a_program_that_shares_nothing(
    typed: Type, tmp_path: Path, scale: str, code: int, word: str
) -> None:
    """A second program comes to the same verdict, and the certificate that is saved is what it read."""
    words = ("certify", "--bounds", "[0, inf)", "--sensitivity", "1", "--epsilon", "1", "--scale", scale)
    file = tmp_path / "certificate.json"
    text = typed(*words, "--independent", "--certificate", str(file))
    assert (text.code, f"independent  {word}" in text.out) == (code, True)
    assert within_80(text.out)
    assert found(json.loads(file.read_text("utf-8")))[0] == (HOLDS if code == 0 else REFUTED)
    again = typed(*words, "--independent", "--certificate", str(file), "--json")
    assert again.code == 2
    assert (
        f'"refuted": {str(code == 4).lower()}'
        in typed(*words, "--independent", "--json").out.partition("independent")[2]
    )


def test_a_second_program_that_cannot_tell_is_a_failure(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second program does not decide, the exit code is neither that of a proof nor that of a refutation."""
    monkeypatch.setattr(second_opinion, "SECONDS", 0)
    words = ("certify", "--bounds", "[0, inf)", "--sensitivity", "1", "--epsilon", "1", "--scale", "2", "--independent")
    text = typed(*words)
    assert (text.code, "cannot tell" in text.out) == (1, True)
