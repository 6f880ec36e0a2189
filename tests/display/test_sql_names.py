"""Names as SQL has them."""

from __future__ import annotations

import pytest
from sqlglot.dialects.duckdb import DuckDB

from inbounds.display.sql_names import WORDS, quote


def test_every_word_of_sql_is_known() -> None:
    """Every word that the reader of SQL takes for its own is on the list of those that need quotes."""
    words = {word for words in DuckDB.Tokenizer.KEYWORDS for word in words.split()}
    assert {word for word in words if word.isidentifier()} - WORDS == set()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("age", "age"),
        ("order", '"order"'),
        ("Select", '"Select"'),
        ("two words", '"two words"'),
        ('a "quoted" one', '"a ""quoted"" one"'),
        ("1st", '"1st"'),
        ("größe", '"größe"'),
        ("", '""'),
    ],
)
def test_a_name_is_quoted_where_it_needs_it(name: str, written: str) -> None:
    """A plain word is written as it is, and any other name in quotes."""
    assert quote(name) == written
