"""Noise on several totals together: what it would have of the noise that is put on them today, and of the least.

A unit changes `K` sums together by at most 1 (a mean has two such sums, a deviation three), or each of `m` totals of
different columns by at most 1.  Noise on all of them at once can be smaller than noise on each:

* `staircase`: its distance from 0 in the L1 norm falls in stairs, like Geng & Viswanath's (2014) in one dimension; its
  direction is even.
* `hourglass`: of two sums, which a row moves by exactly 1 together.  In `s = x + y` and `d = x - y` a row moves `s` by
  exactly 1 and `d` by at most 1, so whole `s` stay whole, and the least number of rows from a core, `|d| <= c` at
  `s = 0`, decides the probability.  (Kulesza, Suresh and Wang, arXiv 2312.06658, have the name and the idea.)
* `weighed`: the same where a unit may also move both by less, looked for on a lattice of twelfths and a few cores.
* `box`: its greatest component falls, exponentially or in stairs (K-norm noise: Hardt and Talwar 2010).
* `least`: what is possible on one sum even if nothing else were released: a staircase with the whole epsilon.

Expected sizes are integrals in closed form, of a fine lattice's limit; what is done today is asked of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, expm1, inf, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series
from inbounds.query import Dataset
from inbounds.query.methods.mechanism_choice import choose_noise
from inbounds.query.methods.method import OneNumber

EPSILONS = (1, 2, 3, 4, 5, 8)
FINE = Fraction(1, 2**16)
TINY = 1e-20
"""Levels with less of the probability of the first are left out."""

TWELFTHS, FAR = 12, 10
"""A unit's move has so many steps, and noise is looked at as far as so many moves."""

CONTRACT = """
    [dataset]
    name = "rows"
    source = "{path}"
    unit = "row"

    [columns]
    {columns}

    [budget]
    total = 1000000
"""

STATISTICS = {"AVG": 2, "STDDEV": 3, "COVAR_SAMP": 4, "CORR": 9}
"""From how many sums each is made."""

SHAPES: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "even": lambda random, rows: random.random(rows),
    "normal": lambda random, rows: np.clip(random.normal(0.37, 0.123, rows), 0, 1),
    "skewed": lambda random, rows: np.clip(random.lognormal(-2.4, 0.75, rows), 0, 1),
    "at the ends": lambda random, rows: random.beta(0.3, 0.3, rows),
}
ROWS = 200_000


def run(peers: PeerProcess, *, quick: bool) -> Series:
    """Compare, for one column, for several, and for a deviation; no peer draws noise for several totals together."""
    return Series((report_one_column(), report_several_columns(), report_deviations(200_000 if quick else 2_000_000)))


# Expected sizes.


def least(epsilon: float) -> float:
    """Return the least mean size of noise on a number that changes by at most 1 (Geng & Viswanath 2014)."""
    return exp(epsilon / 2) / expm1(epsilon)


def staircase_radius(epsilon: float, dimensions: int) -> float:
    """Return the least mean norm of noise that falls in stairs with it, over where its first stair ends."""
    return _least_of(lambda first: _radius(epsilon, dimensions, first))


def _radius(epsilon: float, dimensions: int, first: float) -> float:
    sizes, all_of_it = 0.0, 0.0
    for low, high, weight in _stairs(epsilon, first):
        sizes += weight * (high ** (dimensions + 1) - low ** (dimensions + 1)) / (dimensions + 1)
        all_of_it += weight * (high**dimensions - low**dimensions) / dimensions
    return sizes / all_of_it


def _stairs(epsilon: float, first: float) -> Iterator[tuple[float, float, float]]:
    level = 0
    while exp(-epsilon * level) > TINY:
        yield level, level + first, exp(-epsilon * level)
        yield level + first, level + 1, exp(-epsilon * (level + 1))
        level += 1


def hourglass(epsilon: float) -> float:
    """Return the mean size of the noise on each of two sums, for the best core."""
    return _least_of(lambda core: _hourglass(epsilon, core))


