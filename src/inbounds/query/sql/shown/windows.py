"""OVER: a function of the rows that are released, read from SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from inbounds.query.answer.released.evaluate import kind_of_node
from inbounds.query.answer.released.leaf import is_constant
from inbounds.query.answer.released.order import Order
from inbounds.query.answer.released.window import DEFAULT, WINDOWS, Frame, Offset, Window
from inbounds.query.expressions.arithmetic import Case
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.grammar.reader import Scope, read_condition_node, read_part
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import read_constant

LARGEST = 1_000_000
"""No row is further away from another, and no answer has more parts."""

MOST_NAMED = 20
"""So many windows may be named after WINDOW, and built on each other."""


@dataclass(frozen=True)
class _Rows:
    """Which rows a window looks at."""

    partition: tuple[Node, ...] = ()
    order: tuple[Order, ...] = ()
    frame: Frame | None = None


class WindowReader:
    """Reads windows over released rows; `named` are those that stand after WINDOW."""

    def __init__(self, scope: Scope, named: Mapping[str, exp.Expr]) -> None:
        self._scope, self._named = scope, named

    @property
    def _text(self) -> SqlText:
        return self._scope.text

    def read(self, node: exp.Window) -> Node:
        """Read a function with OVER."""
        text = self._text
        name, arguments = self.read_call(node, node.this, tuple(WINDOWS))
        rows = self._read_rows(node, 0)
        if rows.frame is not None and not WINDOWS[name].framed:
            text.refuse(node, f"{name} does not depend on {rows.frame}; leave that out")
        if rows.frame == DEFAULT:
            rows = replace(rows, frame=None)
        return Window(name, arguments, rows.partition, rows.order, rows.frame)

    def read_call(self, node: exp.Expr, call: exp.Expr, known: Sequence[str]) -> tuple[str, tuple[Node, ...]]:
        """Read which of some functions is called, and with what."""
        tests: list[exp.Expr] = []
        while not isinstance(call, exp.Anonymous):
            call = self._unwrap(node, call, tests)
        name = function_name(call)
        if name not in known:
            self._text.refuse(
                node, f"{name} of released rows is not supported; functions of them are {', '.join(known)}"
            )
        arguments = self._read_arguments(name, call)
        return name, self._choose_rows(node, name, arguments, tests[0]) if tests else arguments

    def _unwrap(self, node: exp.Expr, call: exp.Expr, tests: list[exp.Expr]) -> exp.Expr:
        """Return what FILTER and RESPECT NULLS stand behind."""
        text = self._text
        if isinstance(call, exp.RespectNulls):
            text.take(call, "this")
        elif isinstance(call, exp.Filter) and not tests:
            text.take(call, "this", "expression")
            text.take(call.expression, "this")
            tests.append(call.expression.this)
        else:
            self._refuse_call(node, call)
        return call.this

    def _refuse_call(self, node: exp.Expr, call: exp.Expr) -> NoReturn:
        if isinstance(call, exp.IgnoreNulls):
            self._text.refuse(node, "IGNORE NULLS is not supported; leave it out, or use COALESCE inside")
        self._text.refuse(node, f"{kind(call)} is not a function of released rows; those are {', '.join(WINDOWS)}")

    def _choose_rows(self, node: exp.Expr, name: str, arguments: tuple[Node, ...], test: exp.Expr) -> tuple[Node, ...]:
        """Return the arguments of a function that sees some rows only: in others they are missing, and passed over."""
        if not WINDOWS[name].any_order:
            self._text.refuse(node, f"{name} takes no FILTER; write CASE WHEN … THEN … END inside")
        return (Case(((read_condition_node(self._scope, test), (arguments or (Constant(1),))[0]),)),)

    # Arguments.

    def _read_arguments(self, name: str, call: exp.Expr) -> tuple[Node, ...]:
        text, function = self._text, WINDOWS[name]
        text.take(call, "this", "expressions")
        given = list(call.expressions)
        if name == "COUNT" and len(given) == 1 and isinstance(given[0], exp.Star):
            text.take(given[0])
            return ()
        if not function.least <= len(given) <= function.most or (name == "COUNT" and not given):
            text.refuse(call, f"{name} cannot take {len(given)} arguments; write it like {function.like}")
        if name == "NTILE":
            return (self._read_number(given[0], "NTILE takes a whole number of parts", 1),)
        values = [self._read_value(argument) for argument in given[: 2 if function.picks else 1]]
        for argument, value in zip(given, values, strict=False):
            self._refuse_kind(name, argument, value)
        if function.picks:
            if kind_of_node(values[1]) != "number":
                text.refuse(given[1], f"{name} compares numbers, got {kind(given[1])}; write it like {function.like}")
            return tuple(values)
        if len(given) > 1:
            least = 1 if name == "NTH_VALUE" else 0
            values.append(self._read_number(given[1], f"{name} takes a number of rows", least))
        if len(given) > 2:
            default = read_part(self._scope, given[2])
            values[0], default = self._scope.choose([given[0], given[2]], [values[0], default])
            values.append(default)
        return tuple(values)

    def _read_value(self, node: exp.Expr) -> Node:
        if isinstance(node, exp.IgnoreNulls | exp.RespectNulls | exp.Distinct):
            self._text.refuse(node, f"{kind(node)} is not supported with OVER; leave the word out")
        return read_part(self._scope, node)

    def _refuse_kind(self, name: str, node: exp.Expr, value: Node) -> None:
        sort = kind_of_node(value)
        if WINDOWS[name].of_numbers and sort not in ("number", "nothing"):
            self._text.refuse(node, f"{name} needs numbers, got {kind(node)}; count rows with COUNT(*) OVER")
        if name in ("MIN", "MAX") and sort == "bin":
            self._text.refuse(node, f"the bins of {kind(node)} cannot be compared; use FIRST_VALUE or LAST_VALUE")

    def _read_number(self, node: exp.Expr, what: str, least: int) -> Constant:
        number = read_constant(self._text, node)
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= LARGEST:
            self._text.refuse(node, f"{what} from {least} on, got {kind(node)}; write it like {max(least, 1)}")
        return Constant(number)

    # Rows.

    def _read_rows(self, node: exp.Expr, depth: int) -> _Rows:
        """Read what stands in the brackets after OVER, or after the name of a window."""
        text = self._text
        text.take(node, "this", "partition_by", "order", "spec", "alias", "over")
        base = self._read_base(node, depth)
        partition = tuple(read_part(self._scope, by) for by in node.args.get("partition_by") or ())
        if partition and base.partition:
            text.refuse(node, "a named window keeps its PARTITION BY; leave the second one out")
        order = self._read_order(node.args.get("order"))
        if order and base.order:
            text.refuse(node, "a named window keeps its ORDER BY; leave the second one out")
        order = order or base.order
        spec = node.args.get("spec")
        frame = base.frame if spec is None else self._read_frame(node, spec, order)
        return _Rows(partition or base.partition, order, frame)

    def _read_base(self, node: exp.Expr, depth: int) -> _Rows:
        """Read the window that is named, if one is."""
        text, name = self._text, node.args.get("alias")
        if not isinstance(name, exp.Identifier):
            return _Rows()
        text.take(name, "this", "quoted")
        label = text.canonical(name, self._named)
        if label not in self._named or depth > MOST_NAMED:
            known = ", ".join(self._named) or "none"
            text.refuse(name, f"there is no window {kind(name)}, named are {known}; write OVER (…)")
        given = self._named[label]
        text.take(given.this, "this", "quoted")
        return self._read_rows(given, depth + 1)

    def _read_order(self, clause: exp.Expr | None) -> tuple[Order, ...]:
        if clause is None:
            return ()
        self._text.take(clause, "expressions")
        return tuple(map(self._read_term, clause.expressions))

    def _read_term(self, by: exp.Expr) -> Order:
        self._text.take(by, "this", "desc", "nulls_first")
        of = read_part(self._scope, by.this)
        if is_constant(of):
            self._text.refuse(by.this, f"{kind(by.this)} is the same in every row; order by a measure or a category")
        return Order(of, bool(by.args.get("desc")), bool(by.args.get("nulls_first")))

    # Frames.

    def _read_frame(self, node: exp.Expr, spec: exp.Expr, order: tuple[Order, ...]) -> Frame:
        text, args = self._text, spec.args
        if args.get("exclude"):
            text.refuse(node, "EXCLUDE is not supported; leave it out, and subtract what is to be left out")
        if not text.is_read(spec):  # a named window is read wherever it is used
            self._take_words(spec)
        text.take(spec, "kind", "start", "start_side", "end", "end_side")
        start = self._read_end(node, args.get("start"), args.get("start_side"), "PRECEDING")
        end = 0 if args.get("end") is None else self._read_end(node, args["end"], args.get("end_side"), "FOLLOWING")
        frame = Frame(args["kind"], start, end)
        if start is not None and end is not None and start > end:
            text.refuse(node, f"the frame {frame} ends before it begins; swap its ends")
        if frame.unit == "ROWS" and any(isinstance(offset, Fraction) for offset in (start, end)):
            text.refuse(node, f"ROWS counts rows, got {frame}; write whole numbers")
        if frame.unit == "GROUPS" and not order:
            text.refuse(node, "GROUPS needs ORDER BY; add it")
        if frame.unit == "RANGE" and (start or end):
            self._refuse_no_distance(node, order)
        return frame

    def _take_words(self, spec: exp.Expr) -> None:
        """Note the words of a frame, for which sqlglot keeps no place."""
        said = [spec.args.get(name) for name in ("kind", "start", "start_side", "end", "end_side")]
        for word in (word for words in said if isinstance(words, str) for word in words.split()):
            self._text.take_word(word)

    def _refuse_no_distance(self, node: exp.Expr, order: tuple[Order, ...]) -> None:
        if len(order) != 1 or kind_of_node(order[0].of) != "number":
            self._text.refuse(node, "RANGE with a number needs ORDER BY one number; write ROWS instead")

    def _read_end(self, node: exp.Expr, end: exp.Expr | str | None, side: str | None, unbounded: str) -> Offset:
        text = self._text
        if isinstance(end, str):
            if end == "CURRENT ROW":
                return 0
            if side != unbounded:
                text.refuse(node, f"a frame cannot reach to UNBOUNDED {side} here; write UNBOUNDED {unbounded}")
            return None
        number = read_constant(text, end)
        if isinstance(number, bool) or not isinstance(number, int | Fraction) or not 0 <= number <= LARGEST:
            text.refuse(end, f"a frame reaches over a number of rows, 0 or more, got {kind(end)}; write it like 2")
        return -number if side == "PRECEDING" else number
