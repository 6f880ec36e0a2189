"""From what people write to what the grammar reads, node by node, the innermost first."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling
from inbounds.query.spelling.spellings import SPELLINGS

MOST_ROUNDS = 8
"""What a spelling is read as may be another spelling; so many times at most."""


def _by_kind() -> dict[type[exp.Expr] | str, list[Spelling]]:
    found: dict[type[exp.Expr] | str, list[Spelling]] = {}
    for spelling in SPELLINGS:
        for kind in spelling.of:
            found.setdefault(kind, []).append(spelling)
    return found


BY_KIND = _by_kind()


def translate(tree: exp.Expr) -> tuple[exp.Expr, set[int], list[str]]:
    """Return a tree in the spelling of the grammar, where nodes began that are no longer in it, and words of theirs."""
    before, words = set(_starts(tree)), list[str]()
    for node in reversed(list(tree.bfs())):  # which visits children after their parents
        new = node
        for _ in range(MOST_ROUNDS):
            spelling, rewritten = _rewrite(new)
            if spelling is None or rewritten is None:
                break
            words += spelling.words
            if new is tree:
                tree = rewritten
            elif rewritten is not new:
                new.replace(rewritten)
            new = rewritten
    return tree, before - set(_starts(tree)), words


def _rewrite(node: exp.Expr) -> tuple[Spelling, exp.Expr] | tuple[None, None]:
    kind: type[exp.Expr] | str = node.name.upper() if isinstance(node, exp.Anonymous) else type(node)
    for spelling in BY_KIND.get(kind, ()):
        rewritten = spelling.rewrite(node)
        if rewritten is not None:
            return spelling, rewritten
    return None, None


def _starts(node: exp.Expr) -> Iterator[int]:
    return (part.meta["start"] for part in node.walk() if "start" in part.meta)
