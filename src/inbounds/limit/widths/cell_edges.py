"""Where to cut cells whose best half-widths are known: span by span, and across the gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from inbounds.limit.cells.cut_cells import CutCells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.limit.widths.blocks import Blocks

    Floats = NDArray[np.float64]

FEW_CELLS = 60
"""With so few cells it matters how many there are: as many as half-widths say, a little fewer and a little more,"""

SCALES = (1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3)
"""by these factors;"""

SOME_CELLS = 600
"""with so many, by the first few of them that are near one."""

SOME_SCALES = (1.0, 0.95, 1.05)


MOST_CELLS = 130_000
"""More cells take too long."""

WAYS = ((120, 16), (5000, 8), (math.inf, 4))
"""For the worst error up to so many cells are cut in so many ways: the more, the more alike errors are near the ends of
spans."""

NARROWER, ENDS = 0.1, 2.0
"""At the ends of spans cells are narrower by this share, and by a third of it so many cells farther on."""

GAPS = (1.0, 0.5, 4.0)
"""Cells in gaps are at most so many sensitivities wide."""


def choices(first: int, blocks: Blocks, half: Floats, distance: int) -> Iterator[CutCells]:
    """Yield cells of about these half-widths, the likeliest first; indices are counted from the first one."""
    count = _count(blocks, half)
    if count > MOST_CELLS:
        return
    scales = SCALES if count <= FEW_CELLS else SOME_SCALES if count <= SOME_CELLS else SCALES[:1]
    seen = set()
    for gap in GAPS if _has_gaps(blocks) else GAPS[:1]:
        for scale in scales:
            edges = _edges(first, blocks, half / scale, gap * distance, None)
            if edges not in seen:
                seen.add(edges)
                yield CutCells(edges)


def mixtures(first: int, blocks: Blocks, half: Floats, distance: int) -> Iterator[tuple[CutCells, ...]]:
    """Yield cells cut in several ways, so that no answer is near an edge in all of them, the likeliest first."""
    count = _count(blocks, half)
    ways = next(ways for most, ways in WAYS if count <= most)
    if count * ways > MOST_CELLS:
        return
    shifts = [(way + 0.5) / ways for way in range(ways)]
    for scale in SOME_SCALES if count <= SOME_CELLS else SCALES[:1]:
        yield tuple(CutCells(_edges(first, blocks, half / scale, GAPS[0] * distance, shift)) for shift in shifts)


def _count(blocks: Blocks, half: Floats) -> float:
    return float((blocks.counts / (2 * half + 1)).sum())


def _has_gaps(blocks: Blocks) -> bool:
    return len(blocks.cuts) - 1 > len(blocks) or blocks.starts[0] > 0 or blocks.ends[-1] < blocks.length


def _edges(first: int, blocks: Blocks, half: Floats, widest: float, shift: float | None) -> tuple[int, ...]:
    """Return the edges of cells that fill each span alike, or of which the first one has this share of its width."""
    begins = np.flatnonzero(np.append(True, blocks.starts[1:] != blocks.ends[:-1]))
    edges, past = [np.zeros(1)], 0.0
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(blocks)], strict=True):
        low, high = float(blocks.starts[begin]), float(blocks.ends[end - 1])
        edges.append(_spread(past, low, max(math.ceil((low - past) / widest), 1)))
        numbers = np.append(0.0, np.cumsum(blocks.counts[begin:end] / (2 * half[begin:end] + 1)))
        total = float(numbers[-1])
        cells = max(round(total), 1)
        wanted = np.arange(1, cells) * (total / cells) if shift is None else _narrower(np.arange(shift, total), total)
        at = np.append(blocks.starts[begin], blocks.ends[begin:end])
        edges.append(np.append(np.interp(wanted, numbers, at), high))
        past = high
    edges.append(_spread(past, blocks.length, max(math.ceil((blocks.length - past) / widest), 1)))
    return tuple(first + edge for edge in np.unique(np.rint(np.concatenate(edges))).astype(np.int64).tolist())


def _narrower(edges: Floats, total: float) -> Floats:
    """Return edges, counted in cells, that are a little nearer to the ends of a span."""
    # The first cell of a way is cut off anywhere; the cell after it would be the farthest away from what it is for.
    for _ in range(2):
        edges = total - (edges * (1 - NARROWER * np.exp(-edges / ENDS)))[::-1]
    return edges


def _spread(low: float, high: float, pieces: int) -> Floats:
    """Return the edges of so many cells of one width."""
    return np.linspace(low, high, pieces + 1)
