"""Random certificates of all laws that the checker knows, and ways to corrupt them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from inbounds import BoundedLaplace, Bounds, InboundsError
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Layout
from inbounds.limit.cells.cell_law import CellLaw, middles, row_epsilon
from inbounds.limit.cells.cells import Cells, interpolated_cells, rounded_cells
from inbounds.limit.cells.exact_table import repair
from inbounds.limit.cells.kernel import ChainKernel, Kernel, TableKernel
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.published import Geometric, Laplace, Staircase, TruncatedLaplacian
from inbounds.published.ghosh2009 import GeometricNoise
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.methods.quantiles.ordered import OrderedQuantiles
from tests.helpers.programs import ROOT

PROGRAM = ROOT / "checker" / "check_certificate.py"

Document = dict[str, Any]


def load_checker() -> ModuleType:
    """Return the program as a module: it belongs to no package."""
    spec = importlib.util.spec_from_file_location("check_certificate", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys  # noqa: PLC0415  a dataclass looks for its module

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


checker = load_checker()
HOLDS, CANNOT_TELL, REFUTED = checker.HOLDS, checker.CANNOT_TELL, checker.REFUTED


def found(document: Document) -> tuple[int, str]:
    """Return what the checker finds of a document."""
    code, text = checker.check(json.dumps(document))
    return int(code), str(text)


def random_bounds(rng: Random, *, whole_steps: bool, bounded: bool = False) -> Bounds:
    """Return up to four spans; of whole numbers, with a step, or of rational ones without."""
    unit = Fraction(1) if whole_steps else Fraction(1, rng.choice((1, 3, 8)))
    places = sorted(rng.sample(range(-20, 24), 2 * rng.randint(1, 4)))
    spans: list[tuple[Any, Any]] = [
        (low * unit, high * unit) for low, high in zip(places[::2], places[1::2], strict=True)
    ]
    if not bounded and rng.random() < 0.3:
        spans[0] = (None, spans[0][1])
    if not bounded and rng.random() < 0.3:
        spans[-1] = (spans[-1][0], None)
    return Bounds.union(spans, unit if whole_steps else None)


def random_epsilon(rng: Random) -> Fraction:
    """Return an epsilon as people choose it."""
    return Fraction(rng.choice((1, 2, 3, 5, 8, 10, 15, 20, 35)), 10)


def _laplace(rng: Random) -> Certificate:
    whole_steps = rng.random() < 0.7
    bounds = random_bounds(rng, whole_steps=whole_steps)
    trusted = rng.random() < 0.5
    guarantee: Any = "distance" if rng.random() < 0.3 and (trusted or len(bounds) == 1) else "standard"
    sensitivity = Fraction(rng.randint(1, 9)) if rng.random() < 0.7 else Fraction(rng.randint(1, 40), 7)
    pooling = rng.choice((Fraction(0), Fraction(0), Fraction(1, 3), Fraction(1)))
    return BoundedLaplace(
        bounds, sensitivity, random_epsilon(rng), guarantee=guarantee, pooling=pooling, trusted=trusted
    ).certificate


def _noise(rng: Random) -> Certificate:
    whole_steps = rng.random() < 0.8
    bounds = random_bounds(rng, whole_steps=whole_steps)
    ends: Any = rng.choice(("leave", "snap", "fold"))
    kinds: list[Any] = [Laplace, Staircase, TruncatedLaplacian, *([Geometric] if whole_steps else [])]
    kind = rng.choice(kinds)
    choices: dict[str, Any] = {}
    if kind is TruncatedLaplacian:
        choices["delta"] = rng.choice((Fraction(1, 10), Fraction(1, 1000)))
    if kind in (Laplace, Geometric) and rng.random() < 0.3:
        choices["guarantee"] = "distance"
    certificate: Certificate = kind(bounds, rng.randint(1, 6), random_epsilon(rng), ends=ends, **choices).certificate
    return certificate


def random_cells(rng: Random, setting: Setting) -> Cells:
    """Return cells for a setting: rounded, interpolated, or points farther apart than the sensitivity."""
    first, width, distance = setting.lattice.first, setting.lattice.width, setting.distance
    kind = rng.choice(("rounded", "points", "coarse"))
    if kind == "coarse":
        wide = distance * rng.randint(2, 3)
        return Cells(first, wide, -(-width // wide) + 1, 1, interpolated=True)
    make = rounded_cells if kind == "rounded" else interpolated_cells
    return make(first, width, distance, rng.randint(1, min(distance, 3)))


def _table(rng: Random) -> Certificate:
    bounds = random_bounds(rng, whole_steps=True, bounded=True)
    setting = Setting.of(bounds, rng.randint(1, 6), random_epsilon(rng))
    cells = random_cells(rng, setting)
    if cells.reach == 1 and rng.random() < 0.3:
        kernel: Kernel = ChainKernel(cells.rows, GeometricNoise(1, setting.epsilon))
    else:
        allowed = row_epsilon(cells, setting.distance, setting.epsilon)
        apart = abs(np.subtract.outer(np.arange(cells.rows), np.arange(cells.rows)))
        rows = np.exp(-apart * float(allowed) / cells.reach / 2)
        rows *= np.array([rng.uniform(0.5, 2) for _ in range(cells.rows)])
        kernel = TableKernel(repair(rows / rows.sum(1, keepdims=True), cells.adjacent(setting.distance), allowed))
    targets = middles(setting.lattice, cells)
    return CellLaw(setting, cells, kernel, targets).certify()


def _joint(rng: Random) -> Certificate:
    layout = Layout.plain((3, 4))
    groupings = [layout.grouping(names) for names in rng.sample([(0, 1), (0,), (1,), ()], rng.randint(1, 4))]
    grain = Fraction(1, rng.choice((1, 1, 4)))
    return JointPlan.of(
        layout,
        random_epsilon(rng),
        groupings,
        sensitivity=Fraction(rng.randint(1, 5)),
        facts=Facts.none(layout),
        grain=grain,
    ).certificate


def _rank(rng: Random) -> Certificate:
    levels = sorted(Fraction(level, 20) for level in rng.sample(range(1, 20), rng.randint(1, 6)))
    buckets = Buckets.of(Numbers("value", Bounds(0, rng.randint(1, 50), step=1)))
    return OrderedQuantiles(buckets, tuple(levels), random_epsilon(rng), rng.randint(1, 4), 2**10).certificate


MAKERS: tuple[Callable[[Random], Certificate], ...] = (_laplace, _laplace, _noise, _table, _joint, _rank)


def random_certificate(rng: Random) -> Certificate:
    """Return a certificate that is true."""
    while True:
        try:
            return rng.choice(MAKERS)(rng)
        except InboundsError:  # what was rolled does not go together
            continue


def _times(part: Document, name: str, factor: Fraction) -> None:
    part[name] = str(Fraction(part[name]) * factor)


def _more(rng: Random) -> Fraction:
    return Fraction(rng.randint(1001, 4000), 1000)


def _corrupt_noise(law: Document, rng: Random) -> None:
    """Make noise narrower, or shorter."""
    noise = law["noise"]
    if noise["shape"] == "cut" and rng.random() < 0.5:
        noise["limit"] = str(max(1, int(noise["limit"]) - rng.randint(1, 5)))
    elif noise["shape"] == "staircase" and rng.random() < 0.5:
        noise["flight"] = str(max(int(noise["first"]), int(noise["flight"]) - rng.randint(1, 3)))
    else:
        _times(noise, "fall" if noise["shape"] == "staircase" else "rate", _more(rng))


def _corrupt_draw(draw: Document, rng: Random) -> None:
    """Sharpen one of several draws."""
    inner = [half for half in (draw["below"], draw["above"]) if half is not None]
    if inner and rng.random() < 0.5:
        _corrupt_draw(rng.choice(inner), rng)
    else:
        _times(draw, "rate", _more(rng))


def _corrupt_table(law: Document, rng: Random) -> None:
    """Move probability from one outcome of a row to another, or move the cells."""
    if rng.random() < 0.2:
        law["width"] = str(max(1, int(law["width"]) - 1))
    elif rng.random() < 0.2:
        law["interpolated"] = not law["interpolated"]
    elif "rate" in law:
        _times(law, "rate", _more(rng))
    else:
        row = rng.choice(law["rows"])
        giver, taker = rng.randrange(len(row)), rng.randrange(len(row))
        moved = int(row[giver]) * rng.randint(1, 16) // 16
        row[giver] = str(int(row[giver]) - moved)
        row[taker] = str(int(row[taker]) + moved)


def _corrupt_law(document: Document, rng: Random) -> None:
    law = document["law"]
    if law["kind"] == "laplace":
        if rng.random() < 0.2:
            law["pooling"] = str(Fraction(rng.randint(0, 8), 8))
        else:
            _times(law, "scale", 1 / _more(rng))
    elif law["kind"] == "noise":
        _corrupt_noise(law, rng)
    elif law["kind"] == "table":
        _corrupt_table(law, rng)
    elif law["kind"] == "joint":
        _times(rng.choice(law["noises"]), "rate", _more(rng))
    else:
        _corrupt_draw(law["draw"], rng)


def _corrupt_bounds(document: Document, rng: Random) -> None:
    spans = document["claim"]["bounds"]["spans"]
    if len(spans) > 1 and rng.random() < 0.4:
        del spans[rng.randrange(len(spans))]
        return
    span, end = rng.randrange(len(spans)), rng.randrange(2)
    if spans[span][end] is None or (rng.random() < 0.1 and (span, end) in ((0, 0), (len(spans) - 1, 1))):
        spans[span][end] = (
            "-30" if spans[span][end] is None and end == 0 else "30" if spans[span][end] is None else None
        )
    else:
        spans[span][end] = str(Fraction(spans[span][end]) + rng.choice((-1, 1)) * rng.randint(1, 6))


def _drop_pairs(document: Document, rng: Random) -> None:
    pairs = document["pairs"]
    for _ in range(rng.randint(1, len(pairs))):
        del pairs[rng.randrange(len(pairs))]


def corrupt(document: Document, rng: Random) -> str:
    """Change something of a document, and return what."""
    claim = document["claim"]
    ways = ["law", "law", "law", "sensitivity", "epsilon", "loss", "bounds"]
    way = rng.choice(
        [*ways, *(["pairs"] * 2 if document["pairs"] else []), *(["delta"] if claim["delta"] != "0" else [])]
    )
    if way == "law":
        _corrupt_law(document, rng)
    elif way == "bounds":
        _corrupt_bounds(document, rng)
    elif way == "pairs":
        _drop_pairs(document, rng)
    else:
        _times(claim, way, _more(rng) if way == "sensitivity" else 1 / _more(rng))
    return way
