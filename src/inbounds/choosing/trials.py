"""Making and measuring mechanisms for a recommendation, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from inbounds.choosing.catalogue import CATALOGUE, NOT_APPLICABLE, Choices, Entry, Question
from inbounds.choosing.objective import Objective
from inbounds.choosing.tuning import Trial, best_pooling, best_width
from inbounds.display.progress import Progress
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import as_written
from inbounds.privacy.guarantee import GuaranteeName

FINALISTS = 1.05
"""The best of a family is looked at more closely if its rough error is at most so many times the least."""


@dataclass(frozen=True)
class Trials:
    """What is tried, and how it is measured."""

    question: Question
    objective: Objective
    """What mechanisms are searched by, and perhaps over a sample only."""
    final: Objective
    """What the best of them are decided by."""
    pooling_limit: Fraction
    guarantee: GuaranteeName
    trusted: bool
    even_timing: bool
    with_optimum: bool
    """Whether to search for the best there is, too."""
    must_find: bool
    """Whether a search that finds nothing is an error."""
    report: Progress

    def everything(self) -> Iterator[Trial]:
        """Yield every mechanism of the catalogue that may be recommended, with its error."""
        for entry in CATALOGUE:
            if self._may_be_considered(entry):
                yield from self._of_entry(entry)

    def decided(self, trials: list[Trial]) -> list[Trial]:
        """Return the trials, the best of each family measured by what decides."""
        if self.final is self.objective:
            return trials
        least = min(trial.error for trial in trials)
        best: dict[str, Trial] = {}
        for trial in sorted(trials, key=lambda trial: -trial.error):
            if trial.error <= least * FINALISTS:
                best[trial.family] = trial
        return [self._measured_again(trial) for trial in best.values()]

    def _measured_again(self, trial: Trial) -> Trial:
        self.report(f"measuring {trial.name}")
        return replace(trial, error=self.final.of(trial.mechanism))

    def _may_be_considered(self, entry: Entry) -> bool:
        kind = entry.kind
        if not kind.pure or (self.even_timing and not kind.even_timing) or (entry.searched and not self.with_optimum):
            return False
        return kind.keeps_distance or self.guarantee == "standard"

    def _of_entry(self, entry: Entry) -> Iterator[Trial]:
        rough, goal = self.objective.sample is not None, self.objective.minimise
        if entry.tuned == "pooling":
            yield from best_pooling(
                lambda name, choices: self._tried(entry, entry.kind.title, name, choices),
                entry.kind.title,
                self.pooling_limit,
                rough,
            )
            return
        for pattern, choices in entry.variants.items():
            name = entry.named(pattern)
            if entry.tuned == "width":
                yield from best_width(
                    lambda trial, given, family=name: self._tried(entry, family, trial, given),  # type: ignore[misc]
                    name,
                    dict(choices),
                    rough,
                )
            elif choices.get("minimise", goal) == goal:  # what is best for another error is not searched for
                given = self.question.search(choices, self.objective.window, self.report) if entry.searched else choices
                if (found := self._tried(entry, name, name, given)) is not None:
                    yield found

    def _tried(self, entry: Entry, family: str, name: str, choices: Choices) -> Trial | None:
        """Make and measure a mechanism, if it is for these bounds, keeps epsilon, stays in range and pools no more."""
        self.report(f"trying {name}")
        try:
            made = self.question.make(entry, **choices, **self._promised(entry))
        except NOT_APPLICABLE:
            if entry.searched and self.must_find:
                raise
            return None
        pooling = as_written(made.pooling, "pooling", InvalidParameter)
        if not (made.label.pure and made.in_range and pooling <= self.pooling_limit):
            return None
        return Trial(name, made, self.objective.of(made), family, plain=choices.get("ends") == "leave")

    def _promised(self, entry: Entry) -> dict[str, Any]:
        """Return what else a mechanism is asked for: the distance guarantee, and to trust answers."""
        promised: dict[str, Any] = {"guarantee": self.guarantee} if entry.kind.keeps_distance else {}
        return promised | ({"trusted": self.trusted} if entry.takes_trust else {})
