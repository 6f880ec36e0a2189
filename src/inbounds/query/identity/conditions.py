"""Conditions in one form: equal wherever it is only asked whether they are true.

That is so of all conditions on rows: those that are false and those that are neither leave a row out alike.  Three
rules of three-valued logic are used, and a value that is missing makes none of them wrong:

* NOT goes inwards: `NOT (a AND b)` is `NOT a OR NOT b`, and `NOT x < 5` is `x >= 5`, neither of which is true of a
  missing `x`.
* Then only the truth of each part counts, so `x IS NOT NULL` says nothing beside a part that is true of no missing `x`.
* Parts are put in order, and equal ones are left out; values of one column are listed together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from inbounds.query.expressions.arithmetic import Apart, Binary
from inbounds.query.expressions.condition import (
    MOST_NODES,
    And,
    Compare,
    Comparison,
    Condition,
    In,
    Like,
    Missing,
    Not,
    Or,
    join_conditions,
)
from inbounds.query.expressions.node import Constant, Node, literal
from inbounds.query.expressions.normal_form import MIRRORED

OPPOSITE: dict[Comparison, Comparison] = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}

ZERO = Constant(Fraction(0))

Values = dict[str, Constant]
"""Constants by their texts."""


def arrange(condition: Condition) -> Condition:
    """Return the one form of a condition: what is true where it is, and written alike however it is spelled."""
    return _arrange(condition, negated=False)


def _arrange(condition: Condition, *, negated: bool) -> Condition:  # noqa: PLR0911  one for each kind
    match condition:
        case Not(asked=Like() as asked):  # no key fits the pattern
            return Not(asked) if negated else asked
        case Not():
            return _arrange(condition.this, negated=not negated)
        case And() | Or():
            all_of = isinstance(condition, And) != negated
            parts = [_arrange(part, negated=negated) for part in condition.conditions()]
            return _arrange_all(_flatten(parts, And)) if all_of else _arrange_any(_flatten(parts, Or))
        case In():
            if condition.asked is not None and len(condition.options) > MOST_NODES:
                return Not(condition.asked) if negated else condition.asked
            return _listed(condition.this, _by_text(condition.options), negated=negated)
        case Compare():
            return _arrange_comparison(condition, negated=negated)
    return Not(condition) if negated else condition


def _arrange_comparison(test: Compare, *, negated: bool) -> Condition:
    this, operator = test.this, test.operator
    if isinstance(this, Apart):
        this = Apart(*sorted((this.left, this.right), key=str))
    if isinstance(this, Binary) and this.operator == "-" and test.other == ZERO and str(this.left) > str(this.right):
        this, operator = Binary("-", this.right, this.left), MIRRORED[operator]
    if operator in ("=", "<>"):
        assert isinstance(test.other, Constant)
        return _listed(this, _by_text([test.other]), negated=negated != (operator == "<>"))
    return Compare(this, OPPOSITE[operator] if negated else operator, test.other)


# Lists of values.


def _by_text(values: Iterable[Constant]) -> Values:
    return {literal(value.value): value for value in values}


def _listed(this: Node, values: Values, *, negated: bool) -> Condition:
    """Return the condition that something is one of some values, or none of them; of true and false, the other one."""
    if negated and len(values) == 1 and isinstance((only := next(iter(values.values()))).value, bool):
        return _listed(this, _by_text([Constant(not only.value)]), negated=False)
    listed = In(this, tuple(values[text] for text in sorted(values)))
    return Not(listed) if negated else listed


def _merge(parts: Iterable[Condition], *, negated: bool) -> Iterator[Condition]:
    """Yield some conditions, with those that list values of one column, or rule them out, as one."""
    lists: dict[str, tuple[Node, Values]] = {}
    for part in parts:
        listed = part.this if negated and isinstance(part, Not) else part
        if not isinstance(listed, In) or isinstance(part, Not) != negated:
            yield part
        else:
            lists.setdefault(str(listed.this), (listed.this, {}))[1].update(_by_text(listed.options))
    yield from (_listed(this, values, negated=negated) for this, values in lists.values())


# Parts of which all or any are true.


def _flatten(parts: Iterable[Condition], kind: type[And] | type[Or]) -> Iterator[Condition]:
    for part in parts:
        yield from part.conditions() if type(part) is kind else (part,)


def _arrange_all(parts: Iterable[Condition]) -> Condition:
    merged = list(_merge(parts, negated=True))
    said = [there(part) if _present(part) is None else set[str]() for part in merged]
    known = set[str]().union(*said)
    return _in_order(And, [part for part in merged if _present(part) not in known] or merged)


def _arrange_any(parts: Iterable[Condition]) -> Condition:
    merged = list(_merge(parts, negated=False))
    return _in_order(Or, [part for part in merged if not _is_empty(part)] or merged)


def _in_order(kind: type[And] | type[Or], parts: Iterable[Condition]) -> Condition:
    by_text = {str(part): part for part in parts}
    return join_conditions(kind, *(by_text[text] for text in sorted(by_text)))


def _present(condition: Condition) -> str | None:
    """Return what a condition says is there, if it says nothing else."""
    is_test = isinstance(condition, Not) and isinstance(condition.this, Missing)
    return str(condition.this.this) if is_test else None  # type: ignore[attr-defined]


def there(condition: Condition) -> set[str]:
    """Return what is not missing where an arranged condition is true."""
    match condition:
        case And():
            return set[str]().union(*map(there, condition.all))
        case Or():
            return set.intersection(*map(there, condition.any))
        case Not(this=In() | Like() | Missing() as test) | (In() | Like() | Compare() as test):
            return {str(test.this)}
    return set()


def _is_empty(condition: Condition) -> bool:
    """Return whether no value is as a condition says: at least one constant, and at most a lesser one."""
    ends: dict[str, dict[str, list[Constant]]] = {}
    for part in condition.conjuncts():
        if isinstance(part, Compare) and isinstance(part.other, Constant):
            side = "low" if part.operator in (">", ">=") else "high"
            ends.setdefault(str(part.this), {"low": [], "high": []})[side].append(part.other)
    return any(
        type(low.value) is type(high.value) and low.value > high.value
        for sides in ends.values()
        for low in sides["low"]
        for high in sides["high"]
    )
