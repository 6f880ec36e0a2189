"""A question as code: it runs as it stands, whatever was written or named."""

from __future__ import annotations

import ast

import pytest

from inbounds.server.pages.parts.question_code import write_code

TEXTS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*)\nFROM visits\nWHERE clinic = 'it''s \"north\"'",
    '''SELECT COUNT(*) FROM "a\\'b" WHERE x = '"""' ;\n''',
)


@pytest.mark.parametrize("key", [None, "a-key"])
@pytest.mark.parametrize("sql", TEXTS)
@pytest.mark.parametrize("dataset", ["visits", "ward '\"\\ {x}"])
def test_python_says_the_same(dataset: str, sql: str, key: str | None) -> None:
    """The code is Python, whose constants are the dataset, the question and its cost, or the key of the answer."""
    code = write_code("http://127.0.0.1:8750", dataset, sql, "0.5", key)
    constants = [one.value for one in ast.walk(ast.parse(code.python)) if isinstance(one, ast.Constant)]
    asked = [sql.strip().rstrip(";").rstrip(), "0.5"] if key is None else [key]
    assert set(constants) == {"http://127.0.0.1:8750", dataset, *asked}


@pytest.mark.parametrize("sql", TEXTS)
def test_a_report_file_has_the_question_below_its_header(sql: str) -> None:
    """A header of comments says the name, a title and the cost, and the question ends with one semicolon."""
    code = write_code("http://127.0.0.1:8750", "visits", sql, "0.5")
    header, text = code.report.split("\n")[:3], "\n".join(code.report.split("\n")[3:])
    assert [line.split(":")[0] for line in header] == ["-- name", "-- title", "-- epsilon"]
    assert text == code.sql == f"{sql.strip().rstrip(';').rstrip()};"
