"""The client by itself: the same modules as `inbounds_client`, which need nothing of the engine."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import inbounds
from inbounds.results.answer_json import write_answer
from tests.client.conftest import Clinic
from tests.helpers.own_client import FOLDER, FOREIGN, SETTINGS, build_client, load_builder
from tests.helpers.programs import PATIENCE, ROOT

INBOUNDS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

builder = load_builder()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package was written into."""
    return build_client(tmp_path_factory.mktemp("built"))


ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"inbounds", "numpy", "flint", "scipy", "sqlglot", "duckdb", "pydantic", "rich",
                                      "pandas", "polars", "pyarrow"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, sys.argv[1])
"""


def run_alone(built: Path, code: str, *words: str, **environment: str) -> str:
    """Run code where there is no engine, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE + code, str(built), *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_every_module_is_imported_without_the_engine(built: Path) -> None:
    """Whichever module of it is imported, neither the engine nor `inbounds` is needed."""
    files = [path.relative_to(built).with_suffix("") for path in built.glob("inbounds_client/**/*.py")]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in files]
    assert len(modules) > 30
    code = "import importlib\nfor name in sys.argv[2:]:\n    importlib.import_module(name)\nprint('all')"
    assert run_alone(built, code, *modules) == "all\n"


ASK = """
import json
from inbounds_client import connect
from inbounds_client.results.answer_json import write_answer

with connect(sys.argv[2]) as connection:
    visits = connection.dataset("visits")
    asked = visits.mean("age").where("age > 17").by("clinic")
    answer = asked.ask(1, request_id="alone")
    print(json.dumps([write_answer(answer), str(answer), str(asked.explain(1)), repr(visits.columns)]))
"""


@pytest.mark.slow
def test_it_asks_what_the_client_of_inbounds_asks(clinic: Clinic, built: Path) -> None:
    """By itself, too, it shows datasets, explains and asks, and shows the same answer in the same text."""
    key = clinic.served.keys["ana"]
    found = json.loads(run_alone(built, ASK, clinic.running.url, INBOUNDS_KEY=key))
    with clinic.connect() as connection:
        visits = connection.dataset("visits")
        asked = visits.mean("age").where("age > 17").by("clinic")
        answer = asked.ask(1, request_id="alone")
        assert found[:2] == [json.loads(json.dumps(write_answer(answer))), str(answer)]
        assert found[2].splitlines()[0] == str(asked.explain(1)).splitlines()[0]
        assert found[3] == repr(visits.columns)


REFUSED = """
import pickle
import inbounds_client
from inbounds_client import errors

with inbounds_client.connect(sys.argv[2]) as connection:
    visits = connection.dataset("visits")
    for sql, epsilon in (("SELECT age FROM visits", 1), ("SELECT COUNT(*) FROM visits", 201)):
        try:
            visits.sql(sql).ask(epsilon)
        except inbounds_client.InboundsError as refused:
            again = pickle.loads(pickle.dumps(refused))
            print(type(again).__module__, type(again).__name__, isinstance(again, errors.InboundsError))
"""


@pytest.mark.slow
def test_its_errors_are_its_own(clinic: Clinic, built: Path) -> None:
    """What a server refuses is raised as an error of `inbounds_client`, which goes to another process and back."""
    told = run_alone(built, REFUSED, clinic.running.url, INBOUNDS_KEY=clinic.served.keys["ana"])
    assert told.splitlines() == [
        "inbounds_client.errors InvalidQuestion True",
        "inbounds_client.errors BudgetExceeded True",
    ]


def test_only_imports_are_rewritten(built: Path) -> None:
    """Every line of the package stands in the module that it comes from, at its number, but for imports."""
    sources = builder.find_sources(FOLDER)
    for name, path in builder.collect_modules(sources, FOREIGN).items():
        file = Path(*builder.rename(name).split("."))
        file = built / (file / "__init__.py" if path.name == "__init__.py" else file.with_suffix(".py"))
        before, after = path.read_text("utf-8").split("\n"), file.read_text("utf-8").split("\n")
        assert len(before) == len(after)
        changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        assert all(re.match(r" *from inbounds[. ]", line) for line, _ in changed)
        assert not [node for node in ast.walk(ast.parse("\n".join(after))) if _imports_inbounds(node)]


