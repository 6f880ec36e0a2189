"""Whole numbers are drawn all alike, and exactly."""

from __future__ import annotations

from collections import Counter

import pytest

from inbounds.sampling.uniform import below
from tests.helpers.scripted_entropy import Script


@pytest.mark.parametrize("count", [1, 2, 5, 200, 256])
def test_every_byte_that_is_taken_is_taken_for_one_number(count: int) -> None:
    """Over all first bytes, each number comes out equally often; bytes that are no number ask for another."""
    seen: Counter[int] = Counter()
    for byte in range(256):
        script = Script(bytes([byte]))
        found = below(count, script)
        assert 0 <= found < count
        if len(script.asked) == 1:
            seen[found] += 1
    assert sorted(seen) == list(range(count))
    assert len(set(seen.values())) == 1


def test_numbers_beyond_a_word_are_drawn_too() -> None:
    """A count of any size is drawn from with as many bits as it has."""
    count = 3**200
    script = Script(seed=1)
    assert all(0 <= below(count, script) < count for _ in range(50))
    assert set(script.asked) == {-(-(count - 1).bit_length() // 8)}
