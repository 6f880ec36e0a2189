"""Descriptions: words of the custodian beside tables and columns, which change nothing that is promised or asked."""

from __future__ import annotations

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.descriptions import LONGEST, Descriptions, read_descriptions, without_descriptions

PLAIN = """\
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 4
[columns.age]
bounds = "[0, 110] step 1"
[columns.older]
from = "age + 1"
[columns.note]
text = true
[tables.stays]
source = "stays.parquet"
unit = "patient"
max_rows_per_unit = 2
[tables.stays.columns.description]
keys = ["short", "long"]
[budget]
total = 1
"""

WORDS = {
    '[dataset]\nname = "visits"': 'description = """Every visit\n  to a clinic"""',
    '[columns.age]\nbounds = "[0, 110] step 1"': 'description = "In full years"',
    '[columns.older]\nfrom = "age + 1"': 'description = "A year later"',
    "[columns.note]\ntext = true": 'description = "As the doctor wrote it"',
    '[tables.stays]\nsource = "stays.parquet"': 'description = "Nights in a ward"',
    '[tables.stays.columns.description]\nkeys = ["short", "long"]': 'description = "How long"',
}


def described() -> str:
    """Return the same contract with words."""
    text = PLAIN
    for where, words in WORDS.items():
        assert where in text
        text = text.replace(where, f"{where}\n{words}")
    return text


def test_words_are_shown_beside_columns_and_tables() -> None:
    """What the contract says stands beside each table and column, on one line, also of one called like the key."""
    with Dataset.parse(described()) as visits:
        shown = {(row["table"], row["column"]): row["description"] for row in visits.columns}
        assert shown == {
            ("visits", "age"): "In full years",
            ("visits", "older"): "A year later",
            ("stays", "description"): "How long",
        }
        assert [row["description"] for row in visits.tables.overview] == ["Every visit to a clinic", "Nights in a ward"]
        assert [row["description"] for row in visits.rows_of("stays").columns] == ["How long"]


def test_without_words_nothing_changes() -> None:
    """A contract that says nothing shows the columns that it always showed."""
    with Dataset.parse(PLAIN) as visits:
        assert "description" not in visits.columns[0]
        assert "description" not in visits.tables.overview[0]


def test_words_are_no_term() -> None:
    """The terms that a ledger keeps, and the columns that are planned with, are the same with words and without."""
    with Dataset.parse(described()) as one, Dataset.parse(PLAIN) as other:
        assert one.terms == other.terms
        assert one.table.columns == other.table.columns


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("1", "description must be a text"),
        ('""', "description must be a text, got an empty one"),
        (f'"{"a" * (LONGEST + 1)}"', "at most 500 characters, got 501; shorten it"),
        (r'"bell \u0007"', "got control characters; remove them"),
    ],
)
@pytest.mark.parametrize("where", ['[dataset]\nname = "visits"', '[columns.age]\nbounds = "[0, 110] step 1"'])
def test_words_that_cannot_be_shown_are_refused(where: str, words: str, said: str) -> None:
    """A description is a plain text of up to 500 characters; the refusal names its line."""
    text = PLAIN.replace(where, f"{where}\ndescription = {words}")
    with pytest.raises(InvalidContract, match=r"line \d+: .*") as refused:
        Dataset.parse(text)
    assert said in str(refused.value)


def test_a_misspelt_key_is_still_refused() -> None:
    """What is nearly the word is not passed over, and the refusal says what was meant."""
    with pytest.raises(InvalidContract, match="did you mean description"):
        Dataset.parse(PLAIN.replace("[columns.age]", '[columns.age]\ndescripton = "a"'))


def test_only_words_are_taken_away() -> None:
    """A contract without its words is the contract that never had any."""
    one, other = Contract.parse(described()), Contract.parse(PLAIN)
    assert without_descriptions(one).content == without_descriptions(other).content == other.content
    assert read_descriptions(other) == Descriptions()
