"""What a SELECT says of privacy itself: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM visits.

It is cut off before the SQL is read, so a question is the same question with it and without.  Where it stands there are
blanks then, and messages still point at the right place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from inbounds.display.suggestion import find_nearest
from inbounds.errors import InvalidQuestion
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import cut, shown
from inbounds.query.ask.options import read_cost
from inbounds.query.grammar.text import LONGEST, show_line
from inbounds.query.spelling.dialect import dialect_of
from inbounds.query.tables.table import Table

WORD = "DIFFERENTIAL_PRIVACY"
"""What stands after SELECT WITH."""

LIKE = "OPTIONS (epsilon = 0.5)"

BOUNDS = "the contract has the bounds of each column"
GROUPS = "groups are the categories of the contract, which are public"
CONTRACT = {
    "max_groups_contributed": "the contract limits the rows of a unit instead",
    "group_selection_strategy": GROUPS,
    "min_privacy_units_per_group": GROUPS,
    "contribution_bounds_per_group": BOUNDS,
    "contribution_bounds_per_row": BOUNDS,
}
"""Options that other databases have, and what stands in their place here."""

READ = ("epsilon", "delta", "privacy_unit_column", "max_rows_contributed")
"""Options that are read: the first is a cost, the others are compared with the contract."""


@dataclass(frozen=True)
class Option:
    """An option, and where it is."""

    name: str
    tokens: Sequence[Token]
    """Its value."""
    sql: str

    @property
    def text(self) -> str:
        """Its value, as it was written."""
        return self.sql[self.tokens[0].start : self.tokens[-1].end + 1]

    def refuse(self, why: str) -> NoReturn:
        """Refuse it, and point at its value."""
        raise InvalidQuestion(why + show_line(self.sql, self.tokens[0].start, self.tokens[-1].end))

    def number(self) -> Decimal:
        """Return it as a number; no blank may stand in it."""
        number = typed_decimal(self.text)
        if number is None:
            self.refuse(f"{self.name} must be a number, got {shown(self.text)}; write it like 0.5")
        return number


@dataclass(frozen=True)
class PrivacyOptions:
    """What a text says of privacy."""

    options: tuple[Option, ...] = ()

    @property
    def epsilon(self) -> Fraction | None:
        """What the query may cost; None if it does not say."""
        option = self._find("epsilon")
        return None if option is None else read_cost(option.number())

    def check_delta(self) -> None:
        """Refuse a delta that is none; any other is kept, for the loss of an answer is never above its epsilon."""
        option = self._find("delta")
        if option is not None and not 0 <= option.number() <= 1:
            option.refuse(f"delta must be from 0 to 1, got {cut(option.text)}; leave it out, since answers need none")

    def check(self, tables: Iterable[Table]) -> None:
        """Refuse what contradicts the contract, of the tables that are asked."""
        for table in tables:
            self._check_unit(table)
            self._check_rows(table)

    def _find(self, name: str) -> Option | None:
        return next((option for option in self.options if option.name == name), None)

    def _check_unit(self, table: Table) -> None:
        option = self._find("privacy_unit_column")
        if option is None:
            return
        if table.rows_are_units:
            option.refuse(f"each row of {table.name} is a unit of its own; leave privacy_unit_column out")
        name, unit = option.tokens[-1], table.owner or table.unit
        if name.text != unit and (name.token_type == TokenType.IDENTIFIER or name.text.lower() != unit.lower()):
            option.refuse(f"the unit is {unit}, as the contract says, got {cut(option.text)}; write {unit}")

    def _check_rows(self, table: Table) -> None:
        option = self._find("max_rows_contributed")
        if option is not None and (option.text.upper() == "NULL" or option.number() != table.limit):
            rule = f"a unit contributes at most {table.limit} rows of {table.name}, as the contract says"
            option.refuse(f"{rule}, got {cut(option.text)}; write {table.limit}, or leave max_rows_contributed out")


def cut_options(sql: str) -> tuple[str, PrivacyOptions]:
    """Return a text without what it says of privacy, and that; a text that cannot be read is returned as it is."""
    options: list[Option] = []
    shorter = sql
    for first, last, found in _read_places(sql):
        blanks = "".join(mark if mark.isspace() else " " for mark in sql[first:last])
        shorter = shorter[:first] + blanks + shorter[last:]
        options += found
    for before, option in pairwise(sorted(options, key=lambda option: option.name)):
        if option.name == before.name:
            option.refuse(f"a query has one {option.name}, got another one; write it once, for the whole query")
    stated = PrivacyOptions(tuple(options))
    stated.check_delta()
    return shorter, stated


def drop_options(sql: str) -> str:
    """Return a text without what it says of privacy, and with no blanks in its place."""
    for first, last, _ in reversed(list(_read_places(sql))):
        sql = sql[:first] + sql[last:].lstrip()
    return sql


def _read_places(sql: object) -> Iterator[tuple[int, int, list[Option]]]:
    """Yield where a text says something of privacy, from where to where, and what."""
    if not isinstance(sql, str) or len(sql) > LONGEST or WORD not in sql.upper():
        return
    try:
        tokens = list(dialect_of(sql)().tokenize(sql))
    except TokenError:
        return
    for start, end in _places(sql, tokens):
        found = list(_read_options(sql, tokens[start + 3 : end]))
        yield tokens[start + 1].start, tokens[end - 1].end + 1, found


def _places(sql: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where SELECT WITH DIFFERENTIAL_PRIVACY begins, and where it ends with its options, among the tokens."""
    for at, (select, given, word) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        kinds = select.token_type, given.token_type, word.token_type
        if kinds != (TokenType.SELECT, TokenType.WITH, TokenType.VAR) or word.text.upper() != WORD:
            continue
        end = at + 3
        if end < len(tokens) and tokens[end].token_type == TokenType.VAR and tokens[end].text.upper() == "OPTIONS":
            end = _find_end(sql, tokens, end + 1)
        yield at, end


def _find_end(sql: str, tokens: Sequence[Token], start: int) -> int:
    """Return the place behind options, which stand in parentheses."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[at].token_type, 0)
        if depth == 0 and at > start:
            return at + 1
        if depth == 0:
            break
    word = tokens[start - 1]
    rule = f"OPTIONS has its options in parentheses; write it like {LIKE}"
    raise InvalidQuestion(rule + show_line(sql, word.start, word.end))


def _read_options(sql: str, tokens: Sequence[Token]) -> Iterator[Option]:
    """Yield the options between OPTIONS ( and its end."""
    part: list[Token] = []
    for token in tokens[2:]:
        if token.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            part.append(token)
        elif part or token.token_type == TokenType.COMMA:
            yield _read_option(sql, part, token)
            part = []


def _read_option(sql: str, part: Sequence[Token], end: Token) -> Option:
    if len(part) < 3 or part[1].token_type != TokenType.EQ:
        place = part[0] if part else end
        rule = f"an option has a name, = and a value; write it like {LIKE}"
        raise InvalidQuestion(rule + show_line(sql, place.start, part[-1].end if part else place.end))
    option = Option(part[0].text.lower(), part[2:], sql)
    if option.name in CONTRACT:
        option.refuse(f"{option.name} cannot be chosen here: {CONTRACT[option.name]}; leave it out")
    if option.name not in READ:
        near = find_nearest(option.name, (*READ, *CONTRACT))
        meant = f"did you mean {near[0]}?" if near else f"leave it out; there are {', '.join(READ)}"
        raise InvalidQuestion(
            f"there is no option {cut(part[0].text)}; {meant}" + show_line(sql, part[0].start, part[0].end)
        )
    return option
