"""What may have been meant by a name that is not known."""

from __future__ import annotations

import pytest

from inbounds.display.suggestion import MOST_LISTED, MOST_MEANT, find_nearest, suggest

COLUMNS = ("age", "cost", "clinic", "length_of_stay", "Weight", "max_rows_per_unit")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("AGE", ["age"]),
        ("ages", ["age"]),
        ("clinc", ["clinic"]),
        ("cilnic", ["clinic"]),
        ("weight", ["Weight"]),
        ("stay", ["length_of_stay"]),
        ("len", ["length_of_stay"]),
        ("max_row_per_units", ["max_rows_per_unit"]),
        ("price", ["cost"]),
        ("zebra", []),
        ("q", []),
        ("", []),
        ("--", []),
    ],
)
def test_the_nearest_name_is_meant(word: str, meant: list[str]) -> None:
    """A name in another case, cut short, a part of one, another word for one or misspelt is found, and no other."""
    assert find_nearest(word, COLUMNS, {"price": "cost"}) == meant


def test_a_remedy_names_what_was_meant_or_what_there_is() -> None:
    """A remedy is the nearest name as it is typed, else the first names and how many more there are."""
    assert suggest("ages", COLUMNS, "it has") == "did you mean age?"
    assert suggest("nort", ["north"], "they are", write=repr) == "did you mean 'north'?"
    assert suggest("zebra", ["age", "cost"], "it has") == "it has age, cost"
    assert suggest(3, ["age"], "it has") == "it has age"
    many = [f"column {number}" for number in range(MOST_LISTED + 7)]
    assert suggest("zebra", many, "it has").endswith("column 9 and 7 more")


def test_few_names_are_suggested_at_once() -> None:
    """However many names a word begins, a few of them are suggested."""
    assert len(find_nearest("column", [f"column{number}" for number in range(50)])) == MOST_MEANT


def test_a_misspelt_name_is_found_among_many() -> None:
    """Among a hundred thousand names a misspelt one is still found; only some of them are compared by letters."""
    codes = [f"{letter}{number:05}" for letter in "ABCDEFGHIJ" for number in range(10_000)]
    assert find_nearest("b0123", codes) == ["B01230", "B01231", "B01232"]
    assert find_nearest("pneumonai", [*codes, "pneumonia"]) == ["pneumonia"]
