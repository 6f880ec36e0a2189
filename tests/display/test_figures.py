"""Expected errors, as people read them."""

from __future__ import annotations

import pytest

from inbounds.display.figures import format_error


@pytest.mark.parametrize(
    ("error", "alone", "beside_others"),
    [(0.0, "0", "0"), (0.64551, "0.6455", "0.646"), (13.5, "13.5", "13.5"), (123456.0, "1.235e+05", "1.23e+05")],
)
def test_an_error_has_few_digits(error: float, alone: str, beside_others: str) -> None:
    """An error is rounded to four digits, and to three beside others in one sentence."""
    assert format_error(error) == alone
    assert format_error(error, brief=True) == beside_others
