"""How much the law of a certificate loses, written out from the definition: in doubles, on small lattices.

Nothing is shared with the checker, or with the package: every answer, every release, all probabilities.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any

import numpy as np

from inbounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.mechanisms.additive.ends import Ends
from inbounds.privacy.certificate import Certificate, prove
from inbounds.privacy.claim import Claim, Promise

Document = dict[str, Any]
Losses = tuple[float, float]
"""The greatest loss is from the first to the second."""

LONGEST = 4000
"""So many steps are looked at on an endless side, at most."""


class TooLarge(Exception):
    """The law cannot be written out."""


def spans_of(document: Document) -> list[tuple[float, float]]:
    """Return the spans as indices; an infinity is no end."""
    bounds, step = document["claim"]["bounds"], Fraction(document["law"]["step"])
    spans: list[tuple[float, float]] = []
    for low, high in bounds["spans"]:
        ends = [None if end is None else (Fraction(end) - Fraction(bounds["offset"])) / step for end in (low, high)]
        first = -inf if ends[0] is None else ceil(ends[0])
        last = inf if ends[1] is None else floor(ends[1])
        if first > last or (spans and first <= spans[-1][1]):
            raise TooLarge
        if spans and first == spans[-1][1] + 1:
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return spans


def steps_of(document: Document) -> int:
    """Return how many indices neighbours are apart."""
    return ceil(Fraction(document["claim"]["sensitivity"]) / Fraction(document["law"]["step"]))


def loss_of(document: Document) -> Losses:
    """Return the greatest loss; of a cut noise, what has to be exempt is compared by `delta_of`."""
    kind = document["law"]["kind"]
    return {"laplace": _of_laplace, "noise": _of_noise, "table": _of_table, "joint": _of_joint}[kind](document)


def proved_again(document: Document) -> Certificate:
    """Return what the package itself proves of a document with a truncated Laplace law."""
    claim, law = document["claim"], document["law"]
    bounds, numbers = claim["bounds"], {name: Fraction(claim[name]) for name in ("sensitivity", "epsilon")}
    ends = [tuple(None if end is None else Fraction(end) for end in span) for span in bounds["spans"]]
    step = None if bounds["step"] is None else Fraction(bounds["step"])
    made = Bounds.union([(low, high) for low, high in ends], step, Fraction(bounds["offset"]))
    promise = Promise(
        made, **numbers, guarantee=claim["guarantee"], pooling=Fraction(law["pooling"]), trusted=claim["trusted"]
    )
    return prove(Claim.on(promise, Fraction(law["step"]), Fraction(law["scale"])))


def _points(spans: list[tuple[float, float]], pad: int) -> list[int]:
    """Return all indices, or those within so many steps of an end."""
    if pad > LONGEST:
        raise TooLarge
    ends = [int(end) for span in spans for end in span if abs(end) != inf] or [0]
    low, high = min(ends) - pad, max(ends) + pad
    points = [k for first, last in spans for k in range(int(max(first, low)), int(min(last, high)) + 1)]
    if len(points) > 3 * LONGEST:
        raise TooLarge
    return points


def _of_laplace(document: Document) -> Losses:
    claim, law, spans = document["claim"], document["law"], spans_of(document)
    rate, pooling, steps = (
        float(Fraction(law["step"]) / Fraction(law["scale"])),
        float(Fraction(law["pooling"])),
        steps_of(document),
    )
    if claim["trusted"] or claim["guarantee"] == "distance":
        raise TooLarge  # what the package proves of these is what they are compared with
    points = np.array(_points(spans, ceil(45 / rate) + 2 * steps))
    q = np.exp(-rate)
    weights = np.ones(len(points))
    for (_, high), (low, _) in pairwise(spans):
        gap = low - high - 1
        weights[np.isin(points, (high, low))] += pooling * q * (1 - q**gap) / ((1 - q) * (1 + q ** (gap + 1)))
    for end in (spans[0][0], spans[-1][1]):
        if abs(end) != inf:
            weights[points == end] += pooling * q / (1 - q)
    ends = [int(end) for span in spans for end in span if abs(end) != inf] or [0]
    near = range(min(ends) - 3 * steps - 2, max(ends) + 3 * steps + 3)

    def nearest(index: int) -> int:
        return int(points[np.argmin(abs(points - index))])  # the lower one of two comes first

    rows: dict[int, Any] = {}

    def row(centre: int) -> Any:
        if centre not in rows:
            mass = np.log(weights) - rate * abs(points - centre)
            rows[centre] = mass - np.log(np.exp(mass).sum())
        return rows[centre]

    worst = 0.0
    for x in near:
        pairs = {(nearest(x), nearest(x + apart)) for apart in range(1, steps + 1)}
        worst = max([worst, *(float(abs(row(m) - row(n)).max()) for m, n in pairs if m != n)])
    return worst, worst


def _log_noise(noise: Document, reach: int) -> Any:
    k = np.abs(np.arange(-reach, reach + 1)).astype(float)
    if noise["shape"] == "staircase":
        flight, first = int(noise["flight"]), int(noise["first"])
        return -float(Fraction(noise["fall"])) * np.floor((k + flight - first) / flight)
    logs = -float(Fraction(noise["rate"])) * k
    return np.where(k <= int(noise["limit"]), logs, -np.inf) if noise["shape"] == "cut" else logs


def _reach(noise: Document) -> int:
    if noise["shape"] == "cut":
        return int(noise["limit"])
    per_step = Fraction(noise["rate"]) if "rate" in noise else Fraction(noise["fall"]) / int(noise["flight"])
    return ceil(90 / float(per_step))


def _of_noise(document: Document) -> Losses:
    law, claim, spans = document["law"], document["claim"], spans_of(document)
    noise, steps, reach = law["noise"], steps_of(document), _reach(law["noise"])
    if reach > LONGEST:
        raise TooLarge
    distance = claim["guarantee"] == "distance"
    width = spans[-1][1] - spans[0][0]
    apart = 1 if distance else int(min(steps, width))
    if not apart:
        return 0.0, 0.0
    logs = _log_noise(noise, 2 * reach + apart)
    finite = np.isfinite(logs[apart:]) & np.isfinite(logs[:-apart])
    difference = np.abs(logs[apart:][finite] - logs[:-apart][finite]).max(initial=0.0)
    if noise["shape"] == "staircase":  # of which fewer steps may lose as much, but never more
        difference = max(float(np.abs(logs[d:] - logs[:-d]).max()) for d in range(1, apart + 1))
    loss = float(difference) * (steps if distance else 1)
    return (
        (loss, loss)
        if law["ends"] == "leave"
        else (_of_ends(document, spans, apart, reach) * (steps if distance else 1), loss)
    )


def _of_ends(document: Document, spans: list[tuple[float, float]], apart: int, reach: int) -> float:
    """Return a loss that is seen in releases, from what is snapped or folded; 0 where that is not looked at."""
    if document["law"]["noise"]["shape"] == "cut" or abs(spans[0][0]) == inf or abs(spans[-1][1]) == inf:
        return 0.0
    lattice = Lattice.of(Bounds.union(spans, 1), Fraction(1))
    ends = Ends.of(document["law"]["ends"], lattice)
    reach += 2 * lattice.width  # what is farther out is far below what the rarest release has
    masses = np.exp(_log_noise(document["law"]["noise"], reach))
    masses /= masses.sum()

    def row(centre: int) -> Any:
        released = ends.apply_many(np.arange(centre - reach, centre + reach + 1))
        return np.bincount(released - lattice.first, masses, lattice.width + 1)

    rows = {centre: row(centre) for centre in range(lattice.first, lattice.last + 1)}
    possible = np.array(lattice.indices()) - lattice.first
    pairs = [(rows[c][possible], rows[c + d][possible]) for c in rows for d in range(1, apart + 1) if c + d in rows]
    return max((float(np.abs(np.log(a / b)).max()) for a, b in pairs), default=0.0)


def delta_of(document: Document) -> float:
    """Return what of a cut noise only one of two neighbours can have."""
    spans, noise = spans_of(document), document["law"]["noise"]
    apart = int(min(steps_of(document), spans[-1][1] - spans[0][0]))
    if int(noise["limit"]) > LONGEST * 100:
        raise TooLarge
    masses = np.exp(_log_noise(noise, int(noise["limit"])))
    return float(masses[:apart].sum() / masses.sum())


def _of_joint(document: Document) -> Losses:
    loss = float(sum(Fraction(noise["rate"]) for noise in document["law"]["noises"]) * steps_of(document))
    return loss, loss


def _of_table(document: Document) -> Losses:
    law, spans = document["law"], spans_of(document)
    if abs(spans[0][0]) == inf or abs(spans[-1][1]) == inf:
        raise TooLarge
    first, last, width, start = int(spans[0][0]), int(spans[-1][1]), int(law["width"]), int(law["start"])
    apart, count = int(min(steps_of(document), last - first)), len(law["rows"] if "rows" in law else law["releases"])
    if "rate" in law:
        steps = np.arange(-400, 401 + count)
        tail = np.exp(-float(Fraction(law["rate"])) * abs(steps))
        table = np.array([np.bincount(np.clip(row + steps, 0, count - 1), tail, count) for row in range(count)])
    else:
        table = np.array([[float(int(entry)) for entry in row] for row in law["rows"]])
    table /= table.sum(1, keepdims=True)
    releases = sorted(set(law["releases"]))
    merged = np.array([[row[[r == one for r in law["releases"]]].sum() for one in releases] for row in table])

    def law_of(index: int) -> Any:
        row, past = divmod(index - start, width)
        if not law["interpolated"] or not past:
            if not 0 <= row < count:
                raise TooLarge
            return merged[row]
        if not 0 <= row < count - 1:
            raise TooLarge
        return merged[row] + past / width * (merged[row + 1] - merged[row])

    rows = {index: law_of(index) for index in range(first, last + 1)}
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for index, row in rows.items():
            for other in (rows[index + d] for d in range(1, apart + 1) if index + d in rows):
                worst = max(worst, float(np.nan_to_num(np.abs(np.log(row / other)), nan=0.0, posinf=inf).max()))
    return worst, worst
