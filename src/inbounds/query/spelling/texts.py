"""Texts in other words: one after the other, and without the blanks at their ends."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling, call, grouped


def _concat(node: exp.Expr) -> exp.Expr | None:
    """CONCAT(a, b): what is missing makes all of it missing, as with ||."""
    return _chain(list(node.expressions))


def _chain(parts: list[exp.Expr]) -> exp.Expr | None:
    if not parts:
        return None
    whole = grouped(parts[0])
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=grouped(part), safe=True)
    return exp.Paren(this=whole) if len(parts) > 1 else whole


ENDS = {"": "TRIM", "BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}


def _trim(node: exp.Trim) -> exp.Expr | None:
    """TRIM(a), TRIM(LEADING '0' FROM a)."""
    name = ENDS.get(str(node.args.get("position") or "").upper())
    characters = node.args.get("expression")
    if name is None or node.args.get("collation"):
        return None
    return call(name, node.this, *([] if characters is None else [characters]))


TEXTS = (
    Spelling(("CONCAT",), _concat, "group", "CONCAT(ward, '-', urgent)", "ward || '-' || urgent"),
    Spelling(
        (exp.Trim,),
        _trim,
        "group",
        "TRIM(LEADING 'e' FROM ward)",
        "LTRIM(ward, 'e')",
        words=("TRIM", "LEADING", "TRAILING", "BOTH"),
    ),
)
