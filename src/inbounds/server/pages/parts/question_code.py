"""A question as code: in SQL, in Python, and as it stands in the file of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuestionCode:
    """The same question, for whoever goes on elsewhere."""

    sql: str
    python: str
    report: str


def write_code(url: str, dataset: str, sql: str, epsilon: str, key: str | None = None) -> QuestionCode:
    """Return a question as code; what somebody named or wrote stands in it as a constant of that language.

    With the key of an answer, Python fetches that answer, which is free.
    """
    text = sql.strip().rstrip(";").rstrip()
    wanted = f"sql({text!r}).ask({epsilon!r})" if key is None else f"answer({key!r})"
    python = (
        "import inbounds\n\n"
        f"with inbounds.connect({url!r}) as connection:  # reads the API key from INBOUNDS_KEY\n"
        f"    answer = connection.dataset({dataset!r}).{wanted}\n"
        "    print(answer)"
    )
    report = f"-- name: table_1\n-- title: Say what this table shows\n-- epsilon: {epsilon}\n{text};"
    return QuestionCode(f"{text};", python, report)