def _hourglass(epsilon: float, core: float) -> float:
    # x = (s + d) / 2.  At every s the levels are bands of d: the first as wide as |s| moves make the core, then 2 each.
    sizes, all_of_it, moves = 0.0, 0.0, 0
    while exp(-epsilon * moves) > TINY:
        for s in sorted({moves, -moves}):
            low, high, level = 0.0, core + moves, moves
            while exp(-epsilon * level) > TINY:
                weight = exp(-epsilon * level)
                sizes += weight * (_size(low, high, s) + _size(-high, -low, s))
                all_of_it += weight * 2 * (high - low)
                low, high, level = high, high + 2, level + 2
        moves += 1
    return sizes / all_of_it


def _size(low: float, high: float, s: int) -> float:
    """Return the integral of `|s + d| / 2` over `d`."""
    return ((high + s) * abs(high + s) - (low + s) * abs(low + s)) / 4


@cache
def weighed_hourglasses() -> dict[int, float]:
    """Return the least mean size that was found for each epsilon where a unit moves both sums by 1 or less.

    Then `|change of d| <= |change of s| <= 1`, and probabilities fall with the least number of such moves.
    """
    places = np.arange(-FAR * TWELFTHS, FAR * TWELFTHS + 1)
    s, d = np.meshgrid(places, places, indexing="ij")
    size = np.abs(s + d) / (2 * TWELFTHS)
    sizes: dict[int, float] = dict.fromkeys(EPSILONS, inf)
    for tall, wide in product(range(1, 5), range(1, 8)):
        levels = _moves_from((np.abs(s) <= tall) & (np.abs(d) <= wide))
        for epsilon in EPSILONS:
            weights = np.exp(-epsilon * levels)
            sizes[epsilon] = min(sizes[epsilon], float((weights * size).sum() / weights.sum()))
    return sizes


