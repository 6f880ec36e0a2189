"""Randomness comes from the operating system, in amounts that say nothing, and nowhere else."""

from __future__ import annotations

import inspect
import os
import random

import numpy as np
import pytest

from inbounds import BoundedLaplace, Bounds
from inbounds.sampling import entropy
from inbounds.sampling.array import AHEAD, CHUNK
from inbounds.sampling.reference import WORD
from tests.helpers.mechanisms import ISLANDS, mechanism
from tests.helpers.scripted_entropy import Script

LARGE = (AHEAD + 2) * CHUNK + 5
"""So many answers that the words are made ahead."""


class OutOfEntropy(Exception):
    """What a broken source of entropy raises."""


def test_randomness_is_that_of_the_operating_system() -> None:
    """The one source of randomness is os.urandom, which keeps no state in the process."""
    assert entropy.system is os.urandom


def test_a_release_draws_on_that_source_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the source scripted, a release is determined."""
    made = mechanism("islands")
    monkeypatch.setattr("inbounds.mechanisms.mechanism.system", Script(seed=1))
    first = [made.release(9) for _ in range(50)], made.release([9] * 50).tolist()
    monkeypatch.setattr("inbounds.mechanisms.mechanism.system", Script(seed=1))
    assert ([made.release(9) for _ in range(50)], made.release([9] * 50).tolist()) == first


def test_no_seed_makes_releases_repeat() -> None:
    """Seeding Python's or NumPy's generators has no effect on a release."""
    made = mechanism("no step")
    releases = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002  the old seed, which many still call
        releases.append([made.release(50.0) for _ in range(20)] + made.release([50.0] * 20).tolist())
    assert not set(releases[0]) & set(releases[1])


def test_releasing_leaves_other_generators_alone() -> None:
    """A release takes nothing from Python's or NumPy's generators."""
    made = mechanism("no step")
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # a tuple  # noqa: NPY002
    made.release([50.0] * 100)
    made.release(50.0)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]  # a tuple  # noqa: NPY002


def test_nobody_can_pass_a_source_of_randomness() -> None:
    """No public method of a mechanism takes an entropy, a seed or a generator."""
    for name, method in inspect.getmembers(BoundedLaplace, callable):
        if not name.startswith("_"):
            assert not {"entropy", "seed", "rng", "random_state"} & set(inspect.signature(method).parameters)
    assert set(inspect.signature(BoundedLaplace.release).parameters) == {"self", "answer"}


def test_one_release_asks_once() -> None:
    """One answer takes one word."""
    asked = Script()
    mechanism("one span")._release_one(7, asked)
    assert asked.asked == [WORD // 8]


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, LARGE])
def test_an_array_takes_eight_bytes_an_answer(size: int) -> None:
    """However an array is cut into chunks, each answer takes its own eight bytes."""
    asked = Script(seed=size)
    released = BoundedLaplace(ISLANDS, 1, 1)._release_array(np.full(size, 9), asked)
    assert released.shape == (size,)
    assert sum(asked.asked) == 8 * size


def test_a_large_array_uses_its_words_in_order() -> None:
    """Words that are made ahead, in another thread, are used as if they had been made in turn."""
    made = BoundedLaplace(Bounds(0, 20, step=1), 1, 0.5)
    answers = np.arange(LARGE) % 21
    played = np.random.default_rng(2).bytes(8 * LARGE)
    whole = made._release_array(answers, Script(played))
    parts = [
        made._release_array(answers[start : start + 1000], Script(played[8 * start : 8 * (start + 1000)]))
        for start in range(0, LARGE, 1000)
    ]
    assert (whole == np.concatenate(parts)).all()


@pytest.mark.parametrize("size", [1, CHUNK, LARGE])
def test_a_source_that_fails_fails_the_release(size: int) -> None:
    """If random bytes run out there is no release, not even of a part, and the error arrives as it was raised."""
    made, left = mechanism("one span"), [max(1, size // CHUNK) - 1]

    def dry(count: int) -> bytes:
        if not left[0]:
            raise OutOfEntropy
        left[0] -= 1
        return os.urandom(count)

    with pytest.raises(OutOfEntropy):
        made._release_array(np.full(size, 7), dry)
    with pytest.raises(OutOfEntropy):
        made._release_one(7, dry)
