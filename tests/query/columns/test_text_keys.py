"""Keys made of keys: what is made of a public list is a public list, and no unit changes more."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, column
from inbounds.query.columns.column import Keys, Numbers
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, totals_of
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

ODD = ["it's", 'a "b"', "x,y", "x;y", "ä%_", "back\\slash", "{}", "$1", "${x}", " ", "日本", "a|b\tc"]
CODES = [f"{letter}{number:02d}.{part}" for letter in "ABC" for number in range(10) for part in range(5)]
KEYS = [*CODES, *ODD, "A1"]
"""More keys than are told by a test for each."""
NUMBERS = [7 * number - 300 for number in range(130)]

CONTRACT = f"""
[dataset]
name = "t"
unit = "UNIT"
LIMIT
[columns.icd]
keys = {json.dumps(KEYS)}
[columns.sex]
keys = ["f", "m"]
[columns.place]
keys = {NUMBERS}
[columns.rating]
keys = [5, 1, 2]
bounds = "[1, 5] step 1"
[budget]
total = 1
"""
TYPES = {"who": "bigint", "icd": "text", "sex": "text", "place": "bigint", "rating": "bigint"}
ROWS = CONTRACT.replace("UNIT", "row").replace("LIMIT", "")
UNITS = CONTRACT.replace("UNIT", "who").replace("LIMIT", "max_rows_per_unit = 2")
DATASET = Dataset.parse(ROWS)

QUESTIONS = [
    "SELECT icd, COUNT(*) FROM t GROUP BY icd",
    "SELECT place, COUNT(*) FROM t WHERE icd <> 'A00.0' GROUP BY place",
    "SELECT SUBSTR(icd, 1, 3), COUNT(*) FROM t GROUP BY 1",
    "SELECT LEFT(icd, 1) AS chapter, sex, COUNT(*) FROM t GROUP BY chapter, sex",
    "SELECT SUBSTRING(icd FROM 5 FOR 1), SUM(rating) FROM t GROUP BY 1",
    "SELECT COUNT(*) FROM t WHERE LEFT(icd, 3) = 'A03'",
    "SELECT COUNT(*) FROM t WHERE NOT SUBSTR(icd, 1, 3) IN ('A03', 'B07')",
    "SELECT COUNT(*) FROM t WHERE SUBSTR(icd, 2) LIKE '0%'",
    "SELECT COUNT(*) FROM t WHERE LEFT(icd, 2) IS NULL",
    "SELECT CASE WHEN LEFT(icd, 1) = 'A' THEN 'infection' ELSE 'other' END, COUNT(*) FROM t GROUP BY 1",
    "SELECT COUNT(DISTINCT LEFT(icd, 2)) FROM t",
    "SELECT RIGHT(icd, 1), COUNT(*) FROM t GROUP BY 1",
    "SELECT LOWER(icd), COUNT(*) FROM t GROUP BY 1",
    "SELECT LEFT(icd, 1) || '-' || sex, COUNT(*) FROM t GROUP BY 1",
    "SELECT icd || COALESCE(sex, '?'), COUNT(*) FROM t GROUP BY 1",
    "SELECT COUNT(*) FROM t WHERE LEFT(icd, 1) || sex = 'Bm'",
    "SELECT COALESCE(LEFT(icd, 2), 'none'), COUNT(*) FROM t GROUP BY 1",
    "SELECT NULLIF(sex, 'f'), COUNT(*) FROM t GROUP BY 1",
    "SELECT NULLIF(LEFT(icd, 1), 'B'), COUNT(*) FROM t GROUP BY 1",
    "SELECT SUM(NULLIF(rating, 5)) FROM t",
    "SELECT AVG(LENGTH(icd)) FROM t",
    "SELECT COUNT(*) FROM t WHERE LENGTH(icd) > 3",
    "SELECT LENGTH(icd), COUNT(*) FROM t GROUP BY 1",
    "SELECT REPLACE(icd, '.', '/'), COUNT(*) FROM t GROUP BY 1",
    "SELECT REPLACE(LEFT(icd, 1), 'A'), COUNT(*) FROM t GROUP BY 1",
    "SELECT TRIM(icd, 'A0'), COUNT(*) FROM t GROUP BY 1",
    "SELECT LTRIM(RTRIM(icd, '4'), 'B') AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT LPAD(LEFT(icd, 3), 5, '*-'), RPAD(sex, 2), COUNT(*) FROM t GROUP BY 1, 2",
    "SELECT SPLIT_PART(icd, '.', 2), COUNT(*) FROM t GROUP BY 1",
    "SELECT CAST(rating AS TEXT), COUNT(*) FROM t GROUP BY 1",
    "SELECT place::text, COUNT(*) FROM t WHERE CAST(place AS VARCHAR) <> '1' GROUP BY 1",
    "SELECT CAST(rating * 2 + 1 AS TEXT) || sex, COUNT(*) FROM t GROUP BY 1",
    "SELECT LPAD(CAST(rating AS TEXT), 2, '0'), COUNT(*) FROM t GROUP BY 1",
    "SELECT CONCAT(sex, '-', rating), COUNT(*) FROM t GROUP BY 1",
    "SELECT rating, COUNT(*) FROM t GROUP BY rating",
    "SELECT rating, AVG(rating) FROM t WHERE rating >= 2 GROUP BY rating",
    "SELECT icd, rating, COUNT(*) FROM t WHERE icd LIKE 'A0%' GROUP BY icd, rating",
]


def random_rows(seed: int, count: int = 200) -> list[dict[str, Any]]:
    """Return rows with keys, other values and nothing; always the same ones."""
    draw = random.Random(seed)
    return [
        {
            "who": draw.randrange(40),
            "icd": draw.choice([*KEYS, "a00.0", "A00.0 ", "", None]),
            "sex": draw.choice(["f", "m", "x", None]),
            "place": draw.choice([*NUMBERS, 1, None]),
            "rating": draw.choice([-9, 1, 2, 3, 5, 9, None]),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("contract", [ROWS, UNITS], ids=["rows", "units"])
def test_made_keys_are_those_of_plain_python(tmp_path: Path, contract: str) -> None:
    """The totals of keys made of keys are those that plain Python finds, row by row."""
    place, rows = InParquet(tmp_path), random_rows(5)
    dataset = place.dataset(rows, TYPES, contract)
    for text in QUESTIONS:
        query = dataset.sql(text)
        assert totals_of(query) == oracle.totals(query.question, rows, {"place", "rating"}), text
    place.close()


@pytest.mark.parametrize("text", QUESTIONS)
def test_made_keys_are_written_as_they_are_read(text: str) -> None:
    """The text of a question about keys made of keys is read as the same question."""
    query = DATASET.sql(text)
    assert DATASET.sql(str(query)).questions == query.questions
    assert str(DATASET.sql(str(query))) == str(query)


@pytest.mark.slow
@pytest.mark.parametrize("contract", [ROWS, UNITS], ids=["rows", "units"])
def test_no_unit_changes_made_keys_by_more_than_it_may(tmp_path: Path, contract: str) -> None:
    """Between random neighbours all totals together change by at most what the noise is made for, and by something."""
    place, rows = InParquet(tmp_path), random_rows(6, 60)
    datasets = [place.dataset(rows, TYPES, contract)]
    for number in range(4):
        kept = [row for at, row in enumerate(rows) if (at if contract is ROWS else row["who"]) != number]
        datasets.append(place.dataset(kept, TYPES, contract))
    for text in QUESTIONS:
        queries = [dataset.sql(text) for dataset in datasets]
        plan = quick_plan(queries[0])
        totals = [plan.totals(query.dataset.engine.run(quick_plan(query).sql)) for query in queries]
        parts = [part_of_sensitivity(plan, totals[0], others) for others in totals[1:]]
        assert max(parts) <= 1, text
    assert any(part > 0 for part in parts)  # or nothing was changed
    place.close()


def test_lists_of_made_keys_are_public() -> None:
    """A made key has the list that its formula makes of the listed keys, each once, in their order."""
    expected = {
        "LEFT(icd, 1)": tuple(dict.fromkeys(key[:1] for key in KEYS)),
        "SUBSTR(icd, 4)": tuple(dict.fromkeys(key[3:] for key in KEYS)),
        "RIGHT(icd, 2)": tuple(dict.fromkeys(key[-2:] for key in KEYS)),
        "UPPER(icd)": tuple(dict.fromkeys(key.upper() for key in KEYS)),
        "sex || '/' || sex": ("f/f", "f/m", "m/f", "m/m"),
        "NULLIF(sex, 'm')": ("f",),
        "NULLIF(sex, 'x')": ("f", "m"),
        "CAST(rating AS TEXT)": ("1", "2", "3", "4", "5"),
        "REPLACE(sex, 'f', 'm')": ("m",),
    }
    for text, keys in expected.items():
        made = DATASET.table.column(text)
        assert isinstance(made, Keys)
        assert made.keys == keys, text
    length = DATASET.table.column("LENGTH(icd)")
    assert isinstance(length, Numbers)
    assert {length.value(step) for step in range(length.size) if length.value(step) in length.bounds} == {
        Fraction(len(key)) for key in KEYS
    }


def test_made_keys_are_the_same_in_python() -> None:
    """What SQL makes of keys, the methods of a column make, too."""
    icd, sex = column("icd"), column("sex")
    pairs = {
        "SUBSTR(icd, 2, 3)": icd.substr(2, 3),
        "SUBSTRING(icd, 2)": icd.substr(2),
        "LEFT(icd, 3)": icd.left(3),
        "RIGHT(icd, 3)": icd.right(3),
        "CHAR_LENGTH(icd)": icd.length(),
        "LEFT(icd, 1) || '-' || sex": icd.left(1).joined("-", sex),
        "NULLIF(sex, 'f')": sex.null_if("f"),
    }
    for text, made in pairs.items():
        assert DATASET.table.column(text) == DATASET.table.column(made)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("LEFT(icd, 0)", "LEFT counts characters with whole numbers from 1 on, got 0; write it like LEFT"),
        ("SUBSTR(icd, -2)", "SUBSTR counts characters with whole numbers from 1 on"),
        ("SUBSTR(icd, 1.5)", "SUBSTR counts characters with whole numbers from 1 on"),
        ("SUBSTR(icd)", "SUBSTR cannot take 1 arguments; write it like SUBSTR"),
        ("LEFT(place, 1)", "SUBSTR takes text, but place is not text"),
        ("LENGTH(rating)", "LENGTH takes text, but rating is not text"),
        ("sex || rating / 7", "rating / 7 may be a fraction, which databases write differently; round it"),
        ("CAST(rating * 1000 + place AS TEXT)", "needs numbers, but place is categorical"),
        ("CAST(rating * 700 + rating * rating AS TEXT)", "more than 1000 possible values as text; make it coarser"),
        ("REPLACE(icd, '', 'a')", "'' must be a text from one character to 1000 here; write it like REPLACE"),
        ("REPLACE(icd, sex, 'a')", "sex must be a text from one character to 1000 here"),
        ("LPAD(icd, 1001)", "1001 must be a whole number from 1 to 1000 here; write it like LPAD"),
        ("REPLACE(LPAD(icd, 900, '.'), '.', '..')", "makes texts of more than 1000 characters; take a part"),
        ("LPAD(icd, 900) || LPAD(icd, 900)", "makes texts of more than 1000 characters; take a part"),
        ("NULLIF(sex, icd)", "NULLIF compares with a constant, got icd"),
        ("NULLIF(NULLIF(sex, 'f'), 'm')", "is always missing; name another category"),
        (
            "icd || icd || icd || icd",
            "combinations of categories, more than 100,000; take a part of each, as in LEFT",
        ),
    ],
)
def test_what_makes_no_keys_is_refused(text: str, why: str) -> None:
    """What cannot be made of keys is refused, with what to write instead."""
    with pytest.raises(InvalidQuestion, match=why):
        DATASET.table.column(text)
