"""How a question about groups becomes a joint table: its axes, its groupings, and what is public of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Layout
from inbounds.query.contract.count_facts import axis_of, facts_of, without_doubles
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.methods.joint.joint_table import JointTable, Rows
from inbounds.query.methods.joint.kept_axes import KeptAxes
from inbounds.query.methods.joint.running_table import RunningTable
from inbounds.query.question.cells import finest
from inbounds.query.question.group import Group
from inbounds.query.question.measure import Count
from inbounds.query.question.question import Question
from inbounds.query.question.rest_group import RestGroup


def finest_groups(question: Question) -> tuple[Group, ...]:
    """Return the groups that a statement has to tell apart: those that no other group lies within tell nothing more."""
    columns = question.table.columns
    above = [name for group in finest(columns, question.groups) for name, _ in ancestors(columns, group.column)]
    for group in question.groups:
        if above.count(name := group.column.name) > 1:
            raise InvalidQuestion(
                f"two of the columns grouped by lie within {name}, and no table adds up to both; leave one of them out"
            )
    return question.told_apart


def joint_table(
    question: Question,
    epsilon: Fraction,
    *,
    sensitivity: Fraction,
    bounds: Bounds,
    step: Fraction,
    grain: Fraction,
) -> JointTable:
    """Plan a table: cells are counted in grains, and released in steps of so much."""
    # The axes that the condition leaves; the rows of the answer on them; what is public; then the plan that errs least.
    remaining = _build_axes(question)
    layout = Layout(remaining.axes)
    rows = _place_rows(question, layout, remaining)
    sign = -1 if bounds.greatest == 0 else 1
    nonnegative = 0 in (bounds.least, bounds.greatest)
    most = bounds.least if sign < 0 else bounds.greatest
    facts = facts_of(
        remaining.known(question.table.known),
        layout,
        None if most is None or not nonnegative else int(abs(most) / step),
        of_all_rows=question.condition is None and question.measure == Count(),
        possible=remaining.possible,
    )
    groupings = tuple(dict.fromkeys(part.grouping for part in rows))
    places = None if remaining.possible is None else tuple(np.flatnonzero(remaining.possible).tolist())
    # Whoever reads a table adds it up: so the total counts as one grouping, unless the sets asked for leave it out.
    if question.sets is None and layout.total not in groupings and layout.total not in facts.known:
        groupings = (*groupings, layout.total)
    plan = JointPlan.of(
        layout,
        epsilon,
        groupings,
        sensitivity=sensitivity / step,
        grain=grain / step,
        facts=facts,
        nonnegative=nonnegative,
    )
    table = JointTable(plan, rows, bounds, step, sign, places, has_rest=question.rest)
    if question.running is None:
        return table
    return RunningTable.of(table, question.groups[question.running].column.name)


def _build_axes(question: Question) -> KeptAxes:
    """Return an axis for each of the finest groups, with the others that it lies within and those that facts are of;
    without the keys that the condition rules out."""
    known = question.table.known
    names = {*(group.column.name for group in question.groups), *known.names}
    axes = [
        _rest_axis(group)
        if isinstance(group, RestGroup)
        else axis_of(question.table.columns, group.column, group.size, names)
        for group in finest_groups(question)
    ]
    return KeptAxes.of(without_doubles(axes), question.possible)


def _rest_axis(group: RestGroup) -> Axis:
    """Return the axis of a group with its rest, which is a category like others on it."""
    (first, *above), levels = group.chain, group.levels[1:]
    outer = zip(above, levels, strict=True)
    return Axis(first.column.name, group.size, tuple(Level(each.column.name, codes) for each, codes in outer))


def _place_rows(question: Question, layout: Layout, remaining: KeptAxes) -> tuple[Rows, ...]:
    """Return where each row of the answer stands in the groupings of a layout."""
    names = [group.column.name for group in question.groups]
    parts = []
    for positions in question.groupings:
        grouping = layout.grouping([names[place] for place in positions])
        at = [names.index(str(name)) for name in layout.names(grouping)]
        numbers = np.arange(layout.groups(grouping)).reshape(layout.sizes(grouping))
        places = tuple(
            int(numbers[tuple(remaining.number(names[place], row[place] or 0) for place in at)])
            for row in question.rows_of(positions)
        )
        parts.append(Rows(grouping, places, ", ".join(names[place] for place in positions) or "the total"))
    return tuple(parts)
