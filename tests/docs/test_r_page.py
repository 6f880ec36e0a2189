"""The pages about the R package say what it does: their examples run, and every function is described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inbounds.client.connection import AGAIN
from inbounds.client.refusals import PAID
from inbounds.results.answer import PRACTICE
from inbounds.version import __version__
from tests.docs.test_docs import agrees
from tests.helpers.demo_server import ADDRESS, served
from tests.helpers.programs import ROOT
from tests.helpers.r_language import PACKAGE, R

PAGE = ROOT / "docs" / "r.md"
README = PACKAGE / "README.md"

SHOW = """
    show_block <- function(code) {
        for (line in parse(text = code)) {
            shown <- withVisible(eval(line, globalenv()))
            if (shown$visible) print(shown$value)
        }
        cat("\\n<end of block>\\n")
    }
"""


def exported() -> set[str]:
    """Return the functions that the package exports."""
    return set(re.findall(r"^export\((\w+)\)$", (PACKAGE / "NAMESPACE").read_text("utf-8"), re.MULTILINE))


def run_blocks(r: R, text: str, folder: Path) -> list[str]:
    """Run the R of a document in one session, on the server of the demonstration; return what each block prints."""
    blocks = re.findall(r"^```r\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    with served() as server:
        calls = []
        for number, block in enumerate(blocks):
            file = folder / f"{number}.R"
            file.write_text(block.replace(ADDRESS, server.url), "utf-8")
            calls.append(f'show_block(readLines("{file}", encoding = "UTF-8"))')
        code = "\n".join([SHOW, "options(width = 80)", f'pdf("{folder / "plot.pdf"}")', *calls])
        return r.run(code, INBOUNDS_KEY=server.keys["ana"]).split("\n<end of block>\n")[:-1]


@pytest.fixture(scope="module")
def r(tmp_path_factory: pytest.TempPathFactory) -> R:
    """R with the package."""
    return R.install(tmp_path_factory.mktemp("r") / "library")


@pytest.mark.thorough
@pytest.mark.parametrize("document", [PAGE, README], ids=lambda path: path.name)
def test_the_examples_do_what_they_show(r: R, document: Path, tmp_path: Path) -> None:
    """The R of a document runs from top to bottom, and prints what is shown below it."""
    text = document.read_text("utf-8")
    printed = run_blocks(r, text, tmp_path)
    parts = re.split(r"^```(r|text)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    done = 0
    for between, kind, block in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        if kind == "r":
            done += 1
        else:
            found, example = printed[done - 1], "for example" in between.lower()
            assert agrees(f"\n{found}\n", f"…\n{block}…", example), found
    assert done == len(printed) > 0


def test_every_function_is_described() -> None:
    """Every function that is exported has a page of help and a row in the table, and no other has."""
    pages = [page.read_text("utf-8") for page in PACKAGE.glob("man/*.Rd")]
    aliases = {name for page in pages for name in re.findall(r"\\alias\{(inb_\w+)\}", page)}
    table = PAGE.read_text("utf-8").split("| function | for what | cost |")[1].split("\n\n")[0]
    assert exported() == aliases == set(re.findall(r"`(inb_\w+)`", table))


def test_it_has_the_version_of_the_project() -> None:
    """The R package has the version of the Python package, whose server it asks."""
    assert f"\nVersion: {__version__}\n" in (PACKAGE / "DESCRIPTION").read_text("utf-8")


def test_it_tries_again_what_the_python_client_tries_again() -> None:
    """Both clients send again after the same refusals, and name the request id in the same ones."""
    requests = (PACKAGE / "R" / "requests.R").read_text("utf-8")
    listed = re.findall(r'^  "(\d+)" = (.+?),?$', requests, re.MULTILINE)
    assert {int(status): tuple(re.findall(r'"([\w-]+)"', codes)) for status, codes in listed} == AGAIN
    refusals = (PACKAGE / "R" / "refusals.R").read_text("utf-8")
    paid = re.search(r"^MAY_BE_PAID <- c\((.+)\)$", refusals, re.MULTILINE)
    assert paid is not None
    assert tuple(re.findall(r'"([\w-]+)"', paid[1])) == PAID


def test_practice_data_is_marked_in_the_same_words() -> None:
    """The notice above made-up rows is that of Python."""
    answer = (PACKAGE / "R" / "answer.R").read_text("utf-8")
    assert f'PRACTICE <- "{PRACTICE}"' in answer
