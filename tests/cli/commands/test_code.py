"""A query as code, from the command line: what is written runs, and asks what was asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inbounds.ledger import Ledger
from inbounds.publish import ReportFile
from tests.cli.conftest import Type, within_80
from tests.helpers.programs import PATIENCE

BY_CLINIC = "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic"
ASKED = ("--dataset", "clinic.toml", "--analyst", "ana", "--epsilon", "0.5")


def run_code(folder: Path, text: str) -> Any:
    """Run some Python in a folder, in a process of its own, and return the rows of its answer."""
    code = f"{text}\nimport json\nprint(json.dumps(answer.rows))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def code_of(path: Path) -> str:
    """Return the code of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def charges(folder: Path) -> int:
    """Return how many questions were charged."""
    (path,) = folder.glob("*.db")
    with Ledger.open(path, create=False) as ledger:
        return ledger.charges()


@pytest.mark.slow
def test_an_answer_is_written_as_code_that_pays_nothing(typed: Type, clinic: Path) -> None:
    """The notebook and the Python of an answer, wherever they are, give that answer again, and nothing is charged."""
    (clinic / "code").mkdir()
    how = ("--alone", "--weights", "2,0.5", "--confidence", "0.9", "--simultaneous", "--request-id", "one")
    asked = typed("query", *ASKED, *how, "--code", "code/answer.ipynb", "--json", BY_CLINIC)
    shown = typed("query", *ASKED, *how, "--code", "code/answer.py", BY_CLINIC)
    assert (shown.code, within_80(shown.out)) == (0, True)
    assert shown.out.splitlines()[-1].split() == ["code", "code/answer.py"]
    assert asked.code == 0
    data = json.loads(asked.out)
    assert data["code"] == "code/answer.ipynb"
    rows = [list(row.values()) for row in data["rows"]]
    assert run_code(clinic / "code", code_of(clinic / "code" / "answer.ipynb")) == rows
    assert run_code(clinic / "code", (clinic / "code" / "answer.py").read_text("utf-8")) == rows
    assert charges(clinic) == 1


@pytest.mark.slow
def test_a_preview_is_written_as_code_that_says_its_cost(typed: Type, clinic: Path) -> None:
    """The notebook of a preview asks at the ε that was shown, also of a wanted error, and says so above that."""
    asked = ("--dataset", "clinic.toml", "--analyst", "ana", "--error", "20", "--alone", "SELECT COUNT(*) FROM visits")
    found = typed("explain", *asked, "--code", "preview.ipynb")
    assert found.out.endswith("The code was saved to preview.ipynb.\n")
    cost = typed("explain", *asked, "--json").data["epsilon"]
    assert f"spends ε = {cost} of your budget" in (clinic / "preview.ipynb").read_text("utf-8")
    assert list(clinic.glob("*.db")) == []
    first = run_code(clinic, code_of(clinic / "preview.ipynb"))
    assert run_code(clinic, code_of(clinic / "preview.ipynb")) == first
    assert charges(clinic) == 1


def test_a_section_of_a_report_is_one(typed: Type, clinic: Path) -> None:
    """Below the head of a report it is a table that costs what was previewed; nobody need be named."""
    words = ("explain", "--dataset", "clinic.toml", "--epsilon", "0.5", "--code", "table.sql")
    assert typed(*words, BY_CLINIC).code == 0
    (question,) = ReportFile.parse(f"-- report: r\n{(clinic / 'table.sql').read_text('utf-8')}").questions
    assert (question.sql, str(question.epsilon)) == (BY_CLINIC, "1/2")


@pytest.mark.slow
def test_practice_is_written_as_practice(typed: Type, clinic: Path) -> None:
    """Code of a query on made-up rows asks made-up rows, and charges nobody."""
    words = ("query", "--dataset", "clinic.toml", "--practise", "--epsilon", "0.5", "--code", "practice.ipynb")
    assert typed(*words, BY_CLINIC).code == 0
    assert "The next cell is free" in (clinic / "practice.ipynb").read_text("utf-8")
    assert len(run_code(clinic, code_of(clinic / "practice.ipynb"))) == 4
    assert list(clinic.glob("*.db")) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--code", "code.txt", *ASKED), "--code must end in .ipynb, .py or .sql, got 'code.txt'"),
        (("--code", "clinic.py", *ASKED), "the output must be a new file, but 'clinic.py' exists"),
        (("--code", "none/code.py", *ASKED), "the output folder 'none' does not exist"),
        (("--code", "a.py", *ASKED[:-1], "0"), "--code needs a query that is asked with an epsilon, got 0"),
        (("--code", "a.py", *ASKED, "--ledger", "postgresql://a:b@c/d"), "which may hold a password"),
    ],
)
def test_what_cannot_be_written_is_refused_before(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """A file that cannot be written is refused before anything is spent, and no password is repeated."""
    (clinic / "clinic.py").write_text("kept", "utf-8")
    found = typed("query", *words, BY_CLINIC)
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert "a:b" not in found.err
    assert list(clinic.glob("*.db")) == []
    assert (clinic / "clinic.py").read_text("utf-8") == "kept"


def test_code_that_asks_needs_a_name(typed: Type, clinic: Path) -> None:
    """A preview needs nobody's name, but code that will be charged to somebody does."""
    found = typed("explain", *ASKED[:2], *ASKED[-2:], "--code", str(clinic / "a.ipynb"), BY_CLINIC)
    assert (found.code, found.out) == (2, "")
    assert "give --analyst too" in found.err
