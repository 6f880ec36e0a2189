"""A question as a notebook: a valid one, that runs as it stands, pays once at most, and holds no secret."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from inbounds.cli.clinic.clinic import build
from inbounds.code.notebook import write_notebook
from inbounds.code.place import AtHand, OnServer, Place
from inbounds.code.question_code import WrittenQuestion
from inbounds.ledger import Ledger
from tests.client.conftest import Clinic, serve_clinic
from tests.helpers.programs import PATIENCE, ROOT
from tests.helpers.served_hospital import running

BY_CLINIC = "SELECT clinic, COUNT(*), AVG(age)\nFROM visits\nGROUP BY clinic"
HOSTILE = (
    "visits",
    'it\'s "north"',
    '"""; import os; os.abort(); """',
    "'''\n'''; raise SystemExit  # '",
    'a """" b\\',
    'ends with a quote "\nand with two ""',
    "\\n \\x00 \\N{BULLET} \\",
    "tab\tbell\x07 return\r\nline\u2028next\x85\u202etxt.exe",
    "{x} {{x}} %(x)s %matplotlib\n!ls\n%%bash\n?help",
    "größer 患者 🏥",
    "</script><script>alert(7)</script>",
    "# a title\n\n[link](javascript:alert(7)) ![x](https://example.org/x.png) `code` $x^2$ <img src=x onerror=a(7)>",
    "<!-- --> &lt; &amp; &#60; ~~~\n```\n---\n* list\n1. list\n| a | b |\n|---|---|",
)
"""What somebody could call a dataset, or write as a query, that tries to be more."""


def read(text: str) -> Any:
    """Return a notebook as its format has it."""
    return nbformat.reads(text, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]  # theirs


def cells(text: str) -> list[Any]:
    """Return the cells of a notebook, which must be a valid one."""
    notebook = read(text)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    return list(notebook.cells)


def code_of(text: str) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    return [cell.source for cell in cells(text) if cell.cell_type == "code"]


def constants(code: list[str]) -> set[Any]:
    """Return the constants of all cells, each of which must be Python."""
    return {node.value for cell in code for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Constant)}


def shape(code: list[str]) -> list[str]:
    """Return what the cells do, whatever stands in their texts."""
    trees = [ast.parse(cell) for cell in code]
    for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)):
        node.value = ""
    return [ast.dump(tree) for tree in trees]


def places(name: str) -> list[Place]:
    """Return where a dataset of this name can be."""
    return [OnServer(f"https://{name}", name), AtHand(name, name, name), AtHand(name, name, name, is_practice=True)]


@pytest.mark.parametrize("is_answered", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_a_text(text: str, is_answered: bool) -> None:
    """Whatever is named or written stands in the cells as a constant, and the cells do what they do for any other."""
    for hostile, harmless in zip(places(text), places("x"), strict=True):
        question = WrittenQuestion(hostile, text, "0.5", "a-key", is_answered=is_answered)
        code = code_of(write_notebook(question, "0.5"))
        assert shape(code) == shape(code_of(write_notebook(replace(question, place=harmless, sql="x"), "0.5")))
        named = {one.strip().rstrip(";").rstrip() if isinstance(one, str) else one for one in constants(code)}
        assert {text, question.text} <= constants(code) | named


@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_is_words(text: str) -> None:
    """In Markdown a name is one line of letters and entities, which say the name and can be nothing else."""
    first = cells(write_notebook(WrittenQuestion(OnServer("https://x", text), "SELECT 1", "0.5", "a"), "0.5"))[0]
    title = first.source.split("\n")[0].removeprefix("# Query “").removesuffix("”")
    assert re.fullmatch(r"(?:[^!-/:-@\[-`{-~\x00-\x1f\x7f]|&#\d+;)*", title)
    assert html.unescape(title) == " ".join("".join(one if one.isprintable() else " " for one in text).split())


def test_every_cell_has_its_own_id() -> None:
    """Cells are told apart, and nobody has run them: no outputs, no counts."""
    found = cells(write_notebook(WrittenQuestion(OnServer("https://x", "visits"), "SELECT 1", "0.5", "a"), "0.5"))
    assert len({cell.id for cell in found}) == len(found)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in found if cell.cell_type == "code")


def test_the_cost_stands_above_the_cell_that_pays() -> None:
    """Before anything is asked the notebook says what it costs; what is free, and what was paid, says so."""
    question = WrittenQuestion(OnServer("https://x", "visits"), "SELECT 1", "0.5", "a")
    for cost, is_answered, said in (
        ("0.5", False, "**The next cell spends ε = 0.5 of your budget**"),
        ("0", False, "The next cell is free"),
        ("0", True, "The next cell fetches it, for free"),
    ):
        found = cells(write_notebook(replace(question, is_answered=is_answered), cost))
        (place,) = [place for place, cell in enumerate(found) if cell.source.startswith("## Answer")]
        assert said in found[place].source
        before = "".join(cell.source for cell in found[:place] if cell.cell_type == "code")
        assert ".ask(" not in before
        assert "answer = " in found[place + 1].source


