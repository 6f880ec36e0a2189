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

GAPS = (1.0, 0.5, 4.0)
"""Cells in gaps are at most so many sensitivities wide."""


def choices(first: int, blocks: Blocks, half: Floats, distance: int) -> Iterator[CutCells]:
    """Yield cells of about these half-widths, the likeliest first; indices are counted from the first one."""
    count = float((blocks.counts / (2 * half + 1)).sum())
    if count > MOST_CELLS:
        return
    scales = SCALES if count <= FEW_CELLS else SOME_SCALES if count <= SOME_CELLS else SCALES[:1]
    has_gaps = len(blocks.cuts) - 1 > len(blocks) or blocks.starts[0] > 0 or blocks.ends[-1] < blocks.length
    seen = set()
    for gap in GAPS if has_gaps else GAPS[:1]:
        for scale in scales:
            edges = _edges(first, blocks, half / scale, gap * distance)
            if edges not in seen:
                seen.add(edges)
                yield CutCells(edges)


def _edges(first: int, blocks: Blocks, half: Floats, widest: float) -> tuple[int, ...]:
    begins = np.flatnonzero(np.append(True, blocks.starts[1:] != blocks.ends[:-1]))
    edges, past = [np.zeros(1)], 0.0
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(blocks)], strict=True):
        low, high = float(blocks.starts[begin]), float(blocks.ends[end - 1])
        edges.append(_spread(past, low, max(math.ceil((low - past) / widest), 1)))
        numbers = np.append(0.0, np.cumsum(blocks.counts[begin:end] / (2 * half[begin:end] + 1)))
        cells = max(round(float(numbers[-1])), 1)
        at = np.append(blocks.starts[begin], blocks.ends[begin:end])
        edges.append(np.interp(np.arange(cells + 1) * (numbers[-1] / cells), numbers, at))
        edges[-1][-1] = past = high
    edges.append(_spread(past, blocks.length, max(math.ceil((blocks.length - past) / widest), 1)))
    return tuple(first + edge for edge in np.unique(np.rint(np.concatenate(edges))).astype(np.int64).tolist())


def _spread(low: float, high: float, pieces: int) -> Floats:
    """Return the edges of so many cells of one width."""
    return np.linspace(low, high, pieces + 1)
