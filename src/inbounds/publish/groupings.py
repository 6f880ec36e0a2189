"""Questions about the same counts by different groups, written as one: with GROUPING SETS, of which each shows its own.

A request is what is measured, whatever is shown of it; so each question asks for all groupings under one request id,
and HAVING leaves the rows of its own.  All of them then show parts of one table that adds up.  With REST() each counts
the rows that its question counts by itself: also those without a category of a column that only others name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TypeAlias

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from inbounds.publish.sql_tokens import Words, slice_of, split_at, tokenize, with_depth, words_of

CLAUSES = (
    TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY,
    TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET,
)  # fmt: skip
"""The clauses of a plain SELECT, in their order."""

OTHERS = (TokenType.WITH, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.WINDOW)
"""What makes a SELECT another one than is written here."""

OVER_RELEASED = ("sum", "round", "rank", "dense_rank", "row_number", "lag", "lead")
"""Functions of released numbers, beside the one measure: they measure nothing of rows."""

NO_CALLS = ("in", "and", "or", "not", "over", "when", "then", "else", "as", "between", "by", "on", "select")
"""Words before a parenthesis that call nothing."""

NO_KEYS = ("rollup", "cube", "grouping sets", "all", "grouping")

NAMES = (TokenType.VAR, TokenType.IDENTIFIER)

Sections: TypeAlias = dict[TokenType, list[Token]]


@dataclass(frozen=True)
class Key:
    """What is grouped by: what makes it the same in another question, and how it is written."""

    words: Words
    text: str


@dataclass(frozen=True)
class Grouped:
    """A SELECT of one count or sum, by some keys or by none."""

    counts: tuple[Words, Words, Words]
    """What is counted: the table, the condition, the measure.  Those of two questions are equal, or tell nothing."""
    keys: tuple[Key, ...]
    measure: str
    """The count or sum, as it is written."""
    source: str
    """Which rows are counted: FROM, and WHERE."""
    selected: str
    """SELECT, with all that is shown."""
    having: str
    after: str
    """The clauses behind HAVING."""
    has_windows: bool
    """Whether it shows something of several rows: then their intervals have to hold at once."""

    @classmethod
    def read(cls, sql: str) -> Grouped | None:
        """Read a SELECT; return None if it is not certainly one like that."""
        try:
            tokens = tokenize(sql)
        except TokenError:
            return None
        sections = _read_sections(tokens)
        if sections is None:
            return None
        keys = None if _has_windows(sections, TokenType.HAVING) else _read_keys(sql, sections)
        measure = [] if keys is None else _read_measure(sections, keys)
        if keys is None or not measure:
            return None
        source, where = sections[TokenType.FROM], sections.get(TokenType.WHERE, [])
        rows = [(kind, sections[kind]) for kind in CLAUSES[1:3] if kind in sections]
        after = [(kind, sections[kind]) for kind in CLAUSES[5:] if kind in sections]
        return cls(
            (words_of(source), words_of(where), words_of(measure)),
            keys,
            slice_of(sql, measure),
            _write(sql, rows),
            _write(sql, [(TokenType.SELECT, sections[TokenType.SELECT])]),
            slice_of(sql, sections.get(TokenType.HAVING, [])),
            _write(sql, after),
            _has_windows(sections, *sections),
        )

    @property
    def is_count(self) -> bool:
        """Whether rows are counted; else a column is added up."""
        return self.measure.casefold().startswith("count")

    @cached_property
    def columns(self) -> frozenset[Words]:
        """What makes its keys the same set in another question."""
        return frozenset(key.words for key in self.keys)


@dataclass(frozen=True)
class Joined:
    """The groupings of several questions about the same counts, as one GROUP BY."""

    # All questions write the same GROUP BY, since a request is known by what it groups by, in that order.
    keys: tuple[Key, ...] = ()
    sets: tuple[frozenset[Words], ...] = ()

    @classmethod
    def of(cls, several: Iterable[Grouped]) -> Joined:
        """Join the groupings of some questions, in their order."""
        return reduce(cls.add, several, cls())

    def add(self, grouped: Grouped) -> Joined:
        """Return these groupings, and that of one more question."""
        if grouped.columns in self.sets:
            return self
        known = {key.words for key in self.keys}
        new = (key for key in grouped.keys if key.words not in known)
        return Joined((*self.keys, *new), (*self.sets, grouped.columns))

    def place(self, grouped: Grouped) -> int:
        """Return which of the groupings is that of a question."""
        return self.sets.index(grouped.columns)

    def group_by(self, *, rest: bool) -> str:
        """Return the clause; with a rest, each grouping counts all rows that have its own columns."""
        sets = [", ".join(key.text for key in self.keys if key.words in columns) for columns in self.sets]
        rests = ["REST()"] if rest and len(sets) > 1 else []
        return f"GROUP BY GROUPING SETS ({', '.join([*(f'({columns})' for columns in sets), *rests])})"

    def show(self, grouped: Grouped, *, rest: bool) -> str:
        """Return a question for all groupings, of which it shows its own."""
        tests = [f"({key.text}) IS {'NOT ' if key.words in grouped.columns else ''}NULL" for key in self.keys]
        shown = [*tests, *([f"({grouped.having})"] if grouped.having else [])]
        having = f"HAVING {' AND '.join(shown)}" if shown else ""
        parts = (grouped.selected, grouped.source, self.group_by(rest=rest), having, grouped.after)
        return "\n".join(part for part in parts if part)

    def show_all(self, grouped: Grouped, *, rest: bool) -> str:
        """Return the question that shows all groupings, as they are released."""
        selected = ", ".join([*(key.text for key in self.keys), grouped.measure])
        return "\n".join((f"SELECT {selected}", grouped.source, self.group_by(rest=rest)))


def _write(sql: str, sections: Sequence[tuple[TokenType, list[Token]]]) -> str:
    return "\n".join(f"{kind.name.replace('_', ' ')} {slice_of(sql, tokens)}" for kind, tokens in sections)


def _read_sections(tokens: list[Token]) -> Sections | None:
    """Return the clauses of a plain SELECT, None if it is another statement."""
    sections: Sections = {}
    current: list[Token] | None = None
    for token, depth in with_depth(tokens):
        kind = token.token_type
        if depth == 0 and kind in OTHERS:
            return None
        if depth == 0 and kind in CLAUSES:
            later = CLAUSES[CLAUSES.index(kind) :]
            if any(clause in sections for clause in later):
                return None
            current = sections[kind] = []
        elif current is None:
            return None
        else:
            current.append(token)
    if not {TokenType.SELECT, TokenType.FROM} <= sections.keys() or not all(sections.values()):
        return None
    first = sections[TokenType.SELECT][0]
    return None if first.token_type in (TokenType.DISTINCT, TokenType.TOP) else sections


def _has_windows(sections: Sections, *clauses: TokenType) -> bool:
    return any(token.text.casefold() == "over" for clause in clauses for token in sections.get(clause, []))


def _read_keys(sql: str, sections: Sections) -> tuple[Key, ...] | None:
    """Return what is grouped by, with the names that SELECT gives written out; None if it is not a list of columns."""
    aliases = {}
    for item in split_at(sections[TokenType.SELECT], TokenType.COMMA):
        if len(item) > 2 and item[-2].token_type == TokenType.ALIAS:
            aliases[item[-1].text.casefold()] = item[:-2]
    keys: dict[Words, Key] = {}
    group = sections.get(TokenType.GROUP_BY)
    for item in [] if group is None else split_at(group, TokenType.COMMA):
        is_place = not item or item[0].token_type == TokenType.NUMBER  # as in GROUP BY 1
        if is_place or any(token.text.casefold() in NO_KEYS for token in item):
            return None
        tokens = aliases.get(item[0].text.casefold(), item) if len(item) == 1 else item
        key = Key(words_of(tokens), slice_of(sql, tokens))
        if key.words in keys:
            return None
        keys[key.words] = key
    return tuple(keys.values())


def _read_measure(sections: Sections, keys: Sequence[Key]) -> list[Token]:
    """Return the count or sum that is asked for, nothing if there is another measure, or none."""
    shown = [token for kind in CLAUSES if kind not in CLAUSES[1:4] for token in sections.get(kind, [])]
    measures: dict[Words, list[Token]] = {}
    rest: list[Token] = []
    place = 0
    while place < len(shown):
        length = _measure_length(shown, place)
        if length:
            tokens = shown[place : place + length]
            measures.setdefault(words_of(tokens), tokens)
        else:
            length = next((len(key.words) for key in keys if _stands_at(shown, place, key.words)), 0)
        if not length:
            rest.append(shown[place])
        place += length or 1
    calls = (name for name in _calls(rest) if name not in (*NO_CALLS, *OVER_RELEASED))
    return next(iter(measures.values())) if len(measures) == 1 and next(calls, None) is None else []


def _measure_length(tokens: Sequence[Token], place: int) -> int:
    """Return how many tokens COUNT(*) or SUM(of a column) has that stands here, 0 if neither does."""
    words = [token.text.casefold() for token in tokens[place : place + 4]]
    if words == ["count", "(", "*", ")"]:
        return 4
    is_sum = words[:2] == ["sum", "("] and words[3:] == [")"] and tokens[place + 2].token_type in NAMES
    return 4 if is_sum else 0


def _stands_at(tokens: Sequence[Token], place: int, words: Words) -> bool:
    return words_of(tokens[place : place + len(words)]) == words


def _calls(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words before parentheses."""
    for before, token in pairwise(tokens):
        if token.token_type == TokenType.L_PAREN and (before.text.isidentifier() or before.token_type in NAMES):
            yield before.text.casefold()
