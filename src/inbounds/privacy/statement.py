"""What a certificate is about, written down so that others can check it: the claim, the law, and the pairs that decide.

The document is JSON.  Every number in it is a text such as "3/10", exact however it is read, and `version` changes
whenever what a field means does.  docs/check.md describes it, and `checker/check_certificate.py` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from inbounds.bounds import Bounds
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import Pairs

FORMAT, VERSION = "inbounds certificate", 1

LawText = Mapping[str, Any]
"""A law in exact numbers: its `kind`, and what else tells it from others of its kind."""


@dataclass(frozen=True, eq=False)
class Statement:
    """What is promised, on a lattice of which step, and by which law."""

    promise: Promise
    step: Fraction
    """That of the lattice."""
    law: Callable[[], LawText]
    """What states the law, when it is asked for: a table is long."""
    pairs: Pairs | None = None
    """The pairs of indices that were compared, for a law that is proved from few."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what is stated; what states it may hold balls, which cannot be pickled."""
        return Statement, (self.promise, self.step, partial(dict, self.law()), self.pairs)

    def to_document(self, bound: Fraction, delta: Fraction, about: Mapping[str, Any]) -> dict[str, Any]:
        """Return all that has to be known to check that no loss is above `bound`, but for `delta`."""
        promise = self.promise
        return {
            "format": FORMAT,
            "version": VERSION,
            "claim": {
                "bounds": _write_bounds(promise.bounds),
                "sensitivity": write(promise.sensitivity),
                "epsilon": write(promise.epsilon),
                "delta": write(delta),
                "guarantee": promise.guarantee,
                "trusted": promise.trusted,
                "loss": write(bound),
            },
            "law": {"step": write(self.step), **self.law()},
            "pairs": None if self.pairs is None else _write_pairs(self.pairs),
            "about": {"bounds": promise.bounds.brief(), **about},
        }


def write(number: Fraction | int) -> str:
    """Write a number exactly, such as "3" or "3/10"."""
    return str(number)


def _write_bounds(bounds: Bounds) -> dict[str, Any]:
    values = [None if end is None else write(bounds.offset + end * bounds.unit) for end in bounds.ends]
    return {
        "spans": [list(span) for span in zip(values[0::2], values[1::2], strict=True)],
        "step": None if bounds.step is None else write(bounds.step),
        "offset": write(bounds.offset),
    }


def _write_pairs(pairs: Pairs) -> list[list[str]]:
    both = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return [list(map(write, pair)) for pair in sorted({(min(pair), max(pair)) for pair in both})]
