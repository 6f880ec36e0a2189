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

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
MODULES = ("inbounds", "inbounds.query", "inbounds.ledger", "inbounds.published", "inbounds.plot")
ALL_ENGINES = os.environ.get("INBOUNDS_TEST_ENGINES") == "all"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning is an error."""
    if find_spec("mkdocs") is None or find_spec("material") is None or find_spec("mkdocstrings") is None:
        if ALL_ENGINES:
            pytest.fail("mkdocs-material and mkdocstrings must be installed: pip install '.[docs]'")
        pytest.skip("mkdocs-material or mkdocstrings is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: it would hide the warnings from mkdocs itself, which counts them.
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_in_the_navigation() -> None:
    """Whatever is under docs can be reached, and nothing is listed that is not there."""
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")[1]
    listed = re.findall(r": ([\w./-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(listed) == PAGES
    assert len(set(listed)) == len(listed)


def test_the_site_builds_strictly(site: Path) -> None:
    """Every page becomes one of the site: no broken link, no missing anchor, no page left out."""
    missing = [page for page in PAGES if not (site / page).with_suffix(".html").exists()]
    assert missing == []


def test_the_site_needs_no_other_host(site: Path) -> None:
    """No page loads a script, a style, a font or a picture from elsewhere."""
    loaded = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^\s>]*", re.IGNORECASE)
    found = {
        (page.name, tag)
        for page in site.rglob("*.html")
        for tag in loaded.findall(page.read_text("utf-8"))
        if 'rel="canonical"' not in tag
    }
    assert found == set()


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


def test_no_page_shows_its_markup(site: Path) -> None:
    """Outside of code, no page shows a star, a bar or a link that was meant to be a list, a table or a link."""
    markup = re.compile(r"(?<![\w)])\*\*|\]\(|```|^\s*(?:[*+-]|\d+\.|\|) ", re.MULTILINE)
    shown = {}
    for page in site.rglob("*.html"):
        article = re.search(r"<article.*?</article>", page.read_text("utf-8"), re.DOTALL)
        text = re.sub(r"<(pre|code|svg|h\d)\b.*?</\1>|<[^>]+>", "", article[0] if article else "", flags=re.DOTALL)
        if found := markup.search(text):
            shown[page.name] = text[max(0, found.start() - 40) : found.end() + 40]
    assert shown == {}
