"""What the documents show is what the library does.

In the Python of a document, the comment behind `print(...)`, or behind an expression that has a value, is what comes
out, in one line. In it `…` stands for anything, after "for example" every number for any number, and what follows
another ` # ` is a remark. Comments behind other statements are remarks. A block marked `output` holds lines that the
example before it prints, one after the other; a line `…` stands for any lines, and if the text between the two blocks
says "for example", numbers may be others. A line `$ inbounds …` in a block marked `console` is a command that succeeds,
and the lines below it are what it prints; `…` and "for example" mean there what they mean for an `output`. A block with
a title is a file; a document that has one, or loads the contract of the demonstration, is run in a folder that holds it
and what the demonstration keeps, its ledger with what it has spent among others. Python that connects to the address of
`inbounds serve --demo` asks such a server, with the key of ana.
"""

from __future__ import annotations

import ast
import doctest
import io
import math
import re
import runpy
import shlex
import shutil
import tokenize
import tomllib
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import inbounds
from inbounds import BoundedLaplace, Bounds, Claim, NotPrivate, Optimal, certify
from inbounds.bounds import bounds
from inbounds.cli.clinic.clinic import CONTRACT
from inbounds.cli.clinic.questions import QUESTIONS
from inbounds.cli.commands.demo import tell
from inbounds.cli.main import main
from inbounds.ledger import Ledger
from inbounds.mechanisms import bounded_laplace
from inbounds.published import Laplace, Staircase
from inbounds.query import Dataset, Inspection
from inbounds.results.nothing_learnt import NOTHING_LEARNT
from tests.helpers.demo_server import ADDRESS, served
from tests.helpers.own_client import build_client
from tests.helpers.programs import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/*/README.md")])
LOADED = 'Dataset.load("clinic.toml")'
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


def agrees(found: str, shown: str, example: bool = False) -> bool:
    """Return whether a text is the one that is shown."""
    if example:  # numbers of other lengths move what is beside them
        found, shown = (re.sub(r"([ -])\1+", r"\1", text) for text in (found, shown))
    parts = re.split(rf"(…|{NUMBER})" if example else "(…)", shown)
    number = f"(?:{NUMBER}|{NOTHING_LEARNT})"  # of which a small group may have none
    meant = (".*" if part == "…" else re.escape(part) if place % 2 == 0 else number for place, part in enumerate(parts))
    return re.fullmatch("".join(meant), found, re.DOTALL) is not None


def check_comment(comment: str, found: str) -> None:
    """Raise if a comment shows something else than what was found."""
    shown = comment.removeprefix("#").split(" # ")[0].strip()
    example = shown.startswith("for example ")
    if not agrees(" ".join(found.split()), shown.removeprefix("for example "), example):
        raise AssertionError(f"shown is {shown!r}, and {found!r} comes out")


class Checked(ast.NodeTransformer):
    """Example code, every statement of which that shows something calls `printed` or `valued` with its comment."""

    def __init__(self, code: str) -> None:
        tokens = tokenize.generate_tokens(io.StringIO(code).readline)
        self.comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
        self.tree = ast.fix_missing_locations(self.visit(ast.parse(code)))
        if left := [comment for comment in self.comments.values() if "…" in comment]:
            raise AssertionError(f"{left[0]!r} stands where nothing is shown")

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """Let a print, or an expression that has a comment, be checked."""
        comment = ast.Constant(self.comments.pop(node.end_lineno or 0, None))
        match node.value:
            case ast.Call(func=ast.Name(id="print"), args=arguments, keywords=options):
                call = ast.Call(ast.Name("printed", ast.Load()), [comment, *arguments], options)
            case value:
                call = ast.Call(ast.Name("valued", ast.Load()), [comment, value], [])
        return ast.copy_location(ast.Expr(ast.copy_location(call, node)), node)


def run(code: str, name: str = "an example") -> str:
    """Run an example, check every comment that shows something, and return all that it prints."""
    lines = []

    def printed(comment: str | None, *values: object, sep: str = " ") -> None:
        lines.append(sep.join(map(str, values)))
        if comment is not None:
            check_comment(comment, lines[-1])

    def valued(comment: str | None, value: object) -> None:
        if comment is not None and value is not None:
            check_comment(comment, str(value))

    exec(compile(Checked(code).tree, name, "exec"), {"printed": printed, "valued": valued})
    return "\n".join(lines)


def run_document(text: str, name: str = "a document") -> int:
    """Run the Python in a document, check all that it shows, and return how many blocks that were."""
    blocks = list(re.finditer(r"^```(python|output)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    printed = ""
    for number, block in enumerate(blocks):
        if block[1] == "python":
            printed = run(block[2], f"{name}, block {number + 1}")
            continue
        between = text[blocks[number - 1].end() if number else 0 : block.start()]
        if not agrees(f"\n{printed}\n", f"…\n{block[2]}…", "for example" in between.lower()):
            raise AssertionError(f"{name} shows\n{block[2]}and what comes out is\n{printed}")
    return len(blocks)


def write_files(text: str, folder: Path) -> int:
    """Write the files that a document shows into a folder, and return how many there are."""
    files = re.findall(r'^```\w+ title="([\w.-]+)"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)
    for name, content in files:
        (folder / name).write_text(content, encoding="utf-8")
    return len(files)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Run the demonstration: the folder that it keeps, and what it tells machines."""
    folder = tmp_path_factory.mktemp("demonstration")
    data, _ = tell(folder)
    return folder, data


@pytest.fixture(scope="module")
def demonstration(told: tuple[Path, dict[str, Any]]) -> Path:
    """What the demonstration keeps, its ledger with what it has spent among others; to be copied."""
    folder, _ = told
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_does_what_it_shows(
    document: Path, demonstration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python in a document runs from top to bottom, asserts what is true, and shows what comes out."""
    text = document.read_text("utf-8")
    if write_files(text, tmp_path) or LOADED in text:
        shutil.copytree(demonstration, tmp_path, dirs_exist_ok=True)
        monkeypatch.chdir(tmp_path)
    if "inbounds_client" in text:
        monkeypatch.syspath_prepend(str(build_client(tmp_path / "built")))
    blocks = len(re.findall(r"```(?:python|output)\b", text))
    if f'connect("{ADDRESS}")' not in text:
        assert run_document(text, document.name) == blocks
        return
    with served() as server:
        monkeypatch.setenv("INBOUNDS_KEY", server.keys["ana"])
        assert run_document(text.replace(ADDRESS, server.url), document.name) == blocks


FENCE = "```"
TRUE = [
    "print(1 / 3)  # 0.333…",
    "print(1 / 3)  # 0.333…  # a third",
    "1 / 4  # 0.25",
    "print('between', 5, 'and', 7.5)  # for example between 12 and 99.25",
    "half = 0.5  # not what comes out",
    "assert True  # nor this",
    "[].append(1)  # None is nothing to show",
    "for third in (1 / 3,):\n    print(third,\n          'm')  # 0.333… m",
    f"print('a\\nb\\nc')\n{FENCE}\n\n{FENCE}output\na\n…\nc",
    f"print('a\\nb\\nc')\n{FENCE}\n\n{FENCE}output\nb\nc",
    f"print('north    17\\n-----')\n{FENCE}\n\nFor example:\n\n{FENCE}output\nnorth  1234\n---",
]
FALSE = [
    "print(1 / 3)  # 0.334…",
    "print(1 / 3)  # 0.333",
    "print(1 / 3)  # a third",
    "print(1 / 3)  # for example a third",
    "1 / 4  # 0.26",
    "1 / 4  # 0.2",
    "print('between', 5, 'and', 7)  # for example from 5 to 7",
    "print(5, 7, sep=' to ')  # 5 7",
    "third = 1 / 3  # 0.333…",
    "for third in (1 / 3,):\n    print(third,\n          'm')  # 0.334… m",
    f"print('a\\nb\\nc')\n{FENCE}\n\n{FENCE}output\na\nc",
    f"print('a\\nb\\nc')\n{FENCE}\n\n{FENCE}output\nc\n…\na",
    f"print('a\\nb\\nc')\n{FENCE}\n\n{FENCE}output\nb\nd",
    f"print('north 17')\n{FENCE}\n\n{FENCE}output\nnorth 18",
    f"print('north 17')\n{FENCE}\n\nFor example:\n\n{FENCE}output\nsouth 17",
]


@pytest.mark.parametrize("body", TRUE)
def test_what_is_shown_rightly_is_let_pass(body: str) -> None:
    """A document that shows what comes out passes."""
    assert run_document(f"{FENCE}python\n{body}\n{FENCE}\n") > 0


@pytest.mark.parametrize("body", FALSE)
def test_what_is_shown_wrongly_is_found(body: str) -> None:
    """A document that shows anything else than what comes out is refused."""
    with pytest.raises(AssertionError, match=r"show[ns]"):
        run_document(f"{FENCE}python\n{body}\n{FENCE}\n")


def run_commands(text: str, typed: Callable[[list[str]], str]) -> int:
    """Run the commands that a document shows, compare what they print, and return how many there are."""
    count, end = 0, 0
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        example, end = "for example" in text[end : block.start()].rsplit("\n```\n", 1)[-1].lower(), block.end()
        for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            program, *words = shlex.split(line)
            assert program == "inbounds", line
            found = typed(words)
            if shown and not agrees(found.strip(), shown.strip(), example):
                raise AssertionError(f"shown is\n{shown}and {line} prints\n{found}")
            count += 1
    return count


RUN = ("README.md", "docs/index.md", "docs/first-contract.md", "docs/check.md", "docs/publish.md", "docs/practise.md")


@pytest.mark.slow
@pytest.mark.parametrize("document", RUN)
def test_every_command_does_what_is_shown(
    document: str,
    demonstration: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command in a document succeeds in the folder of the demonstration; docs/cli.md has tests of its own."""
    shutil.copytree(demonstration, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def typed(words: list[str]) -> str:
        capsys.readouterr()
        assert main(words) == 0, words
        return capsys.readouterr().out

    text = (ROOT / document).read_text("utf-8")
    write_files(text, tmp_path)
    assert run_commands(text, typed) == len(re.findall(r"^(?:\$ )?inbounds ", text, re.MULTILINE)) > 0


def test_the_draft_for_several_tables_is_as_shown(
    demonstration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page about a first contract shows of a draft is in it, and a check finds the result of nobody."""
    text = (ROOT / "docs" / "first-contract.md").read_text("utf-8")
    shutil.copytree(demonstration, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    write_files(text, tmp_path)
    assert main(["init", ".", "--unit", "visits.patient", "--output", "lab.toml"]) == 0
    (shown,) = re.findall(r"^```toml\n(\[tables\.results\]\n.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert shown in (tmp_path / "lab.toml").read_text("utf-8")
    contract = """
        [dataset]
        name = "samples"
        source = "samples.csv"
        unit = "patient"
        max_rows_per_unit = 2
        [tables.results]
        source = "results.csv"
        belongs_to = "samples"
        on = { sample_id = "sample_id" }
        max_rows_per_unit = 4
        [tables.results.columns.amount]
        bounds = "[0, 99]"
        [budget]
        total = 1
    """
    (tmp_path / "lab.toml").write_text(contract.replace("name =", 'key = "sample_id"\nname ='), encoding="utf-8")
    for extra, nobody, both in ("", 1, 0), ("1,23,2026-05-05\n", 1, 2):
        with open("samples.csv", "a", encoding="utf-8") as file:
            file.write(extra)
        with Dataset.load("lab.toml") as lab:
            (results,) = Inspection.of(lab).others
        assert results.reference is not None
        assert (results.rows, results.reference.unmatched, results.reference.several) == (4, nobody, both)


@pytest.mark.slow
def test_the_walk_through_has_one_budget(
    demonstration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever follows the page about a first contract spends from the ledger of the demonstration alone."""
    text = (ROOT / "docs" / "first-contract.md").read_text("utf-8")
    shutil.copytree(demonstration, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    write_files(text, tmp_path)
    run_commands(text, lambda words: (main(words), capsys.readouterr().out)[1])
    run_document(text)
    (ledger,) = tmp_path.glob("*.ledger.db")
    with Ledger.open(ledger, create=False) as opened:
        assert opened.balance("visits").spent == 4  # 3 by the demonstration, 0.5 by ana, 0.5 by ben
    assert (tmp_path / "clinic.toml").read_text("utf-8") == CONTRACT


def test_a_command_that_prints_something_else_is_found() -> None:
    """Output that a command does not have is refused."""
    console = "```console\n$ inbounds --version\ninbounds {}\n```\n"
    assert run_commands(console.format("1.2.…"), lambda words: "inbounds 1.2.3\n") == 1
    with pytest.raises(AssertionError, match="shown is"):
        run_commands(console.format("1.2.4"), lambda words: "inbounds 1.2.3\n")
    assert run_commands("For example:\n\n" + console.format("9.2.4"), lambda words: "inbounds 1.2.3\n") == 1
    with pytest.raises(AssertionError, match="shown is"):
        run_commands("For example:\n\n" + console.format("one"), lambda words: "inbounds 1.2.3\n")


def test_commands_with_output_are_checked() -> None:
    """Only documents whose commands are run with what they print show what commands print."""
    for document in DOCUMENTS:
        blocks = re.findall(r"^```console\n(.*?)^```$", document.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        shown = [line for block in blocks for line in block.splitlines() if not line.startswith("$ ")]
        assert not shown or document.relative_to(ROOT).as_posix() in RUN, document.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    """Every relative link in a document names a file or folder of the project."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", document.read_text("utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("module", [bounds, bounded_laplace])
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


@pytest.mark.slow
def test_the_figures_of_the_demonstration_are_true(told: tuple[Path, dict[str, Any]]) -> None:
    """The README's questions are asked, have the truths and mean errors that it gives, and what it marks as impossible
    with plain noise is so."""
    _, data = told
    text = (ROOT / "README.md").read_text("utf-8")
    cells = r" \| (.+?) \| \*\*(.+?)\*\* \| (.+?) \| (.+?) \| (.+?) \|$"
    shown = re.findall(rf"^\| `(SELECT .+?)`.*?{cells}", text, re.MULTILINE)
    assert f"means over {data['draws']:,} draws" in text
    assert len(shown) == 3
    for sql, truth, plain, plain_error, bounded, bounded_error in shown:
        (ask,) = (ask for ask in QUESTIONS if ask.sql() == sql)
        (row,) = (row for row in data["answers"] if row["sql"] == sql)
        assert truth == ask.shown(row["truth"])
        assert not ask.possible(read_shown(plain))
        assert ask.possible(read_shown(bounded))
        found = [
            float(ask.shown_error(row[f"{way}_error"]).split()[0].replace(",", "")) for way in ("plain", "in_bounds")
        ]
        said = [float(error.split()[0].replace(",", "")) for error in (plain_error, bounded_error)]
        assert found == pytest.approx(said, rel=0.4)  # six standard errors of the least certain one, and more
        assert found != pytest.approx([2 * error for error in said], rel=0.4)


def read_shown(answer: str) -> Any:
    """Return the answer that is shown: a day, a whole number, or per cent."""
    if answer.endswith(" %"):
        return float(answer.removesuffix(" %")) / 100
    return date.fromisoformat(answer) if answer.count("-") == 2 else int(answer)


def test_the_citation_is_that_of_the_package() -> None:
    """What to cite has the version and the licence of the package, and the paper that the documents name."""
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"version: {inbounds.__version__}\n" in citation
    assert f"license: {project['license']}\n" in citation
    doi = re.search(r"doi: (\S+)", citation)
    assert doi is not None
    assert doi[1] in (ROOT / "docs" / "paper.md").read_text("utf-8")


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


def figures(name: str, header: str) -> list[list[str]]:
    """Return the cells of the table in a document that has this header, without what makes them bold."""
    text = (ROOT / "docs" / name).read_text("utf-8").replace("**", "")
    return [row.strip("| ").split(" | ") for row in text[text.index(header) :].split("\n\n")[0].splitlines()[2:]]


@pytest.mark.slow
def test_the_table_of_poolings_is_true() -> None:
    """Every figure of the table is what the mechanisms say, and the best of three are bold."""
    text = (ROOT / "docs" / "accuracy.md").read_text("utf-8")
    for cells in figures("accuracy.md", "| ε | B | ε·B |"):
        epsilon, width = float(cells[0]), float(cells[1])
        tried = [BoundedLaplace(Bounds(0, width), 1, epsilon, pooling=pooling) for pooling in (0, 0.5, 1)]
        errors = [[mechanism.mean_error() for mechanism in tried], [mechanism.worst_error() for mechanism in tried]]
        assert float(cells[2]) == epsilon * width
        assert cells[3:] == [f"{error:.4f}" for three in errors for error in three]
        bold = [f"**{error:.4f}**" if error == min(three) else f"{error:.4f}" for three in errors for error in three]
        assert f"| {' | '.join([*cells[:3], *bold])} |" in text


@pytest.mark.slow
def test_the_honest_table_is_true() -> None:
    """Every figure of the table is what the mechanisms say; mixtures are searched in hundredths."""

    def both(*mechanisms: Any) -> str:
        mean = min(mechanism.mean_error() for mechanism in mechanisms)
        return f"{mean:.4f} / {min(mechanism.worst_error() for mechanism in mechanisms):.4f}"

    for epsilon, width, *cells in figures("choosing.md", "| ε | B | pooling 0 |"):
        asked: Any = (Bounds(0, float(width)), 1, float(epsilon))
        mixtures = [BoundedLaplace(*asked, pooling=Fraction(share, 100)) for share in (0, *range(35, 56), 100)]
        assert cells == [
            both(mixtures[0]),
            both(mixtures[-1]),
            both(*mixtures),
            both(Laplace(*asked, ends="fold")),
            both(Staircase(*asked, ends="snap")),
            both(Staircase(*asked, ends="fold")),
        ]


@pytest.mark.slow
def test_the_table_of_limits_is_true() -> None:
    """The optima of the table are those that are found."""
    for epsilon, _, points, steps, optimum, *_ in figures("choosing.md", "| ε | B | m | s |"):
        lattice = Bounds(0, int(points) - 1, step=1)
        mean = Optimal(lattice, int(steps), float(epsilon), minimise="mean").mean_error()
        worst = Optimal(lattice, int(steps), float(epsilon), minimise="worst").worst_error()
        assert optimum == f"{mean / int(steps):.4f} / {worst / int(steps):.4f}"


@pytest.mark.slow
def test_the_example_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs, no line of it is longer than 80 columns, and nothing in bounds is marked impossible."""
    runpy.run_path(str(ROOT / "examples" / "answers.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("*" in line for line in lines if line.startswith("  in bounds"))
    assert any("REFUTED" in line for line in lines)


def test_the_map_is_the_tree() -> None:
    """The map in CONTRIBUTING.md lists every package, in the order in which they may import each other."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)/`", text, re.MULTILINE)
    packages = {path.parent.name for path in Path(inbounds.__file__).parent.glob("*/__init__.py")}
    assert set(listed) == packages
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = [layer.split(" | ") for layer in settings["tool"]["importlinter"]["contracts"][0]["layers"]]
    rank = {name: place for place, layer in enumerate(reversed(layers)) for name in layer}
    assert [rank[name] for name in listed] == sorted(rank[name] for name in listed)


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_recipes_and_walks_name_files_that_exist(document: str) -> None:
    """Every file and folder that they name is there, from the top or from the package."""
    text = (ROOT / document).read_text("utf-8")
    named = set(re.findall(r"`([\w./-]+(?:/|\.(?:py|md|toml)))`", text)) - {"docs/decisions/NNNN-name.md", "site/"}
    tops = (ROOT, ROOT / "src" / "inbounds")
    assert len(named) > 30
    assert sorted(name for name in named if not any((top / name).exists() for top in tops)) == []


def test_every_command_of_make_exists() -> None:
    """Every `make` command that README.md and CONTRIBUTING.md show is one of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        shown = set(re.findall(r"(?:^|`|run )make ([a-z]+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))
        assert shown <= targets
        assert {"test"} <= shown
