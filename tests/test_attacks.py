"""What an attacker has tried on other libraries, tried here."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from flint import ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InvalidAnswer, LatticeTooFine, Optimal
from inbounds.errors import InboundsError, InvalidBounds
from inbounds.exact.balls import lock, workprec
from inbounds.published import ExplicitFair, Geometric, Laplace, Staircase
from inbounds.sampling.reference import EXTENSION, WORD
from inbounds.sampling.tails import LowerTail
from tests.helpers.mechanisms import ISLANDS, KINDS, mechanism
from tests.helpers.programs import PATIENCE
from tests.helpers.scripted_entropy import Script, word

inf, nan = math.inf, math.nan

# Outputs that only some answers can lead to (Mironov 2012): with floating-point noise the low bits of an output tell
# the answers apart.

ODD_ANSWERS = [0.0, 1.0, 1e-300, 5e-324, 0.1, 1 / 3, 2.0**-53, math.pi, 0.5 - 2.0**-54]


def strays(made: BoundedLaplace, released: list[float]) -> int:
    """Return how many values are not on the one lattice that everyone knows, inside the bounds."""
    return sum((Fraction(x) - made.bounds.offset) % made.step != 0 or x not in made.bounds for x in released)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["no step", "no step, pooling 0.4", "no step, whole line", "no step, narrow", "islands"]
)
def test_every_answer_leads_to_the_same_lattice(name: str) -> None:
    """Whatever the low bits of an answer, its releases are multiples of the step; plain float noise is found out."""
    made = mechanism(name)
    released = made.release(np.repeat(ODD_ANSWERS, 500)).tolist()
    released += [made.release(answer) for answer in ODD_ANSWERS for _ in range(50)]
    assert strays(made, released) == 0
    noise = np.random.default_rng(0).laplace(scale=made.scale, size=500)
    assert strays(made, (0.1 + noise).tolist()) > 400


def test_no_release_gives_zero_from_one_away() -> None:
    """No release below 1/2 is anything but a multiple of 2**-53, whether the answer is 0 or 1."""
    made = BoundedLaplace(Bounds(0, 100), 1, 1)
    for answer in (0.0, 1.0):
        low = [x for x in made.release(np.full(20_000, answer)).tolist() if 0 < x < 0.5]
        assert len(low) > 1000
        assert all(Fraction(x) % Fraction(1, 2**53) == 0 for x in low)


def test_every_output_is_reached_from_every_answer() -> None:
    """Each possible output comes out of each answer, the impossible ones of none."""
    made = BoundedLaplace(Bounds.union([(0, 2), (5, 5)], step=1), 5, 1)
    answers = [-inf, -1e300, 0, 1.3, 2, 3.5, 4, 5, 1e300, inf]
    least = min(made.pmf(x, answer) for x in (0, 1, 2, 5) for answer in answers[1:-1])
    draws = math.ceil(math.log(1e-11) / math.log1p(-least))  # all 40 are then seen but once in 1e9 runs
    for answer in answers:
        assert set(made.release(np.full(draws, answer)).tolist()) == {0, 1, 2, 5}


# Outputs outside the bounds.

quarters = st.integers(-400, 400).map(lambda n: Fraction(n, 4))
steps = st.sampled_from([None, None, 1, Fraction(1, 10), Fraction(1, 3), Fraction(1, 64), 0.1, 5])


@st.composite
def all_bounds(draw: st.DrawFn) -> Bounds:
    """Bounds of every kind: one span or several, closed or open, with a step or without one."""
    ends = draw(st.lists(quarters, min_size=2, max_size=8, unique=True).filter(lambda ends: len(ends) % 2 == 0))
    ends.sort()
    spans: list[tuple[Any, Any]] = list(zip(ends[::2], ends[1::2], strict=True))
    if draw(st.booleans()):
        spans[0] = (None, spans[0][1])
    if draw(st.booleans()):
        spans[-1] = (spans[-1][0], None)
    try:
        return Bounds.union(spans, draw(steps))
    except InvalidBounds:  # a span between two multiples of the step
        assume(False)
        raise


answers_of_any_kind = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(-1e9, 1e9),
    st.fractions(-1000, 1000, max_denominator=10**6),
    st.decimals(-1000, 1000, allow_nan=False),
)


@pytest.mark.slow
@given(
    all_bounds(),
    st.floats(1e-6, 1e3),
    st.sampled_from([1e-9, 1e-3, 0.1, 1, 10, 1000]),
    st.sampled_from([0, 0.4, 1]),
    st.lists(answers_of_any_kind, min_size=1, max_size=4),
)
def test_every_output_is_possible(
    bounds: Bounds, sensitivity: float, epsilon: float, pooling: float, answers: list[Any]
) -> None:
    """Every release, of every kind, alone or in an array, is in the bounds."""
    try:
        made = BoundedLaplace(bounds, sensitivity, epsilon, pooling=pooling)
    except LatticeTooFine:
        assume(False)
        raise
    exact = [Fraction(answer) for answer in answers]
    assert all(made.release(answer) in bounds for answer in exact)
    assert all(made.release(float(answer)) in bounds for answer in answers)
    assert all(x in bounds for x in made.release(exact).tolist())
    assert all(x in bounds for x in made.release(np.array(answers, dtype=float)).tolist())
    assert all(x in bounds for x in made.release(np.array([int(x) for x in answers])).tolist())


@pytest.mark.parametrize("name", KINDS)
def test_the_outermost_draws_are_possible(name: str) -> None:
    """Even the draw of all zeros and the draw of all ones stay in the bounds."""
    made = mechanism(name)
    for answer in KINDS[name].answers:
        for first in (b"\0", b"\xff"):
            assert made._release_one(answer, Script(first * (WORD // 8) + b"\1" * 999)) in made.bounds


# Answers that are not possible.


@pytest.fixture(scope="module")
def faithful() -> BoundedLaplace:
    """A mechanism with so little noise that a release shows what an answer was projected to."""
    return BoundedLaplace(ISLANDS, 1, 1000)


@pytest.mark.parametrize(
    ("answer", "projected"),
    [
        *((answer, 0) for answer in (-inf, -1e300, -1, -0.5, 0, Decimal("-Infinity"), Fraction(-(10**40)), -(10**400))),
        *((Decimal(text), 0) for text in ("-1e9999", "-1e10001", "-9e99999", "-1e-99999", "0e99999", "-0e99999")),
        *((answer, 30) for answer in (inf, 1e300, 31, 30.5, 30, Decimal("1e9999"), Decimal("1e99999"), 10**400)),
        *((answer, 5) for answer in (5, 6, 6.5, 7, 7.4, Fraction(749, 100))),  # 7 is as near to 5 as to 9
        *((answer, 9) for answer in (7.5, 8, 9, 10, 11, 11.4)),
        *((answer, 13) for answer in (11.5, 12, 12.5, 13)),
        *((answer, 1) for answer in (0.5, Fraction(1, 2), Decimal("0.5"), 1, 1.49)),  # half a step is rounded up
        *((answer, 0) for answer in (0.49, 0.5 - 2.0**-54, 1e-300, Decimal("1e-99999"))),
    ],
)
def test_an_impossible_answer_counts_as_the_nearest_possible_one(
    faithful: BoundedLaplace, answer: Any, projected: int
) -> None:
    """An answer is rounded to the lattice, half a step up, then moved to the nearest end, of two to the left one."""
    assert faithful.release(answer) == projected
    assert faithful.release([answer]).tolist() == [projected]
    if isinstance(answer, float):
        assert faithful.release(np.array([answer])).tolist() == [projected]


EDGES: dict[str, Callable[[], Any]] = {
    "truncated Laplace": lambda: BoundedLaplace(Bounds(0, 20), 1, 1000),
    "snapped Laplace": lambda: Laplace(Bounds(0, 20), 1, 1000, ends="snap"),
    "snapped geometric": lambda: Geometric(Bounds(0, 20, step=1), 1, 1000, ends="snap"),
    "staircase": lambda: Staircase(Bounds(0, 20), 1, 1000, ends="fold"),
    "explicit fair": lambda: ExplicitFair(Bounds(0, 20, step=20), 1, 30),
    "the optimum": lambda: Optimal(Bounds(0, 20, step=1), 1, 15),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_vast_decimal_counts_as_the_end_on_its_own_side(name: str) -> None:
    """However vast, a Decimal is projected as its neighbours are: alone, in a list, and in an array of objects."""
    made = EDGES[name]()
    for exponent in (9_999, 10_001, 999_999):
        below, above = Decimal(f"-1E{exponent}"), Decimal(f"1E{exponent}")
        assert float(made.release(below)) == pytest.approx(0, abs=3)
        assert float(made.release(above)) == pytest.approx(20, abs=3)
        for form in ([below, above], np.array([below, above], dtype=object)):
            assert [float(one) for one in made.release(form)] == pytest.approx([0, 20], abs=3)


def test_a_tiny_decimal_is_rounded_on_its_own_side_of_zero() -> None:
    """Where zero is half way between two possible answers, what is a hair below it goes down, as its neighbours do."""
    made = BoundedLaplace(Bounds(-9.5, 9.5, step=1, offset=0.5), 1, 1000)
    for exponent in (9, 999, 9_999, 99_999):
        assert made.release(Decimal(f"-1E-{exponent}")) == Decimal("-0.5")
        assert made.release(Decimal(f"1E-{exponent}")) == made.release(Decimal(0)) == Decimal("0.5")


def test_no_decimal_is_too_far_out_on_a_side_without_an_end() -> None:
    """A Decimal that is finite is released, however vast it is."""
    made = BoundedLaplace(Bounds(0, None, step=1), 1, 1)
    assert made.release(Decimal("1E99999")) > 10**999


@pytest.mark.slow
@given(st.integers(-40, 70), st.floats(-40, 70))
def test_arrays_project_as_single_answers_do(whole: int, real: float) -> None:
    """Projection is the same for one answer and for an array of them, of every dtype."""
    faithful = BoundedLaplace(ISLANDS, 1, 1000)
    one = [faithful.release(whole), faithful.release(real)]
    possible = [k for k in range(31) if k in ISLANDS]
    nearest = [
        min(possible, key=lambda k: (abs(k - at), k)) for at in (whole, math.floor(Fraction(real) + Fraction(1, 2)))
    ]
    assert one == nearest
    assert faithful.release(np.array([whole, real])).tolist() == [one[0], one[1]]
    assert faithful.release(np.array([whole], dtype=np.int8)).tolist() == one[:1]
    assert faithful.release(np.array([whole, real], dtype=object)).tolist() == one


@pytest.mark.parametrize("answer", [-inf, inf])
def test_an_infinity_is_projected_only_where_there_is_an_end(answer: float) -> None:
    """On a side without an end there is nothing that an infinite answer could count as."""
    for bounds in (
        Bounds.everything(),
        Bounds(None, None, step=1),
        Bounds(-7, None) if answer > 0 else Bounds(None, 7),
    ):
        for form in (answer, Decimal(answer), [answer, 1.0], np.array([1.0, answer], dtype=np.float32)):
            with pytest.raises(InvalidAnswer, match="infinite only on a side where the bounds have an end"):
                BoundedLaplace(bounds, 1, 1).release(form)
    closed = Bounds(-7, None) if answer < 0 else Bounds(None, 7)
    assert abs(BoundedLaplace(closed, 1, 1000).release(answer)) == pytest.approx(7, abs=1)


# Noise that is repeated by forked processes or by threads.

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork on this platform")
threads_forked = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def in_forks(work: Callable[[], Any], count: int) -> list[Any]:
    """Return what `work` returns in each of some forked processes."""
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    children = [fork.Process(target=lambda: results.put(work()), daemon=True) for _ in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join(timeout=PATIENCE)  # a child that hangs has no exit code
    assert [child.exitcode for child in children] == [0] * count
    return [results.get() for _ in children]


def shared(noises: list[list[float]]) -> int:
    """Return how many values the two most similar lists have in common."""
    sets = [set(noise) for noise in noises]
    return max(len(a & b) for i, a in enumerate(sets) for b in sets[:i])


@pytest.mark.slow
@forks
@threads_forked
def test_forked_processes_do_not_repeat_each_others_noise() -> None:
    """Children of one process, and the process itself, draw noise of their own; a copied generator is found out."""
    made = mechanism("no step")

    def noise() -> list[float]:
        return made.release(np.full(100, 50.0)).tolist() + [made.release(50.0) for _ in range(100)]

    assert shared([noise(), *in_forks(noise, 4), noise()]) < 10
    generator = np.random.default_rng()
    assert shared(in_forks(lambda: generator.laplace(size=200).tolist(), 2)) == 200


def test_threads_do_not_repeat_each_others_noise() -> None:
    """Threads that share a mechanism draw noise of their own, and the exact draws of their own words."""
    made = mechanism("no step")
    with ThreadPoolExecutor(4) as pool:
        noises = list(pool.map(lambda _: [made.release(50.0) for _ in range(300)], range(4)))
        scripted = list(pool.map(lambda s: [made._release_one(50.0, Script(seed=s + i)) for i in range(300)], range(4)))
    assert shared(noises) < 10
    assert scripted == [[made._release_one(50.0, Script(seed=s + i)) for i in range(300)] for s in range(4)]


@forks
@threads_forked
def test_a_fork_while_another_thread_computes_leaves_the_child_able_to_release() -> None:
    """A lock that a thread of the parent held at the time of the fork does not block the child."""
    made = mechanism("one span")
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock(), workprec(64):
            holding.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        holding.wait(PATIENCE)
        assert in_forks(lambda: made.release(7) in made.bounds, 1) == [True]
    finally:
        done.set()
        thread.join()


# A setting of python-flint that the whole process shares.


@pytest.fixture
def odd_precision() -> Iterator[int]:
    """A precision that nobody would choose."""
    before, ctx.prec = ctx.prec, 77
    yield 77
    ctx.prec = before


class OutOfEntropy(Exception):
    """What a broken source of entropy raises."""


def test_the_precision_of_flint_is_left_as_it_was(odd_precision: int) -> None:
    """Making, releasing, asking and failing all leave python-flint's precision alone."""
    made = BoundedLaplace(ISLANDS, 1, 1)
    made.release(3)
    made.release([3, 4])
    made.interval(3)
    assert ctx.prec == odd_precision
    with pytest.raises(InvalidAnswer):
        made.release(nan)
    assert ctx.prec == odd_precision

    def dry(size: int) -> bytes:
        if size == EXTENSION // 8:
            raise OutOfEntropy
        return word(0, WORD)  # on an open side, zeros settle nothing

    with pytest.raises(OutOfEntropy):
        mechanism("half-line downwards")._release_one(0, dry)
    assert ctx.prec == odd_precision


