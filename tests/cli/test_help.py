"""Help, examples, misspelt words and the page that documents them."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from inbounds import __version__
from inbounds.cli.app import ORDER, app
from inbounds.cli.commands import demo as demo_module
from inbounds.cli.commands.serve import DEMO
from inbounds.cli.shell.suggestion import SYNONYMS
from inbounds.ledger import Head, Ledger
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from inbounds.server.state.ledger_heads import LedgerHeads
from tests.cli.conftest import Type, Typed, within_80
from tests.helpers.programs import ROOT

PAGE = ROOT / "docs" / "cli.md"
INBOUNDS: Any = typer.main.get_command(app)
GROUPS = ("budget", "discover", "keys", "reports", "share")
COMMANDS: dict[str, Any] = {
    **{name: command for name, command in INBOUNDS.commands.items() if name not in GROUPS},
    **{
        f"{group} {name}": command
        for group in GROUPS
        for name, command in INBOUNDS.commands[group].commands.items()
        if not command.hidden
    },
}


ABOUT_SERVERS = [name for name in COMMANDS if name.startswith(("reports ", "share "))]
"""What asks a server: tests/cli/commands/on_server/ runs their examples.  `serve` does not end by itself."""


def run_line(typed: Type, line: str) -> Typed:
    """Run a line of a shell that is one of our commands, or printf piped into one."""
    before, _, after = line.rpartition("| ")
    stdin = shlex.split(before)[1].replace("\\n", "\n") if before.startswith("printf ") else ""
    words = shlex.split(after if stdin else line)
    assert words[0] == "inbounds"
    return typed(*words[1:], stdin=stdin)


def example_of(help_text: str, name: str) -> str:
    """Return the example in the help of a command, in one line."""
    (example,) = re.findall(r"Example:\n +(inbounds .*?)\n\n", help_text, re.DOTALL)
    assert example.startswith(f"inbounds {name}")
    return re.sub(r"\\\n *", "", example)


def add_delta(clinic: Path) -> None:
    """Write a delta into the contract, whose last section is the budget's: what `budget delta` then records."""
    contract = clinic / "clinic.toml"
    contract.write_text(f"{contract.read_text('utf-8')}delta = 1e-6\n", encoding="utf-8")


def test_there_is_every_command() -> None:
    """The commands are those that the page promises."""
    about_numbers = {"release", "plan", "certify"}
    about_tables = {"init", "check", "discover", "practise", "keys", "query", "explain", "publish", "budget"}
    about_servers = {"reports", "share", "serve"}
    assert set(INBOUNDS.commands) == {*about_numbers, *about_tables, *about_servers, "demo"}
    copies = {"backup", "restore", "accept-restore"}
    asked = {"show", "grant", "contract", "delta", "verify", "statement"}
    assert set(INBOUNDS.commands["budget"].commands) == asked | copies
    assert set(INBOUNDS.commands["discover"].commands) == {"keys", "limit", "bounds"}
    assert set(INBOUNDS.commands["keys"].commands) == {"discover", "issue", "list", "revoke"}
    assert set(INBOUNDS.commands["reports"].commands) == {"list", "show", "propose", "approve", "reject"}
    assert set(INBOUNDS.commands["share"].commands) == {"answer", "list", "show", "revoke"}


def serve_to_ana(folder: Path) -> None:
    """Write a custodian's file, issue the key that the examples revoke, and know of a ledger that is there no more."""
    path = folder / "custodian.toml"
    path.write_text(DEMO.format(port=8750), encoding="utf-8")
    file = CustodianFile.load(path)
    database = Database(file.state)
    LedgerHeads(database, ["visits"]).keep(Head(7, "a" * 64))
    Ledger.open(file.ledger).close()
    KeyRing(database).issue("ana")
    with database.writing() as connection:
        connection.execute("UPDATE keys SET prefix = '87278406422d'")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in (*ABOUT_SERVERS, "serve")])
def test_every_help_has_an_example_that_runs(typed: Type, clinic: Path, name: str) -> None:
    """The help of a command fits 80 columns, and its example does what it should."""
    help_text = typed(*name.split(), "--help")
    assert help_text.code == 0
    assert within_80(help_text.out)
    assert "--json" in help_text.out
    grant = ("budget", "grant", "1", "--dataset", "clinic.toml", "--delta", "1e-6")
    typed(*grant)  # so that there is a ledger to look at, and a delta for what needs one
    if name == "budget delta":
        add_delta(clinic)
    if name == "budget restore":
        typed("budget", "backup", "budget-copy.db", "--dataset", "clinic.toml")
    serve_to_ana(clinic)
    found = run_line(typed, example_of(help_text.out, name))
    assert (found.code, found.err) == (0, "")
    assert found.out


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("-h",),
        *((group, "--help") for group in GROUPS),
        ("serve", "-h"),
        *((*name.split(), "-h") for name in ABOUT_SERVERS),
    ],
)
def test_help_fits(typed: Type, words: tuple[str, ...]) -> None:
    """The overview fits 80 columns, and no summary in it is cut off."""
    found = typed(*words)
    assert found.code == 0
    assert within_80(found.out)
    assert "..." not in found.out.partition("Commands:")[2]


def test_the_version(typed: Type) -> None:
    """The version is that of the package."""
    assert typed("--version").out == f"inbounds {__version__}\n"


