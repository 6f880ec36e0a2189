"""Tables and lists of facts show any text as it is, within 80 columns, as text, HTML or by rich."""

from __future__ import annotations

import io
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from inbounds.display.facts import FactSheet
from inbounds.display.table import NARROWEST, Cell, Column, TextTable
from inbounds.display.text import WIDTH, fit, printable, text_width

NASTY = "<b>&\"'[red] \x1b[31m\nend"
SHOWN = "<b>&\"'[red] \\x1b[31m\\nend"

texts = st.text(max_size=60)


def drawn(table: TextTable, width: int = WIDTH) -> str:
    """Return what a terminal with rich shows."""
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(table.rich())
    return console.export_text()


@given(st.lists(st.tuples(texts, texts, texts), max_size=5))
def test_lines_fit_a_terminal_and_columns_align(rows: list[tuple[str, str, str]]) -> None:
    """Whatever the cells, no line is wider than 80 columns, and there is one line for each row under a rule."""
    table = TextTable([Column("one", left=True), Column("two"), Column("three", left=True)], rows)
    head, rule, *lines = str(table).split("\n")
    assert len(lines) == len(rows)
    assert set(rule) == {"-"}
    assert len(rule) >= text_width(head)
    assert max(map(text_width, [head, rule, *lines])) <= WIDTH


def test_a_table_that_fits_is_not_cut() -> None:
    """Texts to the left, numbers to the right, the best with an asterisk, under a title and above notes."""
    columns = [Column("dataset", left=True), Column("epsilon spent", "spent")]
    rows: list[list[str | Cell]] = [["clinic", Cell("0.5", "best")], ["census", "12.25"]]
    assert str(TextTable(columns, rows, "What was spent", ["in epsilon"])).splitlines() == [
        "What was spent",
        "",
        "dataset  spent",
        "--------------",
        "clinic    *0.5",
        "census   12.25",
        "",
        "in epsilon",
    ]


def test_the_widest_columns_are_cut_first() -> None:
    """A narrow column stays whole beside a long one; many columns are cut no further than is readable."""
    table = TextTable([Column("a", left=True), Column("b")], [["x" * 100, "123456"]])
    assert str(table).splitlines()[-1] == "x" * (WIDTH - 8) + "… 123456"
    many = TextTable([Column("c")] * 20, [["1234567890"] * 20])
    assert len(str(many).splitlines()[-1]) == 20 * (NARROWEST + 1) - 1


@pytest.mark.parametrize("look", ["plain", "best", "alarm", "faint"])
def test_any_text_is_shown_as_it_is(look: str) -> None:
    """Tags, markup, control characters and line breaks are shown, and do nothing."""
    cell = Cell(NASTY, look, NASTY)  # type: ignore[arg-type]
    table = TextTable([Column(NASTY, left=True)], [[cell]], NASTY, [NASTY])
    page = ET.fromstring(table.html())
    assert page.findtext("table/caption") == page.findtext("p") == page.findtext(".//th") == SHOWN
    [found] = page.iter("td")
    assert "".join(found.itertext()) == found.get("title") == SHOWN
    assert str(table).count(SHOWN) == drawn(table).count(SHOWN) == 4
    facts = FactSheet([(NASTY, NASTY)], NASTY)
    assert [element.text for element in ET.fromstring(facts.html()).iter() if element.text] == [SHOWN] * 3
    assert str(facts).count(SHOWN) == 3


def test_what_stands_out_in_html_is_bold() -> None:
    """The best is in <b>, an alarm in <strong>."""
    page = ET.fromstring(TextTable([Column("a")] * 3, [[Cell("1", "best"), Cell("2", "alarm"), "3"]]).html())
    assert (page.findtext(".//b"), page.findtext(".//strong")) == ("1", "2")


def test_without_rich_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rich is not installed, asking for it says what to install, and text and HTML need none."""
    for name in [name for name in sys.modules if name == "rich" or name.startswith("rich.")]:
        monkeypatch.setitem(sys.modules, name, None)
    table = TextTable([Column("a")], [["1"]])
    with pytest.raises(ImportError, match=r"not installed: pip install 'rich>=13\.9,<16'"):
        table.rich()
    assert "1" in str(table)
    assert "1" in table.html()


@given(st.lists(st.tuples(texts, st.text(max_size=300)), max_size=4))
def test_facts_fit_a_terminal(rows: list[tuple[str, str]]) -> None:
    """Whatever the names and values, no line is wider than 80 columns; HTML has a row for each."""
    facts = FactSheet([(printable(name), printable(value)) for name, value in rows])
    narrow = all(text_width(text) == len(text) for row in facts.rows for text in row)  # wrapping counts characters
    assert not narrow or max(map(len, str(facts).splitlines()), default=0) <= WIDTH
    assert len(ET.fromstring(facts.html()).findall(".//tr")) == len(rows)


def test_facts_hang_under_their_beginning() -> None:
    """Values start in one column and go on there; a name that is long has a line of its own."""
    text = str(FactSheet([("one", "word " * 20), ("a name that is longer than thirty letters", "two")]))
    assert text.splitlines() == [
        "one  " + " ".join(["word"] * 15),
        "     " + " ".join(["word"] * 5),
        "a name that is longer than thirty letters",
        "     two",
    ]


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("ε ≤ δ", 5), ("", 0)])
def test_widths_are_those_of_a_terminal(text: str, width: int) -> None:
    """Wide characters take two columns, accents on the letter before none."""
    assert text_width(text) == width
    assert text_width(fit(text, 7, left=True)) == text_width(fit(text * 9, 7, left=False) or " " * 7) == 7
