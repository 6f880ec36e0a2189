"""A mechanism whose releases are replaced by the best guess of the truth, given what is publicly believed of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.prior import Prior, PriorLike
from inbounds.accuracy.remap import MOST_LISTED, Remap, best_remap
from inbounds.accuracy.remapped_distribution import RemappedDistribution
from inbounds.answers.array import Reader, as_array
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.mechanisms.containers import Column, Kind, Many, Plain, are_many, rewrap
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.certificate import Certificate
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL = 257
"""Python keeps integers below this at hand and makes greater ones anew, so none below it is counted to."""


class Remapped(Mechanism):
    """Releases of a mechanism, each replaced by the posterior median of the true value under a prior.

    The median has the smallest expected absolute error.  It depends only on the release and on public information, so
    the guarantee of the base still holds.

    Made by `mechanism.remapped(prior)`.
    """

    title: ClassVar[str] = "remapped"
    paper: ClassVar[str] = "posterior median"

    def __init__(self, base: Mechanism, prior: PriorLike | Prior | None = None) -> None:
        given_base: object = base
        if not isinstance(given_base, Mechanism):
            raise InvalidParameter(f"only a mechanism can be remapped, got {shown(base)}; create one first")
        self._base = base
        self._prior = Prior.of(prior, base.bounds, base._setting.lattice)
        super().__init__(base._setting, base.certificate)

    @property
    def base(self) -> Mechanism:
        """The mechanism before the remap: it is more informative and less biased."""
        return self._base

    @property
    def prior(self) -> Prior:
        """The prior on the true value."""
        return self._prior

    @overload
    def remap(self, drawn: Kind) -> Kind: ...
    @overload
    def remap(self, drawn: Plain) -> float: ...
    @overload
    def remap(self, drawn: Column) -> Column: ...
    @overload
    def remap(self, drawn: Many) -> NDArray[Any]: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def remap(self, drawn: Any) -> Any:
        """Return what replaces a release of `base`, at no further cost.

        Keep the release of the base as well: its intervals are shorter, and statistics on it are not biased by the
        prior.
        """
        if not are_many(drawn):
            return self._replace(drawn)
        array = as_array(drawn)
        flat = array.ravel()
        read = self._base._output_arrays.reader(flat)
        if isinstance(read, list):
            values = self._output_arrays.write_each([self._replace_index(index) for index in read], flat)
        else:
            values = self._output_arrays.write(self._replace_indices(read(slice(0, len(flat)))), flat)
        return rewrap(values.reshape(array.shape), drawn)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        # The true answer goes to the base and nowhere else: how long the rest takes depends on what was drawn alone.
        return self._replace(self._base._release_one(answer, entropy))

    def _replace(self, drawn: Any) -> Any:
        """Return what replaces one release of the base, in its kind."""
        if type(drawn) in (float, int) and self._plain_groups is not None:
            edges, targets = self._plain_groups
            return targets[np.count_nonzero(edges <= drawn)]  # all are compared, whatever was drawn
        return self._outputs.writer(type(drawn))(self._replace_index(self._base._outputs.index_of_release(drawn)))

    @cached_property
    def _plain_groups(self) -> tuple[NDArray[np.float64], list[float]] | None:
        """Edges of groups and targets as plain numbers; None where doubles do not tell an edge from what is below."""
        if self._remap is None or self.bounds.is_dates:
            return None
        indices = self._remap.edges.tolist()
        edges, below = (
            np.array([*map(self._base._outputs.writer(float), some)], dtype=np.float64)
            for some in (indices, [index - 1 for index in indices])
        )
        if not (below < edges).all():
            return None
        targets = [*map(self._outputs.writer(float), self._remap.targets.tolist())]
        return np.concatenate([np.full(SMALL, -np.inf), edges]), targets[:1] * SMALL + targets

    def _replace_index(self, index: int) -> int:
        return index if self._remap is None else self._remap.index(index)

    def _replace_indices(self, indices: NDArray[Any]) -> NDArray[Any]:
        return indices if self._remap is None else self._remap.indices(indices)

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self._replace_index(self._base._draw(index, entropy))

    def _draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, NDArray[Any]]]:
        for part, drawn in self._base._draw_parts(read, count, entropy):
            yield part, self._replace_indices(drawn)

    @cached_property
    def _remap(self) -> Remap | None:
        """What replaces what; nothing where releases are too many to be replaced one by one, and groups would cost."""
        law = self._base._distribution
        remap = best_remap(law, self._prior)
        if not law.in_range or law.lattice.points <= MOST_LISTED:
            return remap
        with np.errstate(all="ignore"):
            helps = self._prior.mean(RemappedDistribution(law, remap)) <= self._prior.mean(law)
        return remap if helps else None

    @cached_property
    def _distribution(self) -> Distribution:
        law = self._base._distribution
        return law if self._remap is None else RemappedDistribution(law, self._remap)

    def _centre(self, index: int) -> int:
        return self._base._centre(index)

    @property
    def name(self) -> str:
        """Its name in a comparison."""
        return f"{self.title} {self._base.name}"

    @property
    def even_timing(self) -> bool:  # type: ignore[override]  # here it depends on the base
        """Whether a draw does the same work for every true value, which is so if it is so for the base."""
        return self._base.even_timing

    @property
    def keeps_distance(self) -> bool:  # type: ignore[override]  # likewise
        """Whether it can satisfy the distance guarantee, which is so if the base can."""
        return self._base.keeps_distance

    @property
    def pure(self) -> bool:  # type: ignore[override]  # likewise
        """Whether it satisfies epsilon without a delta, which is so if the base does."""
        return self._base.pure

    @property
    def choices(self) -> dict[str, Any]:
        """Those of the base, and the prior."""
        return {**self._base.choices, "prior": self._prior}

    @property
    def _key(self) -> tuple[object, ...]:
        return self._base, self._prior

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle base and prior; whoever unpickles proves the base again."""
        return Remapped, (self._base, self._prior)

    def __repr__(self) -> str:
        return f"<Remapped({self._base!r}, {self._prior!r}): {self.label}>"

    def prove_again(self) -> Certificate:
        """Prove the privacy of the base by a second method; replacing its releases costs nothing."""
        return self._base.prove_again()