# Run as they stand.

RUN = """
import json, pathlib, sys
names = {}
for cell in json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), "cell", "exec"), names)
answer = names["answer"]
assert len(answer.intervals) == len(answer.rows) > 1
print(json.dumps([list(map(list, answer.rows)), answer.request_id]))
"""


def run(folder: Path, text: str, key: str | None = None) -> Any:
    """Run the code of a notebook in its folder, in a process of its own, and return its answer."""
    (folder / "question.ipynb").write_text(text, "utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "INBOUNDS_KEY"}
    environment |= {"PYTHONPATH": str(ROOT / "src")} | ({} if key is None else {"INBOUNDS_KEY": key})
    words = [sys.executable, "-c", RUN, "question.ipynb"]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def served_clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of this module."""
    served = serve_clinic(tmp_path_factory.mktemp("clinic"))
    with running(served) as found:
        yield Clinic(served, found)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the clinic of the demonstration."""
    return build(tmp_path_factory.mktemp("built")).parent


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A folder with the clinic, in which nobody has asked anything."""
    shutil.copytree(built, tmp_path / "work")
    return tmp_path / "work"


def charges(place: Path | str) -> int:
    """Return how many questions were charged."""
    with Ledger.open(place, create=False) as ledger:
        return ledger.charges()


@pytest.mark.slow
def test_a_notebook_asks_a_server_once(served_clinic: Clinic, tmp_path: Path) -> None:
    """Run as it stands, it asks with the key of whoever runs it; run again, it has the same answer and pays nothing."""
    question = WrittenQuestion(OnServer(served_clinic.running.url, "visits"), BY_CLINIC, "0.5", "of-a-notebook")
    text, key, before = write_notebook(question, "0.5"), served_clinic.served.keys["ana"], charges(served_clinic.ledger)
    rows, request = run(tmp_path, text, key)
    assert (request, charges(served_clinic.ledger)) == ("of-a-notebook", before + 1)
    assert run(tmp_path, text, key) == [rows, request]
    assert charges(served_clinic.ledger) == before + 1
    assert key not in text
    fetched = write_notebook(replace(question, is_answered=True), "0")
    assert run(tmp_path, fetched, key) == [rows, request]
    assert charges(served_clinic.ledger) == before + 1
    assert ".ask(" not in "".join(code_of(fetched))


@pytest.mark.slow
def test_a_notebook_asks_at_hand_once(folder: Path) -> None:
    """At hand it opens the contract beside it; the answer is paid once, and fetched from its own ledger only."""
    question = WrittenQuestion(
        AtHand("clinic.toml", "ana"), BY_CLINIC, "0.5", "one", options={"weights": [Decimal(2), Decimal("0.5")]}
    )
    asking, fetching = (write_notebook(replace(question, is_answered=one), "0.5") for one in (False, True))
    first = run(folder, asking)
    assert run(folder, asking) == run(folder, fetching) == first
    (ledger,) = folder.glob("*.db")
    assert charges(ledger) == 1
    ledger.unlink()
    with pytest.raises(AssertionError, match="LedgerMissing"):
        run(folder, fetching)
    assert not ledger.exists()
    run(folder, write_notebook(replace(question, request_id="another"), "0.5"))
    with pytest.raises(AssertionError, match="this ledger does not hold the answer"):
        run(folder, fetching)
    assert charges(ledger) == 1


@pytest.mark.slow
def test_a_notebook_practises(folder: Path) -> None:
    """On practice data it runs without a ledger, and its answer says what it is."""
    place = AtHand("clinic.toml", "somebody", is_practice=True)
    run(folder, write_notebook(WrittenQuestion(place, BY_CLINIC, "0.5", "one"), "0"))
    assert list(folder.glob("*.db")) == []


@pytest.mark.slow
def test_jupyter_shows_answer_and_chart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel shows the preview, the answer with its intervals as a table, and the chart as a picture."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(folder / name))
    question = WrittenQuestion(AtHand("clinic.toml", "ana"), BY_CLINIC, "0.5", "one")
    notebook = read(write_notebook(question, "0.5"))
    NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}}).execute()
    _, preview, answer, chart = (cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    assert "<table" in preview[0].data["text/html"]
    assert "95 % interval" in answer[0].data["text/html"]
    assert chart[0].data["image/png"].startswith("iVBOR")
