"""SQL, read with sqlglot: a closed grammar, and what is outside it is refused with a mark under it.

    SELECT [keys,] measure FROM table [WHERE condition] [GROUP BY keys]

Measures: COUNT(*), COUNT(column), COUNT(DISTINCT unit), SUM, AVG, MEDIAN, QUANTILE(column, 0.9) or PERCENTILE_CONT /
PERCENTILE_DISC (0.9) WITHIN GROUP (ORDER BY column), AVG(CASE WHEN condition THEN 1 ELSE 0 END) or
PROPORTION(condition), HISTOGRAM(column [, bins]).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from inbounds.errors import InvalidQuestion
from inbounds.exact.decimals import is_decimal
from inbounds.exact.rational import cut, shown
from inbounds.query.column import Comparison
from inbounds.query.condition import MOST_NODES, And, Compare, Condition, In, Missing, Not, Or, joined
from inbounds.query.measure import Count, CountUnits, Mean, Measure, Proportion, Quantile, Sum, refuse_part

COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip

MIRRORED: dict[Comparison, Comparison] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

LONGEST_NUMBER = 400
"""Digits of a number, before or after the point."""

LONGEST = 100_000
"""Characters of a statement: it is read by recursion."""

ALLOWED_CLAUSES = {"kind", "expressions", "from_", "where", "group"}


@dataclass(frozen=True)
class Read:
    """What a SELECT asks, in nodes."""

    table: str
    measure: Measure
    condition: Condition | None
    keys: tuple[str, ...]
    histogram: tuple[str, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""


def read_select(text: str, unit: str) -> Read:
    """Read a SELECT over a table whose unit is this column."""
    return _shallow(_Reader(_text(text, "SQL"), unit).select)


def read_condition(text: str) -> Condition:
    """Read what could stand after WHERE."""
    reader = _Reader(_text(text, "a condition"), "")
    return _shallow(lambda: reader.condition(reader.after_where()))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep sqlglot from telling the terminal what we tell the caller."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


Found = TypeVar("Found")


def _shallow(read: Callable[[], Found]) -> Found:
    """Read a text; one that is nested too deep for the stack is refused like any other that cannot be read."""
    try:
        return read()
    except RecursionError:
        pass
    raise InvalidQuestion("the text is nested too deeply; ask something simpler")


def _text(given: object, what: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidQuestion(f"{what} must be a text, got {shown(given)}; write one, in quotes")
    if len(given) > LONGEST:
        raise InvalidQuestion(
            f"{what} must be at most {LONGEST} characters long, got {len(given)}; ask something simpler"
        )
    return given


class _Reader:
    """Reads one text."""

    def __init__(self, text: str, unit: str) -> None:
        self.sql = text
        self.unit = unit
        self.name = ""
        """The table that is asked."""
        self.nodes = 0

    def statement(self) -> exp.Expr:
        """Return the one statement of the text."""
        parsed = self._parsed(lambda: sqlglot.parse(self.sql, dialect="duckdb"), "SELECT COUNT(*) FROM table")
        found = [one for one in parsed if one is not None]
        if len(found) != 1:
            raise InvalidQuestion(f"one statement at a time, got {len(found)}; ask one SELECT")
        return found[0]

    def after_where(self) -> exp.Expr:
        """Return the condition that the text is."""
        return self._parsed(lambda: sqlglot.parse_one(self.sql, into=exp.Condition, dialect="duckdb"), "age >= 65")

    def _parsed(self, parse: Callable[[], Any], like: str) -> Any:
        """Return what sqlglot finds; `like` is what a message shows as an example."""
        try:
            with _quiet():
                found, tokens = parse(), sqlglot.tokenize(self.sql, dialect="duckdb")
        except SqlglotError as problem:
            raise InvalidQuestion(f"not SQL: {_complaint(problem)}; write it like {like}") from None
        for token in tokens:  # sqlglot would read 1_0 as 10, and keeps nothing of how it was written
            written = self.sql[token.start : token.end + 1]
            if token.token_type == sqlglot.TokenType.NUMBER and not is_decimal(written):
                raise InvalidQuestion(
                    f"a number must be in the digits 0 to 9, got {shown(written)}; write it like 1000 or 2.5"
                )
        return found

    def refuse(self, node: Any, why: str) -> NoReturn:
        """Refuse a part of the text, and point at it."""
        raise InvalidQuestion(why + _marked(self.sql, node))

    # SELECT

    def select(self) -> Read:
        tree = self.statement()
        if not isinstance(tree, exp.Select):
            self.refuse(tree, f"only SELECT is answered, got {_kind(tree)}; ask for a measure")
        for name, value in tree.args.items():
            if value and name not in ALLOWED_CLAUSES:
                node = value[0] if isinstance(value, list) else value
                self.refuse(node, f"{_kind(node)} is not answered; leave it out")
        table = self.table(tree)
        where, group = tree.args.get("where"), tree.args.get("group")
        keys = self.keys(group)
        measured = self.measured(tree, keys)
        histogram = self.histogram(measured)
        condition = self.condition(where.this) if where else None
        if histogram is None:
            measure, extra = self.measure(measured)
            condition = extra if condition is None else condition if extra is None else And((condition, extra))
        else:
            measure = Count()
        return Read(table, measure, condition, keys, histogram)

    def table(self, tree: exp.Select) -> str:
        source = tree.args.get("from_")
        if source is None:
            raise InvalidQuestion("SELECT needs FROM and the name of the dataset; add them")
        table = source.this
        plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
        if not plain or any(value for name, value in table.args.items() if name != "this"):
            self.refuse(table, "FROM takes the name of the dataset, nothing else; leave the rest out")
        self.name = str(table.name)
        return self.name

    def keys(self, group: exp.Expr | None) -> tuple[str, ...]:
        if group is None:
            return ()
        if not group.expressions or any(value for name, value in group.args.items() if name != "expressions"):
            self.refuse(group, "GROUP BY takes columns, nothing else; leave the rest out")
        return tuple(self.column(key) for key in group.expressions)

    def measured(self, tree: exp.Select, keys: tuple[str, ...]) -> exp.Expr:
        """Return the one thing selected that is no key."""
        found = []
        for selected in tree.expressions:
            this = selected.unalias()
            if isinstance(this, exp.Column) and not isinstance(this.this, exp.Star):
                if this.name not in keys:
                    self.refuse(
                        this, f"{this.name} is selected but not in GROUP BY: rows are not given out; leave it out"
                    )
            else:
                found.append(this)
        if not found:
            raise InvalidQuestion("SELECT needs a measure, such as COUNT(*) or AVG(column); add one")
        if len(found) > 1:
            self.refuse(found[1], "one measure at a time; ask for this one in a question of its own")
        return found[0]

    def measure(self, node: exp.Expr) -> tuple[Measure, Condition | None]:  # noqa: PLR0911  one for each measure
        """Return a measure, and which rows it leaves out."""
        if isinstance(node, exp.Count):
            return self.count(node)
        if isinstance(node, exp.Avg) and isinstance(node.this, exp.Case):
            return Proportion(self.indicator(node.this)), None
        if isinstance(node, exp.Anonymous) and node.name.upper() == "PROPORTION" and len(node.expressions) == 1:
            return Proportion(self.condition(node.expressions[0])), None
        simple: dict[type[exp.Expr], Callable[[str], Measure]] = {
            exp.Sum: Sum,
            exp.Avg: Mean,
            exp.Median: lambda name: Quantile(name, Fraction(1, 2)),
        }
        if type(node) in simple:
            self.only(node, "this")
            return simple[type(node)](self.column(node.this)), None
        if type(node) is exp.Quantile:
            self.only(node, "this", "quantile")
            return Quantile(self.column(node.this), self.part(node.args.get("quantile"))), None
        if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.PercentileCont | exp.PercentileDisc):
            ordered = node.expression.expressions
            if len(ordered) != 1 or ordered[0].args.get("desc"):
                self.refuse(node.expression, "WITHIN GROUP takes (ORDER BY column); leave the rest out")
            return Quantile(self.column(ordered[0].this), self.part(node.this.this)), None
        return self.refuse(
            node,
            f"{_kind(node)} is not answered; measures are COUNT, SUM, AVG, MEDIAN, QUANTILE, PROPORTION, HISTOGRAM",
        )

    def only(self, node: exp.Expr, *names: str) -> None:
        for name, value in node.args.items():
            if value and name not in names:
                self.refuse(node, f"{_kind(node)} has too many parts; ask for the plain measure")

    def count(self, node: exp.Count) -> tuple[Measure, Condition | None]:
        self.only(node, "this", "big_int")
        this = node.this
        if isinstance(this, exp.Star) or (isinstance(this, exp.Literal) and not this.is_string):
            return Count(), None
        if isinstance(this, exp.Distinct):
            names = [self.column(one) for one in this.expressions]
            if names != [self.unit]:
                self.refuse(this, f"only the unit can be counted distinct; write COUNT(DISTINCT {self.unit})")
            return CountUnits(self.unit), None
        return Count(), Not(Missing(self.column(this)))

    def indicator(self, case: exp.Case) -> Condition:
        """Return the condition of CASE WHEN condition THEN 1 ELSE 0 END."""
        ifs, default = case.args["ifs"], case.args.get("default")
        fits = len(ifs) == 1 and not case.this and _is(ifs[0].args["true"], 1) and default is not None
        if not fits or default is None or not _is(default, 0):
            self.refuse(case, "only a proportion can be averaged; write AVG(CASE WHEN condition THEN 1 ELSE 0 END)")
        return self.condition(ifs[0].this)

    def histogram(self, node: exp.Expr) -> tuple[str, int | None] | None:
        if not isinstance(node, exp.Func) or "HISTOGRAM" not in (node.name.upper(), node.sql_name().upper()):
            return None
        arguments = [one for one in (node.this, *node.expressions) if isinstance(one, exp.Expr)]
        if not 1 <= len(arguments) <= 2:
            self.refuse(node, "HISTOGRAM takes a column and perhaps a number of bins; leave the rest out")
        bins = self.constant(arguments[1]) if len(arguments) == 2 else None
        if bins is not None and (not isinstance(bins, int) or isinstance(bins, bool)):
            self.refuse(arguments[1], "the number of bins must be a whole number; write it like 10")
        return self.column(arguments[0]), bins

    def part(self, node: exp.Expr | None) -> Fraction:
        value = self.constant(node)
        if not isinstance(value, Fraction | int) or isinstance(value, bool):
            self.refuse(node, "the part of a quantile must be a number above 0 and below 1; write it like 0.9")
        if (problem := refuse_part(Fraction(value))) is not None:
            self.refuse(node, problem)
        return Fraction(value)

    # Conditions

    def condition(self, node: exp.Expr) -> Condition:  # noqa: PLR0911  one for each kind of condition
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
        if isinstance(node, exp.Paren):
            return self.condition(node.this)
        if isinstance(node, exp.And | exp.Or):
            kind: type[And] | type[Or] = And if isinstance(node, exp.And) else Or
            parts = [node.expression, node.this]
            found: list[Condition] = []
            while parts:  # left-deep chains are flattened, not recursed into
                part = parts.pop()
                if type(part) is type(node):
                    parts += [part.expression, part.this]
                else:
                    found.append(self.condition(part))
            return joined(kind, *found)
        if isinstance(node, exp.Not):
            return Not(self.condition(node.this))
        if type(node) in COMPARISONS:
            return self.comparison(node, COMPARISONS[type(node)])
        if isinstance(node, exp.Between):
            self.only(node, "this", "low", "high")
            name = self.column(node.this)
            low, high = self.constant(node.args["low"]), self.constant(node.args["high"])
            return And((Compare(name, ">=", low), Compare(name, "<=", high)))
        if isinstance(node, exp.In) and node.expressions:
            if len(node.expressions) > MOST_NODES:
                raise InvalidQuestion(
                    f"IN may list at most {MOST_NODES} constants, got {len(node.expressions)}; list fewer"
                )
            return In(self.column(node.this), tuple(self.constant(one) for one in node.expressions))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Missing(self.column(node.this))
        return self.refuse(
            node,
            f"{_kind(node)} is not a condition; use comparisons with constants, AND, OR, NOT, IN, BETWEEN, IS NULL",
        )

    def comparison(self, node: exp.Expr, operator: Comparison) -> Condition:
        left, right = node.this, node.expression
        if isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            return Compare(self.column(left), operator, self.constant(right))
        return Compare(self.column(right), MIRRORED[operator], self.constant(left))

    def column(self, node: exp.Expr | None) -> str:
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            self.refuse(node, f"a column is needed here, got {_kind(node)}; name one of the contract's")
        if node.args.get("db") or node.table not in ("", self.name):
            self.refuse(node, f"{_kind(node)} is of another table; leave out what is before the point")
        return str(node.name)

    def constant(self, node: exp.Expr | None) -> Any:
        """Return a number as a fraction, a text, a day or a truth value."""
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -self.number(node.this)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
            return str(node.this.this)
        if not isinstance(node, exp.Literal):
            self.refuse(
                node,
                f"a constant is needed here, got {_kind(node)}; write a number, or a text or a day in single quotes",
            )
        return str(node.this) if node.is_string else self.number(node)

    def number(self, node: exp.Literal) -> int | Fraction:
        """Return a number exactly, unless it is written to fill the memory."""
        try:
            written = Decimal(node.this) if len(node.this) <= LONGEST_NUMBER else None
        except InvalidOperation:  # an exponent beyond all
            written = None
        if written is None or abs(written.adjusted()) > LONGEST_NUMBER:
            self.refuse(node, f"a number must have at most {LONGEST_NUMBER} digits; round it")
        found = Fraction(written)
        return found.numerator if found.denominator == 1 else found


def _is(node: exp.Expr, number: int) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.this in (f"{number}", f"{number}.0")


def _kind(node: exp.Expr | None) -> str:
    if node is None:
        return "nothing"
    return cut(node.sql(dialect="duckdb"), 50).strip() or type(node).__name__.upper()


def _marked(text: str, node: object) -> str:
    """Return the line of the text that holds a node, with a mark under it, to be put below a message."""
    if not isinstance(node, exp.Expr):
        return ""
    places = [one.meta for one in node.walk() if "start" in one.meta]
    if not places:
        return ""
    start, end = min(place["start"] for place in places), max(place["end"] for place in places)
    if not text[start : end + 1].strip():  # where sqlglot has lost its place
        return ""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].split("\n", 1)[0]
    first = max(0, start - begin - 40)
    width = max(1, min(end + 1 - start, len(line) - (start - begin), 40))
    return f"\n  {line[first : first + 76]}\n  {' ' * (start - begin - first)}{'^' * width}"


def _complaint(problem: SqlglotError) -> str:
    details = getattr(problem, "errors", None)
    if details:
        first = details[0]
        said = str(first.get("description"))
        what = "it cannot be read" if "<" in said else said  # sqlglot's own names help nobody
        return f"{what}, at line {first.get('line')}, column {first.get('col')}"
    return "it cannot be read"