# Errors that tell the answer.

SECRET = 123456.789


class Wrapped:
    """An object whose text tells what it holds."""

    def __repr__(self) -> str:
        return f"Wrapped({SECRET})"


bad_answers = {
    "text": str(SECRET),
    "bytes": str(SECRET).encode(),
    "complex": complex(SECRET),
    "a set": {SECRET},
    "a dict": {SECRET: SECRET},
    "an object": Wrapped(),
    "NaN with a payload": Decimal("NaN123456"),
    "beside NaN": [SECRET, nan],
    "an array beside NaN": np.array([[SECRET], [nan]], dtype=np.float32),
    "beside None": [SECRET, None],
    "beside an infinity": [SECRET, inf],
    "beside text": [Fraction(SECRET), str(SECRET)],
    "texts": np.array([str(SECRET)]),
    "objects": np.array([Wrapped()]),
    "masked": np.ma.masked_array([SECRET, 1.0], [False, True]),
    "a record": np.array([(SECRET, 1)], dtype=[("a", float), ("b", int)]),
    "complex numbers": np.array([SECRET + 0j]),
    "a month": np.datetime64("1234-05"),
    "a flag": True,
}


def told(error: BaseException | None) -> str:
    """Return everything that an error and those behind it say."""
    return "" if error is None else f"{error} {error.args} {told(error.__cause__)} {told(error.__context__)}"


