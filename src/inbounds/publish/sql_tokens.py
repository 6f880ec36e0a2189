"""SQL in tokens: where its words stand, what of it is a comment, and which clauses it has.

No text is split at what only looks like a semicolon, a comment or a keyword: it may stand in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from inbounds.query.spelling.dialect import dialect_of

BLOCKS = {"/*": "*/", "{#": "#}"}
"""What a comment over several lines begins and ends with."""

QUOTED = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.HEREDOC_STRING)
"""What means something else in capitals."""

Words = tuple[tuple[str, str], ...]
"""Tokens by their kind and their text, so that blanks, comments and capitals make no difference."""


@dataclass(frozen=True)
class Comment:
    """A comment that has a line to itself, from its two dashes on."""

    start: int
    text: str


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, or raise `TokenError`."""
    return list(dialect_of(text)().tokenize(text))


def unclosed_line(text: str) -> int:
    """Return the line in which a quote or a comment begins that is never closed."""
    lines = text.split("\n")
    for count in range(len(lines) - 1, 0, -1):
        try:
            tokenize("\n".join(lines[:count]))
        except TokenError:
            continue
        return count + 1
    return 1


def read_comments(text: str, tokens: Sequence[Token]) -> Iterator[Comment]:
    """Yield the comments that have lines to themselves: all of them stand between tokens."""
    ends = [(0, 0), *((token.start, token.end + 1) for token in tokens), (len(text), len(text))]
    for (_, start), (end, _) in pairwise(ends):
        yield from _comments_between(text, start, end)


def _comments_between(text: str, start: int, end: int) -> Iterator[Comment]:
    place = start
    while place < end:
        close = BLOCKS.get(text[place : place + 2])
        if close is not None:
            place = _skip_block(text, place, end, close)
        elif text.startswith("--", place):
            until = text.find("\n", place, end)
            until = end if until < 0 else until
            if not text[text.rfind("\n", 0, place) + 1 : place].strip():
                yield Comment(place, text[place + 2 : until].strip())
            place = until
        else:
            place += 1


def _skip_block(text: str, start: int, end: int, close: str) -> int:
    """Return the place behind a comment over several lines; there may be others in it."""
    depth = 0
    for mark in re.finditer(f"{re.escape(text[start : start + 2])}|{re.escape(close)}", text[start:end]):
        depth += -1 if mark[0] == close else 1
        if depth == 0:
            return start + mark.end()
    return end


def slice_of(text: str, tokens: Sequence[Token]) -> str:
    """Return the text from the first to the last of some tokens."""
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def words_of(tokens: Sequence[Token]) -> Words:
    """Return what makes two pieces of SQL the same."""
    return tuple(
        (token.token_type.name, token.text if token.token_type in QUOTED else token.text.casefold()) for token in tokens
    )


def split_at(tokens: Sequence[Token], kind: TokenType) -> list[list[Token]]:
    """Split tokens at those of a kind that stand in no parentheses."""
    parts: list[list[Token]] = [[]]
    for token, depth in with_depth(tokens):
        if token.token_type == kind and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def with_depth(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Yield each token with how many parentheses it stands in; a parenthesis stands outside of itself."""
    depth = 0
    for token in tokens:
        depth -= token.token_type == TokenType.R_PAREN
        yield token, depth
        depth += token.token_type == TokenType.L_PAREN
