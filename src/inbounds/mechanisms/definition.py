"""Privacy checked by its definition: every pair of neighbouring answers, every release, the whole law written out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flint import arb

from inbounds.exact.balls import lock, lower, upper, workprec
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate, sharpen
from inbounds.privacy.certify import BITS, SMALL, worst_by_definition
from inbounds.privacy.statement import LawText

__all__ = ["SMALL", "prove_by_definition"]

Row = Callable[[int, int], list[arb]]
"""The probabilities of all possible releases for the index of a true answer, as balls of so many bits."""


def prove_by_definition(setting: Setting, row: Row, law_text: Callable[[], LawText]) -> Certificate:
    """Prove or refute that a law on a bounded lattice keeps epsilon; `law_text` states the law."""
    lattice = setting.lattice

    def attempt(bits: int) -> Certificate:
        @cache
        def law(answer: int) -> list[arb]:
            return row(answer, bits)

        answers = range(lattice.first, lattice.last + 1)
        worst = worst_by_definition(answers, law, setting.distance, bits)
        with lock(), workprec(bits):  # lest the caller's precision round the ends
            bound, witnessed = upper(worst.loss), lower(worst.loss)
        return Certificate.of(
            setting.promise,
            lattice,
            bound=bound,
            witnessed=witnessed,
            pair=worst.pair or (answers[0], answers[-1]),
            pairs=worst.count,
            method="every pair, every output",
            precision=bits,
            law=law_text,
        )

    return sharpen(attempt, BITS)
