"""A SELECT about what several others release: joined by their keys, or every row with each."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from inbounds.query.answer.released.leaf import Named
from inbounds.query.answer.view import AS_RELEASED, ViewColumn
from inbounds.query.expressions.condition import And, Compare, Condition, join_conditions
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.sql.several.scalars import Scalars
from inbounds.query.sql.several.statement import JoinedSelects, SelectSource, Shown
from inbounds.query.sql.shown.answer_select import AnswerReader, InnerAnswer
from inbounds.query.sql.shown.released import read_having


def take_join(text: SqlText, node: exp.Join) -> bool:
    """Take a join of released SELECTs; return whether rows stay that nothing matches."""
    side, sort = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
    if side not in ("", "LEFT") or sort not in ("", "INNER", "OUTER", "CROSS") or node.args.get("method"):
        name = side or sort or node.args.get("method")
        text.refuse(node.this, f"{name} JOIN is not supported; write JOIN or LEFT JOIN, with ON")
    if not (node.args.get("on") or node.args.get("using") or sort == "CROSS"):
        text.refuse(node.this, f"{side} JOIN needs ON or USING; for every pair write CROSS JOIN".strip())
    text.take(node, "this", "side", "kind", "using", "on")
    return side == "LEFT"


class JoinedReader(AnswerReader):
    """Reads a SELECT about what several others release."""

    def __init__(self, text: SqlText, scalars: Scalars) -> None:
        super().__init__(text, InnerAnswer(AS_RELEASED, {}), "", scalars)
        self._sources: list[SelectSource] = []
        self._merged: set[str] = set()
        """Names after USING: they stand for the column of the first SELECT."""

    @property
    def sources(self) -> tuple[SelectSource, ...]:
        """What is joined."""
        return tuple(self._sources)

    def add(self, source: SelectSource) -> None:
        """Add a SELECT: its columns can be named from here on."""
        self._sources.append(source)
        self._names = {name: named for one in reversed(self._sources) for name, named in one.named.items()}

    def change_last(self, source: SelectSource) -> None:
        """Put a SELECT in place of the one that was added last."""
        self._sources[-1] = source

    def read_on(self, node: exp.Join, source: SelectSource) -> Condition | None:
        """Read which rows of the last SELECT match."""
        text, before = self._text, self._sources[:-1]
        using = list(node.args.get("using") or ())
        if using:
            tests: list[Condition] = []
            for name in using:
                text.take(name, "this", "quoted")
                label = text.canonical(name, source.named)
                first = next((one for one in before if label in one.named), None)
                if label not in source.named or first is None:
                    text.refuse(name, f"both sides of USING need a column {kind(name)}; write ON and what is equal")
                tests.append(Compare(first.named[label], "=", source.named[label]))
                self._merged.add(label)
            return tests[0] if len(tests) == 1 else join_conditions(And, *tests)
        on = node.args.get("on")
        return None if on is None else read_having(self._scope(self._read_key_in_expression), on)

    def read_select(self, tree: exp.Select, scalars: Scalars) -> JoinedSelects:
        """Read everything that is shown."""
        view = self.read(tree)
        shown = Shown.of(InnerAnswer.by_name(view, view.columns), view)
        return JoinedSelects(self.sources, view, tuple(scalars.statements), shown)

    def _read_star(self, node: exp.Expr) -> None:
        star = node.this if isinstance(node, exp.Column) else node
        if any(star.args.get(name) for name in star.args):
            self._text.refuse(node, "SELECT * takes no EXCLUDE or REPLACE here; name the columns")
        text, table = self._text, node.args.get("table")
        text.take_all(node)
        names = [source.name for source in self._sources]
        chosen = self._sources
        if table is not None:
            alias = text.canonical(table, names)
            chosen = [source for source in self._sources if source.name == alias]
            if not chosen:
                self._refuse_table(table)
        for source in chosen:
            for named in source.named.values():
                self._by_node[id(named)] = [named]
                self._read_nodes.append((node, named))
                self._columns.append(ViewColumn(named))
        names = [column.given_name or column.of.name for column in self._columns]
        if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
            self._text.refuse(node, f"{twice} names two columns; give them other names")

    def _find(self, node: exp.Column) -> Named | None:
        text, table = self._text, node.args.get("table")
        sources = self._sources
        if table is not None:
            alias = text.canonical(table, [source.name for source in sources])
            sources = [source for source in sources if source.name == alias]
            if not sources:
                self._refuse_table(table)
        found = [
            (source, name) for source in sources if (name := text.canonical(node.this, source.named)) in source.named
        ]
        if not found:
            return None
        if len(found) > 1 and found[0][1] not in self._merged:
            several = " or ".join(f"{source.name}.{name}" for source, name in found)
            text.refuse(node, f"{kind(node)} may be {several}; name one of them")
        text.take(node, "this", "table")
        for part in (node.this, table):
            if part is not None:
                text.take(part, "this", "quoted")
        source, name = found[0]
        return source.named[name]

    def _refuse_table(self, table: exp.Expr) -> NoReturn:
        known = ", ".join(source.name for source in self._sources)
        self._text.refuse(table, f"there is no table {kind(table)} here; there are {known}")