@pytest.mark.parametrize("what", bad_answers)
@pytest.mark.parametrize("name", ["no step, whole line", "whole line", "dates"])
def test_no_error_tells_the_answer(name: str, what: str) -> None:
    """An answer that is refused is named by its kind: neither it nor what stands beside it is in the message."""
    made, bad = mechanism(name), cast(Any, bad_answers[what])
    for ask in (made.release, made.error, made.mean, made.bias, made.variance):
        with pytest.raises(InboundsError) as caught:
            ask(bad)
        assert "123456" not in told(caught.value)
        assert "1234-05" not in told(caught.value)


def test_membership_does_not_tell_the_answer() -> None:
    """What can be in no bounds is named by its kind."""
    for bounds in (Bounds(0, 1), ISLANDS, mechanism("dates").bounds):
        with pytest.raises(TypeError) as caught:
            assert Wrapped() in bounds
        assert "123456" not in told(caught.value)


def test_no_error_tells_a_date() -> None:
    """A month is not a day and a day is not a number, and the messages say no more than that."""
    made = mechanism("dates")
    with pytest.raises(InvalidAnswer) as caught:
        mechanism("whole line").release(date(2031, 5, 17))
    assert "2031" not in told(caught.value)
    for moment in (
        datetime(2031, 5, 17, 1),
        np.datetime64("2031-05"),
        np.array(["2031-05"], dtype="M8[M]"),
    ):
        with pytest.raises(InvalidAnswer) as caught:
            made.release(moment)
        assert "2031" not in told(caught.value)


