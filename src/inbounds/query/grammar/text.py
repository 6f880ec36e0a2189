"""A text of SQL: parsed by sqlglot, read node by node, and refused if anything in it was not read."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from inbounds.errors import InvalidQuestion
from inbounds.exact.decimals import is_decimal
from inbounds.exact.rational import cut, shown
from inbounds.query.columns.column import Column
from inbounds.query.spelling.dialect import dialect_of
from inbounds.query.spelling.translate import translate

if TYPE_CHECKING:
    from inbounds.query.expressions.node import Node
    from inbounds.query.tables.table import Table

LONGEST = 100_000
"""Characters of a statement: it is read by recursion."""

LONGEST_POSITION = 5
"""No position has so many digits."""

Token = sqlglot.TokenType
WRITTEN = (Token.NUMBER, Token.STRING, Token.IDENTIFIER, Token.VAR)
"""Tokens of which none may be passed over: what is counted, compared and named."""

MOST_LOOKS = 500  # at SELECTs that name each other
CASTS = ("CAST", "TRY_CAST")

GOT = re.compile(r" but got <Token token_type: TokenType\.(?P<kind>\w+), text: (?P<text>.*), line: .*>", re.DOTALL)
"""How sqlglot shows a token that it did not expect."""

UNNAMED = ("WITHIN", "GROUP", "NULLS", "LAST")
"""Words of the grammar that sqlglot takes for names until it meets them."""

OPENING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Neg: ("-",),
    exp.Distinct: ("DISTINCT",),
    exp.Select: ("SELECT", "DISTINCT"),
    exp.SetOperation: ("SELECT", "DISTINCT"),
    exp.Subquery: ("SELECT", "DISTINCT", "("),
    exp.Exists: ("SELECT", "(", "EXISTS"),
    exp.With: ("WITH",),
}
"""Words with which a part of a text begins, and for which sqlglot keeps no place."""

SCOPE = (
    "table", "names", "unmatched", "unit", "columns", "asked", "inner_names", "projected", "text_parts", "with_names"
)  # fmt: skip
"""What names stand for, which differs from one SELECT to another."""

T = TypeVar("T")


class SqlText:
    """One text, and which of its nodes have been read."""

    def __init__(self, sql: object, what: str, unit: str = "", columns: Mapping[str, Column] | None = None) -> None:
        if not isinstance(sql, str):
            raise InvalidQuestion(f"{what} must be text, got {shown(sql)}; write it in quotes")
        if not sql.strip():
            raise InvalidQuestion(f"{what} must not be empty, got {shown(sql)}; write what you ask for")
        if len(sql) > LONGEST:
            raise InvalidQuestion(
                f"{what} must be at most {LONGEST} characters long, got {len(sql)}; ask something simpler"
            )
        self.sql = sql
        self.unit = unit
        """The column that tells whose rows they are."""
        self.table = ""
        """What stands before the point of a column's name: the table that is asked, or its alias, once it was read."""
        self.columns = columns or {}
        """The columns of the table that is asked."""
        self.asked: Table | None = None
        """The table that is asked, if it is known: then what does not fit its columns is refused where it stands."""
        self.selected: list[exp.Expr] = []
        """What is selected, without the names given to it: GROUP BY 1 is the first of them."""
        self.aliases: dict[str, exp.Expr] = {}
        """What is selected by the names given to it."""
        self.names: dict[str, Mapping[str, str]] = {}
        """For each table of a join as it is called: what the joined table calls its columns, and the unit."""
        self.unmatched: set[str] = set()
        """The tables of a join that a row may have no match in: there the unit is missing as well."""
        self.inner_names: dict[str, str] = {}
        """What columns of a SELECT that only looks for rows are called, by their names alone."""
        self.projected: dict[str, Node] | None = None
        """What is made of columns by an inner SELECT, if that is all that can be named."""
        self.text_parts: dict[tuple[str, tuple[int, ...]], tuple[str, ...]] = {}
        """What a text, or a part of it, can be, by its column and where the part is: as a condition lists it."""
        self.with_names: dict[str, exp.Expr] = {}
        """What WITH gives names to."""
        self.with_before: dict[int, dict[str, exp.Expr]] = {}
        """What names stand for inside what WITH gives a name to: only those before it."""
        self.public_tables: frozenset[str] = frozenset()
        """The tables of the contract that are public."""
        self.conditions = 0
        """How many conditions have been read."""
        self.parts = 0
        """How many parts of an expression have been read."""
        self._looks = [0]  # how often SELECTs were looked at, here and aside: those in others grow fast
        self._read_nodes: set[int] = set()
        self._places: set[int] = set()
        """Where the nodes begin that have been read; some are left out of the tree then."""
        self._words: list[str] = []
        self._copies: list[exp.Expr] = []
        """Parts of the text that are read once more, where it names them again."""

    def read(self, parse: Callable[[], Any], read: Callable[[Any], T], like: str) -> T:
        """Return what `read` makes of the tree that `parse` finds; `like` is what a message shows as an example."""
        try:
            tree = self._parse(parse, like)
            result = read(tree)
        except RecursionError:
            raise InvalidQuestion("the text is nested too deeply; ask something simpler") from None
        self._refuse_unread(tree)
        return result

    def read_expression(self, read: Callable[[Any], T], like: str) -> T:
        """Return what `read` makes of a text that is one expression or condition, and no statement."""
        dialect = dialect_of(self.sql)
        return self.read(lambda: sqlglot.parse_one(self.sql, into=exp.Condition, dialect=dialect), read, like)

    def _parse(self, parse: Callable[[], Any], like: str) -> Any:
        try:
            with _quiet():
                tree, self._tokens = parse(), sqlglot.tokenize(self.sql, dialect=dialect_of(self.sql))
        except SqlglotError as problem:
            raise InvalidQuestion(f"not SQL: {_complaint(problem)}; write it like {like}") from None
        for token in self._tokens:  # sqlglot would read 1_0 as 10, and keeps nothing of how it was written
            number = self.sql[token.start : token.end + 1]
            if token.token_type == Token.NUMBER and not is_decimal(number):
                raise InvalidQuestion(
                    f"a number must be in the digits 0 to 9, got {shown(number)}; write it like 1000 or 2.5"
                )
        for name in tree.find_all(exp.Identifier):  # `ward` and [ward] are in any case, as where people write them so
            if "start" in name.meta and self.sql[name.meta["start"]] in "`[" and str(name.name).isidentifier():
                name.set("quoted", False)
        tree, places, words = translate(tree)
        self._places |= places
        self._words += words
        return tree

    def take(self, node: exp.Expr, *names: str) -> None:
        """Note that a node is being read, with the arguments named; refuse it if it has any other."""
        for name, value in node.args.items():
            if value and name not in names:
                other = value[0] if isinstance(value, list) else value
                at = other if isinstance(other, exp.Expr) else node
                self.refuse(at, f"{kind(node)} has a part that is not understood; leave it out")
        self._read_nodes.add(id(node))
        if "start" in node.meta:
            self._places.add(node.meta["start"])

    def take_all(self, node: exp.Expr) -> None:
        """Note that a node is being read with everything in it."""
        for part in node.walk():
            self.take(part, *part.args)

    def add_copy(self, node: exp.Expr) -> exp.Expr:
        """Return a copy of a part of the text, which has to be read as well."""
        other = node.copy()
        self._copies.append(other)
        return other

    def add_part(self, node: exp.Expr) -> None:
        """Note that a part of the text was moved out of its tree, and has to be read all the same."""
        self._copies.append(node)

    def is_read(self, node: exp.Expr) -> bool:
        """Return whether a node has been read."""
        return id(node) in self._read_nodes

    def take_word(self, word: str) -> None:
        """Note that a word is being read for which sqlglot keeps no place."""
        self._words.append(word.upper())

    def take_after(self, word: str, following: str) -> bool:
        """Note that what follows a word is read, though sqlglot keeps no place for it; return whether it is there."""
        for token, after in pairwise(self._tokens):
            is_meant = token.text.upper() == word and " ".join(after.text.upper().split()) == following.upper()
            if is_meant and after.start not in self._places:
                self._places.add(after.start)
                return True
        return False

    def arguments(self, call: exp.Expr, most: int, like: str) -> list[exp.Expr]:
        """Return the arguments of a function, which has at least one and at most so many."""
        self.take(call, "this", "expressions")
        arguments = list(call.expressions)
        if (named := next((one for one in arguments if isinstance(one, exp.PropertyEQ | exp.Kwarg)), None)) is not None:
            self.refuse(named, f"{named.name} cannot be chosen here: the contract has the bounds; leave it out")
        if not 1 <= len(arguments) <= most:
            at = arguments[most] if arguments else call
            self.refuse(at, f"{call.name.upper()} cannot take {len(arguments)} arguments; write it like {like}")
        return arguments

    def canonical(self, name: exp.Expr, names: Iterable[str]) -> str:
        """Return a name as it is written among others: in any case, unless it is in quotes."""
        spelling, known = str(name.name), list(dict.fromkeys(names))
        if name.args.get("quoted") or spelling in known:
            return spelling
        matches = [candidate for candidate in known if candidate.lower() == spelling.lower()]
        if len(matches) > 1:
            self.refuse(name, f"{spelling} may be {' or '.join(matches)}; spell it as the contract does")
        return matches[0] if matches else spelling

    def read_name(self, name: exp.Expr) -> str:
        """Return a name that is given to something; sqlglot would take a text for one."""
        if self.sql[name.meta.get("start", 0)] == "'":
            self.refuse(name, f"{kind(name)} is text, not a name; write it without quotes, or in double quotes")
        self.take(name, "this", "quoted")
        return str(name.name)

    def resolve(self, node: exp.Expr) -> exp.Expr:
        """Return what a position or a name stands for, if it was selected; else the node itself."""
        if isinstance(node, exp.Literal) and not node.is_string:
            self.take(node, "this")
            place = int(node.this) if node.this.isdigit() and len(node.this) < LONGEST_POSITION else 0
            if not 1 <= place <= len(self.selected):
                self.refuse(node, f"{node.this} is not the position of anything selected; name a column")
            return self.selected[place - 1]
        if not isinstance(node, exp.Column) or node.args.get("table") or not isinstance(node.this, exp.Identifier):
            return node
        alias = self.canonical(node.this, self.aliases)
        if alias not in self.aliases:
            return node
        self.take(node, "this")
        self.take(node.this, "this", "quoted")
        return self.aliases[alias]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Read a SELECT inside another one: it has tables of its own."""
        outer = {name: getattr(self, name) for name in SCOPE}
        self.names, self.unmatched, self.inner_names, self.projected, self.text_parts = {}, set(), {}, None, {}
        try:
            yield
        finally:
            for name, value in outer.items():
                setattr(self, name, value)

    def aside(self) -> SqlText:
        """Return the same text for a look at a copy of a part of it: nothing is noted as read here."""
        other = copy(self)
        other._read_nodes, other._places, other._words = set(), set(), []
        other.with_names = {name: node.copy() for name, node in self.with_names.items()}
        return other

    def count_look(self) -> None:
        """Count that a SELECT is looked at, and refuse a text in which that has no end."""
        self._looks[0] += 1
        if self.has_no_end:
            raise InvalidQuestion("the text names too many SELECTs again and again; ask something simpler")

    @property
    def has_no_end(self) -> bool:
        """Whether SELECTs were looked at too often."""
        return self._looks[0] > MOST_LOOKS

    def ask(self, table: Table, name: str) -> None:
        """Read from here on what is asked of a table, and by which name."""
        self.asked, self.table, self.columns = table, name, table.columns

    def fit(self, node: exp.Expr | None, check: Callable[[Table], T]) -> T | None:
        """Return what a check of the table that is asked returns; what it refuses is pointed at."""
        if self.asked is None:
            return None
        try:
            return check(self.asked)
        except InvalidQuestion as problem:
            if "\n" in str(problem):  # it is pointed at already
                raise
            self.refuse(node, str(problem))

    def refuse(self, node: Any, why: str) -> NoReturn:
        """Refuse a part of the text, and point at it."""
        raise InvalidQuestion(why + self._mark(node))

    def _refuse_unread(self, tree: exp.Expr) -> None:
        """Refuse a text of which a node, or a token that sqlglot dropped, has not been read."""
        # Nodes first; then tokens, for sqlglot drops some words without a trace.  A token is read if a node begins at
        # it, if a reader took the word, or if the grammar has no name for it.
        for given in tree.find_all(exp.CTE):
            if id(given.this) not in self._read_nodes:
                self.refuse(given.args["alias"], f"{given.alias} is not used; leave it out")
        nodes = [node for root in (tree, *self._copies) for node in root.walk()]
        for node in nodes:
            if id(node) not in self._read_nodes:
                self.refuse(node, f"{kind(node)} is not understood here; leave it out")
        places = self._places | {node.meta["start"] for node in nodes if "start" in node.meta}
        words = list(self._words)
        for token in self._tokens:
            if token.token_type not in WRITTEN or token.start in places:
                continue
            word = token.text.upper()
            if word in words:
                words.remove(word)
            elif word not in UNNAMED:
                text, line = cut(self.sql[token.start : token.end + 1]), show_line(self.sql, token.start, token.end)
                raise InvalidQuestion(f"{text} is not understood here; leave it out{line}")

    def _mark(self, node: object) -> str:
        if not isinstance(node, exp.Expr):
            return ""
        places = [part.meta for part in node.walk() if "start" in part.meta]
        if not places:
            return self._line_of_word(kind(node))
        start, end = min(place["start"] for place in places), max(place["end"] for place in places)
        return show_line(self.sql, *self._whole(node, start, end))

    def _whole(self, node: exp.Expr, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text begins and ends with its brackets and opening words, which have no place."""
        tokens = self._tokens
        first = next((i for i, token in enumerate(tokens) if token.start >= start), 0)
        last = next((i for i, token in reversed(list(enumerate(tokens))) if token.end <= end), len(tokens) - 1)
        # From the tokens that the nodes cover, go left over opening words, then outwards until brackets are even.
        opening = next((words for node_type, words in OPENING.items() if isinstance(node, node_type)), ())
        while first > 0 and tokens[first - 1].text.upper() in opening:
            first -= 1
        if isinstance(node, exp.Cast) and first > 1 and tokens[first - 2].text.upper() in CASTS:
            first -= 2
        elif isinstance(node, exp.Cast) and last + 2 < len(tokens) and tokens[last + 1].text == "::":
            last += 2
        while _open(tokens[first : last + 1]) < 0 and first > 0:
            first -= 1
        while _open(tokens[first : last + 1]) > 0 and last < len(tokens) - 1:
            last += 1
        return min(start, tokens[first].start), max(end, tokens[last].end)

    def _line_of_word(self, word: str) -> str:
        """Return the line that holds a word, with a mark under it, if it is there once."""
        tokens = [token for token in self._tokens if token.text.upper() == word.upper()]
        return show_line(self.sql, tokens[0].start, tokens[0].end) if len(tokens) == 1 else ""


