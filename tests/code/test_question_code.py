"""A question as code: it runs as it stands, whatever was written or named."""

from __future__ import annotations

import ast
from dataclasses import replace
from decimal import Decimal

import pytest

from inbounds.code.place import ELSEWHERE, AtHand, OnServer
from inbounds.code.question_code import WrittenQuestion, write_code

TEXTS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*)\nFROM visits\nWHERE clinic = 'it''s \"north\"'",
    '''SELECT COUNT(*) FROM "a\\'b" WHERE x = '"""' ;\n''',
)


URL = "http://127.0.0.1:8750"
NAMES = ["visits", "ward '\"\\ {x}"]


def constants(code: str) -> set[object]:
    """Return the constants of some Python, which must be Python."""
    return {one.value for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Constant)}


@pytest.mark.parametrize("key", [None, "a-key"])
@pytest.mark.parametrize("sql", TEXTS)
@pytest.mark.parametrize("dataset", NAMES)
def test_python_says_the_same(dataset: str, sql: str, key: str | None) -> None:
    """The code is Python, whose constants are the dataset, the question and its cost, or the key of the answer."""
    code = write_code(WrittenQuestion(OnServer(URL, dataset), sql, "0.5", key, is_answered=key is not None))
    asked = [sql.strip().rstrip(";").rstrip(), "0.5"] if key is None else [key]
    assert constants(code.python) == {URL, dataset, *asked}


@pytest.mark.parametrize("sql", TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_python_at_hand_says_the_same(name: str, sql: str) -> None:
    """Of a dataset at hand it is the contract, who asks, and how; what was answered is asked of its own ledger only."""
    options = {"weights": [Decimal(2), Decimal("0.25")], "simultaneous": True}
    question = WrittenQuestion(AtHand(f"{name}.toml", name, name), sql, "0.5", "a-key", alone=True, options=options)
    said = {f"{name}.toml", name, sql.strip().rstrip(";").rstrip(), "0.5", "a-key", 2, 0.25, True}
    assert constants(write_code(question).python) == said
    answered = constants(write_code(replace(question, is_answered=True)).python)
    assert answered == said | {False, None, ELSEWHERE}


@pytest.mark.parametrize("sql", TEXTS)
def test_a_report_file_has_the_question_below_its_header(sql: str) -> None:
    """A header of comments says the name, a title and the cost, and the question ends with one semicolon."""
    code = write_code(WrittenQuestion(OnServer(URL, "visits"), sql, "0.5"))
    header, text = code.report.split("\n")[:3], "\n".join(code.report.split("\n")[3:])
    assert [line.split(":")[0] for line in header] == ["-- name", "-- title", "-- epsilon"]
    assert text == code.sql == f"{sql.strip().rstrip(';').rstrip()};"
