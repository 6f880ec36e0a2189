"""Bars that stand in a page: their lengths are what they show, and everything is within the picture."""

from __future__ import annotations

from itertools import pairwise

import pytest

from inbounds.server.pages.pictures.bars import LOOKS, Bar, Drawing, Picture, Row, per_cent

ROWS = (
    Row("1", (Bar((("cut", 60.0),), "60 %"), Bar((("units", 30.0),), "30 %"))),
    Row("4", (Bar((("cut", 15.0), ("noise", 15.0)), "15 + 15"),), "served, tried"),
    Row("1,000,000", (Bar((), "0 %"),)),
    Row(f"a column {'with a long name ' * 9}", (Bar((("above", 1e-9),), "< 0.1 %"),)),
)


def drawings(*rows: Row) -> list[Drawing]:
    """Return the pictures of some rows, wide and narrow."""
    return list(Picture("title", (), "label", rows, " %").drawings)


def test_there_is_a_picture_for_each_kind_of_screen() -> None:
    """One is as wide as half a page, one as a telephone, and a style sheet tells them apart by their names."""
    assert [(drawing.look, drawing.width) for drawing in drawings(*ROWS)] == [(look.name, look.width) for look in LOOKS]


def test_lengths_are_what_is_shown() -> None:
    """Parts are as long as their numbers, on one scale for all bars, and one begins where the part before it ends."""
    for drawing in drawings(*ROWS):
        parts = [one for one in drawing.rectangles if one.kind != "marked"]
        cut, units, first, second, tiny = parts
        assert units.width == pytest.approx(cut.width / 2)
        assert first.width == pytest.approx(second.width) == pytest.approx(cut.width / 4)
        assert second.x == pytest.approx(first.x + first.width)
        assert 0 < tiny.width < 1e-6
        assert first.y == second.y


def test_everything_is_within_the_picture() -> None:
    """No part, word or line is beyond the edges, whatever names and words there are; bars do not reach the words."""
    for drawing in drawings(*ROWS):
        words = [word for word in drawing.words if word.anchor == "end" and word.x > drawing.width / 2]
        left = min(word.x - 7.5 * len(word.text) for word in words)
        for part in drawing.rectangles:
            assert part.x >= 0
            assert part.y >= 0
            assert part.x + part.width <= (drawing.width if part.kind == "marked" else left)
            assert part.y + part.height <= drawing.bottom
        assert all(0 <= word.x <= drawing.width and 0 < word.y < drawing.height for word in drawing.words)
        assert all(0 <= line.x <= drawing.width for line in drawing.lines)


def test_rows_do_not_overlap() -> None:
    """Each bar is below the one before it, and a mark has a place of its own."""
    for drawing in drawings(*ROWS):
        tops = sorted({(one.y, one.height) for one in drawing.rectangles if one.kind != "marked"})
        assert all(y + height <= below for (y, height), (below, _) in pairwise(tops))
        (marked,) = (one for one in drawing.rectangles if one.kind == "marked")
        (mark,) = (word for word in drawing.words if word.kind == "mark")
        assert marked.y < mark.y < marked.y + marked.height


def test_nothing_can_be_drawn() -> None:
    """Bars without length, of no rows or of a hundred, are a picture too."""
    for rows in ((), (Row("a", (Bar((("cut", 0.0),), "0"),)),), (ROWS[0],) * 100):
        for drawing in drawings(*rows):
            assert drawing.height > 0
            assert drawing.lines


def test_a_share_of_nothing_is_nothing() -> None:
    """Where there are no rows, no share of them is cut."""
    assert per_cent(0, 0) == 0
    assert per_cent(1, 4) == 25