def show_line(sql: str, start: int, end: int) -> str:
    """Return the line of a text that holds a part of it, with a mark under it, to be put below a message."""
    if not sql[start : end + 1].strip():  # where sqlglot has lost its place
        return ""
    begin = sql.rfind("\n", 0, start) + 1
    line = sql[begin:].split("\n", 1)[0]
    first = max(0, start - begin - 36)
    width = max(1, min(end + 1 - start, len(line) - (start - begin), 40))
    return f"\n  {line[first : first + 76]}\n  {' ' * (start - begin - first)}{'^' * width}"


def _open(tokens: list[Any]) -> int:
    """Return how many brackets are opened and not closed; less than none if one is closed that was not opened."""
    depth = least = 0
    for token in tokens:
        depth += {Token.L_PAREN: 1, Token.R_PAREN: -1}.get(token.token_type, 0)
        least = min(least, depth)
    return least if least < 0 else depth


def kind(node: exp.Expr | None) -> str:
    """Return a part of a text as a message shows it."""
    if node is None:
        return "nothing"
    return cut(node.sql(dialect="duckdb"), 50).strip() or type(node).__name__.upper()


def function_name(node: exp.Expr) -> str:
    """Return the name of the function that a node calls, in capitals; nothing if it calls none."""
    return node.name.upper() if isinstance(node, exp.Anonymous) else ""


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep sqlglot from telling the terminal what we tell the caller."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _name_token(got: re.Match[str]) -> str:
    """Return what a text has where something else was expected."""
    return ", but the text ends" if got["kind"] == "SENTINEL" else f", got {cut(got['text'], 50)}"


def _complaint(problem: SqlglotError) -> str:
    details = getattr(problem, "errors", None)
    if details:
        first = details[0]
        description = str(first.get("description"))
        is_clear = description.startswith(("Expecting", "Expected"))  # other words of sqlglot help nobody
        what = GOT.sub(_name_token, description) if is_clear else "it cannot be read"
        return f"{what}, at line {first.get('line')}, column {first.get('col')}"
    return "it cannot be read"
