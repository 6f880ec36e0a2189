"""The notebooks run from an empty folder, show what is kept of them, and nothing of the machine that ran them."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import v4

from tests.helpers import notebooks as program
from tests.helpers.notebooks import FOLDER, is_run, load, notebooks, shown
from tests.helpers.programs import ROOT, run_program
from tests.helpers.sparing import sparing

OF_A_MACHINE = r"inb_[0-9a-f]{12}_|(?:127\.0\.0\.1|localhost):\d+|(?<![\w.~<-])/(?:tmp|home|root|Users|dev|var|usr)/"
"""A key, an address, a path."""


def compare(notebook: Any, run: Any) -> None:
    """Raise if cells show something else than what is kept of them; one number is as good as another."""
    kept = [cell for cell in notebook.cells if is_run(cell)]
    for cell, found in zip(kept, run.cells, strict=True):
        assert shown(found) == shown(cell), f"run `make notebooks`, and read what has changed in\n{cell.source}"


@pytest.mark.slow
@pytest.mark.parametrize("path", sparing(notebooks()), ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_kept_of_it(path: Path) -> None:
    """A notebook runs to its end in an empty folder, and shows what is in the repository, whatever the numbers are."""
    written = run_program(program, str(path))
    compare(load(path), nbformat.reads(written, as_version=4))  # type: ignore[no-untyped-call]


def test_what_is_shown_otherwise_is_found() -> None:
    """Another number is the same output, and another word, a missing picture or a missing line is another one."""
    table = "<td>north</td><td>1,021</td><td>50.3 to 57.7</td>"
    outputs = [
        v4.new_output("stream", text="spent: 0.5\nleft: 2.5\n"),  # type: ignore[no-untyped-call]
        v4.new_output("execute_result", {"text/html": table}),  # type: ignore[no-untyped-call]
        v4.new_output("display_data", {"image/png": "aGVsbG8="}),  # type: ignore[no-untyped-call]
    ]
    cell = v4.new_code_cell("1", outputs=outputs)  # type: ignore[no-untyped-call]
    notebook = v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]

    def changed(place: int, was: str, now: str) -> Any:
        other = deepcopy(notebook)
        output = other.cells[0].outputs[place]
        if place == 0:
            output.text = output.text.replace(was, now)
        else:
            output.data = {kind: data.replace(was, now) for kind, data in output.data.items()}
        return other

    for place, was, now in ((0, "2.5", "-12"), (1, "1,021", "7"), (1, "57.7", "1e-07"), (2, "aGVs", "bGVs")):
        compare(notebook, changed(place, was, now))
    for place, was, now in ((0, "left", "right"), (0, "spent: 0.5\n", ""), (1, "north", "south"), (1, " to 57.7", "")):
        with pytest.raises(AssertionError, match="make notebooks"):
            compare(notebook, changed(place, was, now))
    without_picture = deepcopy(notebook)
    del without_picture.cells[0].outputs[2]
    with pytest.raises(AssertionError, match="make notebooks"):
        compare(notebook, without_picture)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_tells_nothing_of_a_machine(path: Path) -> None:
    """Nothing that is kept holds a key, an address, a path of a machine, when it was run, or an error."""
    assert re.search(OF_A_MACHINE, "it is in '/tmp/x'")
    for cell in load(path).cells:
        assert set(cell.metadata) <= {"tags"}
        if cell.cell_type != "code":
            continue
        assert cell.execution_count is None
        for output in cell.outputs:
            assert output.output_type != "error"
            told = output.get("text", "") + "".join(map(str, output.get("data", {}).get("text/html", "")))
            assert re.findall(OF_A_MACHINE, told) == []
            assert str(ROOT) not in told


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_has_run(path: Path) -> None:
    """Every notebook is kept with what it shows, pictures too."""
    cells = [cell for cell in load(path).cells if cell.cell_type == "code"]
    assert sum("image/png" in shown(cell) for cell in cells) >= 2


def test_every_notebook_is_on_the_page() -> None:
    """The page about notebooks has a link to each of them."""
    page = (ROOT / "docs" / "notebooks.md").read_text("utf-8")
    assert [path.name for path in notebooks() if f"examples/notebooks/{path.name}" not in page] == []
    assert len(notebooks()) == len(list(FOLDER.iterdir()))
