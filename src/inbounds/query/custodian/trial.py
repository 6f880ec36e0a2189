"""A text that is tried in place of a contract that is served: it reads the same tables, and none of it is applied.

The text comes from elsewhere, so it is looked at before it is read (what it could do to the machine), and keeps to the
places of the contract (what it could make the machine read; `inbounds.query.contract.places`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.faults import MOST_FAULTS, describe_fault
from inbounds.query.contract.places import find_other_places
from inbounds.query.dataset import Dataset

LONGEST = 200_000
"""So many characters may a text have; longer lists of keys belong in a file."""

MOST_DOTS = 1000
"""So many dots may be in a line: a key of many parts takes memory by the square of their number."""

DEEPEST = 12
"""So deep may tables and lists stand in each other; contracts need six levels."""

_LINE = re.compile(r"\bline (\d+)")


def open_trial(text: str, present: Dataset) -> Dataset:
    """Return the dataset that a text would make of one that is served; all faults of the text are refused together.

    Its ledger is that of the dataset, for the terms that it would have there, and is never written to.
    """
    contract = _parse(text, present.contract)
    others = islice(find_other_places(contract, present.contract), MOST_FAULTS)
    moved = [_describe(contract, fault) for fault in others]
    try:
        trial = Dataset(contract, ledger=present.ledger, create_ledger=False, within=present.contract)
    except InvalidContract as fault:
        raise _together([*moved, *(fault.faults or (_describe(contract, fault),))]) from None
    if moved:
        trial.close()
        raise _together(moved)
    return trial


def line_of(fault: str) -> int | None:
    """Return the line that a fault is about, if it names one."""
    found = _LINE.search(fault)
    return None if found is None else int(found[1])


def _describe(contract: Contract, fault: InvalidContract) -> str:
    return describe_fault(contract, fault, contract.line(*fault.path))


def _together(faults: list[str]) -> InvalidContract:
    """Return all faults as one, in the order of their lines."""
    told = sorted(dict.fromkeys(faults), key=lambda fault: line_of(fault) or 0)
    everything = InvalidContract("\n  ".join((f"the text has {len(told)} faults; correct each of them:", *told)))
    everything.faults = tuple(told)
    return everything


def _parse(text: str, present: Contract) -> Contract:
    """Return a text as a contract, in the place of the present one."""
    if len(text) > LONGEST:
        raise _together([
            f"a contract that is tried may have at most {LONGEST:,} characters, got {len(text):,}; put long lists of "
            "keys into a file, or run inbounds check on the contract's file"
        ])  # fmt: skip
    lines = text.split("\n")
    dotted = next((number for number, line in enumerate(lines, 1) if line.count(".") > MOST_DOTS), None)
    if dotted is not None:
        raise _together([f"line {dotted} has more than {MOST_DOTS:,} dots; break it into several lines"])
    try:
        contract = Contract.parse(text, name=present.name, folder=present.folder, stem=present.stem)
    except InvalidContract as fault:
        raise _together([str(fault)]) from None
    if max(_depths(contract.content), default=0) > DEEPEST:
        raise _together([
            f"tables and lists may stand in each other {DEEPEST} times, and here it is more; a contract has its keys "
            "under [dataset], [columns.NAME], [tables.NAME] and [budget]"
        ])  # fmt: skip
    return contract


def _depths(value: Any) -> Iterator[int]:
    """Yield how deep values stand in each other; without recursion, for that is what is to be found out."""
    waiting = [(value, 0)]
    while waiting:
        inside, depth = waiting.pop()
        yield depth
        if isinstance(inside, Mapping):
            waiting += [(part, depth + 1) for part in inside.values()]
        elif isinstance(inside, list):
            waiting += [(part, depth + 1) for part in inside]
