"""Print what comes of each question: `python -m tests.helpers.spellings`, or only of those whose name has a word in it.

With `--lists` it prints the lists of `not_yet.py` as they have to be now.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inbounds.errors import InboundsError
from inbounds.query import Dataset
from tests.helpers.spellings.hospital import opened
from tests.helpers.spellings.outcome import EPSILON, Outcome, outcome_of
from tests.helpers.spellings.questions import ASKED
from tests.helpers.spellings.refused import REFUSED
from tests.helpers.spellings.same import SAME, OneQuestion, why_not_one
from tests.helpers.spellings.spelling import Refused


def outcome_of_refused(dataset: Dataset, refused: Refused) -> Outcome:
    """Ask what must be refused."""
    try:
        dataset.sql(refused.sql).ask(EPSILON, analyst="ana")
    except InboundsError as problem:
        message = str(problem).splitlines()[0]
        explained = any(word in message for word in refused.reason.words)
        return Outcome(refused.name, "refused" if explained else "why?", message)
    except Exception as problem:  # noqa: BLE001  whatever it is, the others are asked as well
        return Outcome(refused.name, "failed", f"{type(problem).__name__}: {problem}".splitlines()[0])
    return Outcome(refused.name, "ANSWERED")


def outcome_of_same(dataset: Dataset, one: OneQuestion) -> Outcome:
    """Ask all spellings of one question."""
    try:
        problems = why_not_one(dataset, one)
    except Exception as problem:  # noqa: BLE001
        return Outcome(one.name, "failed", f"{type(problem).__name__}: {problem}".splitlines()[0])
    return Outcome(one.name, "several" if problems else "one", " | ".join(problems))


PARTS: list[tuple[str, Any, Any]] = [
    ("to be answered", ASKED, outcome_of),
    ("to be refused", REFUSED, outcome_of_refused),
    ("one question each", SAME, outcome_of_same),
]

GOOD = {"to be answered": {"answered"}, "to be refused": {"refused"}, "one question each": {"one"}}
"""What is as it should be."""


def lines_of(title: str, outcomes: list[Outcome], *, lists: bool) -> Iterator[str]:
    """Yield a line for each question, and how many came out how; or the names of those that came out badly."""
    if lists:
        for kind in sorted({one.kind for one in outcomes} - GOOD[title]):
            yield f"\n{title}, {kind}:"
            yield " ".join(one.name for one in outcomes if one.kind == kind)
        return
    yield f"\n{title}"
    yield from (f"{one.name:36}{one.kind:10}{one.message}" for one in outcomes)
    yield f"{dict(Counter(one.kind for one in outcomes))} of {len(outcomes)}"


def main(words: list[str]) -> None:
    """Print what comes of the questions whose names have one of the words, or of all."""
    chosen = [word for word in words if word != "--lists"]
    with TemporaryDirectory() as folder, opened(Path(folder)) as dataset:
        for title, questions, ask in PARTS:
            named = [one for one in questions if not chosen or any(word in one.name for word in chosen)]
            outcomes = [ask(dataset, one) for one in named]
            for line in lines_of(title, outcomes, lists="--lists" in words):
                sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
