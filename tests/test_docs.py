"""What the documents show is what the library does."""

from __future__ import annotations

import doctest
import math
import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

import inbounds
from inbounds import BoundedLaplace, Bounds, Claim, NotPrivate, bounds, certify, compare, mechanism, recommend

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_runs(document: Path) -> None:
    """The Python in a document runs from top to bottom, and what it asserts is true."""
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL)):
        exec(compile(code, f"{document.name}, example {number + 1}", "exec"), {})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    """Every relative link in a document names a file or folder of the project."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", document.read_text("utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("module", [bounds, mechanism])
def test_every_doctest_holds(module: ModuleType) -> None:
    """The examples in docstrings do what they show."""
    names = {"Bounds": Bounds, "BoundedLaplace": BoundedLaplace}
    assert doctest.testmod(module, extraglobs=names) == (0, doctest.testmod(module, extraglobs=names).attempted)


def test_the_sections_that_docstrings_cite_exist() -> None:
    """A docstring that sends its reader to a section of a document sends them to one that is there."""
    for source in Path(inbounds.__file__).parent.rglob("*.py"):
        text = " ".join(source.read_text("utf-8").split())
        for name, section in re.findall(r'(docs/[\w/.-]+\.md), "([^"]+)"', text):
            assert f"# {section}" in (ROOT / name).read_text("utf-8"), (source.name, name, section)
        for name in re.findall(r"docs/[\w/.-]+\.md", text):
            assert (ROOT / name).exists(), (source.name, name)


def test_the_table_of_what_goes_wrong_is_true() -> None:
    """The README's figures for a count of 2 are those of the mechanisms that it names."""
    readme = (ROOT / "README.md").read_text("utf-8")
    plain = BoundedLaplace(Bounds(None, None, step=1), 1, 0.5)
    snapped = BoundedLaplace(Bounds(0, None, step=1), 1, 0.5, pooling=1)
    ours = BoundedLaplace(Bounds(0, None, step=1), 1, 0.5)
    q = math.exp(-0.5)
    cut_off = q**2 / (1 + q + q**2 + q / (1 - q))
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(Bounds(0, None, step=1), 1, 0.5, scale=2))
    assert f"| {plain.cdf(-1, 2):.1%} | {plain.pmf(0, 2):.1%} | ε |".replace("%", " %") in readme
    assert f"| none | {snapped.pmf(0, 2):.1%} | ε |".replace("%", " %") in readme
    assert (
        f"| none | {cut_off:.1%} | **{float(refused.value.certificate.witnessed) / 0.5:.2f} ε** |".replace("%", " %")
        in readme
    )
    assert f"| none | {ours.pmf(0, 2):.1%} | ε, proved |".replace("%", " %") in readme


def test_the_gain_of_the_optimum_is_that_of_the_table() -> None:
    """What the optimum is said to gain over formulas is the least and the greatest gain in the table of limits."""
    text = (ROOT / "docs" / "choosing.md").read_text("utf-8")
    rows = [line.split("|") for line in text[text.index("| ε | B | m | s |") :].split("\n\n")[0].splitlines()[2:]]
    gains = []
    for cells in rows:
        optima = map(float, cells[5].split("/"))
        others = (float(cell.split(",")[0]) for cell in cells[6:8])
        gains += [1 - optimum / other for optimum, other in zip(optima, others, strict=True)]
    assert len(gains) == 14
    said = re.search(r"a formula by (\d+) % to (\d+) %", " ".join(text.split()))
    assert said is not None
    assert [int(number) for number in said.groups()] == [round(100 * min(gains)), round(100 * max(gains))]


def test_the_readme_shows_the_comparison_that_it_makes() -> None:
    """Every line of the README's comparison is one of the comparison beside it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    block = readme[readme.index("mechanism                   privacy") :].split("\n…")[0]
    assert set(block.splitlines()) <= set(str(compare(Bounds(0, 10, step=1), 1, 0.5)).splitlines())
    assert recommend(Bounds(0, 100), 2, 0.5).reason.startswith("folded staircase has the least mean error, 3.8, of 57")


def test_the_example_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs, no line of it is longer than 80 columns, and nothing in bounds is marked impossible."""
    runpy.run_path(str(ROOT / "examples" / "answers.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("*" in line for line in lines if line.startswith("  in bounds"))
    assert any("REFUTED" in line for line in lines)


def test_every_module_is_on_the_map() -> None:
    """The README's map names every module."""
    readme = (ROOT / "README.md").read_text("utf-8")
    modules = {path.stem for path in Path(inbounds.__file__).parent.rglob("*.py")} - {"__init__"}
    assert {name for name in modules if f"`{name}`" not in readme} == set()