def _moves_from(core: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how many moves lead from the core to each place; infinity for those farther than the noise goes."""
    levels, reached, level = np.where(core, 0.0, inf), core, 0
    while level < FAR and not reached.all():
        reached, level = _one_move(reached), level + 1
        levels[reached & np.isinf(levels)] = level
    return levels


def _one_move(reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return what one move leads to, from rows of all `d`: at each change of `s`, as far along `d`."""
    count = len(reached)
    sums = np.pad(np.cumsum(reached, axis=1), ((0, 0), (1, 0)))
    moved, places = np.zeros_like(reached), np.arange(count)
    for change in range(-TWELFTHS, TWELFTHS + 1):
        wide = abs(change)
        near = sums[:, np.minimum(places + wide + 1, count)] > sums[:, np.maximum(places - wide, 0)]
        to, of = slice(max(change, 0), count + min(change, 0)), slice(max(-change, 0), count - max(change, 0))
        moved[to] |= near[of]
    return moved


def _least_of(size: Callable[[float], float]) -> float:
    """Return the least value over 0 to 1: golden sections, as there is one valley."""
    low, high, part = 1e-9, 1.0, (sqrt(5) - 1) / 2
    while high - low > 1e-7:
        left, right = high - part * (high - low), low + part * (high - low)
        low, high = (low, right) if size(left) < size(right) else (left, high)
    return size((low + high) / 2)


# Privacy, in integers: how many levels apart the noises are that lead from neighbours to one release.


def hourglass_level(s: int, d: int, core: int, whole: int) -> int:
    """Return how many rows it takes from the core to `s` rows and a difference `d`, in a row's `whole` steps."""
    beyond = abs(d) - core - abs(s) * whole
    return abs(s) + 2 * max(0, -(-beyond // (2 * whole)))


def staircase_level(x: int, y: int, first: int, whole: int) -> int:
    """Return the stair of a point in the L1 norm."""
    stair, rest = divmod(abs(x) + abs(y), whole)
    return stair + (rest >= first)


def worst_levels(whole: int = 6, reach: int = 3) -> dict[str, int]:
    """Return by how many levels what a unit does changes the noise at most, over all moves on a small lattice."""
    places = range(-reach * whole, reach * whole + 1)
    hourglasses, stairs, of_parts = 0, 0, 0
    for core, (s, d), change in product(range(whole), product(range(-reach, reach), places), range(-whole, whole + 1)):
        moved = hourglass_level(s + 1, d + change, core, whole)
        hourglasses = max(hourglasses, abs(moved - hourglass_level(s, d, core, whole)))
    moves = [(i, j) for i, j in product(range(-whole, whole + 1), repeat=2) if 0 < abs(i) + abs(j) <= whole]
    for first, (x, y), (i, j) in product(range(whole), product(places[::2], repeat=2), moves):
        change = abs(staircase_level(x + i, y + j, first, whole) - staircase_level(x, y, first, whole))
        stairs = max(stairs, change)
        if abs(i) + abs(j) == 1:
            of_parts = max(of_parts, change)
    return {"hourglass": hourglasses, "staircase": stairs, "staircase, a sixth of a move": of_parts}


# Tables.


def report_one_column() -> Report:
    """Compare for the sums behind a mean, a deviation, a covariance and a correlation, each with all of epsilon."""
    measured: dict[str, float] = {}
    rows = []
    for epsilon in EPSILONS:
        today = choose_noise(FINE, Fraction(1), Fraction(epsilon), "distance").error
        cells = {
            f"staircase, {name}": staircase_radius(epsilon, sums) / sums / today for name, sums in STATISTICS.items()
        }
        cells |= {
            "hourglass, AVG": hourglass(epsilon) / today,
            "weighed hourglass, AVG": weighed_hourglasses()[epsilon] / today,
            "least": least(epsilon) / today,
        }
        measured |= {f"epsilon {epsilon}, {name}": value for name, value in cells.items()}
        rows.append((str(epsilon), *(f"{value:.3f}" for value in cells.values())))
    levels = worst_levels()
    return Report(
        "Noise on each sum behind a statistic, over today's",
        ("epsilon", *(f"{name.removesuffix('_SAMP')} stairs" for name in STATISTICS), "hourglass", "weighed", "least"),
        rows,
        notes=[
            "Levels that a neighbour's noise is away at most, each worth epsilon, on a small lattice: "
            f"{', '.join(f'{name} {value}' for name, value in levels.items())}."
        ],
        measured=measured,
    )


def report_several_columns() -> Report:
    """Compare for totals of several columns in one question, each with a part of epsilon today."""
    measured: dict[str, float] = {}
    rows = []
    for (totals, epsilon), today in _today().items():
        box = (totals + 1) / (2 * totals)  # of the greatest component, what each of them is on average
        cells = {
            "today": today,
            "L1 staircase": staircase_radius(epsilon, totals),  # the norm of a change is up to `totals`
            "box": box * totals / epsilon,
            "box staircase": box * staircase_radius(epsilon, totals),
            "least": least(epsilon),
        }
        measured |= {f"{totals} totals, epsilon {epsilon}, {name}": value for name, value in cells.items()}
        ratios = (f"{value / today:.3f}" for name, value in cells.items() if name != "today")
        rows.append((f"{totals} totals, {epsilon}", f"{today:.4f}", *ratios))
    return Report(
        "Noise on each total of several columns, in what a unit changes",
        ("totals, epsilon", "today", "L1 stairs", "box", "box stairs", "least"),
        rows,
        notes=[
            "All but today's over today's, which divides epsilon, and has the gain of answers that are never below 0; "
            "others would have some of that, too."
        ],
        measured=measured,
    )


def _today() -> dict[tuple[int, int], float]:
    """Return the mean error that is told of each sum of so many columns, from 0 to 1, in one question at epsilon."""
    told = {}
    with TemporaryDirectory() as folder:
        for totals in (2, 3, 5):
            names = [f"x{number}" for number in range(totals)]
            path = Path(folder) / f"{totals}.csv"
            path.write_text("\n".join([",".join(names), ",".join("0" * totals)]) + "\n", "utf-8")
            columns = "\n    ".join(f'{name} = {{ bounds = "[0, 1] step 0.001" }}' for name in names)
            text = CONTRACT.format(path=path, columns=columns)
            with Dataset.parse(text, ledger=f"sqlite:///{folder}/ledger.db") as dataset:
                query = dataset.sql(f"SELECT {', '.join(f'SUM({name})' for name in names)} FROM rows")
                for epsilon in EPSILONS:
                    answering = query.plans(epsilon)[0].answering
                    assert isinstance(answering, OneNumber)
                    told[totals, epsilon] = answering.choice.error
    return told


def report_deviations(draws: int) -> Report:
    """Compare for a deviation: noise that is even on the hull of all rows and their negatives, times a radius."""
    random = np.random.default_rng(20260301)
    even = _even_in_l1_ball(random, draws)
    kept = even[norm(even) <= 1]
    measured: dict[str, float] = {"volume": len(kept) / draws}
    rows = []
    for name, shape in SHAPES.items():
        of_mean, of_variance = _changes(shape(random, ROWS))
        # Noise on the whole L1 ball with the radius of the gamma law is Laplace noise on each sum.
        ratios = [float(np.abs(kept @ way).mean() / np.abs(even @ way).mean()) for way in (of_variance, of_mean)]
        measured |= {f"{name}, STDDEV": ratios[0], f"{name}, AVG": ratios[1]}
        rows.append((name, *(f"{value:.3f}" for value in ratios)))
    return Report(
        "Noise on the hull of all rows and their negatives, over Laplace noise",
        ("values", "STDDEV", "AVG beside it"),
        rows,
        notes=[
            f"Its volume is {len(kept) / draws:.4f} of the L1 ball's.  The ratios hold at every epsilon; {draws:,} "
            "draws.  In stairs, it would have that of `STDDEV stairs` times them."
        ],
        measured=measured,
    )


def norm(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least part of the hull of `±((1 - u)^2, 2u(1 - u), u^2)` that holds each row of three sums.

    It is the greatest `|w·x|` over all `w` for which `|w·row| <= 1` for every row: these are the parabolas between -1
    and 1 on [0, 1], of which 1 and those that touch -1 at a `t` and reach 1 at the farther end are extreme.  With `v`
    one over the distance of `t` from that end, `w·x` is quadratic in `v` from 1 to 2.
    """
    together = sums.sum(axis=1)
    greatest = np.abs(together)
    for middle, last in ((sums[:, 1], sums[:, 2]), (sums[:, 1], sums[:, 0])):
        first_moment = middle / 2 + last
        # 2 v^2 ((1 - 1/v)^2 S - 2 (1 - 1/v) M + L) - S, as a v^2 + b v + c
        a = 2 * (together - 2 * first_moment + last)
        b = 4 * (first_moment - together)
        c = together
        turn = np.clip(-b / np.where(a == 0, 1, 2 * a), 1, 2)
        for v in (np.ones_like(turn), turn, np.full_like(turn, 2.0)):
            greatest = np.maximum(greatest, np.abs(a * v**2 + b * v + c))
    return greatest


def _even_in_l1_ball(random: np.random.Generator, draws: int) -> NDArray[np.float64]:
    parts = random.exponential(size=(draws, 4))
    signs: NDArray[np.float64] = random.choice([-1.0, 1.0], size=(draws, 3))
    return signs * parts[:, :3] / parts.sum(axis=1, keepdims=True)


def _changes(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much a mean and a variance change with each of the three sums, up to the number of rows."""
    mean, variance = values.mean(), values.var()
    return np.array([-mean, 0.5 - mean, 1 - mean]), np.array(
        [mean**2 - variance, mean**2 - mean - variance, (1 - mean) ** 2 - variance]
    )
