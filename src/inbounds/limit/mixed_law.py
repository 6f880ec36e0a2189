"""A law that is drawn among several first, whatever the data are: no worst error is where the cuts of one would be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.true_answers import CutAnswers
from inbounds.answers.array import Reader
from inbounds.errors import InvalidParameter
from inbounds.limit.cells.cell_law import CHUNK, CellLaw
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Floats, Indices, Spans

MOST_PARTS = 256
"""One byte decides between as many laws as a power of two up to this."""


@dataclass(frozen=True, eq=False)
class MixedLaw:
    """As many laws as a power of two, each as likely as any other.

    A mixture of laws that keep epsilon, with weights that do not depend on the data, keeps it.
    """

    parts: tuple[CellLaw, ...]

    def __post_init__(self) -> None:
        count = len(self.parts)
        if not 1 <= count <= MOST_PARTS or count & (count - 1):
            raise InvalidParameter("an optimum mixes as many laws as a power of two; build the mechanism again")

    @cached_property
    def distribution(self) -> MixedDistribution:
        """The law in doubles."""
        return MixedDistribution(tuple(part.distribution for part in self.parts))

    @cached_property
    def targets(self) -> NDArray[np.int64]:
        """The indices that can be released."""
        return np.unique(np.concatenate([part.targets for part in self.parts]))

    def _part(self, entropy: Entropy) -> CellLaw:
        return self.parts[entropy(1)[0] % len(self.parts)]

    def draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer."""
        return self._part(entropy).draw(index, entropy)

    @property
    def draw_near(self) -> Callable[[float, Entropy], float] | None:
        """What does the same for an index that is a double, always with the same work, if doubles hold enough."""
        return None if any(part.draw_near is None for part in self.parts) else self._draw_near

    def _draw_near(self, place: float, entropy: Entropy) -> float:
        draw = self._part(entropy).draw_near
        assert draw is not None
        return draw(place, entropy)

    def draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield what was drawn for one part of an array after another."""
        for start in range(0, max(count, 1), CHUNK):
            some = slice(start, min(start + CHUNK, count))
            indices = read(some)
            chosen = np.frombuffer(entropy(len(indices)), dtype=np.uint8) % len(self.parts)
            drawn = np.empty_like(indices)
            for number, law in enumerate(self.parts):
                places = np.flatnonzero(chosen == number)
                own = indices[places]
                for piece, released in law.draw_parts(own.__getitem__, len(own), entropy):
                    drawn[places[piece]] = released
            yield some, drawn

    @property
    def name(self) -> str:
        """What kind of mechanism it is."""
        return f"{self.parts[0].name}, cut in {len(self.parts)} ways"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it equal to another."""
        return self.pickle_parts()

    def pickle_parts(self) -> tuple[Any, ...]:
        """Return what it can be made of again."""
        return tuple(part.pickle_parts() for part in self.parts)

    @classmethod
    def from_parts(cls, setting: Setting, *parts: tuple[Any, ...]) -> MixedLaw:
        """Make it again, or refuse what is none."""
        return cls(tuple(CellLaw.from_parts(setting, *part) for part in parts))

    def unmapped(self) -> MixedLaw:
        """Return the law before outcomes are replaced: the best for the worst error does not replace any."""
        return self

    def replace_releases(self, index: int) -> int:
        """Return what is released instead of a release: itself."""
        return index

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release of each of the laws, where there are few."""
        return self._worst([part.prove_again() for part in self.parts])

    def certify(self) -> Certificate:
        """Write down how much is lost at most: what the worst of the laws loses."""
        return self._worst([part.certify() for part in self.parts])

    def _worst(self, certificates: list[Certificate]) -> Certificate:
        worst = max(certificates, key=lambda certificate: certificate.bound)
        assert worst.statement is not None
        return replace(worst, witnessed=Fraction(0), statement=replace(worst.statement, law=self.state))

    def state(self) -> dict[str, Any]:
        """Return the law in exact numbers, for a certificate: all of the laws, each as likely as any other."""
        return {"kind": "mixture", "laws": [part.state() for part in self.parts]}


class MixedDistribution(Distribution):
    """The mean of several distributions."""

    def __init__(self, parts: tuple[Distribution, ...]) -> None:
        self.parts = parts
        self.lattice, self.scale = parts[0].lattice, parts[0].scale
        self.rises = all(part.rises for part in parts)

    def _mean(self, of: Callable[[Distribution], Floats]) -> Floats:
        return np.asarray(sum(of(part) for part in self.parts) / len(self.parts))

    def probability(self, released: Indices, centres: Indices) -> Floats:
        return self._mean(lambda part: part.probability(released, centres))

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        return self._mean(lambda part: part.up_to(released, centres))

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        return self._mean(lambda part: part.at_least(released, centres))

    def error(self, centres: Indices, excess: Floats) -> Floats:
        return self._mean(lambda part: part.error(centres, excess))

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._mean(lambda part: part.errors(spans, below, above))

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._mean(lambda part: part.at_ends(spans, below, above))

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return how far above these indices the mean of releases is, and their variance."""
        found = [part.bias_and_variance(centres) for part in self.parts]
        bias = self._mean(lambda part: found[self.parts.index(part)][0])
        squares = sum(variance + (own - bias) ** 2 for own, variance in found) / len(found)
        return bias, np.asarray(squares)

    def true_answers(self, first: int, last: int) -> CutAnswers:
        """Return true answers, cut where the error of any of them has a kink."""
        answers = [part.true_answers(first, last) for part in self.parts]
        cuts = [answer.cuts for answer in answers if isinstance(answer, CutAnswers)]
        assert isinstance(answers[0], CutAnswers)
        return replace(answers[0], cuts=np.unique(np.concatenate(cuts)))
