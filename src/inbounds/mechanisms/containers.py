"""What answers come in: one by one, or in lists, arrays and the Series of pandas and polars; and back into the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from inbounds.answers.array import as_array
from inbounds.errors import InvalidAnswer, InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Single: TypeAlias = "int | float | Fraction | Decimal | np.integer[Any] | np.floating[Any] | date | np.datetime64"
"""One answer."""
Plain: TypeAlias = "int | float | np.integer[Any] | np.floating[Any]"
"""One answer whose releases are plain numbers: ints on a lattice of whole numbers, floats on any other."""

Kind = TypeVar("Kind", Fraction, Decimal, date, np.datetime64)
"""Kinds of answers whose releases are of the same kind."""


@runtime_checkable
class Series(Protocol):
    """A named column, of pandas or of polars."""

    @property
    def name(self) -> Any:
        """What it is called."""

    def to_numpy(self) -> Array:
        """Return the values as an array."""


Column = TypeVar("Column", bound=Series)
Many: TypeAlias = "Sequence[Any] | NDArray[Any]"
"""Answers in a list, a tuple or an array, of any shape."""
Answers: TypeAlias = "Single | Many | Series"


def are_many(answers: object) -> bool:
    """Return whether these are answers in a container, not a single one."""
    if type(answers) is float or type(answers) is int:  # what is usual need not be looked at twice
        return False
    return isinstance(answers, list | tuple) or (hasattr(answers, "__array__") and not isinstance(answers, np.generic))


def refuse_fixed_point(answers: object) -> None:
    """Refuse a polars Series of decimals: how many places a release needs would show in its type, or not fit it."""
    if hasattr(answers, "alias") and type(getattr(answers, "dtype", None)).__name__ == "Decimal":
        raise InvalidAnswer("a polars Series of Decimal cannot hold releases; cast it to Float64 or Int64 first")


def rewrap(values: Array, answers: object) -> Any:
    """Return values in what the answers came in: a Series with the same name and index, or else an array."""
    if hasattr(answers, "iloc") and hasattr(answers, "name"):  # pandas
        make_pandas: Callable[..., Any] = type(answers)
        return make_pandas(values, index=answers.index, name=answers.name, copy=False)  # type: ignore[attr-defined]
    if hasattr(answers, "alias") and hasattr(answers, "name"):  # polars, which takes Python objects from lists only
        make_polars: Callable[..., Any] = type(answers)
        return make_polars(answers.name, values.tolist() if values.dtype == object else values)
    return values


class Arguments:
    """The arguments of a call: single values, or containers of them that are broadcast together."""

    def __init__(self, *parts: object) -> None:
        self._container = next((part for part in parts if are_many(part)), None)
        self.is_single = self._container is None
        if self.is_single:
            self.columns: list[Array | tuple[Any]] = [(part,) for part in parts]
            return
        arrays = [as_array(part) if are_many(part) else _alone(part) for part in parts]
        together = _together(arrays)
        self._shape = together[0].shape
        self.columns = [array.ravel() for array in together]

    def values(self, which: int) -> list[Any]:
        """Return the values of one part, one after another."""
        column = self.columns[which]
        if isinstance(column, tuple):
            return [column[0]]
        return list(column) if column.dtype.kind == "M" else column.tolist()

    def wrap_numbers(self, numbers: NDArray[np.float64]) -> Any:
        """Return a number for each value: a float for a single one."""
        return float(numbers[0]) if self.is_single else rewrap(numbers.reshape(self._shape), self._container)

    def wrap(self, values: list[Any] | Array) -> Any:
        """Return something for each value."""
        if self.is_single:
            return values[0]
        return rewrap(_as_objects(values).reshape(self._shape), self._container)

    def wrap_answers(self, answers: list[Any]) -> Any:
        """Return an answer for each value, plain numbers and days in arrays of their own kind."""
        if self.is_single:
            return answers[0]
        kinds = {type(answer) for answer in answers}
        if kinds <= {float} or kinds <= {np.datetime64} or (kinds <= {int} and _fit_int64(answers)):
            return self.wrap(np.array(answers))
        return self.wrap(answers)


def _together(arrays: list[Array]) -> tuple[Array, ...]:
    """Return arrays in one shape; refuse those that cannot be gone through together."""
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise InvalidParameter(
            f"what is asked about must have one shape, or be single, got {shapes}; give arrays of the same length"
        ) from None


def _fit_int64(answers: list[int]) -> bool:
    return all(-(2**63) <= answer < 2**63 for answer in answers)


def _alone(part: object) -> Array:
    """Return an array without axes that holds one thing."""
    array = np.empty((), dtype=object)
    array[()] = part
    return array


def _as_objects(values: list[Any] | Array) -> Array:
    if isinstance(values, np.ndarray):
        return values
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
