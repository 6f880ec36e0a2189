"""Texts of which nothing is known: compared, matched with patterns, and what a condition lists of a part of them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from inbounds.query.expressions.condition import And, Compare, Comparison, Condition, Missing, Not
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.expressions.raw import Raw
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import is_number, read_constant, read_reference

PARTS_OF_TEXT = ("SUBSTR", "SUBSTRING", "LEFT")


class FreeTexts:
    """Reads what is said of texts that the contract describes as nothing but text."""

    def __init__(self, text: SqlText) -> None:
        self.text = text

    def find(self, node: exp.Expr) -> tuple[str, tuple[int, ...]] | None:
        """Return the text that a node is, or is a part of, and which part; None if it is none."""
        if isinstance(node, exp.Paren):
            return self.find(node.this)
        this, part = node, list[exp.Expr]()
        if isinstance(node, exp.Substring):
            this, part = (
                node.this,
                [arg for arg in (node.args.get("start"), node.args.get("length")) if arg is not None],
            )
        elif isinstance(node, exp.Anonymous) and node.name.upper() in PARTS_OF_TEXT and len(node.expressions) > 1:
            this, *part = node.expressions
        if not isinstance(this, exp.Column) or self.text.asked is None:
            return None
        if not all(is_number(number) and number.this.isdigit() for number in part):
            return None
        column = self._peek(this)
        identifier = None if column is None else self.text.asked.identifiers.get(column)
        if identifier is None or not identifier.is_text:
            return None
        numbers = tuple(int(number.this) for number in part)
        is_left = isinstance(node, exp.Anonymous) and node.name.upper() == "LEFT"
        return identifier.name, (1, *numbers) if is_left else numbers

    def _peek(self, node: exp.Column) -> str | None:
        """Return the column that a name stands for, without taking it; None if it is none."""
        table = node.args.get("table")
        owner = "" if table is None else str(table.name)
        names: Mapping[str, str] = self.text.inner_names
        if self.text.projected is not None:
            target = self.text.projected.get(self.text.canonical(node.this, self.text.projected))
            return None if target is None else target.name
        if owner:
            names = self.text.names.get(self.text.canonical(table, self.text.names), {}) if table is not None else {}
        name = self.text.canonical(node.this, names)
        if name in names:
            return names[name]
        identifiers = {} if self.text.asked is None else self.text.asked.identifiers
        plain = self.text.canonical(node.this, identifiers)
        return plain if plain in identifiers else None

    def take(self, node: exp.Expr) -> None:
        """Note that a text or a part of it has been read."""
        if isinstance(node, exp.Paren):
            self.text.take(node, "this")
            self.take(node.this)
        elif isinstance(node, exp.Substring):
            self.text.take(node, "this", "start", "length")
            for word in ("SUBSTRING", "SUBSTR"):
                self.text.take_word(word)
            for part in (node.args.get("start"), node.args.get("length")):
                if part is not None:
                    self.text.take(part, "this")
            read_reference(self.text, node.this)
        elif isinstance(node, exp.Anonymous):
            self.text.take(node, "this", "expressions")
            read_reference(self.text, node.expressions[0])
            for part in node.expressions[1:]:
                self.text.take(part, "this")
        else:
            read_reference(self.text, node)

    def listed(self, column: Node, part: tuple[int, ...]) -> Raw | None:
        """Return a text, or a part of it, as one of the texts that a condition lists; None if none does."""
        keys = self.text.text_parts.get((column.name, part))
        return None if keys is None else Raw(column.name, "PART", part, keys)

    def is_one_of(self, of: tuple[str, tuple[int, ...]], values: list[str]) -> Condition:
        """Return whether a text, or a part of it, is one of some texts."""
        column, part = of
        if not part:
            return Compare(Raw(column, "IN", tuple(values)), "=", Constant(True))
        among = Raw(column, "PART", part, tuple(dict.fromkeys(values)))
        return And((Compare(Raw(column, "PRESENT"), "=", Constant(True)), Not(Missing(among))))

    def compare(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition | None:
        """Read a comparison of a text with a constant, None if it is another one."""
        for this, other in ((left, right), (right, left)):
            of = self.find(this)
            if of is None or self.find(other) is not None:
                continue
            value = read_constant(self.text, other)
            if not isinstance(value, str) or operator not in ("=", "<>"):
                self.text.refuse(left.parent, f"{kind(this)} is free text; compare it with a text by =, <>, IN or LIKE")
            self.take(this)
            condition = self.is_one_of(of, [value])
            return Not(condition) if operator == "<>" else condition
        return None

    def read_part(self, node: exp.Expr) -> Node | None:
        """Read a part of a text that a condition lists; None if a node is no part of a text."""
        of = self.find(node)
        if of is None or (not of[1] and of not in self.text.text_parts):
            return None
        part = self.listed(ColumnRef(of[0]), of[1])
        if part is None:
            self.text.refuse(
                node, f"what {kind(node)} can be is not known; list it, as in WHERE {kind(node)} IN ('a', 'b')"
            )
        self.take(node)
        return part
