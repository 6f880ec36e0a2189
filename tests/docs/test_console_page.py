"""The page about the console shows the pages that there are."""

from __future__ import annotations

import re

from tests.helpers.programs import ROOT

PICTURES = ROOT / "docs" / "pictures"
PAGE = (ROOT / "docs" / "console.md").read_text("utf-8")
MOST_BYTES = 120_000


def test_every_picture_is_shown() -> None:
    """Each picture of a page is on the page about them at both widths, no other is, and all of them are small."""
    shown = set(re.findall(r"pictures/(console-[\w-]+\.png)", PAGE))
    there = {path.name: path.stat().st_size for path in PICTURES.glob("console-*.png")}
    assert shown == set(there)
    assert {name for name, size in there.items() if size > MOST_BYTES} == set()
    assert {re.sub(r"-\d+\.png", "", name) for name in shown} == {
        re.sub(r"-360\.png", "", name) for name in shown if name.endswith("-360.png")
    }
    assert len(shown) == 2 * len([name for name in shown if name.endswith("-360.png")])


def test_every_picture_is_taken() -> None:
    """What the program takes pictures of is what there are pictures of."""
    program = (PICTURES / "console.py").read_text("utf-8")
    names = set(re.findall(r'shoot\("([\w-]+)"', program)) | set(
        re.findall(r'"(answer(?:-\w+)?|report|shared)"', program)
    )
    assert names == {re.sub(r"console-(.*)-\d+\.png", r"\1", path.name) for path in PICTURES.glob("console-*.png")}
