"""Public facts as they are given: known values by grouping, and cells that must be empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.joint.plan.facts import Facts
from inbounds.joint.table.axis import Name
from inbounds.joint.table.layout import Grouping, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Some = tuple[NDArray[np.int64], NDArray[np.bool_]]

GREATEST = 2.0**52
"""Known counts stay below this, where doubles hold every whole number."""


def read_facts(layout: Layout, known: Mapping[Any, Any] | None, zeros: object) -> Facts:
    """Read public facts.  **They are not protected**: whoever sees a release may learn them from it.

    `known` has for a grouping its values, all of them or as `{key: value}` those that are known; `zeros` is true for
    each cell that must be empty.
    """
    given: object = known
    if given is not None and not isinstance(given, Mapping):
        raise InvalidParameter(
            f"known values must be given by grouping, got a {type(given).__name__}; write for example () for the total"
        )
    facts: dict[Grouping, Some] = {}
    for names, values in (known or {}).items():
        grouping = layout.grouping(names)
        if grouping in facts:
            raise InvalidParameter(f"known values must be given once, got {names!r:.60} again; leave one out")
        facts[grouping] = _read(layout, grouping, values)
    if zeros is not None:
        facts[layout.finest] = _with_zeros(layout, facts.get(layout.finest), zeros)
    return Facts(layout, facts)


def _read(layout: Layout, grouping: Grouping, values: object) -> Some:
    sizes = layout.sizes(grouping)
    if not isinstance(values, Mapping):
        return _whole(layout, grouping, values, sizes), np.ones(sizes, dtype=np.bool_)
    numbers, is_known = np.zeros(sizes, dtype=np.int64), np.zeros(sizes, dtype=np.bool_)
    for key, value in values.items():
        place = _place(layout, grouping, key)
        numbers[place] = _whole(layout, grouping, value, ())
        is_known[place] = True
    return numbers, is_known


def _place(layout: Layout, grouping: Grouping, key: object) -> tuple[int, ...]:
    keys, sizes = key if isinstance(key, tuple) else (key,), layout.sizes(grouping)
    fits = len(keys) == len(sizes) and all(
        isinstance(code, int | np.integer) and 0 <= code < size for code, size in zip(keys, sizes, strict=True)
    )
    if not fits:
        raise InvalidParameter(
            f"a key of {layout.names(grouping)} must be a whole number for each of the sizes {sizes}, counted from 0, "
            f"got {key!r:.60}; correct it"
        )
    return tuple(int(code) for code in keys)


def _whole(layout: Layout, grouping: Grouping, values: object, shape: tuple[int, ...]) -> NDArray[np.int64]:
    names = layout.names(grouping)
    try:
        given = np.asarray(values)
        numbers = given.astype(np.float64) if given.dtype.kind in "iuf" else np.full(given.shape, np.nan)
    except (TypeError, ValueError):
        numbers = np.full(shape, np.nan)
    if numbers.shape != shape:
        raise InvalidParameter(
            f"known values of {names} must have the shape {shape}, got {numbers.shape}; give one for each group, or "
            "those that are known by their keys"
        )
    if not np.all((numbers >= 0) & (numbers < GREATEST) & (numbers == np.floor(numbers))):
        raise InvalidParameter(
            f"known values of {names} must be whole numbers from 0 to 2^52, got others; public counts are counts"
        )
    return numbers.astype(np.int64)


def _with_zeros(layout: Layout, cells: Some | None, zeros: object) -> Some:
    mask = np.asarray(zeros)
    if mask.dtype != np.bool_ or mask.shape != layout.shape:
        raise InvalidParameter(
            f"zeros must be true or false for each cell of the shape {layout.shape}, got {mask.dtype} of the shape "
            f"{mask.shape}; compare with something that is public"
        )
    values, is_known = cells or (np.zeros(layout.shape, dtype=np.int64), np.zeros(layout.shape, dtype=np.bool_))
    if np.any(mask & is_known & (values != 0)):
        raise InvalidParameter("a cell that must be empty must not be known to hold something, got one; correct it")
    return np.where(mask, 0, values).astype(np.int64), mask | is_known


def read_split(
    layout: Layout, groupings: Sequence[Grouping], split: Mapping[Any, Any] | Sequence[Any]
) -> dict[Grouping, Any]:
    """Read a split: what is given for each grouping, by its names or in the order of the groupings."""
    if isinstance(split, list | tuple) and len(split) == len(set(groupings)) == len(groupings):
        return dict(zip(groupings, split, strict=True))
    if not isinstance(split, Mapping):
        raise InvalidParameter(
            f"a split must give epsilon by grouping, got a {type(split).__name__}; write one part for each grouping, "
            "in their order or by their names"
        )
    parts = {layout.grouping(_names(names)): part for names, part in split.items()}
    if len(parts) < len(split):
        raise InvalidParameter("a split must name each grouping once, got one twice; leave one out")
    return parts


def _names(names: Any) -> Name | tuple[Name, ...]:
    return names  # a mapping's key, which `Layout.grouping` checks
