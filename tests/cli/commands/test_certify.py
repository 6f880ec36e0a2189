"""`inbounds certify`: somebody else's scale is proved or refuted."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Type, within_80


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
