"""Functions of a row in other words: IF, NULLIF, IFNULL, WIDTH_BUCKET, and tests of text."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling, call, case, grouped, number, text


def _arguments(node: exp.Expr, *counts: int) -> list[exp.Expr] | None:
    """Return the arguments of a call if there are so many, else None."""
    return list(node.expressions) if len(node.expressions) in counts else None


def _if(node: exp.Expr) -> exp.Expr | None:
    """IF(c, a, b), of which sqlglot makes a node of its own, and IIF(c, a, b)."""
    if isinstance(node, exp.If):
        if isinstance(node.parent, exp.Case):
            return None  # a branch
        return case((node.this, node.args["true"]), default=node.args.get("false"))
    arguments = _arguments(node, 2, 3)
    if arguments is None:
        return None
    return case((arguments[0], arguments[1]), default=arguments[2] if len(arguments) == 3 else None)


def _coalesce(node: exp.Expr) -> exp.Expr | None:
    arguments = _arguments(node, 2)
    return None if arguments is None else call("COALESCE", *arguments)


def _modulo(node: exp.Expr) -> exp.Expr | None:
    arguments = _arguments(node, 2)
    return None if arguments is None else exp.Mod(this=grouped(arguments[0]), expression=grouped(arguments[1]))


def _power(node: exp.Expr) -> exp.Expr | None:
    """The second power; others are seldom asked for, and their bounds are wide."""
    this, power = (node.this, node.expression) if isinstance(node, exp.Pow) else (None, None)
    if this is None:
        arguments = _arguments(node, 2)
        if arguments is None:
            return None
        this, power = arguments
    if not isinstance(power, exp.Literal) or power.is_string or power.this != "2":
        return None
    return exp.Paren(this=exp.Mul(this=grouped(this), expression=grouped(this.copy())))


def _truncate(node: exp.Expr) -> exp.Expr | None:
    arguments = _arguments(node, 1)
    if arguments is None:
        return None
    (this,) = arguments
    up = call("FLOOR", this)
    down = exp.Neg(this=call("FLOOR", exp.Neg(this=grouped(this.copy()))))
    return case((exp.GTE(this=grouped(this.copy()), expression=number(0)), up), default=down)


def _simple_case(node: exp.Case) -> exp.Expr | None:
    """CASE x WHEN 1 THEN … END."""
    if node.this is None:
        return None
    branches = [
        (exp.EQ(this=grouped(node.this.copy()), expression=branch.this), branch.args["true"])
        for branch in node.args["ifs"]
    ]
    return case(*branches, default=node.args.get("default"))


def _width_bucket(node: exp.Expr) -> exp.Expr | None:
    arguments = _arguments(node, 4)
    if arguments is None:
        return None
    this, low, high, count = arguments
    if not isinstance(count, exp.Literal) or not str(count.this).isdigit():
        return None
    width = exp.Sub(this=grouped(high.copy()), expression=grouped(low.copy()))
    place = exp.Div(
        this=exp.Mul(this=exp.Paren(this=exp.Sub(this=grouped(this), expression=grouped(low))), expression=count),
        expression=exp.Paren(this=width),
    )
    return case(
        (exp.LT(this=this.copy(), expression=low.copy()), number(0)),
        (exp.GTE(this=this.copy(), expression=high), number(int(count.this) + 1)),
        default=exp.Add(this=call("FLOOR", place), expression=number(1)),
    )


def _decode(node: exp.Expr) -> exp.Expr | None:
    """DECODE(x, a, b, c, d, otherwise)."""
    if len(node.expressions) < 3:
        return None
    this, *rest = node.expressions
    pairs = [(rest[i], rest[i + 1]) for i in range(0, len(rest) - 1, 2)]
    branches = [(exp.EQ(this=grouped(this.copy()), expression=value), chosen) for value, chosen in pairs]
    return case(*branches, default=rest[-1] if len(rest) % 2 else None)


def _divide(node: exp.Expr) -> exp.Expr | None:
    """SAFE_DIVIDE(a, b), which is nothing where b is zero, as any quotient of what is released."""
    arguments = _arguments(node, 2)
    return None if arguments is None else exp.Div(this=grouped(arguments[0]), expression=grouped(arguments[1]))


def _tuples(node: exp.In) -> exp.Expr | None:
    """(a, b) IN ((1, 2), (3, 4))."""
    left = node.this.unnest()
    lists = [option.unnest() for option in node.expressions]
    if not isinstance(left, exp.Tuple) or not lists:
        return None
    if any(not isinstance(one, exp.Tuple) or len(one.expressions) != len(left.expressions) for one in lists):
        return None
    ways = []
    for one in lists:
        tests = [
            exp.EQ(this=this.copy(), expression=value)
            for this, value in zip(left.expressions, one.expressions, strict=True)
        ]
        ways.append(exp.Paren(this=exp.and_(*tests)))
    return exp.Paren(this=exp.or_(*ways))


def _any(node: exp.EQ) -> exp.Expr | None:
    """ward = ANY(ARRAY['a', 'b'])."""
    right = node.expression
    listed = right.this.unnest() if isinstance(right, exp.Any) else None
    return exp.In(this=node.this, expressions=listed.expressions) if isinstance(listed, exp.Array) else None


def _certain(node: exp.And) -> exp.Expr | None:
    """WHERE 1 = 1 AND …, as programs write it."""
    if _is_certain(node.this):
        return node.expression
    return node.this if _is_certain(node.expression) else None


def _is_certain(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    literals = isinstance(node, exp.EQ) and all(isinstance(side, exp.Literal) for side in (node.this, node.expression))
    return literals and node.this == node.expression


def _begins(node: exp.Expr) -> exp.Expr | None:
    return _match(node, "{}%")


def _ends(node: exp.Expr) -> exp.Expr | None:
    return _match(node, "%{}")


def _contains(node: exp.Expr) -> exp.Expr | None:
    return _match(node, "%{}%")


def _match(node: exp.Expr, pattern: str) -> exp.Expr | None:
    arguments = _arguments(node, 2)
    if arguments is None or not (isinstance(arguments[1], exp.Literal) and arguments[1].is_string):
        return None
    part = str(arguments[1].this)
    if any(character in part for character in "%_\\"):
        return None  # which LIKE would take for a pattern
    return exp.Like(this=arguments[0], expression=text(pattern.format(part)))


def _symmetric(node: exp.Between) -> exp.Expr | None:
    if not node.args.get("symmetric"):
        return None
    this, low, high = node.this, node.args["low"], node.args["high"]
    one = exp.Between(this=this, low=low, high=high)
    other = exp.Between(this=this.copy(), low=high.copy(), high=low.copy())
    return exp.Paren(this=exp.Or(this=one, expression=other))


def _distinct(node: exp.NullSafeNEQ) -> exp.Expr | None:
    """IS DISTINCT FROM a constant: another value, or none."""
    if not isinstance(node.expression, exp.Literal | exp.Boolean):
        return None
    missing = exp.Is(this=node.this.copy(), expression=exp.Null())
    return exp.Paren(this=exp.Or(this=exp.NEQ(this=node.this, expression=node.expression), expression=missing))


def _same(node: exp.NullSafeEQ) -> exp.Expr | None:
    """IS NOT DISTINCT FROM a constant: that, and not missing."""
    if not isinstance(node.expression, exp.Literal | exp.Boolean):
        return None
    there = exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null()))
    return exp.Paren(this=exp.And(this=exp.EQ(this=node.this, expression=node.expression), expression=there))


FUNCTIONS = (
    Spelling(
        (exp.If, "IIF"),
        _if,
        "value",
        "IF(age >= 65, cost, 0)",
        "CASE WHEN age >= 65 THEN cost ELSE 0 END",
        words=("IF",),
    ),
    Spelling(
        (exp.Case,),
        _simple_case,
        "value",
        "CASE age WHEN 0 THEN 1 ELSE 0 END",
        "CASE WHEN age = 0 THEN 1 ELSE 0 END",
    ),
    Spelling(("IFNULL", "NVL", "ISNULL"), _coalesce, "value", "IFNULL(cost, 0)", "COALESCE(cost, 0)"),
    Spelling(("MOD",), _modulo, "value", "MOD(age, 10)", "age % 10"),
    Spelling((exp.Pow, "POWER", "POW"), _power, "value", "POWER(age, 2)", "age * age"),
    Spelling(
        ("TRUNC",), _truncate, "value", "TRUNC(cost)", "CASE WHEN cost >= 0 THEN FLOOR(cost) ELSE -FLOOR(-cost) END"
    ),
    Spelling(
        ("WIDTH_BUCKET",),
        _width_bucket,
        "value",
        "WIDTH_BUCKET(age, 0, 100, 10)",
        "CASE WHEN age < 0 THEN 0 WHEN age >= 100 THEN 11 ELSE FLOOR((age - 0) * 10 / (100 - 0)) + 1 END",
    ),
    Spelling(
        ("DECODE",),
        _decode,
        "group",
        "DECODE(ward, 'er', 'first', 'later')",
        "CASE WHEN ward = 'er' THEN 'first' ELSE 'later' END",
    ),
    Spelling(("SAFE_DIVIDE",), _divide, "measure", "SAFE_DIVIDE(SUM(cost), SUM(age))", "SUM(cost) / SUM(age)"),
    Spelling(
        (exp.In,),
        _tuples,
        "condition",
        "(ward, urgent) IN (('er', TRUE), ('icu', FALSE))",
        "(ward = 'er' AND urgent = TRUE) OR (ward = 'icu' AND urgent = FALSE)",
    ),
    Spelling((exp.EQ,), _any, "condition", "ward = ANY(ARRAY['er', 'icu'])", "ward IN ('er', 'icu')"),
    Spelling((exp.And,), _certain, "condition", "1 = 1 AND age > 60", "age > 60"),
    Spelling(("STARTS_WITH", "STARTSWITH"), _begins, "condition", "STARTS_WITH(ward, 'i')", "ward LIKE 'i%'"),
    Spelling(("ENDS_WITH", "ENDSWITH"), _ends, "condition", "ENDS_WITH(ward, 'u')", "ward LIKE '%u'"),
    Spelling(("CONTAINS",), _contains, "condition", "CONTAINS(ward, 'c')", "ward LIKE '%c%'"),
    Spelling(
        (exp.Between,),
        _symmetric,
        "condition",
        "age BETWEEN SYMMETRIC 60 AND 20",
        "(age BETWEEN 60 AND 20 OR age BETWEEN 20 AND 60)",
        words=("SYMMETRIC",),
    ),
    Spelling(
        (exp.NullSafeNEQ,), _distinct, "condition", "ward IS DISTINCT FROM 'icu'", "ward <> 'icu' OR ward IS NULL"
    ),
    Spelling(
        (exp.NullSafeEQ,),
        _same,
        "condition",
        "ward IS NOT DISTINCT FROM 'icu'",
        "ward = 'icu' AND ward IS NOT NULL",
    ),
)
