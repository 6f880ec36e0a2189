"""Making and measuring mechanisms for a recommendation, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from inbounds.choosing.catalogue import CATALOGUE, NOT_APPLICABLE, CatalogueEntry, Choices, Requirements
from inbounds.choosing.objective import Objective
from inbounds.choosing.tuning import Trial, best_pooling, best_width
from inbounds.display.progress import Progress
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, as_written
from inbounds.limit.goal import Minimise
from inbounds.privacy.guarantee import GuaranteeName

FINALISTS = 1.05
"""The best of a family is looked at more closely if its rough error is at most so many times the least."""

SETTLED = 1.05
"""Where the best mechanism that a search found has at most so many times the limit's error, others are not tuned."""


@dataclass(frozen=True)
class Trials:
    """What is tried, and how it is measured."""

    requirements: Requirements
    objective: Objective
    """What mechanisms are searched by, and perhaps over a sample only."""
    final: Objective
    """What the best of them are decided by."""
    pooling_limit: Fraction
    guarantee: GuaranteeName
    trusted: bool
    even_timing: bool
    searched: Minimise | None
    """For which error to search for the best there is, too."""
    must_find: bool
    """Whether a search that finds nothing is an error."""
    time_limit: Number
    """For how many seconds to search."""
    report: Progress

    def everything(self) -> Iterator[Trial]:
        """Yield every mechanism of the catalogue that may be recommended, with its error."""
        # What is searched for comes first: if it is next to the limit, nothing else needs tuning.
        considered = [entry for entry in CATALOGUE if self._may_be_considered(entry)]
        best = [trial for entry in considered if entry.searched for trial in self._of_entry(entry, tuned=False)]
        yield from best
        settled = any(self._is_settled(trial) for trial in best)
        for entry in considered:
            if not entry.searched:
                yield from self._of_entry(entry, tuned=not settled)

    def _is_settled(self, trial: Trial) -> bool:
        """Return whether a mechanism is so near to what is possible that others are not looked at closely."""
        limit = trial.mechanism.limit
        return self.searched == self.objective.minimise and limit is not None and trial.error <= SETTLED * limit

    def decide(self, trials: list[Trial]) -> list[Trial]:
        """Return the trials, the best of each family measured by what decides."""
        if self.final is self.objective:
            return trials
        least = min(trial.error for trial in trials)
        best: dict[str, Trial] = {}
        for trial in sorted(trials, key=lambda trial: -trial.error):
            if trial.error <= least * FINALISTS:
                best[trial.family] = trial
        return [self._measure_again(trial) for trial in best.values()]

    def _measure_again(self, trial: Trial) -> Trial:
        self.report(f"measuring {trial.name}")
        return replace(trial, error=self.final.of(trial.mechanism))

    def _may_be_considered(self, entry: CatalogueEntry) -> bool:
        kind = entry.kind
        if not kind.pure or (self.even_timing and not kind.even_timing) or (entry.searched and not self.searched):
            return False
        return kind.keeps_distance or self.guarantee == "standard"

    def _of_entry(self, entry: CatalogueEntry, *, tuned: bool) -> Iterator[Trial]:
        """Yield the variants of a kind of mechanism, and what is found between them if one is to be tuned."""
        rough = self.objective.sample is not None
        if tuned and entry.tuned == "pooling":
            yield from best_pooling(
                lambda name, choices: self._try(entry, entry.kind.title, name, choices),
                entry.kind.title,
                self.pooling_limit,
                rough,
            )
            return
        for pattern, choices in entry.variants.items():
            name = entry.name_of(pattern)
            if tuned and entry.tuned == "width":
                yield from best_width(
                    lambda variant, settings, family=name: self._try(entry, family, variant, settings),  # type: ignore[misc]
                    name,
                    dict(choices),
                    rough,
                )
                continue
            wanted = choices.get("minimise", self.searched) == self.searched  # not what is best for another error
            trial = self._try(entry, name, name, self._choices(entry, choices)) if wanted else None
            if trial is not None:
                yield trial

    def _choices(self, entry: CatalogueEntry, choices: Choices) -> Choices:
        if not entry.searched:
            return choices
        objective = self.objective
        return self.requirements.search(choices, objective.window, objective.prior, self.time_limit, self.report)

    def _try(self, entry: CatalogueEntry, family: str, name: str, choices: Choices) -> Trial | None:
        """Make and measure a mechanism, if it is for these bounds, keeps epsilon, stays in range and pools no more."""
        self.report(f"trying {name}")
        try:
            mechanism = self.requirements.make(entry, **choices, **self._promise(entry))
        except NOT_APPLICABLE:
            if entry.searched and self.must_find:
                raise
            return None
        pooling = as_written(mechanism.pooling, "pooling", InvalidParameter)
        if not (mechanism.label.pure and mechanism.in_range and pooling <= self.pooling_limit):
            return None
        return Trial(name, mechanism, self.objective.of(mechanism), family, plain=choices.get("ends") == "leave")

    def _promise(self, entry: CatalogueEntry) -> dict[str, Any]:
        """Return what else a mechanism is asked for: the distance guarantee, and to trust answers."""
        promised: dict[str, Any] = {"guarantee": self.guarantee} if entry.kind.keeps_distance else {}
        return promised | ({"trusted": self.trusted} if entry.takes_trust else {})
