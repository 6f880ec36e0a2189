"""Measurements as plain values that JSON can hold, and back: what is kept so that nothing has to be paid twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1

FIELDS = (
    *("version", "axes", "epsilon", "split", "sensitivity", "grain", "nonnegative", "known", "most", "measured"),
    "asked",
)
"""What is stored of measurements."""


def to_document(measured: Measurements) -> dict[str, Any]:
    """Return measurements, and what they were made with, as lists, texts and numbers."""
    plan = measured.plan
    values = (
        VERSION,
        [_axis_to_document(axis) for axis in plan.layout.axes],
        str(plan.epsilon),
        [[list(grouping), str(part)] for grouping, part in plan.split.items()],
        str(plan.sensitivity),
        str(plan.grain),
        plan.nonnegative,
        [
            [list(grouping), values.ravel().tolist(), known.ravel().tolist()]
            for grouping, (values, known) in plan.facts.known.items()
        ],
        plan.facts.most,
        [values.ravel().tolist() for values in measured.grains.values()],
        [list(grouping) for grouping in plan.asked],
    )
    return dict(zip(FIELDS, values, strict=True))


def load_measurements(text: str) -> tuple[Measurements, dict[str, Any]]:
    """Return measurements that were stored as JSON, and whatever was stored beside them."""
    try:
        document = json.loads(text)
        if document["version"] != VERSION:
            raise ValueError
        measured = _from_document(document)
        return measured, {name: value for name, value in document.items() if name not in FIELDS}
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidParameter(
            "stored measurements must be unchanged, and written by this version or an older one, got others; load the "
            "original text"
        ) from None


def _from_document(document: dict[str, Any]) -> Measurements:
    layout = Layout(tuple(_load_axis(*axis) for axis in document["axes"]))
    known = {
        tuple(grouping): (_array(layout, grouping, values), _array(layout, grouping, is_known, np.bool_))
        for grouping, values, is_known in document["known"]
    }
    split = {tuple(grouping): Fraction(part) for grouping, part in document["split"]}
    asked = tuple(map(tuple, document.get("asked", split)))  # once, whatever was asked for was measured
    epsilon = Fraction(document["epsilon"])
    if sum(split.values()) != epsilon or not _is_told(layout, asked, split):
        raise ValueError
    numbers = Fraction(document["sensitivity"]), Fraction(document["grain"])
    plan = JointPlan(
        layout, epsilon, split, *numbers, Facts(layout, known, document["most"]), bool(document["nonnegative"]), asked
    )
    pairs = zip(split, document["measured"], strict=True)
    return Measurements(plan, {grouping: _array(layout, grouping, values) for grouping, values in pairs})


def _is_told(layout: Layout, asked: Sequence[Grouping], measured: Collection[Grouping]) -> bool:
    """Return whether what is measured was asked for, and tells everything that was."""
    told = all(any(layout.is_within(source, grouping) for source in measured) for grouping in asked)
    return told and set(measured) <= set(asked)


def _array(layout: Layout, grouping: Grouping, values: list[Any], kind: Any = np.int64) -> NDArray[Any]:
    return np.array(values, dtype=kind).reshape(layout.sizes(tuple(grouping)))


def _axis_to_document(axis: Axis) -> list[Any]:
    return [axis.name, axis.size, [[level.name, list(level.parents)] for level in axis.levels]]


def _load_axis(name: str | int, size: int, levels: list[Any]) -> Axis:
    return Axis(name, size, tuple(Level(level, tuple(parents)) for level, parents in levels))
