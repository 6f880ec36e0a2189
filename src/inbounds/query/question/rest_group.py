"""The rest: rows without a category of a column, which count where that column is added up, and are not shown.

A column, and what it lies within, become one group: its codes are first those of the column, then those of what it lies
within, for rows that have only these, and at last one for rows that have none.  So every row is in one cell, as it is
without a rest, and one unit changes all cells together by as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidQuestion
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Column
from inbounds.query.columns.derived_column import DerivedKeys
from inbounds.query.columns.integer_range import YES, Range, Ranges
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.node import Node
from inbounds.query.question.cells import finest
from inbounds.query.question.group import Bins, Group, KeyGroup, by_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

Above = Sequence[Sequence[Sequence[int]]]
"""For each group of a chain, and each of them in turn: the code there for each of its own, if it lies within that."""

MOST_PICKED = 2**14
"""Of so many steps the statement looks up which group each is in, where some steps are no possible values."""


@dataclass(frozen=True)
class RestGroup(KeyGroup):
    """The groups of a column, of what it lies within, and the rest."""

    column: DerivedKeys
    chain: tuple[Group, ...] = field(kw_only=True)
    """The groups of the column itself, and of what it lies within, from near to far."""
    levels: tuple[tuple[int, ...], ...] = field(kw_only=True)
    """For each of these: in which of its groups each code is; codes beyond its own are the rest there."""

    @classmethod
    def of(cls, chain: Sequence[Group], above: Above, blocks: int, *, to_all: bool) -> RestGroup:
        """Take a chain of which the first `blocks` tell rows; with `to_all`, rows without any of these count, too."""
        # One block of codes for each group of the chain that may be the first that a row has, and one for none.
        sizes = [group.size for group in chain[:blocks]]
        starts = [sum(sizes[:block]) for block in range(blocks + 1)]
        wholes = [w.total([(_number(group), 1)], start) for group, start in zip(chain, starts, strict=False)]
        wholes += [w.fixed(starts[-1])] if to_all else []
        size = starts[-1] + to_all
        levels = [
            tuple(_code_at(code, level, starts, chain[level].size, above) for code in range(size))
            for level in range(len(chain))
        ]
        first = chain[0].column
        column = DerivedKeys(
            f" rest of {first.name}",  # which no column of a table is called
            tuple(range(size)),
            formula=first.node,
            whole=w.first_of(wholes),
            in_question=True,
        )
        return cls(column, chain=tuple(chain), levels=tuple(levels))

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(group.column.node for group in self.chain)

    def codes_in(self, name: str) -> list[int | None]:
        """Return for each code the one that a column of the chain has, None for its rest."""
        level = [group.column.name for group in self.chain].index(name)
        size = self.chain[level].size
        return [code if code < size else None for code in self.levels[level]]


def add_rests(
    columns: Mapping[str, Column], groups: tuple[Group, ...], sets: Sequence[Sequence[int]], levels: Iterable[str]
) -> tuple[Group, ...]:
    """Return the finest of some groups, with a rest where one may be missing in a row that counts in some set.

    `levels` are columns that are kept apart, though not asked for, since something is public about them.
    """
    everywhere = {group.column.name for place, group in enumerate(groups) if all(place in told for told in sets)}
    names = {*levels, *(group.column.name for group in groups)}
    return tuple(_add_rest(columns, group, everywhere, names) for group in finest(columns, groups))


def _add_rest(columns: Mapping[str, Column], group: Group, everywhere: set[str], names: set[str]) -> Group:
    if group.column.name in everywhere or not _may_be_missing(group.column):
        return group
    chain = [group, *(by_key(columns[name]) for name, _ in ancestors(columns, group.column) if name in names)]
    above = []
    for lower in chain:
        codes = dict(ancestors(columns, lower.column))
        above.append([codes.get(upper.column.name, ()) for upper in chain])
    # What is told apart in every set has to be there, so a row is told by it at the latest.
    needed = next((place for place, each in enumerate(chain) if each.column.name in everywhere), None)
    blocks = len(chain) if needed is None else needed + 1
    return RestGroup.of(chain, above, blocks, to_all=needed is None)


def _code_at(code: int, level: int, starts: Sequence[int], size: int, above: Above) -> int:
    """Return in which group of a level a code is: one of its own, or one of its rest, which nest as codes do."""
    block = next(place for place in reversed(range(len(starts))) if starts[place] <= code)
    if block > level:
        return size + code - starts[level + 1]
    own = code - starts[block]
    return own if block == level else above[block][level][own]


def _number(group: Group) -> w.Whole:
    """Return in which of its groups a row is."""
    whole = group.column.whole
    if not isinstance(group, Bins) or group.has_all_steps:
        return whole
    if group.column.size > MOST_PICKED:
        raise InvalidQuestion(
            f"{group.column.name} spans more than {MOST_PICKED:,} steps, too many for REST(); leave it out"
        )
    return w.pick(whole, tuple(group.number(np.arange(group.column.size)).tolist()))


def _may_be_missing(column: Column) -> bool:
    """Return whether a row may lack a column, by what it is made of."""
    open_codes = {
        name: Range(np.array(0), np.array(stored.size - 1), YES, YES) for name, stored in column.stored.items()
    }
    return bool(np.any(Ranges(open_codes).value(column.whole).gone))


def left_categories(
    columns: Mapping[str, Column], groups: Sequence[Group], told_apart: Sequence[Group], possible: NDArray[np.bool_]
) -> list[tuple[int | None, ...]]:
    """Return the codes of some groups in every combination that is possible, None for a rest."""
    of_name: dict[str, tuple[int, Sequence[int | None]]] = {}
    for axis, group in enumerate(told_apart):
        if isinstance(group, RestGroup):
            of_name |= {each.column.name: (axis, group.codes_in(each.column.name)) for each in group.chain}
        else:
            of_name[group.column.name] = axis, range(group.size)
            of_name |= {name: (axis, codes) for name, codes in ancestors(columns, group.column)}
    found = [of_name[group.column.name] for group in groups]
    return [tuple(codes[cell[axis]] for axis, codes in found) for cell in np.argwhere(possible).tolist()]
