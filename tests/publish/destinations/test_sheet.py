"""Names and types of what is published: every place takes them, and no two are alike."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.publish.destinations.sheet import Kind, distinct_names, sheets_of
from tests.helpers.published_reports import YEAR

NAMES = st.lists(st.text(alphabet="aAßẞ_é\0", max_size=9), max_size=9)


@given(NAMES, st.integers(12, 20))
def test_no_two_names_are_alike(names: list[str], longest: int) -> None:
    """Names that differ in case only get other ones; each has letters, and no more bytes than it may."""
    made = distinct_names(names, longest, taken=("a",))
    assert len({name.casefold() for name in made} | {"a"}) == len(names) + 1
    assert all(0 < len(name.encode()) <= longest and "\0" not in name for name in made)
    assert distinct_names(["visits", "Age"], longest) == ["visits", "Age"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, None, 2], Kind.WHOLE),
        ([2**63, 1], Kind.WIDE),
        ([10**40], Kind.TEXT),
        ([1, 2.5], Kind.NUMBER),
        ([None], Kind.NUMBER),
        ([True, None], Kind.TRUTH),
        ([True, 1], Kind.TEXT),
        ([date(2026, 1, 1)], Kind.DAY),
        ([datetime(2026, 1, 1)], Kind.MOMENT),
        ([date(2026, 1, 1), datetime(2026, 1, 1)], Kind.TEXT),
        (["a", 1], Kind.TEXT),
    ],
)
def test_a_column_has_one_type(cells: list[Any], kind: Kind) -> None:
    """The type of a column is that of its cells; where they differ, all of them are read as one."""
    assert Kind.of(cells) is kind


def test_every_column_says_what_it_is() -> None:
    """Each column has a meaning, and those of intervals say what they cover."""
    sheets = sheets_of(YEAR, 63, ("_report",))
    assert [sheet.name for sheet in sheets] == ["clinics", "waits", "_report_", "names", "names_"]
    meanings = {column.name: column.meaning for column in sheets[2].columns}
    assert meanings["low_wide_with_cut_rows"] == "lower end of the 90 % interval (with cut rows)"
    assert meanings["high_Share_noise_only"] == "upper end of the 90 % interval (noise only)"
    assert "whole possible range" in meanings["nothing_learnt_share"]
    assert all(column.meaning for sheet in sheets for column in sheet.columns)
