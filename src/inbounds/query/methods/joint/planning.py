"""How a question about groups becomes a joint table: its axes, its groupings, and what is public of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.joint.plan.plan import JointPlan
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


def finest_groups(question: Question) -> tuple[Group, ...]:
    """Return the groups that a statement has to tell apart: those that no other group lies within tell nothing more."""
    groups = finest(question.table.columns, question.groups)
    above = [name for group in groups for name, _ in ancestors(question.table.columns, group.column)]
    for group in question.groups:
        if above.count(name := group.column.name) > 1:
            raise InvalidQuestion(
                f"two of the columns grouped by lie within {name}, and no table adds up to both; leave one of them out"
            )
    return groups


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
    table = JointTable(plan, rows, bounds, step, sign, places)
    if question.running is None:
        return table
    return RunningTable.of(table, question.groups[question.running].column.name)


def _build_axes(question: Question) -> KeptAxes:
    """Return an axis for each of the finest groups, with the others that it lies within and those that facts are of;
    without the keys that the condition rules out."""
    known = question.table.known
    names = {group.column.name for group in question.groups}
    public = {*known.by, *(name for zero in known.zeros for name in zero)}
    columns, groups = question.table.columns, finest_groups(question)
    axes = [axis_of(columns, group.column, group.size, names | public) for group in groups]
    return KeptAxes.of(without_doubles(axes), question.possible)


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