def _imports_inbounds(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "inbounds"


@pytest.mark.slow
def test_it_is_typed(built: Path) -> None:
    """A type checker finds the types of what it offers, and no fault in any of its modules."""
    code = "import inbounds_client\nreveal_type(inbounds_client.connect('').dataset('').count().ask(1).rows)\n"
    (built / "used.py").write_text(code, "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-warn-return-any",
            "--config-file=",
            "used.py",
            "inbounds_client",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=built,
    )
    first, last = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    assert 'Revealed type is "tuple[tuple[Any, ...], ...]"' in first.replace("builtins.", "")
    assert last.startswith("Success"), done.stdout


GOOD = {
    "__init__.py": "",
    "errors.py": "class Broken(Exception):\n    pass\n",
    "client/__init__.py": "from inbounds.client.asking import ask\n",
    "client/asking.py": "from inbounds import errors\n\n\ndef ask() -> None:\n    raise errors.Broken\n",
    "query/__init__.py": "import numpy\n",
    "query/plan.py": "class Plan:\n    pass\n",
}


def write_sources(folder: Path, more: dict[str, str]) -> Path:
    """Write a package `inbounds` that is as small as can be."""
    for name, text in (GOOD | more).items():
        path = folder / "inbounds" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder / "inbounds"


def test_a_module_is_taken_along_if_it_is_imported(tmp_path: Path) -> None:
    """The modules of the client and those that they import are all that is in it, also if imported in a function."""
    asking = "def ask() -> None:\n    from inbounds.files import csv\n    csv.write()\n"
    files = {"client/asking.py": asking, "files/__init__.py": "", "files/csv.py": "def write() -> None: ...\n"}
    builder.write_modules(write_sources(tmp_path, files), (), tmp_path)
    made = tmp_path / "inbounds_client"
    assert {path.relative_to(made).as_posix() for path in made.rglob("*.py")} == {
        "__init__.py", "asking.py", "files/__init__.py", "files/csv.py",
    }  # fmt: skip


def test_what_is_for_type_checkers_only_is_anything(tmp_path: Path) -> None:
    """What only type checkers import, and the client has not, is `Any` to them, and no line moves."""
    asking = (
        "from typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n    from inbounds.query.plan import (\n        Plan as Known,\n    )\n"
        "    import numpy\n\n\ndef ask(plan: 'Known') -> None:\n    raise ValueError\n"
    )
    builder.write_modules(write_sources(tmp_path, {"client/asking.py": asking}), (), tmp_path)
    lines = (tmp_path / "inbounds_client" / "asking.py").read_text("utf-8").split("\n")
    assert lines[3:6] == ["    from typing import Any as Known", "", ""]
    assert lines[6:] == asking.split("\n")[6:]


UNFIT: list[tuple[dict[str, str], str]] = [
    ({"client/asking.py": "import numpy\n"}, "imports numpy, which the client does not bring"),
    (
        {"errors.py": "def late() -> None:\n    from sqlglot import exp\n"},
        "imports sqlglot, which the client does not bring",
    ),
    ({"client/asking.py": "from inbounds.query import plan\n"}, "inbounds.query imports numpy"),
    ({"client/asking.py": "import inbounds.errors\n"}, "write it as 'from inbounds… import …'"),
    ({"client/asking.py": "from . import other\n"}, "with the full name of the module"),
    ({"client/asking.py": "from inbounds import connect\n"}, "import it from the module that has it"),
    ({"client/asking.py": "from inbounds import client\n"}, "import it from the module that has it"),
    ({"client/asking.py": "from  inbounds.errors import Broken\n"}, "with single blanks"),
    ({"client/asking.py": "NAME = 'inbounds.errors'\n"}, "a text names a module or an extra"),
    ({"client/asking.py": "NAME = f'pip install inbounds[client] {1}'\n"}, "a text names a module or an extra"),
    (
        {"client/errors.py": "from inbounds.errors import Broken\n"},
        "two modules of inbounds would be inbounds_client.errors",
    ),
]


@pytest.mark.parametrize(("files", "told"), UNFIT)
def test_what_does_not_fit_ends_the_build(tmp_path: Path, files: dict[str, str], told: str) -> None:
    """A module that could not work under the other name is refused, and nothing is written."""
    sources = write_sources(tmp_path, files)
    with pytest.raises(builder.UnfitModule, match=re.escape(told)):
        builder.write_modules(sources, (), tmp_path)
    assert not (tmp_path / "inbounds_client").exists()


def test_without_sources_the_remedy_is_named(tmp_path: Path) -> None:
    """Outside of a clone or a source distribution it is said what is missing."""
    with pytest.raises(builder.UnfitModule, match="build from a whole clone"):
        builder.find_sources(tmp_path)


SAME: list[tuple[str, Any]] = [
    ("requires-python", INBOUNDS["requires-python"]),
    ("dependencies", INBOUNDS["optional-dependencies"]["client"]),
    ("license", INBOUNDS["license"]),
]


@pytest.mark.parametrize(("field", "value"), SAME)
def test_it_needs_what_the_extra_needs(field: str, value: object) -> None:
    """What the client by itself needs is what the extra `client` needs, on the same versions of Python."""
    assert SETTINGS["project"][field] == value


def test_it_has_the_version_and_the_license_of_inbounds() -> None:
    """There is one version and one license for both."""
    assert builder.read_version() == inbounds.__version__
    assert (FOLDER / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
