"""What is wrong with a page's HTML: a strict reader, which forgives nothing that browsers mend in silence."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul",
))  # fmt: skip
"""A paragraph ends where one of these begins."""

PARENTS = {
    "li": {"ul", "ol"}, "dt": {"dl"}, "dd": {"dl"}, "tr": {"thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"},
    "thead": {"table"}, "tbody": {"table"}, "caption": {"table"}, "option": {"select"}, "summary": {"details"},
    "source": {"picture"},
}  # fmt: skip
"""In what some elements must stand."""

FIELDS = frozenset(("input", "select", "textarea", "meter"))
REFERENCES = ("for", "aria-labelledby", "aria-describedby", "list", "form")


class Markup(HTMLParser):
    """A page that is read; `faults` says what is wrong."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.faults: list[str] = []
        self._open: list[str] = []
        self._ids: Counter[str] = Counter()
        self._wanted: list[tuple[str, str]] = []
        self._labelled: set[str] = set()
        self._fields: list[tuple[str, str, bool]] = []
        self._headings: list[int] = []
        self._texts: dict[str, str] = {}
        self._tags: Counter[str] = Counter()
        if not text.lower().startswith("<!doctype html>"):
            self.faults.append("it does not begin with <!doctype html>")
        self.feed(text)
        self.close()
        self._look_back()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the beginning of an element."""
        self._tags[tag] += 1
        names = [name for name, _ in attrs]
        given = {name: value or "" for name, value in attrs}
        self.faults += [f"<{tag}> has {name} twice" for name, count in Counter(names).items() if count > 1]
        self.faults += [f"<{tag}> has {name}" for name in names if name == "style" or name.startswith("on")]
        self._look_at_place(tag)
        self._look_at_attributes(tag, given)
        if re.fullmatch("h[1-6]", tag):
            self._headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def _look_at_place(self, tag: str) -> None:
        parent = self._open[-1] if self._open else ""
        if tag in PARENTS and parent not in PARENTS[tag]:
            self.faults.append(f"<{tag}> stands in <{parent}>")
        if tag in BLOCKS and set(self._open) & {"p", "h1", "h2", "h3", "label", "button", "span", "a", "summary"}:
            self.faults.append(f"<{tag}> stands in {self._open[-3:]}")
        if tag == "form" and "form" in self._open:
            self.faults.append("a form stands in a form")
        if tag in ("a", "button") and set(self._open) & {"a", "button"}:
            self.faults.append(f"<{tag}> stands in a link or a button")

    def _look_at_attributes(self, tag: str, given: dict[str, str]) -> None:
        if "id" in given:
            self._ids[given["id"]] += 1
            if not given["id"] or re.search(r"\s", given["id"]):
                self.faults.append(f"<{tag}> has the id {given['id']!r}")
        for name in REFERENCES:
            self._wanted += [(name, one) for one in given.get(name, "").split()]
        if tag == "label" and "for" in given:
            self._labelled.add(given["for"])
        if tag in FIELDS and given.get("type") != "hidden" and "hidden" not in given:
            named = "aria-label" in given or "aria-labelledby" in given or "label" in self._open
            self._fields.append((tag, given.get("id", ""), named))
        if tag == "img" and "alt" not in given:
            self.faults.append("an image has no alt")
        if tag == "html" and not given.get("lang"):
            self.faults.append("the page has no language")
        if tag == "script" and "src" not in given:
            self.faults.append("a script stands in the page")
        if tag == "style":
            self.faults.append("a style stands in the page")
        if tag == "th" and given.get("scope") not in ("col", "row"):
            self.faults.append("a heading of a table has no scope")
        for name in ("href", "src", "action", "srcset"):
            if name in given and not re.match(r"/(?!/)|#|\?", given[name]):
                self.faults.append(f"<{tag}> leads elsewhere: {given[name]!r}")

    def handle_endtag(self, tag: str) -> None:
        """Look at the end of an element."""
        if tag in VOID or not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> ends {self._open[-1:]}")
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Look at a text."""
        if self._open:
            self._texts[self._open[-1]] = self._texts.get(self._open[-1], "") + data
        if "&" in data or "<" in data:
            self.faults.append(f"a text has a bare sign: {data[:40]!r}")

    def _look_back(self) -> None:
        self.faults += [f"<{tag}> does not end" for tag in self._open]
        self.faults += [f"the id {name!r} is there {count} times" for name, count in self._ids.items() if count > 1]
        self.faults += [f"{name} names {one!r}, which is not there" for name, one in self._wanted if not self._ids[one]]
        self.faults += [f"<{tag} id={name!r}> has no label" for tag, name, named in self._fields
                        if not named and name not in self._labelled]  # fmt: skip
        steps = zip([0, *self._headings], self._headings, strict=False)
        self.faults += [f"after <h{before}> comes <h{after}>" for before, after in steps if after > before + 1]
        if self._headings.count(1) != 1:
            self.faults.append(f"there are {self._headings.count(1)} headings of the page")
        if not self._texts.get("title", "").strip():
            self.faults.append("the page has no title")
        self.faults += [f"there are {self._tags[tag]} <{tag}>" for tag in ("html", "main", "title", "body")
                        if self._tags[tag] != 1]  # fmt: skip


def faults(text: str) -> list[str]:
    """Return what is wrong with a page."""
    return Markup(text).faults
