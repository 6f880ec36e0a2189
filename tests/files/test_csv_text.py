"""Csv as text: lines taken apart, and tables written."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.files.csv_text import find_delimiters, split_line, unquote, write_table

CELLS = st.text(st.sampled_from('ab" ,;|\té'), max_size=5)


@given(st.text(st.sampled_from('ab",;'), max_size=12))
def test_fields_joined_are_the_line(line: str) -> None:
    """Whatever is taken apart can be put together again, and what cannot is no row."""
    fields = split_line(line, ",")
    assert fields is None or ",".join(fields) == line
    assert fields is not None or '"' in line


@given(st.lists(CELLS, min_size=1), st.lists(CELLS, min_size=1))
def test_what_is_written_is_read(names: list[str], row: list[str]) -> None:
    """A table is read as it was written, by this reader and by that of the standard library."""
    text = write_table(names, [row]).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [names, row]
    for line, cells in zip(text.split("\r\n"), (names, row), strict=False):
        assert [unquote(field) for field in split_line(line, ",") or ()] == cells


@pytest.mark.parametrize("line", ['"', 'a"b', '"a"b', 'a,"b', '"a""', '"a" ,b'])
def test_quotes_out_of_order_are_no_row(line: str) -> None:
    """Quotes are around whole fields, and doubled inside."""
    assert split_line(line, ",") is None


def test_a_delimiter_in_quotes_is_none() -> None:
    """What is between names is what is outside of quotes."""
    assert find_delimiters('"a,b";c') == [";"]
    assert find_delimiters("a,b|c") == [",", "|"]
    assert find_delimiters("a") == []
