"""For the site: formulas between dollars and in blocks marked `math` become MathML, which browsers set by themselves.

A formula that is not understood ends the build. One that stands in a line is cut behind its relations, so that the line
can be broken there; browsers do not break formulas by themselves.
"""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from math_core import LatexError, LatexToMathML
from mkdocs.exceptions import PluginError

_FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL)
_NAMED = re.compile(r"&(?!lt;|gt;|amp;)\w+;")  # characters that XML has no names for
_RELATIONS = frozenset("=≠<>≤≥≈∈∝→∼⟹⟺,")
_CONVERTER = LatexToMathML(fancy_error=False)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Set every formula of a page."""

    def formula(found: re.Match[str]) -> str:
        block = found[3] is not None
        latex = html.unescape(found[3] if block else found[2]).strip()
        try:
            made = _CONVERTER.convert_with_local_state(latex, displaystyle=block)
        except LatexError as error:
            raise PluginError(f"{page.file.src_uri}: not a formula: {latex}\n{error}") from error
        return f'<div class="formula">{made}</div>' if block else _breakable(made)

    return _FORMULA.sub(formula, content)


def _breakable(made: str) -> str:
    pieces: list[list[ElementTree.Element]] = [[]]
    for part in ElementTree.fromstring(_NAMED.sub(lambda name: html.unescape(name[0]), made)):
        pieces[-1].append(part)
        if part.tag == "mo" and part.text in _RELATIONS:
            part.set("form", "infix")  # although it is the last one now
            pieces.append([])
    return "<wbr>".join(_math(piece) for piece in pieces if piece)


def _math(parts: list[ElementTree.Element]) -> str:
    return (
        f"<math>{''.join(ElementTree.tostring(part, 'unicode', short_empty_elements=False) for part in parts)}</math>"
    )
