"""Draws by aliases have exactly the probabilities of the table: every word is counted."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.sampling.alias import BITS, AliasTable
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script, word

TOTAL = 2**BITS


@st.composite
def rows(draw: st.DrawFn) -> list[int]:
    """Weights that add up to all words, some zero, some a single word, some in parts that are exactly full."""
    count = draw(st.integers(1, 9))
    cuts = st.integers(0, TOTAL) | st.sampled_from([0, 1, TOTAL - 1, TOTAL]) | st.integers(0, 16).map(lambda k: k << 60)
    stops = [0, *sorted(draw(st.lists(cuts, min_size=count - 1, max_size=count - 1))), TOTAL]
    return [high - low for low, high in pairwise(stops)]


def counted(table: AliasTable, row: int, columns: int) -> Counter[int]:
    """Count the words that give each outcome: within a part they give one outcome and then another."""
    bits = max(1, (columns - 1).bit_length())
    size, found = TOTAL >> bits, Counter[int]()
    for part in range(1 << bits):
        low, high = part * size, (part + 1) * size - 1
        first, last = (int(table.draw(row, Script(word(at, BITS)))) for at in (low, high))
        while low < high:  # the last word that gives the first outcome
            middle = (low + high + 1) // 2
            low, high = (middle, high) if table.draw(row, Script(word(middle, BITS))) == first else (low, middle - 1)
        found[first] += low + 1 - part * size
        found[last] += (part + 1) * size - (low + 1)
    return found


@pytest.mark.slow
@given(st.lists(rows(), min_size=1, max_size=2))
@settings(max_examples=30)
def test_every_outcome_has_as_many_words_as_its_weight(tables: list[list[int]]) -> None:
    """Of all 2**64 words, exactly as many give an outcome as the table says, and none gives one of weight zero."""
    columns = max(map(len, tables))
    padded = [row + [0] * (columns - len(row)) for row in tables]
    table = AliasTable(padded)
    for place, row in enumerate(padded):
        found = counted(table, place, columns)
        assert [found[outcome] for outcome in range(columns)] == row
        assert set(found) <= set(range(columns)) or not any(found[k] for k in found if k >= columns)


@given(st.lists(rows(), min_size=1, max_size=3), st.data())
def test_many_draws_are_single_draws(tables: list[list[int]], data: st.DataObject) -> None:
    """The same word gives the same outcome alone and in an array, at the edges of parts and anywhere."""
    columns = max(map(len, tables))
    table = AliasTable([row + [0] * (columns - len(row)) for row in tables])
    edges = st.integers(0, 16).flatmap(lambda k: st.sampled_from([max((k << 60) - 1, 0), min(k << 60, TOTAL - 1)]))
    words = data.draw(st.lists(edges | st.integers(0, TOTAL - 1), min_size=1, max_size=20))
    places = data.draw(st.lists(st.integers(0, len(tables) - 1), min_size=len(words), max_size=len(words)))
    many = table.draw_many(np.array(places, dtype=np.intp), np.array(words, dtype=np.uint64))
    assert many.tolist() == [table.draw(row, Script(word(at, BITS))) for row, at in zip(places, words, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["one by one", "array"])
def test_draws_fit_the_table(form: str) -> None:
    """Draws fit the weights, and not those of a table with a hundredth of one outcome moved to the next."""
    honest = [TOTAL // 2, TOTAL // 4, TOTAL // 8, TOTAL // 8]
    false = [honest[0] - TOTAL // 20, honest[1] + TOTAL // 20, *honest[2:]]
    count, entropy = 20_000, Script(seed=5)
    seen = {}
    for name, weights in (("honest", honest), ("false", false)):
        table = AliasTable([[TOTAL, 0, 0, 0], weights])
        if form == "array":
            words = np.frombuffer(entropy(8 * count), dtype=np.uint64)
            drawn = table.draw_many(np.ones(count, np.intp), words).tolist()
        else:
            drawn = [table.draw(1, entropy) for _ in range(count)]
        counts = Counter(drawn)
        seen[name] = p_value([counts[k] for k in range(4)], [weight / TOTAL for weight in honest])
    assert seen["honest"] > FLOOR > seen["false"]
