"""What may have been meant by a command or an option that there is not."""

from __future__ import annotations

import re

from inbounds.display.suggestion import find_nearest

_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z-]*")
"""Only what looks like this is repeated in a message: anything else may be a true answer in the wrong place."""

SYNONYMS = {
    "--domain": "--bounds",
    "--interval": "--bounds",
    "--range": "--bounds",
    "--privacy": "--epsilon",
    "--budget": "--epsilon",
    "--cost": "--epsilon",
    "--contract": "--dataset",
    "--table": "--dataset",
    "--user": "--analyst",
    "--who": "--analyst",
    "--input": "--file",
    "--source": "--file",
    "--output": "--to",
    "--target": "--to",
    "--folder": "--keep",
    "--picture": "--plot",
    "--draw": "--plot",
    "--comment": "--note",
    "--reason": "--note",
    "help": "--help",
    "version": "--version",
    "draw": "release",
    "draft": "init",
    "new": "init",
    "inspect": "check",
    "validate": "check",
    "noise": "release",
    "compare": "plan",
    "recommend": "plan",
    "ask": "query",
    "select": "query",
    "sql": "query",
    "ledger": "budget",
    "spent": "budget",
    "grant": "budget grant",
    "show": "budget show",
    "statement": "budget statement",
    "verify": "budget verify",
    "audit": "budget verify",
    "approve": "reports approve",
    "reject": "reports reject",
    "propose": "reports propose",
    "report": "reports",
    "link": "share",
    "links": "share",
    "shared": "share",
    "prove": "certify",
    "proof": "certify",
    "example": "demo",
    "tutorial": "demo",
}
"""Other words for what there is."""


def describe_unknown(kind: str, word: str, known: list[str]) -> str:
    """Say that there is no command or option of a name, if that may be repeated, and what may have been meant."""
    if not _NAME.fullmatch(word):
        return f"there is no {kind} by that name; choose from {', '.join(known)}"
    possible = {*known, "--help", "--version"}
    synonyms = {other: name for other, name in SYNONYMS.items() if name.split()[0] in possible}
    near = find_nearest(word, known, synonyms)
    meant = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(known)}"
    return f"there is no {kind} {word!r}; {meant}"