@pytest.mark.parametrize("words", [(), ("budget",)])
def test_without_a_command_there_is_help(typed: Type, words: tuple[str, ...]) -> None:
    """Whoever types no command sees which there are."""
    assert typed(*words) == typed(*words, "--help")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--",), "a command is missing; see inbounds --help"),
        (("relaese",), "there is no command 'relaese'; did you mean release?"),
        (("verify",), "there is no command 'verify'; did you mean budget verify?"),
        (("ask",), "there is no command 'ask'; did you mean query?"),
        (("version",), "there is no command 'version'; did you mean --version?"),
        (("xyz",), "there is no command 'xyz'; choose from " + ", ".join(ORDER)),
        (("budget", "shw"), "budget: there is no command 'shw'; did you mean show?"),
        (("demo", "--jsn"), "demo: there is no option '--jsn'; did you mean --json?"),
        (("release", "3", "--epsilo", "1"), "release: there is no option '--epsilo'; did you mean --epsilon?"),
        (("release", "3", "--sens", "1"), "release: there is no option '--sens'; did you mean --sensitivity?"),
        (("release", "3", "-e", "1"), "release: there is no option '-e'; did you mean --epsilon?"),
        (("release", "3", "--out", "x"), "release: there is no option '--out'; did you mean --to?"),
        (("plan", "--error", "1"), "plan: there is no option '--error'; did you mean --target-error?"),
        (("plan", "--p", "1"), "plan: there is no option '--p'; did you mean --plot?"),
        (("certify", "--s", "1"), "certify: there is no option '--s'; did you mean --scale or --sensitivity?"),
        (("check", "--dataset", "x.toml"), "check: there is no option '--dataset'; write the CONTRACT without one"),
        (("query", "--sql", "SELECT"), "query: there is no option '--sql'; write the SQL without one"),
        (("demo", "3"), "demo: this command takes options only, got 1 more; leave that out"),
    ],
)
def test_misspelt_words_are_named(typed: Type, words: tuple[str, ...], said: str) -> None:
    """What is not known is named, with what it abbreviates, means or misspells."""
    found = typed(*words)
    assert (found.code, found.out, found.err) == (2, "", f"inbounds: {said}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("release", "97"), "release: --bounds, --sensitivity and --epsilon are missing; see inbounds release --help"),
        (("plan", "--sensitivity", "1"), "plan: --bounds is missing; see inbounds plan --help"),
        (("query", "--epsilon", "1"), "query: SQL and --dataset are missing; see inbounds query --help"),
        (("release", "97", "--epsilon"), "release: --epsilon needs a value after it; see inbounds release --help"),
        (("demo", "--json=1"), "demo: --json takes no value; see inbounds demo --help"),
    ],
)
def test_all_that_is_missing_is_named(typed: Type, words: tuple[str, ...], said: str) -> None:
    """One message names everything that must be given and was not, and the command whose help says more."""
    found = typed(*words)
    assert (found.code, found.out, found.err) == (2, "", f"inbounds: {said}\n")


def test_a_person_reads_whole_words(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a long message is wrapped; in a pipe it is one line, for programs."""
    words = ("release", "97", "--bounds", "0-100", "--sensitivity", "1", "--epsilon", "1")
    piped = typed(*words).err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = typed(*words).err
    assert piped.count("\n") == 1
    assert within_80(shown)
    assert " ".join(shown.split()) == piped.strip()


def test_a_mark_under_sql_stays_where_it_is(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the words above a mark are wrapped, and the line of SQL and its mark are as in a pipe."""
    sql = "SELECT AVG(age), COUNT(*), MEDIAN(minutes) FROM visits WHERE patient = 4 AND age > 3"
    words = ("query", "--dataset", "clinic.toml", "--analyst", "ana", "--epsilon", "1", sql)
    piped = typed(*words).err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = typed(*words).err
    assert piped.count("\n") == 3
    assert len(piped.splitlines()[0]) > 80
    assert within_80(shown)
    assert shown.splitlines()[-2:] == piped.splitlines()[-2:]
    assert " ".join(shown.split()) == " ".join(piped.split())


@pytest.mark.parametrize("synonym", SYNONYMS)
def test_a_synonym_is_for_what_there_is(synonym: str) -> None:
    """Other words stand for commands and options that exist, and are none themselves."""
    options = {option for command in COMMANDS.values() for param in command.params for option in param.opts}
    known = {*INBOUNDS.commands, *COMMANDS, *options, "--help", "--version"}
    assert SYNONYMS[synonym] in known
    assert synonym not in INBOUNDS.commands


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (ValueError("the secret 731954"), 1, "inbounds: failed unexpectedly (ValueError)"),
        (PermissionError(13, "Permission denied", "x.db"), 1, "inbounds: the file 'x.db' cannot be read or written"),
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
    assert set(sections()) == set(INBOUNDS.commands)
    known = {option for command in COMMANDS.values() for param in command.params for option in param.opts}
    text = "\n".join(sections().values())
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known
    general = PAGE.read_text("utf-8").split("\n## ")[0]
    assert {"--help", "--version", "--install-completion", "--show-completion"} <= set(
        re.findall(r"--[a-z-]+", general)
    )


@pytest.mark.slow
def test_the_examples_of_the_page_run(typed: Type, clinic: Path) -> None:
    """Every example on the page runs, one after the other, and is done."""
    lines = re.findall(r"^\$ (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(lines) > 15
    for line in lines:
        if line.startswith("inbounds budget delta"):
            add_delta(clinic)
        found = run_line(typed, line)
        assert found.code == 0, line
        assert not found.err or "a new ledger was created" in found.err, line
        assert found.out, line
