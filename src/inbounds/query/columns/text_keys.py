"""Keys made of keys: parts of them, other spellings, pairs; each a list of its own, and a place in it for every row.

What a key becomes is computed here, of the public list, so every engine has the same keys.  A statement computes places
only.  What is missing stays missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import NoReturn

from inbounds.errors import InvalidQuestion
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Key
from inbounds.query.columns.expression_bounds import Reading
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.expressions.arithmetic import Call
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.expressions.text_functions import LONGEST, TEXT_FUNCTIONS

MOST_MADE = 100_000
"""So many keys can be made of the keys of several columns."""


@dataclass(frozen=True)
class Places:
    """What a text can be: its keys, and the place of one among them."""

    keys: tuple[Key, ...]
    whole: Whole

    @property
    def is_text(self) -> bool:
        """Whether the keys are texts."""
        return isinstance(self.keys[0], str)


def recode(places: Whole, codes: Sequence[int]) -> Whole:
    """Return other codes in place of 0, 1, 2 and so on."""
    # A constant and a stored code are recoded in place; of anything else a list tells the new code.
    if all(place == code for place, code in enumerate(codes)):
        return places
    if isinstance(places, w.Fixed):
        return w.fixed(codes[places.low])
    if isinstance(places, w.Code):
        before = places.codes or range(len(codes))
        return w.Code(min(codes), max(codes), (), places.column, tuple(codes[place] for place in before))
    return w.pick(places, tuple(codes))


def place_among(text: Places, keys: Sequence[Key]) -> Whole:
    """Return the place of a text among more keys."""
    places = {key: place for place, key in enumerate(keys)}
    return recode(text.whole, [places[key] for key in text.keys])


def rewrite(text: Places, change: Callable[[str], str]) -> Places:
    """Return texts of which each key has become another; several may have become one, so their codes are others."""
    texts = [change(str(key)) for key in text.keys]
    keys = tuple(dict.fromkeys(texts))
    return Places(keys, place_among(Places(tuple(texts), text.whole), keys))


def apply(call: Call, text: Places) -> Places | Reading:
    """Return what a function of texts makes of them."""
    if call.function in TEXT_FUNCTIONS:
        function = TEXT_FUNCTIONS[call.function]
        constants = function.read(call.arguments[1:])
        return rewrite(text, lambda key: _short(call, function.change(key, *constants)))
    return measure_length(text) if call.function == "LENGTH" else take_part(call, text)


def _short(node: Node, text: str) -> str:
    """Return a text that was made; refuse one that is too long, before it is made longer."""
    if len(text) > LONGEST:
        _refuse_long(node)
    return text


def _refuse_long(node: Node) -> NoReturn:
    raise InvalidQuestion(
        f"{node} makes texts of more than {LONGEST} characters; take a part of each, as in LEFT(x, 9)"
    )


def take_part(call: Call, text: Places) -> Places:
    """Return a part of each key: SUBSTR(key, start, length), or RIGHT(key, length)."""
    start, *length = (int(argument.value) for argument in call.arguments[1:] if isinstance(argument, Constant))
    if call.function == "RIGHT":
        return rewrite(text, lambda key: key[-start:])
    end = start - 1 + length[0] if length else None
    return rewrite(text, lambda key: key[start - 1 : end])


def measure_length(text: Places) -> Reading:
    """Return how many characters a key has."""
    lengths = [len(str(key)) for key in text.keys]
    values = sorted(set(lengths))
    whole = recode(text.whole, lengths)
    gaps = len(values) <= values[-1] - values[0]
    return Reading(((whole, Fraction(1)),), Fraction(0), possible=tuple(map(Fraction, values)) if gaps else None)


def chain(node: Node, texts: Sequence[Places]) -> Places:
    """Return texts one after the other: a key for each combination of theirs."""
    size = prod(len(text.keys) for text in texts)
    if size > MOST_MADE:
        raise InvalidQuestion(
            f"{node} has {size:,} combinations of categories, more than {MOST_MADE:,}; take a part of each, "
            "as in LEFT(icd, 3)"
        )
    if sum(max(len(str(key)) for key in text.keys) for text in texts) > LONGEST:
        _refuse_long(node)
    joined = tuple("".join(map(str, keys)) for keys in product(*(text.keys for text in texts)))
    terms, factor = list[tuple[Whole, int]](), size
    for text in texts:
        factor //= len(text.keys)
        terms.append((text.whole, factor))
    keys = tuple(dict.fromkeys(joined))
    return Places(keys, place_among(Places(joined, w.total(terms, 0)), keys))


def leave_out(text: Places, key: object, node: Node) -> Places:
    """Return texts that are missing where they are some key."""
    code = next((place for place, other in enumerate(text.keys) if type(other) is type(key) and other == key), None)
    if code is None:
        return text
    keys = (*text.keys[:code], *text.keys[code + 1 :])
    if not keys:
        raise InvalidQuestion(f"{node} is always missing; name another category")
    others = recode(text.whole, [place - (place > code) if place != code else 0 for place in range(len(text.keys))])
    return Places(keys, w.choose([w.Against(whole=text.whole, operator="<>", numbers=(code,))], [others]))
