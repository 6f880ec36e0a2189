"""The keys of a public table: whole numbers if all of them are, and else texts."""

from __future__ import annotations

import pytest

from inbounds.query.tables.public_table import list_keys


@pytest.mark.parametrize("text", ["--5", "-", "-0", "007", "²", "٣", "1.0", "", "9" * 5000, str(2**63), "+1", " 1"])
def test_what_only_looks_like_a_number_is_text(text: str) -> None:
    """A key that no program writes for a whole number of 64 bits is a text, and so are the others then."""
    assert list_keys([text, "1"], None, 10) == tuple(sorted([text, "1"]))


def test_whole_numbers_are_numbers() -> None:
    """Whole numbers of 64 bits are numbers, in their order."""
    assert list_keys(["10", "9", "0", "-3", str(2**63 - 1)], None, 10) == (-3, 0, 9, 10, 2**63 - 1)
