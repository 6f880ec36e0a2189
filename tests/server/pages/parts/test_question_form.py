"""The form for those who do not know SQL writes the question that was chosen."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.errors import InboundsError
from inbounds.query import Dataset
from inbounds.server.pages.parts.question_form import ADDED_UP, COMPARISONS, MEASURES, Choices, to_sql
from tests.helpers.markup import faults
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

CONTRACT = """\
[dataset]
name = "visits"
source = "t.parquet"
unit = "patient"
max_rows_per_unit = 2
[columns.age]
bounds = "[0, 110] step 1"
[columns."day of visit"]
bounds = "[2024-01-01, 2024-12-31]"
[columns.clinic]
keys = ["north", "it's", "1", "nan"]
[columns.ward]
keys = [1, 2]
[columns.urgent]
keys = [true, false]
[budget]
total = 10
"""
DATASET = Dataset.parse(CONTRACT, ledger=Path("never-opened.db"))
COLUMNS = ["age", "day of visit", "clinic", "ward", "urgent"]


def sql(**chosen: str) -> str:
    """Return the SQL of some choices."""
    return to_sql(DATASET.tables, Choices(**chosen))


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_can_be_asked(measure: str) -> None:
    """Each measure of the form is a question that can be read."""
    DATASET.sql(sql(measure=measure, column="age"))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_form_offers_totals_of_what_has_them(measure: str) -> None:
    """Totals can be chosen with exactly those measures that have them."""
    asked = DATASET.sql(sql(measure=measure, column="age")).asked
    assert all(one.has_totals for one in asked) == (measure in ADDED_UP)


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [
        ("age", "65", "age = 65"),
        ("age", " 65 ", "age = 65"),
        ("day of visit", "2024-03-01", "\"day of visit\" = '2024-03-01'"),
        ("clinic", "north", "clinic = 'north'"),
        ("clinic", "it's", "clinic = 'it''s'"),
        ("clinic", "1", "clinic = '1'"),
        ("clinic", "nan", "clinic = 'nan'"),
        ("ward", "1", "ward = 1"),
        ("urgent", "True", "urgent = TRUE"),
    ],
)
def test_a_value_is_written_as_its_column_has_it(column: str, value: str, shown: str) -> None:
    """Numbers are numbers, days are days, and a key is what the contract says, also one that looks like a number."""
    text = sql(measure="rows", where=column, value=value)
    assert text == f"SELECT COUNT(*) FROM visits WHERE {shown}"
    DATASET.sql(text)


@pytest.mark.parametrize(("words", "sign"), COMPARISONS.items())
def test_every_comparison_can_be_asked(words: str, sign: str) -> None:
    """Each comparison of the form is the one that its words say."""
    text = sql(measure="rows", where="age", compare=words, value="65")
    assert text.endswith(f"WHERE age {sign} 65")
    DATASET.sql(text)


def test_groups_and_totals() -> None:
    """Groups stand first, and totals are asked for where they are wanted."""
    assert sql(measure="rows", by="clinic", then_by="ward", totals="yes") == (
        "SELECT clinic, ward, COUNT(*) FROM visits GROUP BY CUBE(clinic, ward)"
    )
    assert sql(measure="mean", column="age", by="clinic") == "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"measure": "rows", "where": "age"}, "value"),
        ({"measure": "rows", "value": "65"}, "where"),
        ({"measure": "mean", "column": "age", "by": "clinic", "totals": "yes"}, "totals"),
        *(({"measure": name}, "column") for name in ("sum", "mean", "median", "spread", "quantiles")),
    ],
)
def test_what_is_missing_is_told_beside_the_form(hospital: Served, chosen: dict[str, str], field: str) -> None:
    """A condition without a value, totals of a mean, a mean of nothing: none is left out, and the field is marked."""
    choices = Choices(**chosen)
    assert choices.lack is not None
    assert choices.lack.field == field
    assert not choices.is_wanted
    text = visit(hospital, "ana").get(f"/ask/visits?{urlencode(chosen)}").text
    assert f'<p id="lack" class="problem" role="alert">{choices.lack.words}</p>' in text
    assert re.search(rf'<(select|input)[^>]* name="{field}"[^>]* aria-describedby="lack"', text)
    assert "SELECT" not in text.partition("<textarea")[2].partition("</textarea>")[0]
    assert faults(text) == []


def test_nothing_is_wanted_until_a_measure_is_chosen() -> None:
    """Without a measure of the list the form was not sent."""
    assert not Choices.of({}).is_wanted
    assert not Choices.of({"measure": "DROP TABLE"}).is_wanted
    assert Choices.of({"measure": "rows"}).is_wanted
    assert len(Choices.of({"value": "a" * 1000}).value) == 200


TEXTS = st.text(max_size=12) | st.sampled_from(["'", '"', "';--", "\\", "\x00", *COLUMNS])


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from(sorted(MEASURES)))
def test_whatever_is_typed_is_one_name_or_one_value(column: str, where: str, value: str, by: str, measure: str) -> None:
    """No text that is sent in place of a choice adds anything to a question: it is read, or refused with a reason."""
    choices = Choices(measure=measure, column=column, where=where, value=value, by=by)
    if not choices.is_wanted:
        return
    text = to_sql(DATASET.tables, choices)
    try:
        DATASET.sql(text)
    except InboundsError:
        return
    known = {"", *COLUMNS}
    assert by in known
    assert where in known
    assert column in known or measure in ("rows", "units")
