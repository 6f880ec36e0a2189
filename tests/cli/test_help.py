"""Help, examples, misspelt words and the page that documents them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from inbounds import __version__
from inbounds.cli import demo as demo_module
from inbounds.cli.app import app
from tests.cli.conftest import Type, Typed, within_80

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
ROOT: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {
    **{name: command for name, command in ROOT.commands.items() if name != "budget"},
    **{f"budget {name}": command for name, command in ROOT.commands["budget"].commands.items()},
}


def run_line(typed: Type, line: str) -> Typed:
    """Run a line of a shell that is one of our commands, or printf piped into one."""
    before, _, after = line.rpartition("| ")
    stdin = shlex.split(before)[1].replace("\\n", "\n") if before.startswith("printf ") else ""
    words = shlex.split(after if stdin else line)
    assert words[0] == "inbounds"
    return typed(*words[1:], stdin=stdin)


def test_there_is_every_command() -> None:
    """The commands are those that the page promises."""
    assert set(ROOT.commands) == {"release", "plan", "query", "explain", "budget", "certify", "demo"}
    assert set(ROOT.commands["budget"].commands) == {"show", "grant", "verify", "statement"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_that_runs(typed: Type, clinic: Path, name: str) -> None:
    """The help of a command fits 80 columns, and its example does what it should."""
    help_text = typed(*name.split(), "--help")
    assert help_text.code == 0
    assert within_80(help_text.out)
    assert "--json" in help_text.out
    typed("budget", "grant", "1", "--dataset", "clinic.toml")  # so that there is a ledger to look at
    (example,) = re.findall(r"Example:\n +(inbounds .*?)\n\n", help_text.out, re.DOTALL)
    assert example.startswith(f"inbounds {name}")
    found = run_line(typed, re.sub(r"\\\n *", "", example))
    assert (found.code, found.err) == (0, "")
    assert found.out


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("budget", "--help")])
def test_help_fits(typed: Type, words: tuple[str, ...]) -> None:
    """The overview fits 80 columns, and no summary in it is cut off."""
    found = typed(*words)
    assert found.code == 0
    assert within_80(found.out)
    assert "..." not in found.out.split("Commands:")[1]


def test_the_version(typed: Type) -> None:
    """The version is that of the package."""
    assert typed("--version").out == f"inbounds {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "a command is needed; there are release, plan, query, explain, certify, demo, budget"),
        (("budget",), "budget: a command is needed; there are show, grant, verify, statement"),
        (("relaese",), "no command 'relaese'; did you mean release?"),
        (("budget", "shw"), "budget: no command 'shw'; did you mean show?"),
        (("demo", "--jsn"), "demo: no option '--jsn'; did you mean --json?"),
        (("release", "3", "--epsilo", "1"), "release: no option '--epsilo'; did you mean --epsilon?"),
        (("demo", "3"), "demo: there can be no argument besides its options, got 1; put quotes around"),
    ],
)
def test_misspelt_words_are_named(typed: Type, words: tuple[str, ...], said: str) -> None:
    """What is not known is named, with the nearest that is."""
    found = typed(*words)
    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (ValueError("the secret 731954"), 1, "inbounds: failed for a reason that was not foreseen (ValueError)"),
        (PermissionError(13, "Permission denied", "x.db"), 1, "inbounds: a file 'x.db' cannot be read or written"),
    ],
)
def test_there_is_never_a_traceback(
    typed: Type, monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int, said: str
) -> None:
    """Whatever is raised becomes an exit code and at most one line, which holds nothing of the data."""

    def fail(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(demo_module, "tell", fail)
    found = typed("demo")
    assert (found.code, found.out) == (code, "")
    assert found.err.startswith(said)
    assert found.err.count("\n") == (1 if said else 0)
    assert "731954" not in found.err


# The page.


def sections() -> dict[str, str]:
    """Return the sections of the page by their titles."""
    parts = re.split(r"^## (.+)\n", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    """The section of a command names each of its options and arguments, and the command itself."""
    section = sections()[name.split(maxsplit=1)[0]]
    assert f"inbounds {name}" in section
    documented = set(re.findall(r"`(--[a-z-]+)`", section))
    options = {option for param in COMMANDS[name].params for option in param.opts if option.startswith("--")}
    assert options - {"--help"} <= documented


def test_nothing_else_is_documented() -> None:
    """Sections and options on the page are those that there are."""
    assert set(sections()) == set(ROOT.commands)
    known = {option for command in COMMANDS.values() for param in command.params for option in param.opts}
    text = "\n".join(sections().values())
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known
    general = PAGE.read_text("utf-8").split("\n## ")[0]
    assert {"--help", "--version", "--install-completion", "--show-completion"} <= set(
        re.findall(r"--[a-z-]+", general)
    )


def test_the_examples_of_the_page_run(typed: Type, clinic: Path) -> None:
    """Every example on the page runs, one after the other, and is done."""
    lines = re.findall(r"^\$ (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(lines) > 15
    for line in lines:
        found = run_line(typed, line)
        assert (found.code, found.err) == (0, ""), line
        assert found.out, line
