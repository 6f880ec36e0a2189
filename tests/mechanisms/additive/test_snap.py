"""Noise that is clamped in doubles goes where it goes in whole numbers."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.bounds.lattice import HOLDS, Lattice
from inbounds.mechanisms.additive.ends import Ends
from inbounds.mechanisms.additive.snap import REACH, Snap
from inbounds.published import Geometric, Laplace
from tests.helpers.scripted_entropy import Script

edges = st.lists(st.integers(-99, 99) | st.integers(1 - HOLDS, HOLDS - 1), min_size=2, max_size=8, unique=True).map(
    sorted
)
noises = st.integers(-250, 250) | st.integers(-(2**62), 2**62) | st.sampled_from([int(REACH), -int(REACH)])


@given(edges, st.integers(-150, 150) | st.integers(1 - HOLDS, HOLDS - 1), noises)
def test_doubles_go_where_whole_numbers_go(ends: list[int], index: int, noise: int) -> None:
    """An answer with noise is clamped to the same possible answer, however far apart ends, answer and noise are."""
    spans = list(zip(ends[0::2], ends[1::2], strict=False))
    lattice = Lattice.of(Bounds.union(spans, step=1), Fraction(1))
    assert Snap(lattice)(float(index), float(noise)) == Ends("snap", lattice).apply(lattice.clip(index) + noise)


def test_a_release_is_the_one_that_whole_numbers_give() -> None:
    """The same random bits give the same release, be the answer an int, a float or out of bounds, on a step or none."""
    union = [(0, 40), (60, 100)]
    counts = Geometric(Bounds.union(union, step=1), sensitivity=1, epsilon=0.5, ends="snap")
    fine = Laplace(Bounds.union(union), sensitivity=1, epsilon=0.5, ends="snap")
    for made in (counts, fine):
        lattice = made.ends.lattice
        for seed in range(40):
            for answer in (0, 40.0, 51, 90.0, 1e300, -(10**400)):
                index = lattice.clip(made._answers.index(answer))
                expected = made.ends.apply(index + made.noise.draw(Script(seed=seed)))
                assert made._release_one(answer, Script(seed=seed)) == made._outputs.writer(int)(expected)
