"""A column of numbers is a lattice: every value has a step, and comparisons with steps are those with values."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import MOST_STEPS, Column, Keys, Numbers, as_value, refuse_column
from inbounds.query.columns.kind import OF_BOUNDS, OF_KEYS
from inbounds.query.expressions.condition import Comparison
from inbounds.query.tables.column_types import FITTING
from tests.helpers.oracle import COMPARED, nearest

fractions = st.fractions(-50, 50, max_denominator=12)
steps = st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(3, 10), Fraction(1, 3), Fraction(5, 2)])
operators: st.SearchStrategy[Comparison] = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


@st.composite
def latticed(draw: st.DrawFn) -> Numbers:
    """A column with a step."""
    low, step, count = draw(fractions), draw(steps), draw(st.integers(1, 40))
    return Numbers("x", Bounds(low, low + count * step, step=step, offset=low))


@given(latticed(), operators, fractions, st.data())
def test_a_comparison_of_steps_is_that_of_values(
    column: Numbers, operator: Comparison, constant: Fraction, data: st.DataObject
) -> None:
    """With a step, comparing steps with the threshold is exactly comparing the value with the constant."""
    index = data.draw(st.integers(0, column.steps))
    found, threshold = column.threshold(operator, constant)
    assert COMPARED[found](index, threshold) == COMPARED[operator](column.value(index), constant)


@given(fractions, st.fractions("0.1", 50, max_denominator=12), operators, st.integers(0, 64))
def test_without_a_step_equal_stays_equal(low: Fraction, width: Fraction, operator: Comparison, part: int) -> None:
    """Without a step, a value within the bounds compared with itself is equal, whatever it is rounded to."""
    column = Numbers("x", Bounds(low, low + width))
    value = Fraction(float(low + width * part / 64))
    assume(low <= value <= low + width)
    found, threshold = column.threshold(operator, value)
    assert COMPARED[found](nearest(column, float(value)), threshold) == COMPARED[operator](value, value)


@pytest.mark.slow
@given(fractions, fractions)
def test_without_a_step_there_are_enough(low: Fraction, high: Fraction) -> None:
    """A column without a step is cut into between 2^26 and 2^28 steps, and its ends are kept."""
    assume(low < high)
    column = Numbers("x", Bounds(low, high))
    assert refuse_column(column) is None
    assert 2**26 - 1 <= column.steps <= 2**28
    assert low <= column.low <= low + column.step
    assert high - column.step <= column.high <= high


@given(latticed())
def test_the_ends_are_the_first_and_the_last_step(column: Numbers) -> None:
    """The least value is 0 steps above the least, the greatest all of them, and both round to themselves."""
    assert (column.value(0), column.value(column.steps)) == (column.low, column.high)
    assert nearest(column, float(column.low)) == 0
    assert nearest(column, float(column.high)) == column.steps
    assert column.points == column.steps + 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[0, inf)", "must be finite"),
        ("(-inf, 0] step 1", "must be finite"),
        ("[3, 3] step 1", "at least two values"),
        (f"[0, {MOST_STEPS + 1}] step 1", "at most 2^"),
        ("[1125899906842625, 1125899906842630] step 1", "within 2^50 steps"),
        (f"[0, {MOST_STEPS}] step 1", None),
        ("[1125899906842620, 1125899906842624] step 1", None),
        ("[0, 1]", None),
        ("[0, 1] | [5, 7]", None),
        ("[2026-01-01, 2026-12-31]", None),
    ],
)
def test_columns_that_statements_cannot_hold_are_refused(text: str, why: str | None) -> None:
    """Bounds without ends, with one value, too many steps or too far from zero are refused, others are not."""
    found = refuse_column(Numbers("x", Bounds.parse(text)))
    assert found is None if why is None else found is not None and why in found


def test_values_are_written_as_people_write_them() -> None:
    """A value is shown as an int, a float or a date."""
    whole, fine = Numbers("x", Bounds(0, 9, step=1)), Numbers("x", Bounds(0, 1, step=Fraction(1, 4)))
    days = Numbers("x", Bounds.parse("[2026-01-01, 2026-12-31]"))
    assert as_value(whole, whole.value(3)) == 3
    assert as_value(fine, fine.value(1)) == 0.25
    assert as_value(days, days.value(4)) == date(2026, 1, 5)


@pytest.mark.parametrize("given", ["c", "A", "", 0, True, None, b"a"])
def test_only_a_key_has_a_place(given: object) -> None:
    """A key has its place in the list; what is equal but of another type has none."""
    assert [Keys("x", ("a", "b")).code(key) for key in ("a", "b")] == [0, 1]
    assert [Keys("x", (True, False)).code(key) for key in (True, False)] == [0, 1]
    for keys in (("a", "b"), (1, 2)):
        with pytest.raises(InvalidQuestion, match="is not a category of x"):
            Keys("x", keys).code(given)


@pytest.mark.parametrize(
    ("column", "told", "written"),
    [
        (Numbers("age", Bounds(0, 120, step=1)), 17.0, Fraction(17)),
        (Numbers("day", Bounds.dates("2026-01-01", "2026-12-31")), "2026-02-03", date(2026, 2, 3)),
        (Keys("clinic", ("north", "south")), "south", "south"),
    ],
)
def test_a_constant_is_written_in_one_way(column: Column, told: object, written: object) -> None:
    """A constant that is read and written is the same when it is read again, and has the code of its value."""
    assert column.constant(told) == written == column.constant(written)
    assert column.against("=", told) == column.against("=", written)
    assert 0 <= column.against("=", told)[1] < column.size


def test_every_kind_fits_some_type() -> None:
    """Whatever a column holds, there are types of a database for it."""
    assert {*OF_BOUNDS.values(), *OF_KEYS.values()} == set(FITTING)
