"""The site is whole: it builds without a warning, leads to every page, and describes every public name."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from inbounds import errors
from tests.helpers.programs import PATIENCE, ROOT

DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
MODULES = (
    "inbounds", "inbounds.query", "inbounds.joint", "inbounds.ledger", "inbounds.published", "inbounds.plot",
    "inbounds.client",
)  # fmt: skip
BUILDERS = ("mkdocs", "material", "mkdocstrings", "math_core")
ALL_ENGINES = os.environ.get("INBOUNDS_TEST_ENGINES") == "all"

pytestmark = pytest.mark.thorough  # the site is built for them


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning is an error."""
    if missing := [name for name in BUILDERS if find_spec(name) is None]:
        why = f"{', '.join(missing)} must be installed to build the site: pip install '.[docs]'"
        pytest.fail(why) if ALL_ENGINES else pytest.skip(why)
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: it would hide the warnings from mkdocs itself, which counts them.
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    """Whatever is under docs can be reached from the first page, and is listed once."""
    first = (site / "index.html").read_text("utf-8")
    navigation = re.findall(r'<a href="([^"#]+\.html)" class="md-nav__link', first)
    assert sorted(navigation) == [Path(page).with_suffix(".html").as_posix() for page in PAGES]


def test_the_site_builds_strictly(site: Path) -> None:
    """Every page becomes one of the site: no broken link, no missing anchor, no page left out."""
    missing = [page for page in PAGES if not (site / page).with_suffix(".html").exists()]
    assert missing == []


LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|link)\b[^>]*?\b(?:src|srcset|href|data)=[\"']?(?:https?:)?//"
    r"|@import|url\([\"']?(?:https?:)?//|\b(?:fetch|import|importScripts)\([\"'`](?:https?:)?//",
    re.IGNORECASE,
)


def test_the_site_needs_no_other_host(site: Path) -> None:
    """No page, style or script of the site loads anything from elsewhere."""
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css", ".js"}]
    found = {(path.name, path.read_text("utf-8")[place.start() :][:120]) for path in files for place in loads(path)}
    assert files
    assert found == set()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('<script src="https://cdn.example/x.js">', True),
        ("<link rel=stylesheet href=//cdn.example/x.css>", True),
        ("src: url(https://cdn.example/x.woff2)", True),
        ('fetch("https://cdn.example/x.json")', True),
        ('<a href="https://doi.org/10.1000/1">', False),
        ('<script src="assets/x.js">', False),
    ],
)
def test_what_loads_from_another_host_is_found(text: str, asks: bool) -> None:
    """A script, a style, a font or data from another host is found, and a link or a file of the site is let pass."""
    assert bool(LOADED.search(text)) is asks


def loads(path: Path) -> list[re.Match[str]]:
    """Return where a file of the site asks for something from another host."""
    return [place for place in LOADED.finditer(path.read_text("utf-8")) if "canonical" not in place[0]]


def test_the_site_searches_without_a_server(site: Path) -> None:
    """The index of the search is a script, and what runs the search in a folder is loaded from the site itself."""
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert index.startswith("var __index = ")
    assert all(
        f'"location":"{Path(page).with_suffix(".html").as_posix()}"' in index for page in PAGES if page != "index.md"
    )
    page = (site / "decisions" / "0001-always-a-lattice.html").read_text("utf-8")
    assert re.findall(r'<script src="([^"]*worker[^"]*)"', page) == ["../assets/iframe-worker.js"]
    assert (site / "assets" / "iframe-worker.js").exists()


def texts(site: Path) -> dict[str, str]:
    """Return what every page shows outside of code and formulas."""
    without = re.compile(r"<(pre|code|svg|h\d|math)\b.*?</\1>|<[^>]+>", re.DOTALL)
    articles = {
        page.relative_to(site).as_posix(): re.search(r"<article.*?</article>", page.read_text("utf-8"), re.DOTALL)
        for page in site.rglob("*.html")
    }
    return {name: without.sub("", article[0]) for name, article in articles.items() if article}


def test_every_formula_is_set(site: Path) -> None:
    """No page shows a dollar, or a command of LaTeX, where a formula was meant; and there are formulas."""
    raw = re.compile(r"\$|\\[a-zA-Z(\[]|arithmatex")
    assert {name: found[0] for name, text in texts(site).items() if (found := raw.search(text))} == {}
    assert (site / "mathematics.html").read_text("utf-8").count("<math") > 400


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(site: Path, module: str) -> None:
    """Every name that a module offers has an entry of its own, made from its docstring."""
    offered = importlib.import_module(module)
    page = (site / "reference" / f"{module.rpartition('.')[2]}.html").read_text("utf-8")
    entries = set(re.findall(r'<h\d id="([\w.]+)" class="doc', page))

    def places(name: str) -> set[str]:
        found = getattr(offered, name)
        return {f"{module}.{name}", f"{found.__module__}.{found.__qualname__}"}

    assert [name for name in offered.__all__ if not places(name) & entries] == []


def test_every_exception_is_in_the_reference(site: Path) -> None:
    """Every exception of the package has an entry, under the tree of all of them."""
    page = (site / "reference" / "errors.html").read_text("utf-8")
    raised = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert [name for name in raised if f'id="inbounds.errors.{name}" class="doc' not in page] == []
    assert "├── " in page


def test_no_page_shows_its_markup(site: Path) -> None:
    """Outside of code, no page shows a star, a bar or a link that was meant to be a list, a table or a link."""
    markup = re.compile(r"(?<![\w)])\*\*|\]\(|```|^\s*(?:[*+-]|\d+\.|\|) ", re.MULTILINE)
    shown = {
        name: text[max(0, found.start() - 40) : found.end() + 40]
        for name, text in texts(site).items()
        if (found := markup.search(text))
    }
    assert shown == {}


def test_the_page_about_notebooks_shows_what_they_show(site: Path) -> None:
    """Every table that the page asks for is there as a notebook would show it, made when the site was built."""
    asked = re.findall(r"<!-- shown: (\w+) -->", (DOCS / "notebooks.md").read_text("utf-8"))
    page = (site / "notebooks.html").read_text("utf-8")
    assert asked
    assert len(re.findall(r'<div class="notebook">.*?<table', page)) == len(asked)
    assert "<!-- shown" not in page