# Work whose amount depends on the answer or on the draw.


def calls(work: Callable[[], object]) -> Counter[str]:
    """Return which functions are called, by Python and by C, and how often."""
    seen: Counter[str] = Counter()

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            seen[frame.f_code.co_qualname] += 1
        elif event == "c_call":
            seen[argument.__qualname__] += 1

    before = sys.getprofile()
    gc.disable()  # a collection may call back into whoever asked for that
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if name != "dates"])
def test_a_release_makes_the_same_calls_wherever_the_answer_is(name: str) -> None:
    """Answers at an end, in the middle, in a gap and outside, and all their draws, take the same calls."""
    made = mechanism(name)
    made.release(0.0)
    answers = [float(answer) for answer in KINDS[name].answers] + [6.0, 7.0, 10.9, -1e9, 1e9]
    work = [calls(partial(made._release_one, answer, Script(seed=seed))) for answer in answers for seed in range(30)]
    # What doubles do not settle is drawn in balls: now and then, as the random bits decide.
    in_balls = [found for found in work if found["ReferenceSampler.extend"]]
    in_doubles = [found for found in work if not found["ReferenceSampler.extend"]]
    assert len(in_balls) < 0.05 * len(work) or not in_doubles
    for alike in (in_balls, in_doubles):
        assert all(found.total() > 15 for found in alike)
        assert [found for found in alike if found != alike[0]] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_draw_looks_at_the_same_masses_wherever_the_centre_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each draw in balls asks equally often for a mass seen from its centre."""
    made, counted, seen = mechanism(name), [0], LowerTail.mass_seen

    def count(self: LowerTail, centre: int, masses: Any, span: int) -> Any:
        counted[0] += 1
        return seen(self, centre, masses, span)

    monkeypatch.setattr(LowerTail, "mass_seen", count)
    numbers = set()
    for answer in KINDS[name].answers:
        for seed in range(100):
            counted[0] = 0
            made._sampler.reference.draw(*made.claim.lattice.project(made._answers.index(answer)), Script(seed=seed))
            numbers.add(counted[0])
    assert len(numbers) == 1


@pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith("dates")])
def test_arrays_take_the_same_bytes_wherever_the_answers_are(name: str) -> None:
    """A hundred draws take eight hundred bytes, at the ends, in the middle and outside."""
    made = mechanism(name)
    for answer in [float(answer) for answer in KINDS[name].answers] + [-1e9, 1e9]:
        entropy = Script(seed=9)
        made._release_array(np.full(100, answer), entropy)
        assert entropy.asked in ([800], [WORD // 8] * 100)


# Bounds and parameters on which another library hangs, or spends more than it claims.


@pytest.mark.parametrize(
    ("bounds", "sensitivity", "epsilon"),
    [
        (Bounds(0, 1), 2, 1),  # a sensitivity above the range
        (Bounds(0, 1), 1, 1e-5),  # hardly any epsilon
        (Bounds(0, 100), 1, 1e-9),
        (Bounds(0, 0, step=1), 1, 1),  # a single possible answer
        (Bounds(0, 1e9), 1, 1),
        (Bounds(0, None), 1, 1e-6),
        (Bounds(0, 1), 1, 1000),
    ],
)
def test_settings_on_which_others_fail_work(bounds: Bounds, sensitivity: float, epsilon: float) -> None:
    """A release comes back, is possible, and costs what was promised."""
    made = BoundedLaplace(bounds, sensitivity, epsilon)
    assert made.certificate.holds
    assert made.certificate.bound <= Fraction(str(epsilon))
    assert all(made.release(answer) in bounds for answer in (0, 0.5, 1, 3, 1e12))
    assert made.variance(0.5) >= 0


def test_a_sensitivity_far_above_the_range_works_or_is_refused() -> None:
    """Under the distance guarantee too, a sensitivity of many ranges is proved, or refused in so many words."""
    for sensitivity in (1e9, 1e10, 1e12, 1e20):
        try:
            made = BoundedLaplace(Bounds(0, 10, step=1), sensitivity, 1e-9, guarantee="distance")
        except InboundsError:
            continue
        assert made.certificate.holds
        assert made.scale == pytest.approx(20 / 11 * sensitivity / 1e-9, rel=1e-6)  # of the loss d * rate * 1.1


def test_bounds_that_make_others_hang_are_refused() -> None:
    """Ends that are NaN, and a lonely point without a step, are refused with a word on what to do."""
    for low, high in ((nan, 1), (0, nan), (nan, nan), (0, 0)):
        with pytest.raises(InvalidBounds, match=";"):
            Bounds(low, high)


def test_what_a_proof_rests_on_cannot_be_changed() -> None:
    """The ends and pairs that a certificate is about are read-only, however one gets hold of them."""
    claim = BoundedLaplace(Bounds(0, 5, step=1) | Bounds(9, 50, step=1), 1, 1).claim
    arrays = [claim.lattice.lows, claim.lattice.highs, claim.pairs.first, claim.pairs.second]
    for ends in claim.lattice.ends.values():
        arrays += ends
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = -(10**6)
    assert isinstance(claim.lattice.low_list, tuple)
    assert isinstance(claim.lattice.high_list, tuple)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="interrupts are timed with setitimer")
def test_an_interrupt_leaves_nothing_behind() -> None:
    """However often releases are interrupted, the lock is free and python-flint's precision as before."""
    made = mechanism("no step")
    before, interrupted = ctx.prec, 0

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        for i in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.00001 * (i % 37))
                while True:
                    made.release(0.5)
            except KeyboardInterrupt:
                interrupted += 1
            with ThreadPoolExecutor(1) as other:
                assert other.submit(made.release, 0.5).result(timeout=PATIENCE) in made.bounds
            assert ctx.prec == before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert interrupted == 150


def test_constants_spoilt_by_another_thread_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If balls are too wide to make doubles of, arrays are drawn in balls, by the same law."""
    made = BoundedLaplace(Bounds(0, 20, step=1), 1, 1)
    monkeypatch.setattr("inbounds.sampling.proposals.workprec", lambda _: ctx.workprec(4))
    assert made._array_sampler._proposals == []
    assert set(made.release(np.full(50, 3)).tolist()) <= set(range(21))
